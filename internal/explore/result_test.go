package explore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

func TestWhatComesAfterTheSearchInOneProcess(t *testing.T) {
	for _, c := range []struct {
		name             string
		err              error
		cold, all, ended bool
		runs             int
	}{
		{"nothing wrong", nil, false, false, false, 0},
		{"not reproduced", errNotReproduced, true, true, false, 10},
		{"residue changes endings", errChangesEndings, true, true, false, 10},
		{"died", fmt.Errorf("exploring: %w", &DeathError{Cause: errors.New("signal")}), true, false, true, 6},
		{"stuck", &StuckError{}, false, false, true, 0},
		{"anything else", errors.New("no such file"), false, false, false, 0},
	} {
		s := (&Program{}).NewSearch("TestIt", &Options{Runs: 10})
		s.warm.Sum.Runs = 4
		err := s.afterWarm(c.err)
		if c.name == "anything else" != (err != nil) {
			t.Errorf("%s: %v", c.name, err)
		}
		if (s.cold != nil) != c.cold || s.all != c.all || (s.ended != nil) != c.ended || c.cold && s.cold.o.Runs != c.runs {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
	for _, c := range []struct {
		residue  wire.Residue
		strategy sched.Method
		want     bool
	}{{wire.NoResidue, sched.MethodPCT, false}, {wire.ChangesSteps, sched.MethodPCT, true}, {wire.ChangesSteps, sched.MethodDFS, true}} {
		s := (&Program{}).NewSearch("TestIt", &Options{Strategy: c.strategy})
		s.warm.Sum.Residue = c.residue
		if got := s.someCold(); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

func TestALeakOfSomeSchedulesIsToldBeforeOneOfAll(t *testing.T) {
	if worthTelling(nil) != nil {
		t.Error("a leak of none")
	}
	leaks := []wire.Found{{Runs: 30, At: 1}, {Runs: 2, At: 7}, {Runs: 30, At: 2}}
	if best := worthTelling(leaks); best.At != 7 {
		t.Errorf("%+v", best)
	}
}

func TestTwoSearchesOfOneTarget(t *testing.T) {
	warm := &wire.Summary{Progress: wire.Progress{Runs: 30, Cut: 1, Elapsed: time.Second, Classes: 7}}
	cold := &wire.Summary{Progress: wire.Progress{Runs: 4, Cut: 2, Elapsed: time.Second}}
	if sum, found := both(warm, cold); sum.Runs != 34 || sum.Cut != 3 || sum.Elapsed != 2*time.Second || found || sum.Classes != 7 {
		t.Errorf("nothing found: %+v", sum)
	}
	warm.Search.Exhausted, warm.Residue = true, wire.ChangesSteps
	if sum, _ := both(warm, cold); sum.Search.Exhausted {
		t.Errorf("all of what follows a first run is not all: %+v", sum)
	}
	cold.Outcome, cold.First = &trace.Outcome{}, 3
	if sum, found := both(warm, cold); sum.Runs != 34 || sum.First != 33 || sum.Elapsed != 2*time.Second || !found {
		t.Errorf("found in a fresh process: %+v", sum)
	}
}

func TestALeakIsToldWithHowOftenItIs(t *testing.T) {
	leak := trace.Failure{Kind: event.FailureLeak, Waiting: []trace.Waiter{{Point: trace.Point{Op: event.Send, Site: 7}}}}
	r := &Result{Failure: &leak, Summary: wire.Summary{Leaks: []wire.Found{{Failure: leak, Runs: 30}}}}
	r.Runs, r.Cut, r.Undecided = 40, 6, 4
	if got, want := r.LeakFrequency(), "left waiting in every schedule, whatever the order"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Leaks[0].Runs = 3
	if got, want := r.LeakFrequency(), "left waiting in 3 of 30 schedules"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Failure = &trace.Failure{Kind: event.FailurePanic}
	if got := r.LeakFrequency(); got != "" {
		t.Errorf("of a panic: %q", got)
	}
	r.Failure, r.leftAt, r.unclearAt = nil, "send at a.go:7 in 3 of the runs", "receive at b.go:8 in 4 of the runs"
	want := "goroutines were left waiting when the test was over, which was not taken for a failure: send at a.go:7 in 3 of the runs" +
		"; in 4 of the runs something still went on when the test was over, such as a ticker or a goroutine outside control, so that it is not known whether these wait for ever: receive at b.go:8 in 4 of the runs"
	if got := r.Caveats(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCaveatsSayHowFarAResultCanBeTrusted(t *testing.T) {
	r := &Result{}
	if got := r.Caveats(); got != "" {
		t.Errorf("nothing to say: %q", got)
	}
	r.Before, r.Outside, r.FreshRuns, r.WhyFresh = 2, 3, 4, errChangesSteps
	r.later = sched.Progress{Method: sched.MethodDFS, Exhausted: true, Unbounded: true, Runs: 9}
	r.OutsideWhat = []string{"another program was started", "a goroutine did not end when the run did"}
	want := "2 goroutines were started before the first run, by an init function or TestMain, where something waits in real time (cofferdam help control): what they do is not seen" +
		"; 3 runs were not all under control, which was left to chance: another program was started, a goroutine did not end when the run did" +
		"; 4 of the runs had fresh processes, because the first run in a process takes other steps than those after it; with those after it: all schedules tried (9)"
	if got := r.Caveats(); got != want {
		t.Errorf("got %q", got)
	}
	r = &Result{}
	r.Disbelieved = []trace.Failure{{Kind: event.FailurePanic, Message: "boom"}}
	want = "1 failure did not come back by the same schedule in a fresh process: part of the run was not under control, and it counts as cut off (panic: boom)"
	if got := r.Caveats(); got != want {
		t.Errorf("got %q", got)
	}
	r = &Result{WhyFresh: &DeathError{Cause: errors.New("exit status 2"), Output: "a page of stacks"}, Failure: &trace.Failure{}}
	r.Fresh, r.Outcome = true, &trace.Outcome{Outside: []string{"a network connection"}}
	want = "each run had a fresh process, because the program ended in the middle of a run: exit status 2" +
		"; part of the run was outside control, so the same schedule may lead elsewhere another time"
	if got := r.Caveats(); got != want {
		t.Errorf("got %q", got)
	}
}

// TestFailureKindsAreKindsOfFindings: package finding is linked into programs that have
// nothing to do with runs, so it has names of its own.
func TestFailureKindsAreKindsOfFindings(t *testing.T) {
	kinds := map[event.FailureKind]finding.Kind{
		event.FailureLeak: finding.Leak, event.FailurePartialDeadlock: finding.PartialDeadlock,
		event.FailureRace: finding.Race, event.FailureTest: finding.TestFail, event.FailureExit: finding.Exit,
		event.FailureDeadlock: finding.Deadlock, event.FailureFatal: finding.Fatal, event.FailurePanic: finding.Panic,
		event.FailureCrash: finding.Crash,
	}
	for k := event.FailureLeak; k <= event.FailureCrash; k++ {
		if want := kinds[k]; want == "" || finding.Kind(k.String()) != want {
			t.Errorf("%v is no kind of finding", k)
		}
	}
}
