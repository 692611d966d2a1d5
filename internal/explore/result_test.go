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
	nothing := func(r wire.Residue) *Result { return &Result{Done: wire.Done{Residue: r}} }
	found := &Result{Done: wire.Done{Residue: wire.ChangesSteps, Outcome: &trace.Outcome{}}}
	for _, c := range []struct {
		name     string
		res      *Result
		err      error
		strategy sched.Method
		want     verdict
	}{
		{"nothing found", nothing(wire.NoResidue), nil, sched.MethodPCT, believe},
		{"residue changes steps", nothing(wire.ChangesSteps), nil, sched.MethodPCT, searchSomeFresh},
		{"a leak is no reason not to look on", &Result{Done: wire.Done{Residue: wire.ChangesSteps, Outcome: &trace.Outcome{}}, Failure: &trace.Failure{Kind: event.FailureLeak}}, nil, sched.MethodPCT, searchSomeFresh},
		{"dfs keeps its place in the process", nothing(wire.ChangesSteps), nil, sched.MethodDFS, believe},
		{"a failure is believed once it is confirmed", found, nil, sched.MethodPCT, believe},
		{"not reproduced", found, errNotReproduced, sched.MethodPCT, searchAllFresh},
		{"residue changes endings", nil, errChangesEndings, sched.MethodRandom, searchAllFresh},
		{"died", nil, fmt.Errorf("exploring: %w", &DeathError{Cause: errors.New("signal")}), sched.MethodPCT, searchAllFresh},
		{"died in a search", &Result{Ended: &DeathError{Cause: errors.New("signal")}}, nil, sched.MethodPCT, searchOnFresh},
		{"died in a search by dfs", &Result{Ended: &DeathError{Cause: errors.New("signal")}}, nil, sched.MethodDFS, believe},
		{"stuck", &Result{Ended: &StuckError{}}, nil, sched.MethodPCT, believe},
		{"anything else", nil, errors.New("no such file"), sched.MethodPCT, believe},
	} {
		if got := whatNext(c.res, c.err, c.strategy); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestTwoSearchesOfOneTarget(t *testing.T) {
	one := func() *Result {
		r := &Result{Target: "TestIt"}
		r.Runs, r.Cut, r.Elapsed = 30, 1, time.Second
		return r
	}
	fresh := &Result{Target: "TestIt", WhyFresh: errChangesSteps}
	fresh.Runs, fresh.Cut, fresh.Elapsed, fresh.Fresh = 4, 2, time.Second, true
	if r := both(one(), fresh); r.Runs != 34 || r.Cut != 3 || r.Elapsed != 2*time.Second || r.FreshRuns != 4 || r.Fresh {
		t.Errorf("nothing found: %+v", r)
	}
	fresh.Outcome, fresh.First = &trace.Outcome{}, 3
	if r := both(one(), fresh); r.Runs != 34 || r.First != 33 || r.Elapsed != 2*time.Second || !r.Fresh {
		t.Errorf("found in a fresh process: %+v", r)
	}
}

func TestALeakIsToldWithHowOftenItIs(t *testing.T) {
	leak := trace.Failure{Kind: event.FailureLeak, Waiting: []trace.Waiter{{Point: trace.Point{Op: event.Send, Site: 7}}}}
	r := &Result{Failure: &leak, Done: wire.Done{Leaks: []wire.Found{{Failure: leak, Runs: 30}}}}
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
	want := "2 goroutines were started before the first run, by an init function or TestMain: they are not under control, and what they do is not seen" +
		"; in 3 of the runs goroutines were outside control, such as those that wait for a file, a process or another machine: what they do was left to chance" +
		"; 4 of the runs had fresh processes, because the first run in a process takes other steps than those after it"
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
