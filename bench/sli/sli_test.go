package sli

import (
	"bytes"
	"strings"
	"testing"
	"time"
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
		Examples: []*Program{{Name: "toctou", Want: "fixed", Got: "fixed", Seconds: 4, LogSize: 2048, Fix: Fix{Analysis: Analysis{Fixes: 9, Published: 2, Machines: 3, States: 7, Lifting: time.Second, Replay: time.Millisecond, Total: 3 * time.Millisecond}}}},
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

func TestModulesSayWhereTheyAreFixedAndHowElse(t *testing.T) {
	all, err := racyModules()
	if err != nil || len(all) < 12 {
		t.Fatalf("%d modules, %v", len(all), err)
	}
	as := make(map[string]int)
	for _, m := range all {
		as[m.as]++
		if !strings.HasPrefix(m.title, m.path+" "+m.version+": ") {
			t.Errorf("%s: the go.mod requires %s %s", m.title, m.path, m.version)
		}
		if m.upstream == "" {
			t.Errorf("%s: what its maintainers did is not told", m.title)
		}
	}
	if len(as) != 3 || as["dependency"] == 0 || as["replace"] == 0 || as["module"] == 0 {
		t.Errorf("the modules are fixed as %v", as)
	}
}

// TestSpreadTellsWhereReproductionsDiffer: the median alone, if they do not.
func TestSpreadTellsWhereReproductionsDiffer(t *testing.T) {
	seconds := func(p *Program) float64 { return p.Seconds }
	if s := spread([]*Program{{Seconds: 3}, {Seconds: 1}, {Seconds: 2}}, seconds, "%.0f"); s != "2 [1..3]" {
		t.Error(s)
	}
	if s := spread([]*Program{{Seconds: 1.01}, {Seconds: 1.02}}, seconds, "%.1f"); s != "1.0" {
		t.Error(s)
	}
}

// TestWordsThatAreUnfitToTellAreFound: notation anywhere but in a diff, and refusals without a line.
func TestWordsThatAreUnfitToTellAreFound(t *testing.T) {
	for report, want := range map[string]string{
		`{"fixed":true,"candidates":[{"diff":"x @b2.2","dropped":"it fails at a.go:3"}]}`: "",
		`{"candidates":[{"dropped":"load(load(t11@b2.2)) is nil"}]}`:                      "people are told of \"load(load(\"",
		`{"refusal":"the time is over"}`:                                                  "the refusal names no line",
		`{"refusal":"a lock is kept: get.go:12"}`:                                         "",
	} {
		if got, err := unfitToTell([]byte(report)); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", report, got, err, want)
		}
	}
}
