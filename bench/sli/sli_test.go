package sli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

func TestFlagsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-count", "0"}, {"-run", "("}, {"more"}, {"-nothing"}} {
		var stdout, stderr bytes.Buffer
		if code := Benchmark.Run(args, &stdout, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("%q: exit code %d, %q", args, code, stderr.String())
		}
	}
}

// TestReportTellsWrongFromRight has one program of each kind, and looks for what is said
// of them.
func TestReportTellsWrongFromRight(t *testing.T) {
	r := &Report{
		Examples: []*Program{{Name: "toctou", Want: "fixed", Got: "fixed", Seconds: 4, LogSize: 2048, Fix: Fix{Analysis: Analysis{Fixes: 2, Machines: 3, States: 7, Lifting: time.Second, Replay: time.Millisecond, Total: 3 * time.Millisecond}}}},
		Corpus: []*Program{
			{Name: "a", Want: "fixed", Got: "fixed", Fix: Fix{Lock: "the mutex T.mu", Analysis: Analysis{Total: 2 * time.Second}}},
			{Name: "b", Want: "refused", Got: "refused"},
			{Name: "c", Want: "refused", Got: "fixed"},
			{Name: "d", Want: "fixed", Got: "fixed", Why: "the fixed program fails under -race"},
		},
		Modules: []*Program{{Name: "m", Want: "fixed", Got: "fixed", Fix: Fix{Diff: "--- a/m@v1/x.go\n"}}},
	}
	r.judge()
	var b bytes.Buffer
	r.print(&b)
	text := b.String()
	for _, want := range []string{
		"2 (1)", "2.0 KiB (28 MiB)", "3 (9)", "7 (19)", "1.0000 (0.18)", "0.0010 (0.19)", "0.0020 (0.15)",
		"4 programs: 1 fixed, 1 refused as they should be, 2 wrong", "WRONG: fixed the fixed program fails under -race", "--- a/m@v1/x.go",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said in\n%s", want, text)
		}
	}
	met := map[string]bool{}
	for _, target := range r.Targets {
		met[target.Name] = target.Met
	}
	for name, want := range map[string]bool{
		"examples that did not end as they should":               true,
		"programs of the corpus that did not end as they should": false,
		"slowest analysis of the examples":                       true,
		"slowest analysis of the programs of the corpus":         false,
		"slowest whole command of the examples":                  true,
	} {
		if got, ok := met[name]; !ok || got != want {
			t.Errorf("target %q: met is %t, %t; want %t", name, got, ok, want)
		}
	}
}

func TestModulesHaveAVersionAndATest(t *testing.T) {
	files, err := racy.ReadDir("testdata")
	if err != nil || len(files) != 3 {
		t.Fatalf("%d modules, %v", len(files), err)
	}
	for _, f := range files {
		text, err := racy.ReadFile("testdata/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		archive := txtar.Parse(text)
		version, _, ok := strings.Cut(string(archive.Comment), ":")
		if !ok || len(archive.Files) != 2 || !bytes.Contains(archive.Files[0].Data, []byte("require "+version)) {
			t.Errorf("%s: the go.mod does not require %s", f.Name(), version)
		}
	}
}
