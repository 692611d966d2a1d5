package publish

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// schema is the one that OASIS has published.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.Open("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	document, err := jsonschema.UnmarshalJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaURI, document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(schemaURI)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sample has a result of each kind, with steps, a fix and places outside the root.
func sample(root string) *Report {
	report := &Report{Command: "explore", Version: "v1.2.3", Root: root, Gaps: []string{"package x was left out"}}
	for _, kind := range finding.Kinds {
		report.Results = append(report.Results, Result{Finding: finding.Finding{
			Kind: kind, Explanation: "because <of> this", History: finding.Once("", 0, time.Time{}),
			Guard: finding.Guard{Name: "Meter.mu", Site: finding.Frame{File: filepath.Join(root, "a.go"), Line: 3}},
			Run:   &finding.Run{Package: "p", Test: "TestA"},
			Accesses: []finding.Access{
				{Op: finding.Write, Goroutine: 3, Target: "Meter.n", Stack: []finding.Frame{
					{Function: "p.Tick", File: filepath.Join(root, "a b.go"), Line: 12, Column: 4}, {Function: "p.Test", File: "/elsewhere/t.go", Line: 1}}},
				{Op: finding.Step, Stack: []finding.Frame{{Function: "p.unknown"}}},
			},
		}})
	}
	report.Results[0].Steps = []Step{
		{Goroutine: 2, Lane: "goroutine 2 (TestA)", What: "load m.n = 0", At: finding.Frame{Function: "p.Steady", File: filepath.Join(root, "a.go"), Line: 17}},
		{What: "1s passes: the machine is slow"},
		{Goroutine: 3, Lane: "goroutine 3 (a_test.go:9)", What: "store m.n 0 -> 1", At: finding.Frame{File: filepath.Join(root, "a.go"), Line: 12}},
		{Goroutine: 2, Lane: "goroutine 2 (TestA)", What: "load m.n = 1", At: finding.Frame{File: filepath.Join(root, "a.go"), Line: 18}},
	}
	report.Results[0].Fix = &Fix{"a new mutex", []File{{filepath.Join(root, "a.go"), []byte("a\nb\nc\n"), []byte("a\nx\nc\ny\n")}}}
	report.Results[1].Count = 7
	return report
}

func TestReportsAreValidByTheSchema(t *testing.T) {
	s := schema(t)
	for name, report := range map[string]*Report{"everything": sample(t.TempDir()), "nothing": {Command: "guards", Root: t.TempDir()}} {
		var out bytes.Buffer
		if err := WriteSARIF(&out, report); err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(document); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out.Bytes())
		}
	}
	// The judge must be able to say no.
	bad, _ := jsonschema.UnmarshalJSON(strings.NewReader(`{"version":"2.1.0","runs":[{"tool":{"driver":{}}}]}`))
	if s.Validate(bad) == nil {
		t.Error("the schema accepts a tool without a name")
	}
}

// A log is as much of SARIF as the tests look at.
type log struct {
	Runs []struct {
		Results []struct {
			RuleID              string
			RuleIndex           *int
			Level               string
			PartialFingerprints map[string]string
			Locations           []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI, URIBaseID string }
				}
			}
			CodeFlows []struct {
				ThreadFlows []struct {
					ID        string
					Locations []struct {
						ExecutionOrder int
						Location       struct{ Message struct{ Text string } }
					}
				}
			}
			Fixes []struct {
				ArtifactChanges []struct {
					Replacements []struct {
						DeletedRegion   struct{ StartLine, EndLine, EndColumn int }
						InsertedContent struct{ Text string }
					}
				}
			}
		}
	}
}

