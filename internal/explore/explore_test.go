package explore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

func options(t *testing.T) *Options {
	return &Options{
		Strategy: sched.MethodPCT, Seed: 1, Budget: 20 * time.Second, Runs: 20_000, Steps: 100_000, Harm: 20 * time.Millisecond, Races: true, Leaks: true, Stall: 250 * time.Millisecond,
		Trace: filepath.Join(t.TempDir(), "run.trace"),
	}
}

// TestPairs holds the search against programs that have a bug, each of which it must
// find, and against programs that have none, in which it must not find any.
func TestPairs(t *testing.T) {
	p := build(t, "testdata/pairs")
	targets, err := p.Targets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var bugs, fine, missed, wrong int
	for _, target := range targets {
		bug := strings.HasPrefix(target, "TestBug")
		if bug {
			bugs++
		} else {
			fine++
		}
		t.Run(target, func(t *testing.T) {
			o := options(t)
			o.Jobs = 1              // most are found at once, and a process takes longer to start
			o.Deadline = time.Now() // for shrinking, which is tested elsewhere
			if !bug {
				o.Runs = 120
			}
			res, err := p.Explore(t.Context(), target, o)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case bug && res.Failure == nil:
				missed++
				t.Errorf("missed in %d schedules", res.Runs)
			case !bug && res.Failure != nil:
				wrong++
				t.Errorf("false report: %s: %s", res.Failure.Kind, res.Failure.Message)
			}
			if res.Fresh || res.Cut > 0 {
				t.Errorf("fresh processes: %v, runs cut off: %d, note: %s", res.Fresh, res.Cut, res.Caveats())
			}
			if res.Failure != nil {
				replay(t, p, o.Trace, 1)
			}
		})
	}
	t.Logf("%d of %d bugs missed, %d false reports in %d correct programs", missed, bugs, wrong, fine)
	if bugs < 50 || fine < 50 {
		t.Errorf("only %d and %d programs", bugs, fine)
	}
}

// TestAccessesOfTheStandardLibraryAreSeen: one run has all shapes in it, one after the other, and
// each race must be seen at the program's call of the library.
func TestAccessesOfTheStandardLibraryAreSeen(t *testing.T) {
	const source = "testdata/library/library_test.go"
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	p := build(t, "testdata/library")
	o := options(t)
	if _, err := p.Explore(t.Context(), "TestBug", o); err != nil {
		t.Fatal(err)
	}
	r, err := trace.Open(o.Trace)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	raced := map[int]bool{} // lines
	for _, f := range r.Outcome.Failures {
		for _, at := range append([]trace.Point{f.Point}, f.Others...) {
			if site, ok := r.Site(at.Site); ok && at.Site >= event.CallSites {
				raced[site.Line] = true
			}
		}
	}
	shapes := 0
	for i, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "\t\tuse(") {
			continue
		}
		if shapes++; !raced[i+1] {
			t.Errorf("%s:%d: no race is seen in\n%s", source, i+1, line)
		}
	}
	if shapes < 45 {
		t.Errorf("only %d shapes", shapes)
	}
	o.Runs = 100
	res, err := p.Explore(t.Context(), "TestFine", o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Failure != nil || res.Runs < 100 {
		t.Errorf("%d runs of a program without races: %v", res.Runs, res.Failure)
	}
}

// replayTwice checks that a recorded run comes to the same end event for event.
func replayTwice(t *testing.T, p *Program, file string) {
	t.Helper()
	replay(t, p, file, 2)
}

