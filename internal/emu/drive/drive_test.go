package drive

import (
	"context"
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

const examples = "../../../examples/binary/bin/"

// dynamic reports whether programs that need the host's C library can be run; if not, it
// says so.
func dynamic(t *testing.T) bool {
	t.Helper()
	if _, err := os.Stat("/lib64/ld-linux-x86-64.so.2"); err != nil {
		t.Log("nothing was run: this machine has no dynamic linker for x86-64")
		return false
	}
	return true
}

func load(t *testing.T, path string, args ...string) *Program {
	t.Helper()
	return loadFor(t, path, args...)
}

func loadFor(t testing.TB, path string, args ...string) *Program {
	t.Helper()
	p, err := Load(trace.Binary{Path: path, Args: append([]string{filepath.Base(path)}, args...)}, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func explored(t *testing.T, p *Program, o *Options) *wire.Summary {
	t.Helper()
	done, err := p.Explore(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// checkRecorded: the schedule of a failure is recorded, and ends as it did; replays has it
// repeated from the trace. It returns how many events there are.
func checkRecorded(t *testing.T, p *Program, found *trace.Outcome, replays bool) uint64 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.trace")
	out, err := p.Record(found.Schedule, file)
	if err != nil {
		t.Fatal(err)
	}
	if w := out.Worst(); w == nil || !w.Same(found.Worst()) {
		t.Errorf("recorded it ends with %v, want %v", w, found.Worst())
	}
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if replays {
		if again, diff, err := Replay(r, file+"2"); err != nil || diff != nil || again.Worst() == nil {
			t.Errorf("replayed: %v, %v, %v", again, diff, err)
		}
	}
	return uint64(r.Len())
}

// TestAChildRunsBesideTheThreads: a child process that threads talk to over pipes, made before
// them, is there in every run, and what the threads do wrong is found.
func TestAChildRunsBesideTheThreads(t *testing.T) {
	if !dynamic(t) {
		return
	}
	p := load(t, "../linux/testdata/children", "threads")
	done := explored(t, p, &Options{Method: sched.MethodPCT, Seed: 1, Budget: time.Minute})
	if f := done.Outcome.Worst(); f == nil || f.Cause != event.Aborted {
		t.Fatalf("%v after %d runs", f, done.Runs)
	}
	if !done.Search.Held.Outside {
		t.Error("that the child is outside control is not told")
	}
	checkRecorded(t, p, done.Outcome, true)
}

func TestEveryBugOfThePaperIsFoundAndRepeated(t *testing.T) {
	if !dynamic(t) {
		return
	}
	for name, cause := range map[string]event.FailureCause{
		"toctou": event.Aborted, "twovar": event.Aborted, "publish": event.BadMemory, "privatize": event.BadMemory, "glibc": event.BadMemory, "thunderbird": event.BadMemory,
	} {
		for _, level := range []string{".O0", ".O2"} {
			if testing.Short() && level == ".O0" {
				continue
			}
			p := load(t, examples+name+level)
			done := explored(t, p, &Options{Method: sched.MethodPCT, Seed: 1, Budget: time.Minute})
			if done.Outcome == nil {
				t.Errorf("%s%s: nothing found in %d runs", name, level, done.Runs)
				continue
			}
			f := done.Outcome.Worst()
			if f.Kind != event.FailureCrash || f.Cause != cause {
				t.Errorf("%s%s: %v (%v), want %v", name, level, f, f.Cause, cause)
			}
			events := checkRecorded(t, p, done.Outcome, level == ".O2")
			t.Logf("%s%s: run %d, %.0f runs/s, %s; %v; %d events", name, level, done.First, float64(done.Runs)/done.Elapsed.Seconds(), done.Outcome.Schedule, f, events)
		}
	}
}

func TestDepthFirstSearchEnds(t *testing.T) {
	if !dynamic(t) {
		return
	}
	p := load(t, examples+"toctou.O2", "1")
	done := explored(t, p, &Options{Method: sched.MethodDFS, Preemptions: 2, Budget: time.Minute})
	if done.Outcome == nil || !strings.Contains(done.Outcome.Worst().Message, "Assertion") {
		t.Errorf("%+v", done)
	}
	if s, err := sched.ParseSchedule(done.Outcome.Schedule); err != nil || s.Preemptions() != 1 {
		t.Errorf("%s: %v", done.Outcome.Schedule, err)
	}
}

func TestMisuseOfTheHeapAndDeadlocksAreFound(t *testing.T) {
	if !dynamic(t) {
		return
	}
	for name, want := range map[string]struct {
		kind  event.FailureKind
		cause event.FailureCause
	}{
		"useafterfree": {event.FailureCrash, event.UseAfterFree},
		"doublefree":   {event.FailureCrash, event.DoubleFree},
		"lockorder":    {event.FailureDeadlock, event.UnknownCause},
	} {
		p := load(t, "testdata/"+name)
		done := explored(t, p, &Options{Method: sched.MethodPCT, Seed: 1, Budget: 30 * time.Second})
		f := done.Outcome.Worst()
		if f == nil || f.Kind != want.kind || f.Cause != want.cause {
			t.Errorf("%s: %v after %d runs", name, f, done.Runs)
			continue
		}
		if f.Kind == event.FailureCrash && (f.Site == 0 || len(f.Others) != 1 || len(f.Stack) == 0) {
			t.Errorf("%s: %+v", name, f)
		}
		t.Logf("%s: run %d: %v", name, done.First, f)
	}
}

// TestAnUpdateInOneInstructionCanBeLost: between its read and its write another thread may
// come, and the run is recorded and repeated like that.
func TestAnUpdateInOneInstructionCanBeLost(t *testing.T) {
	if !dynamic(t) {
		return
	}
	p := load(t, "testdata/splitupdate")
	done, err := p.Explore(context.Background(), &Options{Method: sched.MethodDFS, Preemptions: 1, Budget: time.Minute})
	if err != nil || done.Outcome == nil || !strings.Contains(done.Outcome.Worst().Message, "count == 2") {
		t.Fatalf("%+v: %v", done, err)
	}
	file := filepath.Join(t.TempDir(), "run.trace")
	if _, err := p.Record(done.Outcome.Schedule, file); err != nil {
		t.Fatal(err)
	}
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if out, diff, err := Replay(r, file+"2"); err != nil || diff != nil || out.Worst() == nil {
		t.Errorf("replayed: %v, %v, %v", out, diff, err)
	}
}

// TestALibraryMayReadBeyondTheEndOfAText: that is no use of freed memory. Where the text lies
// depends on how long it is.
func TestALibraryMayReadBeyondTheEndOfAText(t *testing.T) {
	if !dynamic(t) {
		return
	}
	for _, length := range []string{"44", "45", "46", "47"} {
		p := load(t, "testdata/readahead", length)
		done, err := p.Explore(context.Background(), &Options{Method: sched.MethodPCT, Seed: 1, Budget: time.Minute, Runs: 3})
		if f := done.Outcome.Worst(); err != nil || f == nil || f.Cause != event.Aborted {
			t.Errorf("%s: %v, %v", length, f, err)
		}
	}
}

func TestACorrectProgramIsNotReported(t *testing.T) {
	if !dynamic(t) {
		return
	}
	p := load(t, "testdata/correct")
	done := explored(t, p, &Options{Method: sched.MethodPCT, Seed: 1, Budget: time.Minute, Runs: 300})
	if done.Outcome != nil || done.Cut > 0 || done.Classes < 50 {
		t.Errorf("%v; %d cut off, %d classes", done.Outcome.Worst(), done.Cut, done.Classes)
	}
}

// TestARouteSaysWhereThreadsAreStopped: in the program's own code, and as often as there. A
// thread that is stopped in a library has yet to come to where its call returns to.
func TestARouteSaysWhereThreadsAreStopped(t *testing.T) {
	if !dynamic(t) {
		return
	}
	for _, name := range []string{examples + "publish.O0", examples + "thunderbird.O2", "testdata/lockorder"} {
		p := load(t, name)
		done, err := p.Explore(context.Background(), &Options{Method: sched.MethodPCT, Seed: 1, Budget: time.Minute})
		if err != nil || done.Outcome == nil {
			t.Fatal(name, done, err)
		}
		for _, after := range []bool{false, true} {
			checkRoute(t, p, done.Outcome, after)
		}
	}
}

func checkRoute(t *testing.T, p *Program, outcome *trace.Outcome, after bool) {
	t.Helper()
	route, err := p.Route(outcome.Schedule, after)
	if err != nil {
		t.Fatal(err)
	}
	stopped := 0
	for _, leg := range route.Legs {
		if leg.At != 0 {
			stopped++
		}
		if (leg.At != 0) != (leg.Count > 0) || leg.At > 0x2000 {
			t.Errorf("%+v, after %v", leg, after)
		}
	}
	failure := outcome.Worst()
	if stopped == 0 || route.Failing != failure.G || (route.At != 0) != (route.Count > 0) || (route.At == 0) != (len(failure.Waiting) > 0) {
		t.Errorf("%+v", route)
	}
}