func read(t *testing.T, report *Report) *log {
	t.Helper()
	var out bytes.Buffer
	if err := WriteSARIF(&out, report); err != nil {
		t.Fatal(err)
	}
	l := new(log)
	if err := json.Unmarshal(out.Bytes(), l); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestStepsOfARunAreThreadFlowsInItsOrder(t *testing.T) {
	l := read(t, sample(t.TempDir()))
	var got []string
	for _, flow := range l.Runs[0].Results[0].CodeFlows[0].ThreadFlows {
		for _, step := range flow.Locations {
			got = append(got, fmt.Sprintf("%s|%d %s", flow.ID, step.ExecutionOrder, step.Location.Message.Text))
		}
	}
	want := []string{
		"the machine|2 1s passes: the machine is slow",
		"goroutine 2 (TestA)|1 load m.n = 0", "goroutine 2 (TestA)|4 load m.n = 1",
		"goroutine 3 (a_test.go:9)|3 store m.n 0 -> 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNamesBelowTheRootAreRelativeAndEscaped(t *testing.T) {
	at := read(t, sample(t.TempDir())).Runs[0].Results[0].Locations[0].PhysicalLocation.ArtifactLocation
	if at.URI != "a%20b.go" || at.URIBaseID != rootName {
		t.Errorf("%+v", at)
	}
}

// TestFingerprintsStayWhenLinesMove also holds that findings alike in all but their lines are told apart.
func TestFingerprintsStayWhenLinesMove(t *testing.T) {
	root := t.TempDir()
	fingerprints := func(moved int) (all []string) {
		report := sample(root)
		twice := report.Results[7]
		report.Results = append(report.Results, twice)
		for i := range report.Results {
			accesses := append([]finding.Access(nil), report.Results[i].Accesses...)
			accesses[0].Stack = append([]finding.Frame(nil), accesses[0].Stack...)
			accesses[0].Stack[0].Line += moved
			report.Results[i].Accesses = accesses
		}
		for _, r := range read(t, report).Runs[0].Results {
			all = append(all, r.PartialFingerprints[lineHash])
		}
		return all
	}
	before, after := fingerprints(0), fingerprints(5)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	seen := map[string]bool{}
	for _, f := range before {
		if seen[f] {
			t.Errorf("%s is that of two results", f)
		}
		seen[f] = true
	}
}

// apply carries replacements out, from the last to the first, by lines and columns as SARIF has
// them and by nothing else.
func apply(before string, all []replacement) string {
	offset := func(line, column int) int {
		lines := strings.SplitAfter(before, "\n")
		at := len(strings.Join(lines[:line-1], ""))
		for range column - 1 {
			at++ // the texts of the test are of single bytes
		}
		return at
	}
	for i := len(all) - 1; i >= 0; i-- {
		r := all[i]
		before = before[:offset(r.startLine, 1)] + r.text + before[offset(r.endLine, r.endColumn):]
	}
	return before
}

func TestReplacementsMakeTheChangedText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range random.IntN(8) {
			b.WriteString([]string{"a\n", "b\n", "c\n", "\n", "dd\n", "e"}[random.IntN(6)])
		}
		return b.String()
	}
	for range 5000 {
		before, after := text(), text()
		all := replacements([]byte(before), []byte(after))
		if got := apply(before, all); got != after {
			t.Fatalf("%q to %q by %+v makes %q", before, after, all, got)
		}
		for i := 1; i < len(all); i++ {
			if all[i].startLine <= all[i-1].startLine {
				t.Fatalf("%q to %q: %+v are not in order", before, after, all)
			}
		}
	}
}

func TestAnnotationsAreOneLineEach(t *testing.T) {
	root := t.TempDir()
	report := sample(root)
	report.Results[0].Explanation = "50 %\nof it"
	var out strings.Builder
	if err := WriteGitHub(&out, root, report.Results); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := "::error file=a b.go,line=12,title=Cofferdam%3A panic in TestA::panic at a b.go:12: 50 %25%0Aof it"
	if len(lines) != len(finding.Kinds) || lines[0] != want {
		t.Errorf("%d lines, the first\n%s\nwant\n%s", len(lines), lines[0], want)
	}
}