func replay(t *testing.T, p *Program, file string, times int) {
	t.Helper()
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	problems, err := trace.Validate(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("the trace makes no sense: %v", p)
	}
	for range times {
		again, err := p.Replay(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if again.Parting != nil || len(again.Changed) > 0 {
			t.Errorf("the replay differs: %s; changed: %v", again.Parting, again.Changed)
		}
	}
	var report strings.Builder
	if err := WriteReport(&report, r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(report.String(), "How it comes about") {
		t.Errorf("no timeline in the report:\n%s", report.String())
	}
}

// TestExhaustive holds the depth-first search against the correct programs: it must
// come to an end that it can name, or run out of schedules to try.
func TestExhaustive(t *testing.T) {
	p := build(t, "testdata/pairs")
	for _, target := range []string{"TestFineMutex", "TestFineUnbuffered", "TestFineSelectReturns", "TestFineAtomicAdd", "TestFineCond", "TestFineOnce"} {
		t.Run(target, func(t *testing.T) {
			o := options(t)
			o.Strategy, o.Preemptions, o.Runs = sched.MethodDFS, 2, 0
			res, err := p.Explore(t.Context(), target, o)
			if err != nil {
				t.Fatal(err)
			}
			if res.Failure != nil || !res.Search.Complete() {
				t.Errorf("failure %v, exhausted %v: %s", res.Failure, res.Search.Exhausted, res.Search)
			}
			t.Log(res.Search)
		})
	}
}

// TestWhatIsHeldFixedIsPartOfTheResult: what could differ and was the same in all runs is
// told, and nothing of a program that has none of it.
func TestWhatIsHeldFixedIsPartOfTheResult(t *testing.T) {
	limit := int64(250 * time.Millisecond)
	whatIsHeld(t, build(t, "testdata/pairs"), map[string]sched.Held{
		"TestFineSpins":            {Rounds: true}, // x/sync might be what changes in a round
		"TestFineMutex":            {},
		"TestFineSelectReturns":    {},
		"TestFineDice":             {}, // all of its possibilities are tried
		"TestFineOrderOfAMap":      {},
		"TestFineSleepsInABubble":  {},
		"TestFineSleepBesideAWait": {},
		"TestFineLongTimeout":      {Stall: true, StallLimit: limit},
		"TestFineLargeDraw":        {Chance: true},
		"TestFineLeaseIsLong":      {Stall: true, StallLimit: limit, Clock: true},
	})
	whatIsHeld(t, build(t, "testdata/again"), map[string]sched.Held{
		"TestSpins":            {}, // a loop that only waits loses nothing by waiting
		"TestSpinsAndYields":   {},
		"TestSpinsAndCounts":   {Rounds: true},
		"TestLooksUnderAMutex": {},
	})
}

// TestALivelockIsTold: it is seen when nothing can change any more, and not when a run has had its
// steps.
func TestALivelockIsTold(t *testing.T) {
	o := options(t)
	o.Runs = 3
	res, err := build(t, "testdata/reach").Explore(t.Context(), "TestEndSpinsForEver", o)
	if err != nil || res.Failure != nil || res.Came() || res.Livelocks != res.Runs || res.Steps > uint64(res.Runs)*100_000 {
		t.Fatalf("%+v, %v", res, err)
	}
	want := "runs were cut off in a livelock: nothing could change any more, and goroutine 2 went round for ever at ends_test.go:"
	if got := res.Caveats(); !strings.Contains(got, want) {
		t.Errorf("%q", got)
	}
}

// TestWhatGoesOnAfterATestIsTold: a goroutine that goes round for ever is no part of the test any more,
// and none that waits.
func TestWhatGoesOnAfterATestIsTold(t *testing.T) {
	o := options(t)
	o.Runs = 3
	res, err := build(t, "testdata/reach").Explore(t.Context(), "TestEndLeavesASpinner", o)
	if err != nil || res.Failure != nil || !res.Came() || res.Stopped != res.Runs {
		t.Fatalf("%+v, %v", res, err)
	}
	want := "runs the test was over and its goroutines still went on, until they were stopped: goroutine 3 went round for ever"
	if got := res.Caveats(); !strings.Contains(got, want) || !strings.Contains(got, "ends_test.go:") {
		t.Errorf("%q", got)
	}
}

func whatIsHeld(t *testing.T, p *Program, targets map[string]sched.Held) {
	for target, want := range targets {
		o := options(t)
		o.Strategy, o.Preemptions, o.Runs = sched.MethodDFS, 1, 0
		res, err := p.Explore(t.Context(), target, o)
		if err != nil || res.Failure != nil {
			t.Fatal(target, res, err)
		}
		if res.Search.Held != want || res.Search.Complete() == want.Any() || res.Search.Exhaustive() == want.Chance {
			t.Errorf("%s: %s", target, res.Search)
		}
	}
}

// TestOneSchedule: a test of one goroutine is not run again and again.
func TestOneSchedule(t *testing.T) {
	p := build(t, "testdata/pairs")
	for _, target := range []string{"TestFineTicksAreCounted", "TestFineOneGoroutine", "TestFineSubtestsInTurn", "TestFineSubtestsBelowSubtests"} {
		res, err := p.Explore(t.Context(), target, options(t))
		if err != nil || res.Failure != nil {
			t.Fatal(res, err)
		}
		if !res.Search.Exhausted || res.Runs != 1 {
			t.Errorf("%s: %d runs, exhausted %v: %s", target, res.Runs, res.Search.Exhausted, res.Search)
		}
	}
}

func TestSameSeedSameRun(t *testing.T) {
	p := build(t, "testdata/pairs")
	var found []string
	for range 2 {
		res, err := p.Explore(t.Context(), "TestBugMutexTwoSections", options(t))
		if err != nil || res.Failure == nil {
			t.Fatal(res, err)
		}
		found = append(found, res.Outcome.Schedule)
	}
	if found[0] != found[1] {
		t.Errorf("found %s and %s with the same seed", found[0], found[1])
	}
}

// TestProgramMayStartItself explores a test that runs its own binary, as those do that
// test how a program ends: the second one is not driven.
func TestProgramMayStartItself(t *testing.T) {
	o := options(t)
	o.Runs = 3
	res, err := build(t, "testdata/outside").Explore(t.Context(), "TestStartsItself", o)
	if err != nil || res.Failure != nil || res.Runs != 3 {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestTracesSurviveEdits: what cannot change a run does not keep it from being replayed, and of
// what does it is told where.
func TestTracesSurviveEdits(t *testing.T) {
	dir := t.TempDir()
	edit := func(inc, body string) *Program {
		for name, text := range map[string]string{
			"go.mod":      "module example.com/written\n\ngo 1.24\n",
			"x_test.go":   "package written\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) {" + body + "}\n",
			"inc_test.go": "package written\n\n" + inc,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return buildAnew(t, dir)
	}
	const inc, body = "func inc(x *int) { *x++ }", " x := 0; go inc(&x); x++; x++ "
	o := options(t)
	res, err := edit(inc, body).Explore(t.Context(), "TestIt", o)
	if err != nil || res.Failure == nil {
		t.Fatal(res, err)
	}
	r, err := trace.Open(o.Trace)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, test := range []struct {
		name, inc, body string
		changed         string
		parting         []string
	}{
		{
			"comments, other lines, a function more",
			"// Other is not called.\nfunc other() { n := 0; go func() { n++ }() }\n\nfunc inc(x *int) {\n\t// one more\n\t*x++\n}",
			"\n// the variable\nx := 0\n\ngo inc(&x)\nx++; x++ ",
			"[]", nil,
		},
		{
			"another amount, in another order",
			"var y int\n\nfunc inc(x *int) {\n\ty++\n\t*x += 2\n}", body,
			"[{example.com/written inc false}]",
			[]string{"recorded: step ", "load *x", "now:      step ", "load y 0 in inc, inc_test.go:6\n            y++"},
		},
		{
			"a function less",
			"", " x := 0; go func() { x++ }(); x++; x++ ",
			"[{example.com/written TestIt false} {example.com/written inc true}]",
			[]string{" in TestIt"},
		},
	} {
		again, err := edit(test.inc, test.body).Replay(t.Context(), r)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := fmt.Sprint(again.Changed); got != test.changed {
			t.Errorf("%s: changed: %s, want %s", test.name, got, test.changed)
		}
		if (again.Parting == nil) != (test.parting == nil) {
			t.Errorf("%s: %s", test.name, again.Parting)
		}
		for _, want := range test.parting {
			if got := again.Parting.String(); !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %s", test.name, got, want)
			}
		}
	}
}

func TestReplayRefusesAnotherWayToBuild(t *testing.T) {
	p := &Program{build: &Build{}}
	p.Hash, p.Inputs, p.Go = "new", "go1.2", "go1.2"
	err := p.sameInputs(&trace.Header{Program: "old", Inputs: "go1.1", Go: "go1.1", Package: "it"})
	if err == nil || !strings.Contains(err.Error(), "it was built in another way when the trace was recorded (with go1.1, not go1.2)") {
		t.Error(err)
	}
	if err := p.sameInputs(&trace.Header{Program: "old", Inputs: "go1.2"}); err != nil {
		t.Error(err)
	}
}

// TestResidueGetsFreshProcesses: a test that leaves something behind outside memory gets a process
// for each run, and is not said to fail because of it.
func TestResidueGetsFreshProcesses(t *testing.T) {
	o := options(t)
	o.Runs = 5
	res, err := build(t, "testdata/outside").Explore(t.Context(), "TestEnvironment", o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Failure != nil || !res.Fresh || res.Runs != 5 {
		t.Errorf("failure %v, fresh processes %v, %d runs", res.Failure, res.Fresh, res.Runs)
	}
}

// TestWhatADependencyKeepsIsWhole: a run is taken back, but not what it made and a package that is
// not under control has kept. Since the next run does not make it again, some schedules are tried in
// fresh processes, and what is said to be tried is what they have tried.
func TestWhatADependencyKeepsIsWhole(t *testing.T) {
	p := build(t, "testdata/outside")
	for _, strategy := range []sched.Method{sched.MethodDFS, sched.MethodPCT} {
		o := options(t)
		o.Strategy, o.Preemptions, o.Runs = strategy, 1, 40
		res, err := p.Explore(t.Context(), "TestKeeps", o)
		if err != nil {
			t.Fatal(err)
		}
		if res.Failure != nil || res.Fresh || res.FreshRuns == 0 || res.Search.Runs > uint64(res.FreshRuns) {
			t.Errorf("%s: failure %v, fresh processes %v, %d of %d: %s", strategy, res.Failure, res.Fresh, res.FreshRuns, res.Runs, res.Search)
		}
	}
}

// TestAllSchedulesInFreshProcesses: the search of all schedules needs no process that
// remembers, and ends when all were tried.
func TestAllSchedulesInFreshProcesses(t *testing.T) {
	p := build(t, "testdata/outside")
	for _, strategy := range []sched.Method{sched.MethodDFS, sched.MethodPCT} {
		o := options(t)
		o.Strategy, o.Preemptions, o.Runs = strategy, 1, 60
		res, err := p.Explore(t.Context(), "TestEnvironment", o)
		if err != nil {
			t.Fatal(err)
		}
		if res.Failure != nil || !res.Fresh || !res.Search.Complete() || res.Runs > 20 {
			t.Errorf("%s: failure %v, fresh processes %v, %d runs: %s", strategy, res.Failure, res.Fresh, res.Runs, res.Search)
		}
	}
}

// TestOtherProgramsHaveRealTime: time does not run away from what other programs do, and their
// signals arrive.
func TestOtherProgramsHaveRealTime(t *testing.T) {
	p := build(t, "testdata/outside")
	for _, target := range []string{
		"TestAProgramBesideATimer", "TestTheTimeThatAProgramTakes", "TestTheEndOfAProgramIsSignalled", "TestAProgramSendsASignal",
	} {
		o := options(t)
		o.Runs = 3
		if res, err := p.Explore(t.Context(), target, o); err != nil || res.Failure != nil {
			t.Errorf("%s: %+v, %v", target, res, err)
		}
	}
}

// TestBeside: a goroutine that is not under control neither holds a run up nor hides what
// it orders; fuzz tests and examples are explored as tests are.
func TestBeside(t *testing.T) {
	p := build(t, "testdata/beside")
	targets, err := p.Targets(t.Context())
	if err != nil || len(targets) != 7 {
		t.Fatalf("targets %v, %v", targets, err)
	}
	for _, target := range targets {
		o := options(t)
		o.Runs = 200
		res, err := p.Explore(t.Context(), target, o)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		bug := strings.Contains(strings.ToLower(target), "bug")
		if bug != (res.Failure != nil) || res.Fresh || !bug && res.Runs < 200 && !res.Search.Exhausted {
			t.Errorf("%s: failure %v, fresh processes %v, %d runs", target, res.Failure, res.Fresh, res.Runs)
		}
	}
}

// TestStartedOnce: what started a goroutine outside control once in a process is not
// taken back, or it would be started again.
func TestStartedOnce(t *testing.T) {
	o := options(t)
	o.Runs = 100
	res, err := build(t, "testdata/outside").Explore(t.Context(), "TestNotify", o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Failure != nil || res.Fresh {
		t.Errorf("failure %v, fresh processes %v, %d runs", res.Failure, res.Fresh, res.Runs)
	}
}

// TestEachRunBeginsWhereTheFirstBegan: what a run did to memory is taken back, and the
// next one takes the same steps in the same process.
func TestEachRunBeginsWhereTheFirstBegan(t *testing.T) {
	p := build(t, "testdata/again")
	targets, err := p.Targets(t.Context())
	if err != nil || len(targets) < 9 {
		t.Fatalf("%d targets, %v", len(targets), err)
	}
	for _, target := range targets {
		o := options(t)
		o.Runs, o.Races, o.Leaks = 20, false, false
		res, err := p.Explore(t.Context(), target, o)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		if res.Failure != nil || res.Fresh || res.Residue != wire.NoResidue || res.Runs < 20 && !res.Search.Exhausted {
			t.Errorf("%s: failure %v, fresh processes %v, other steps %v, %d runs", target, res.Failure, res.Fresh, res.Residue, res.Runs)
		}
	}
}

// TestARunWithACollectionCounts: what a run with a garbage collection did to memory cannot
// be taken back, but in a process of its own that is no reason not to look at it.
func TestARunWithACollectionCounts(t *testing.T) {
	o := options(t)
	o.Runs = 2
	res, err := build(t, "testdata/outside").Explore(t.Context(), "TestCollectsAndFails", o)
	if err != nil || res.Failure == nil || !res.Fresh {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestALeakInFreshProcessesDoesNotEndTheSearch: what is worse comes with another schedule.
func TestALeakInFreshProcessesDoesNotEndTheSearch(t *testing.T) {
	o := options(t)
	o.Runs, o.Races = 40, false
	p := build(t, "testdata/outside")
	res, err := p.Explore(t.Context(), "TestLeaksAndMayFail", o)
	if err != nil || res.Failure == nil || res.Failure.Kind != event.FailureTest || !res.Fresh {
		t.Fatalf("%+v, %v", res, err)
	}
	replayTwice(t, p, o.Trace)
}

// TestArgumentsReachTests explores a test that fails unless it is to be short.
func TestArgumentsReachTests(t *testing.T) {
	p := build(t, "testdata/outside")
	for _, short := range []bool{false, true} {
		o := options(t)
		o.Runs = 2
		res, err := withArguments(p, fmt.Sprintf("-test.short=%v", short)).Explore(t.Context(), "TestIsShort", o)
		if err != nil || (res.Failure == nil) != short {
			t.Errorf("short %v: %+v, %v", short, res, err)
		}
	}
}

func TestInterruptEndsASearch(t *testing.T) {
	p := build(t, "testdata/pairs")
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t)
	o.Runs = 0
	o.Progress = nil
	cancel()
	if _, err := p.Explore(ctx, "TestFineMutex", o); err == nil {
		t.Error("a search went on after it was cancelled")
	}
}
