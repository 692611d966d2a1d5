package racecorpus

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{{"-fast"}, {"corpus"}, {"-runs", "0"}, {"-budget", "-1s"}, {"-run", "("}} {
		var out, err strings.Builder
		if code := Benchmark.Run(args, &out, &err); code != 2 || err.Len() == 0 {
			t.Errorf("bench race-corpus %v: exit code %d, error output %q", args, code, err.String())
		}
	}
}

func TestExceptionsAreOfTheCorpusAndExplained(t *testing.T) {
	c, err := newCorpus(t.Context(), filepath.Join(t.TempDir(), "corpus"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	files, err := filepath.Glob(filepath.Join(c.dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(data)
	}
	tests := regexp.MustCompile(`(?m)^func Test(Race|NoRace)\w+\(`).FindAllString(text.String(), -1)
	if len(tests) < 300 {
		t.Errorf("the copy has only %d tests", len(tests))
	}
	for name, why := range explanations() {
		if !strings.Contains(text.String(), "func "+name+"(") || len(why) < 20 {
			t.Errorf("exceptions.txt: %s %q", name, why)
		}
	}
}

func TestScoreCountsBothKindsOfErrors(t *testing.T) {
	race, quiet, hang := Verdict{Race: true, Report: "data race"}, Verdict{}, Verdict{Report: "deadlock"}
	r := Report{Tests: []Test{
		{Name: "TestRaceFound", Explored: race, Detector: race},
		{Name: "TestRaceMissed", Explored: quiet, Detector: race},
		{Name: "TestRaceOtherwise", Explored: hang, Detector: race},
		{Name: "TestNoRaceQuiet", Explored: quiet, Detector: quiet},
		{Name: "TestNoRaceFalse", Explored: race, Detector: race},
		{Name: "TestNoRaceHangs", Explored: hang, Detector: quiet},
		{Name: "TestRaceSkipped", Explored: quiet, Detector: Verdict{Skipped: true}},
	}}
	r.judge()
	if s := r.Explored; s.Racing != 3 || s.Found != 1 || s.Fine != 3 || s.False != 1 || s.Other != 1 || s.Skipped != 1 {
		t.Errorf("explored: %+v", s)
	}
	if s := r.Detector; s.Racing != 3 || s.Found != 3 || s.Fine != 3 || s.False != 1 || s.Other != 0 {
		t.Errorf("detector: %+v", s)
	}
	if r.Targets[0].Met || r.Targets[1].Met || r.Targets[1].Measured != 2 {
		t.Errorf("targets %+v", r.Targets)
	}
	var b strings.Builder
	r.print(&b)
	for _, name := range []string{"TestRaceMissed", "TestRaceOtherwise", "TestNoRaceHangs", "MISSED"} {
		if !strings.Contains(b.String(), name) {
			t.Errorf("%s is not in the report:\n%s", name, b.String())
		}
	}
}