// TestAResultIsShownInTheRepository, at the line that called what is in a module elsewhere: GitHub shows nothing
// beside a line that it does not have.
func TestAResultIsShownInTheRepository(t *testing.T) {
	root := t.TempDir()
	report := &Report{Command: "explore", Version: "v1.2.3", Root: root, Results: []Result{{Finding: finding.Finding{
		Kind: finding.Panic, Explanation: "no room", Accesses: []finding.Access{{Op: finding.Step, Stack: []finding.Frame{
			{Function: "dep.(*Queue).Add", File: "/elsewhere/queue.go", Line: 7}, {Function: "p.Tick", File: filepath.Join(root, "a.go"), Line: 12},
		}}},
	}}}}
	var annotations, log strings.Builder
	if err := WriteGitHub(&annotations, root, report.Results); err != nil {
		t.Fatal(err)
	}
	if want := "::error file=a.go,line=12,title=Cofferdam%3A panic::panic at queue.go:7: no room\n"; annotations.String() != want {
		t.Errorf("%s, want %s", annotations.String(), want)
	}
	if err := WriteSARIF(&log, report); err != nil {
		t.Fatal(err)
	}
	var written struct {
		Runs []struct {
			Results []struct {
				Locations []struct {
					Message  struct{ Text string }
					Physical struct {
						Artifact struct{ URI string } `json:"artifactLocation"`
						Region   struct{ StartLine int }
					} `json:"physicalLocation"`
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(log.String()), &written); err != nil {
		t.Fatal(err)
	}
	if at := written.Runs[0].Results[0].Locations[0]; at.Physical.Artifact.URI != "a.go" || at.Physical.Region.StartLine != 12 || at.Message.Text != "panic" {
		t.Errorf("%+v", at)
	}
}

var tests = []Test{
	{Package: "b", Name: "TestGood", Elapsed: time.Second, Output: "ok TestGood\n"},
	{Package: "a", Name: "TestBad", Verdict: Failed, Elapsed: 2 * time.Second, Headline: "deadlock: \"all\" asleep", Output: "\x1b[31mFAIL\x1b[0m <x>\n", At: "a_test.go:3"},
	{Package: "b", Name: "TestNone", Verdict: Unexplored, Headline: "nothing selected"},
	{Package: "c", Name: "TestLeft", Verdict: Unexplored, Headline: "does not build"},
}

func TestJUnitCountsAndKeepsWhatWasTold(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJUnit(&out, tests); err != nil {
		t.Fatal(err)
	}
	var got junitSuites
	if err := xml.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	if got.Tests != 4 || got.Failures != 1 || got.Skipped != 2 || got.Time != "3.000" || len(got.Suites) != 3 {
		t.Errorf("%+v", got)
	}
	a := got.Suites[0]
	if a.Name != "a" || a.Cases[0].Failure == nil || a.Cases[0].Failure.Message != tests[1].Headline || a.Cases[0].Failure.Text != "[31mFAIL[0m <x>\n" {
		t.Errorf("%+v", a)
	}
}

func TestEventsAreThoseOfGoTest(t *testing.T) {
	var out bytes.Buffer
	e := NewEvents(&out, func() time.Time { return time.Unix(0, 0) })
	for i := range tests {
		if err := e.Write(&tests[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for d := json.NewDecoder(&out); d.More(); {
		var event testEvent
		if err := d.Decode(&event); err != nil {
			t.Fatal(err)
		}
		if event.Action != "output" {
			got = append(got, strings.TrimSpace(event.Action+" "+event.Package+" "+event.Test))
		}
	}
	want := []string{
		"start b", "run b TestGood", "pass b TestGood", "start a", "run a TestBad", "fail a TestBad",
		"run b TestNone", "skip b TestNone", "start c", "run c TestLeft", "skip c TestLeft", "pass b", "fail a", "skip c",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheRootIsThatOfTheRepository(t *testing.T) {
	top := t.TempDir()
	below := filepath.Join(top, "module", "pkg")
	if err := os.MkdirAll(below, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, mark := range []string{filepath.Join(top, "module", "go.mod"), filepath.Join(top, ".git")} {
		if err := os.WriteFile(mark, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got := Root(below); got != top {
		t.Errorf("%s, want %s", got, top)
	}
}

func TestColumnsCountCharacters(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(name, []byte("x\n\"äö\" + y\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	w := &sarifWriter{lines: map[string][]string{}}
	for column, want := range map[int]int{0: 0, 1: 1, 10: 8, 99: 0} {
		if got := w.column(finding.Frame{File: name, Line: 2, Column: column}); got != want {
			t.Errorf("column of byte %d: %d, want %d", column, got, want)
		}
	}
}
