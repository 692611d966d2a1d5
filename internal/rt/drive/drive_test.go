package drive

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
	"github.com/cofferdam-go/cofferdam/internal/wire/ring"
)

func TestMain(m *testing.M) {
	// As serve does, so that a run can be repeated.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	os.Exit(m.Run())
}

// ask sends orders through a pipe that is a buffer, and returns the exit code and what was
// reported. Orders that are strings are sent as they are.
func ask(t *testing.T, targets []string, target func(which []int) bool, orders ...any) (code int, reports []wire.Report) {
	t.Helper()
	var in, out bytes.Buffer
	for _, o := range orders {
		if text, ok := o.(string); ok {
			in.WriteString(text)
		} else if err := json.NewEncoder(&in).Encode(o); err != nil {
			t.Fatal(err)
		}
	}
	code = newServer(&out, targets, target).answer(&in)
	return code, decode(t, &out)
}

// recorded has a target run by the default schedule and recorded, and returns the trace as the
// tool makes it, and the result.
func recorded(t *testing.T, target func() bool, table *wire.Table, races bool) (*trace.Reader, *wire.Done) {
	t.Helper()
	dir := t.TempDir()
	sites := filepath.Join(dir, "sites")
	if err := os.WriteFile(sites, table.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	events, file, err := ring.Create()
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	defer file.Close()
	order, err := json.Marshal(wire.Order{Verb: wire.Run, Target: "TestIt", Schedule: "default", Record: true, Sites: sites, Races: races})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := newServer(&out, []string{"TestIt"}, func([]int) bool { return target() })
	s.events = file
	s.answer(bytes.NewReader(order))
	report := decode(t, &out)[0]
	if report.Done == nil {
		t.Fatalf("no result: %+v", report)
	}
	path := filepath.Join(dir, "run.trace")
	w, err := trace.Create(path, trace.Header{Test: "TestIt"})
	if err != nil {
		t.Fatal(err)
	}
	events.Drain(func(some []event.Access) { _ = w.Accesses(some) }, func(e *event.Event) { _ = w.Event(e) })
	if err := errors.Join(w.SetSites(append(table.Sites, report.Done.Calls...)), w.Close(*report.Done.Outcome)); err != nil {
		t.Fatal(err)
	}
	r, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, report.Done
}

func decode(t *testing.T, out io.Reader) (reports []wire.Report) {
	t.Helper()
	for d := json.NewDecoder(out); ; {
		var r wire.Report
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return reports
		} else if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
}

// done asks one order, and returns its result.
func done(t *testing.T, target func() bool, o wire.Order) *wire.Done {
	t.Helper()
	o.Target = "TestIt"
	_, reports := ask(t, []string{"TestIt"}, func([]int) bool { return target() }, o)
	last := reports[len(reports)-1]
	if last.Done == nil {
		t.Fatalf("no result: %+v", last)
	}
	return last.Done
}

// sharedCount is what the targets below count with, on the heap where races are seen.
var sharedCount = new(int)

// Sites of the targets.
const (
	goSite = iota + 1
	loadSite
	storeSite
	waitSite
)

// count increments the shared count in two goroutines, in two steps or in one, and
// reports whether an increment was lost.
func count(atOnce bool) (lost bool) {
	*rt.W(sharedCount, storeSite) = 0
	done := make(chan bool, 2)
	for range 2 {
		rt.Go(goSite, func() {
			if atOnce {
				*rt.A(sharedCount, event.AtomicUpdate, storeSite)++
			} else {
				n := rt.R(sharedCount, loadSite)
				*rt.W(sharedCount, storeSite) = n + 1
			}
			rt.To[bool](done).Send(true, waitSite)
		})
	}
	rt.Recv(done, waitSite)
	rt.Recv(done, waitSite)
	return rt.R(sharedCount, loadSite) != 2
}

func TestListNamesTheTargets(t *testing.T) {
	code, reports := ask(t, []string{"TestA", "TestB"}, nil, wire.Order{Verb: wire.List})
	if code != 0 || len(reports) != 1 || !slices.Equal(reports[0].Targets, []string{"TestA", "TestB"}) {
		t.Errorf("code %d, %+v", code, reports)
	}
}

func TestBadOrdersAreAnsweredWithWhatIsWrong(t *testing.T) {
	quiet := func([]int) bool { return false }
	for want, o := range map[string]wire.Order{
		"there is no test TestC":   {Verb: wire.Explore, Target: "TestC"},
		`unknown order "dance"`:    {Verb: "dance", Target: "TestA"},
		`unknown strategy "guess"`: {Verb: wire.Explore, Target: "TestA", Units: []sched.Unit{{Method: "guess"}}},
		"parsing a schedule":       {Verb: wire.Run, Target: "TestA", Schedule: "12+"},
		"without room for events":  {Verb: wire.Run, Target: "TestA", Schedule: "default", Record: true},
	} {
		code, reports := ask(t, []string{"TestA"}, quiet, o, wire.Order{Verb: wire.List})
		if code != 0 || len(reports) != 2 || !strings.Contains(reports[0].Error, want) || len(reports[1].Targets) != 1 {
			t.Errorf("code %d, want an error with %q and then the list: %+v", code, want, reports)
		}
	}
}

func TestGarbageEndsTheProgram(t *testing.T) {
	code, reports := ask(t, []string{"TestA"}, nil, "{", "garbage")
	if code != 2 || len(reports) != 0 {
		t.Errorf("code %d, %+v", code, reports)
	}
}

func TestAToolThatIsGoneEndsTheProgram(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	s := newServer(w, []string{"TestA"}, nil)
	if code := s.answer(strings.NewReader(`{"Verb":"list"}`)); code != 2 {
		t.Errorf("code %d", code)
	}
}

// units is the order to do units of one method.
func units(method sched.Method, all ...sched.Unit) wire.Order {
	for i := range all {
		all[i].Method = method
	}
	return wire.Order{Verb: wire.Explore, Units: all, Seed: 1, Budget: time.Minute, WarmUp: true}
}

// TestExploreFindsAFailureThatIsRunAgain: the failure is found again among schedules of which the
// others do not fail like it, and by its schedule alone.
func TestExploreFindsAFailureThatIsRunAgain(t *testing.T) {
	lost := func() bool { return count(false) }
	d := done(t, lost, units(sched.MethodPCT, sched.Unit{Seed: 1, Runs: 500}, sched.Unit{Seed: 1, From: 500, Runs: 500}))
	if len(d.Units) != 1 || len(d.Units[0].Failures) != 1 || d.Residue != wire.NoResidue {
		t.Fatalf("%+v", d)
	}
	u, found := &d.Units[0], &d.Units[0].Failures[0]
	if found.Kind != event.FailureTest || found.At != u.Runs || u.Failed != 1 || found.Runs != 1 {
		t.Errorf("%+v", u)
	}
	again := units(sched.MethodReplay, sched.Unit{Schedule: "default"}, sched.Unit{Schedule: found.Schedule}, sched.Unit{Schedule: found.Schedule})
	again.Failure = &found.Failure
	d = done(t, lost, again)
	if len(d.Units) != 2 || len(d.Units[0].Failures) != 0 || len(d.Units[1].Failures) != 1 || d.Units[1].Runs != 1 {
		t.Fatalf("%+v", d)
	}
	other := found.Failure
	other.Kind = event.FailureExit
	again.Failure = &other
	if d := done(t, lost, again); len(d.Units) != 3 || d.Units[1].Failed != 0 {
		t.Errorf("a failure of another kind: %+v", d)
	}
	once := done(t, lost, wire.Order{Verb: wire.Run, Schedule: d.Units[1].Failures[0].Schedule})
	if got := once.Outcome.Worst(); got == nil || !got.Same(&found.Failure) || once.Diverged != (sched.Divergence{}) {
		t.Errorf("run again: %v, diverged: %s", got, once.Diverged)
	}
}

// TestUnitDoesNotDependOnWhatWasBefore: the same runs, whether a unit comes first in a
// process or after others.
func TestUnitDoesNotDependOnWhatWasBefore(t *testing.T) {
	part := sched.Unit{Seed: 1, From: 40, Runs: 5, Length: 16}
	first := done(t, func() bool { return count(true) }, units(sched.MethodRandom, part))
	later := done(t, func() bool { return count(true) }, units(sched.MethodRandom, sched.Unit{Seed: 2, Runs: 7}, part))
	a, b := first.Units[0], later.Units[1]
	if a.Prints, b.Prints = nil, nil; !reflect.DeepEqual(a, b) || a.Runs != 5 {
		t.Errorf("%+v and then %+v", a, b)
	}
}

func TestExploreGoesOnAfterARaceUnlessAnyFailureWillDo(t *testing.T) {
	o := units(sched.MethodRandom, sched.Unit{Seed: 1, Runs: 1000})
	o.Races = true
	d := done(t, func() bool { return count(false) }, o)
	if all := d.Units[0].Failures; len(all) < 2 || all[0].Kind != event.FailureRace || all[len(all)-1].Kind != event.FailureTest {
		t.Errorf("in search of harm: %+v", d.Units[0])
	}
	o.AnyFailure = true
	d = done(t, func() bool { return count(false) }, o)
	if all := d.Units[0].Failures; len(all) != 1 || all[0].Kind != event.FailureRace || len(all[0].Others) != 1 || all[0].Op == event.None || all[0].At != d.Units[0].Runs {
		t.Errorf("any failure will do: %+v", d.Units[0])
	}
	o.AnyFailure, o.All = false, true
	d = done(t, func() bool { return count(false) }, o)
	if u := d.Units[0]; u.Runs != 1000 || u.Failed < 100 || len(u.Failures) < 2 {
		t.Errorf("all failures: %+v", u)
	}
}

func TestExploreTellsWhatIsLeftOfATree(t *testing.T) {
	o := units(sched.MethodDFS, sched.Unit{Bound: 1, Runs: 2})
	d := done(t, func() bool { return count(true) }, o)
	if u := d.Units[0]; u.Runs != 2 || len(u.Left) == 0 || len(u.Prints) == 0 {
		t.Errorf("%+v", u)
	}
	o = units(sched.MethodDFS, sched.Unit{Bound: 1})
	if u := done(t, func() bool { return count(true) }, o).Units[0]; u.Runs < 3 || len(u.Left) != 0 || u.Sequential {
		t.Errorf("%+v", u)
	}
}

func TestOneGoroutineHasOneRun(t *testing.T) {
	runs := 0
	alone := func() bool { runs++; *rt.W(sharedCount, storeSite) = 1; return false }
	d := done(t, alone, units(sched.MethodDFS, sched.Unit{Limited: true}))
	if u := d.Units[0]; runs != 1 || u.Runs != 1 || !u.Sequential || len(u.Left) != 0 || u.Steps == 0 {
		t.Errorf("%d runs: %+v", runs, u)
	}
}

func TestExploreReportsProgressAndKeepsToItsTime(t *testing.T) {
	var in, out bytes.Buffer
	s := newServer(&out, []string{""}, func([]int) bool { return count(true) })
	s.reportEvery = 0
	o := units(sched.MethodRandom, sched.Unit{Runs: 3})
	o.WarmUp = false
	o2 := units(sched.MethodRandom, sched.Unit{Runs: 3}, sched.Unit{Runs: 3})
	o2.WarmUp, o2.Budget = false, 0
	for _, o := range []wire.Order{o, o2} {
		if err := json.NewEncoder(&in).Encode(o); err != nil {
			t.Fatal(err)
		}
	}
	if code := s.answer(&in); code != 0 {
		t.Fatalf("code %d", code)
	}
	reports := decode(t, &out)
	if len(reports) != 6 || reports[1].Progress == nil || reports[1].Progress.Runs != 2 {
		t.Fatalf("%+v", reports)
	}
	if last := reports[3]; last.Done == nil || last.Done.Units[0].Runs != 3 || last.Done.Elapsed == 0 {
		t.Errorf("the last: %+v", last)
	}
	if last := reports[5]; last.Done == nil || len(last.Done.Units) != 1 || last.Done.Units[0].Runs != 1 {
		t.Errorf("without time: %+v", last)
	}
}

func TestResidueIsSeenBeforeASearch(t *testing.T) {
	o := units(sched.MethodPCT, sched.Unit{Runs: 40})
	runs := 0
	failsLater := func() bool { runs++; return count(true) || runs > 1 }
	if d := done(t, failsLater, o); d.Residue != wire.ChangesEndings || len(d.Units) != 0 || d.Outcome != nil {
		t.Errorf("a target that fails from the second run on: %+v", d)
	}
	runs = 0
	longerAtFirst := func() bool {
		if runs++; runs == 1 {
			rt.Gosched()
		}
		return count(true)
	}
	if d := done(t, longerAtFirst, o); d.Residue != wire.ChangesSteps || len(d.Units) != 1 {
		t.Errorf("a target that takes other steps at first: %+v", d)
	}
	runs = 0
	o.WarmUp = false
	if d := done(t, failsLater, o); d.Residue != wire.NoResidue || len(d.Units[0].Failures) != 1 || d.Units[0].Failures[0].At != 2 {
		t.Errorf("without a warm-up: %+v", d)
	}
}

func TestWarmUpIsMadeOncePerTarget(t *testing.T) {
	runs := 0
	o := wire.Order{Verb: wire.Run, Target: "TestA", Schedule: "default", WarmUp: true}
	_, reports := ask(t, []string{"TestA"}, func([]int) bool { runs++; return false }, o, o)
	if runs != 3 || len(reports) != 2 {
		t.Errorf("%d runs, %+v", runs, reports)
	}
}

// TestExitWithSuccessIsNoFailureOfAProgram: but it is one of a test, which must not end
// the others.
func TestExitWithSuccessIsNoFailureOfAProgram(t *testing.T) {
	exit := func([]int) bool { rt.Exit(0); return false }
	o := wire.Order{Verb: wire.Run, Schedule: "default"}
	if _, reports := ask(t, []string{""}, exit, o); reports[0].Done.Outcome.Worst() != nil {
		t.Errorf("a program: %+v", reports[0].Done.Outcome)
	}
	o.Target = "TestIt"
	if _, reports := ask(t, []string{"TestIt"}, exit, o); reports[0].Done.Outcome.Worst() == nil || reports[0].Done.Outcome.Worst().Kind != event.FailureExit {
		t.Errorf("a test: %+v", reports[0].Done.Outcome)
	}
}

func TestRunRecordsATrace(t *testing.T) {
	r, d := recorded(t, func() bool { return count(false) }, &wire.Table{Sites: []trace.Site{
		{ID: loadSite, File: "a.go", Line: 3, Kind: event.Load, Expr: "count", Type: "int"},
		{ID: storeSite, File: "a.go", Line: 4, Kind: event.Store, Expr: "count", Type: "int"},
	}}, true)
	if r.Header.Test != "TestIt" || r.Truncated() != nil || r.Outcome == nil || r.Outcome.Result != d.Outcome.Result || r.Outcome.Result != event.Failed {
		t.Errorf("%+v, %+v", r.Header, r.Outcome)
	}
	if s, ok := r.Site(storeSite); !ok || s.Kind != event.Store || s.Line != 4 {
		t.Errorf("site %+v", s)
	}
	if r.Count(event.Store) != 3 || r.Count(event.Go) != 2 {
		t.Errorf("%d stores, %d goroutines", r.Count(event.Store), r.Count(event.Go))
	}
	if problems, err := trace.Validate(r); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

func TestTestsThatAreAskedForTogetherRunTogether(t *testing.T) {
	var ran [][]int
	run := func(which []int) bool { ran = append(ran, which); return false }
	order := wire.Order{Verb: wire.Run, Schedule: "default", Target: wire.Together([]string{"TestC", "TestA"})}
	_, reports := ask(t, []string{"TestA", "TestB", "TestC"}, run, order, order, wire.Order{Verb: wire.List}, wire.Order{Verb: wire.Run, Target: "TestA|TestD"})
	if diff := cmp.Diff([][]int{{2, 0}, {2, 0}}, ran); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"TestA", "TestB", "TestC"}, reports[2].Targets); diff != "" {
		t.Errorf("tests that ran together are listed: %s", diff)
	}
	if want := "there is no test TestD"; reports[3].Error != want {
		t.Errorf("%q, want %q", reports[3].Error, want)
	}
}
