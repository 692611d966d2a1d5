package gossa

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// TestRaceBeginsAtTheLoad: a lock around the store alone would end the race and lose
// the update.
func TestRaceBeginsAtTheLoad(t *testing.T) {
	p := lift(t, "counter")
	log, f := simulate(t, p, pkgPath("counter"), 1)
	if f.Cause != 0 {
		t.Fatalf("it failed by %v", f.Cause)
	}
	byG := map[uint32]uint64{}
	for _, e := range log.Events {
		if e.Kind == exec.KindStore && e.G > 1 {
			byG[e.G] = e.Seq
		}
	}
	a, err := sli.Analyse(p.Program, log, exec.Failure{Cause: ir.Race, Seq: byG[2], Other: byG[3]}, sli.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Fixes) == 0 {
		t.Fatalf("no fix: %v", a.Reasons)
	}
	best := a.Fixes[0]
	if len(best.Sections) != 1 || best.Sections[0].Size != 2 {
		t.Errorf("sections %v, want one with the load and the store", describe(t, p, best))
	}
	if d := cmp.Diff([]string{"counter.n"}, best.Data()); d != "" {
		t.Errorf("data (-want +got):\n%s", d)
	}
}

// TestLostUpdateUnderLocks: the read operation is not the one that noticed.
func TestLostUpdateUnderLocks(t *testing.T) {
	p, _, a := analyse(t, "deposit")
	if len(a.Fixes) == 0 {
		t.Fatalf("no fix: %v", a.Reasons)
	}
	best := a.Fixes[0]
	if d := cmp.Diff([]string{"read: read, write"}, describe(t, p, best)); d != "" {
		t.Errorf("sections (-want +got):\n%s", d)
	}
	for _, x := range best.Sections[0].Accesses {
		if len(x.Locks) != 1 || x.Locks[0].Read {
			t.Errorf("%v: locks %v, want the account's", x.Point, x.Locks)
		}
	}
}

// TestAnInterruptedAnalysisHasWhatItFound: wherever it is interrupted it ends with the error, and late
// enough with fixes, but never with a reason why there are none.
func TestAnInterruptedAnalysisHasWhatItFound(t *testing.T) {
	p := lift(t, "deposit")
	log, failure := fails(t, p, pkgPath("deposit"))
	over := errors.New("the time is over")
	interruptedAt := func(question int) (a *sli.Analysis, asked int, err error) {
		a, err = sli.Analyse(p.Program, log, failure, sli.Options{Interrupted: func() error {
			if asked++; asked >= question {
				return over
			}
			return nil
		}})
		return a, asked, err
	}
	_, last, err := interruptedAt(math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	withFixes := 0
	for question := 1; question <= last; question++ {
		a, _, err := interruptedAt(question)
		if a == nil || !errors.Is(err, over) {
			t.Fatalf("interrupted at question %d: analysis %v, %v", question, a, err)
		}
		if len(a.Reasons) > 0 {
			t.Errorf("interrupted at question %d: %v", question, a.Reasons)
		}
		if len(a.Fixes) > 0 {
			withFixes++
		}
	}
	if withFixes == 0 {
		t.Errorf("nothing was ever found in %d questions", last)
	}
}

// TestUpdateIsFollowedBeyondTheTrace: the store that completes the structure never
// happened.
func TestUpdateIsFollowedBeyondTheTrace(t *testing.T) {
	p, _, a := analyse(t, "once")
	if len(a.Fixes) == 0 {
		t.Fatalf("no fix: %v", a.Reasons)
	}
	if d := cmp.Diff([]string{"publish: publish, complete", "take: take, use"}, describe(t, p, a.Fixes[0])); d != "" {
		t.Errorf("sections (-want +got):\n%s", d)
	}
}

// TestOrderGivesNoSection: what the program orders needs none.
func TestOrderGivesNoSection(t *testing.T) {
	_, _, a := analyse(t, "ordered")
	if len(a.Fixes) != 0 || len(a.Reasons) == 0 {
		t.Errorf("%d fixes, reasons %v; want none, and why", len(a.Fixes), a.Reasons)
	}
}

func TestEveryKindOfEventHasAMeaning(t *testing.T) {
	for _, k := range event.Kinds() {
		engineEvent(&event.Event{Seq: 1, Kind: k})
	}
}
