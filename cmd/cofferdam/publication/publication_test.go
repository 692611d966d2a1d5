package publication

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/publish"
)

// aFinding is one on a line.
func aFinding(line int) finding.Finding {
	site := finding.Frame{Function: "p.f", File: "p.go", Line: line}
	return finding.Finding{
		Kind: finding.Race, Explanation: "it races", History: finding.Once("", 0, time.Time{}),
		Accesses: []finding.Access{{Op: finding.Write, Stack: []finding.Frame{site}}, {Op: finding.Read, Stack: []finding.Frame{site}}},
	}
}

// fileOf has findings in a file.
func fileOf(t *testing.T, all ...finding.Finding) string {
	t.Helper()
	var text bytes.Buffer
	if err := finding.WriteJSON(&text, all); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "found.json")
	if err := os.WriteFile(name, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// parsed are flags as a user gives them.
func parsed(t *testing.T, args ...string) *Findings {
	t.Helper()
	o, fl := &Findings{}, flag.NewFlagSet("test", flag.ContinueOnError)
	o.Declare(fl)
	if err := fl.Parse(args); err != nil {
		t.Fatal(err)
	}
	return o
}

// shown is what is written about the findings in files.
func shown(t *testing.T, o *Findings, files ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, notes bytes.Buffer
	inv := &command.Invocation{Stdout: &out, Stderr: &notes}
	inv.Operands = files
	err = o.ShowFiles(inv)
	return out.String(), notes.String(), err
}

func TestFindingsOfSeveralFilesAreMergedAndFail(t *testing.T) {
	one, two := fileOf(t, aFinding(1)), fileOf(t, aFinding(1), aFinding(2))
	out, _, err := shown(t, parsed(t, "-json"), one, two)
	found, readErr := finding.ReadJSON(strings.NewReader(out))
	if readErr != nil || len(found) != 2 || found[0].Count != 2 {
		t.Errorf("%d findings of %s: %v", len(found), out, readErr)
	}
	var exit *command.Exit
	if exit, _ = err.(*command.Exit); exit == nil || exit.Code != command.ExitFound {
		t.Errorf("it ends with %v", err)
	}
	if out, _, _ := shown(t, parsed(t), one); !strings.Contains(out, "it races") {
		t.Errorf("as text: %s", out)
	}
}

func TestWhatIsInTheBaselineIsLeftOutAndCounted(t *testing.T) {
	known, found := fileOf(t, aFinding(1)), fileOf(t, aFinding(1), aFinding(200))
	if out, notes, err := shown(t, parsed(t, "-baseline", known, "-json"), found); err == nil || strings.Count(out, "\n") != 1 || !strings.Contains(notes, "1") {
		t.Errorf("%s%s%v", out, notes, err)
	}
	if out, _, err := shown(t, parsed(t, "-baseline", known), known); err != nil || strings.Contains(out, "races") {
		t.Errorf("what is known fails: %s%v", out, err)
	}
	if _, _, err := shown(t, parsed(t, "-baseline", "nowhere"), known); err == nil {
		t.Error("a baseline that is not there is taken for an empty one")
	}
	if _, _, err := shown(t, parsed(t), filepath.Join(t.TempDir(), "nowhere")); err == nil {
		t.Error("a file that is not there is taken for an empty one")
	}
}

func TestSARIFGoesToStandardOutputOrBesideTheText(t *testing.T) {
	found := fileOf(t, aFinding(1))
	report := func(text []byte) {
		t.Helper()
		var is struct {
			Version string
			Runs    []struct{ Results []struct{ RuleID string } }
		}
		if err := json.Unmarshal(text, &is); err != nil || is.Version != "2.1.0" || len(is.Runs) != 1 || len(is.Runs[0].Results) != 1 {
			t.Errorf("%+v, %v", is, err)
		}
	}
	out, _, _ := shown(t, parsed(t, "-sarif"), found)
	report([]byte(out))
	file := filepath.Join(t.TempDir(), "found.sarif")
	if out, _, _ = shown(t, parsed(t, "-sarif="+file), found); !strings.Contains(out, "it races") {
		t.Errorf("no text beside a file: %s", out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	report(text)
	if out, _, _ := shown(t, parsed(t, "-github"), found); !strings.Contains(out, "::error file=") || !strings.Contains(out, "p.go,line=1,") {
		t.Errorf("annotations: %s", out)
	}
}

func TestStandardOutputIsForOneFormAlone(t *testing.T) {
	c := command.New("test", "", "")
	for args, want := range map[string]bool{
		"": true, "-json": true, "-sarif": true, "-github": true, "-sarif=x.sarif -json": true, "-sarif=x.sarif -github": true, "-sarif=false": true,
		"-json -sarif": false, "-json -github": false, "-sarif -github": false, "-sarif=no/such/directory/x": false,
	} {
		o := parsed(t, strings.Fields(args)...)
		if err := o.Exclusive(c, o.JSON); (err == nil) != want {
			t.Errorf("%q: %v", args, err)
		}
	}
	var p Flags
	if p.sarif.Set("") == nil {
		t.Error("an empty name of a file is taken")
	}
	for value, want := range map[fileFlag]string{"": "none", "-": "error", "x": "file"} {
		p.sarif = value
		got := "none"
		if given, err := p.FileGiven(); err != nil {
			got = "error"
		} else if given && filepath.IsAbs(string(p.sarif)) {
			got = "file"
		}
		if got != want {
			t.Errorf("-sarif=%s: %s, want %s", value, got, want)
		}
	}
}

func TestTestsBecomeEventsAndJUnit(t *testing.T) {
	var p Flags
	fl := flag.NewFlagSet("test", flag.ContinueOnError)
	p.DeclareTests(fl)
	file := filepath.Join(t.TempDir(), "tests.xml")
	if err := fl.Parse([]string{"-test2json", "-junit", file}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := p.AddTest(&out, publish.Test{Package: "p", Name: "TestX"}); err != nil {
		t.Fatal(err)
	}
	if err := p.Finish(&command.Invocation{Stdout: &out}, "explore"); err != nil {
		t.Fatal(err)
	}
	if !p.Silent() || !strings.Contains(out.String(), `"Test":"TestX"`) {
		t.Errorf("%s", out.String())
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `name="TestX"`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestTheSiteOfAResultIsWhereItsFirstAccessIs(t *testing.T) {
	one := publish.Results([]finding.Finding{aFinding(7)})[0]
	if got := Site(&one); got != "p.go:7" {
		t.Errorf("%s", got)
	}
	if got := Site(&publish.Result{}); got != "" {
		t.Errorf("%s", got)
	}
}
