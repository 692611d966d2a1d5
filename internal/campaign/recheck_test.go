package campaign

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// raceAt is a race between two functions, which differs from others of them in a line alone.
func raceAt(line int, test string) finding.Finding {
	side := func(function string, line int) finding.Access {
		return finding.Access{Op: finding.Write, Stack: []finding.Frame{{Function: function, File: "broker.go", Line: line}}}
	}
	return finding.Finding{Kind: finding.Race, Run: &finding.Run{Test: test}, Accesses: []finding.Access{side("cancel", line), side("publish", 67)}}
}

// TestARerunIsOfTheFindingWithTheID: a run shows two races of the same two functions, and the other one comes first.
func TestARerunIsOfTheFindingWithTheID(t *testing.T) {
	races := []finding.Finding{raceAt(52, ""), raceAt(57, "")}
	if races[0].Outline() != races[1].Outline() || races[0].ID() == races[1].ID() {
		t.Fatal("the races are not what they are meant to be")
	}
	r := Record{IDs: []string{races[1].ID().String()}, Outline: races[1].Outline().String()}
	if outcome, f := judgeRerun(&r, &explore.Rerun{Findings: races}); outcome != StillThere || f != &races[1] {
		t.Errorf("%s: %+v", outcome, f)
	}
	r.IDs = []string{"of other lines"}
	if outcome, f := judgeRerun(&r, &explore.Rerun{Findings: races}); outcome != StillThere || f == nil {
		t.Errorf("after an edit: %s: %+v", outcome, f)
	}
}

// TestAFindingOfTwoTestsStaysThatOfTheFirst: its record would name one test and have the run of the other.
func TestAFindingOfTwoTestsStaysThatOfTheFirst(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.spoil = func(l *Lease, r *Result) error {
		if r.Confirmed != nil {
			r.Confirmed.Finding = raceAt(52, l.Test)
		}
		return nil
	}
	s.done = func(l *Lease) {
		if l.Task == Recheck {
			t.Errorf("a lease to recheck in %s what was found in its build", l.Test)
		}
	}
	s.run(t)
	all, err := ReadFindings(s.dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if r := all[0]; r.Finding.Run.Test != r.Test {
		t.Errorf("the finding of %s is that of %s", r.Test, r.Finding.Run.Test)
	}
}
