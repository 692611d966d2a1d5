package drive

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// TestRacesAreFoundWhereTheyAreAskedFor: threads that synchronise by mutex, update, once,
// barrier, semaphore, pipe and join do not race; a counter without any does.
func TestRacesAreFoundWhereTheyAreAskedFor(t *testing.T) {
	if !dynamic(t) {
		return
	}
	for _, c := range []struct {
		args  []string
		races bool
		want  bool
	}{{nil, true, false}, {[]string{"racy"}, true, true}, {[]string{"racy"}, false, false}} {
		p := load(t, "testdata/races", c.args...)
		done, err := p.Explore(context.Background(), &Options{Method: sched.MethodPCT, Seed: 1, Budget: time.Minute, Runs: 150, Races: c.races})
		if err != nil {
			t.Fatal(err)
		}
		f := done.Outcome.Worst()
		if (f != nil) != c.want {
			t.Errorf("%v, races %v: %v", c.args, c.races, f)
			continue
		}
		if f == nil {
			continue
		}
		if f.Kind != event.FailureRace || len(f.Others) != 1 || f.Site != f.Others[0].Site || f.G == f.Others[0].G {
			t.Errorf("%+v", f)
		}
		checkRecordedRace(t, p, done.Outcome.Schedule)
	}
}

// checkRecordedRace: the race is in the trace, with the line that it is at, and comes back.
func checkRecordedRace(t *testing.T, p *Program, schedule string) {
	file := filepath.Join(t.TempDir(), "run.trace")
	if out, err := p.Record(schedule, file); err != nil || out.Worst() == nil || out.Worst().Kind != event.FailureRace {
		t.Fatal(out, err)
	}
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := r.Outcome.Worst()
	if s, ok := r.Site(f.Site); !ok || filepath.Base(s.File) != "races.c" || s.Line != 30 || !strings.HasPrefix(s.Function, "work+") {
		t.Errorf("%+v", s)
	}
	if len(f.Stack) == 0 || f.Stack[0].Line != 30 {
		t.Errorf("%+v", f.Stack)
	}
	if again, diff, err := Replay(r, file+"2"); err != nil || diff != nil || again.Worst() == nil {
		t.Errorf("replayed: %v, %v, %v", again, diff, err)
	}
}

// TestTheSameIsFoundByAnyNumberOfProcesses: and a search of all schedules tries the same ones.
func TestTheSameIsFoundByAnyNumberOfProcesses(t *testing.T) {
	if !dynamic(t) {
		return
	}
	type result struct {
		first, runs, classes int
		schedule             string
		complete             bool
	}
	for _, c := range []struct {
		path string
		o    Options
	}{
		{examples + "privatize.O0", Options{Method: sched.MethodPCT}},
		{"testdata/races", Options{Method: sched.MethodDFS, Preemptions: 1}},
	} {
		var want result
		for _, jobs := range []int{1, 3} {
			o := c.o
			o.Seed, o.Budget, o.Jobs = 1, time.Minute, jobs
			done, err := load(t, c.path).Explore(context.Background(), &o)
			if err != nil {
				t.Fatal(err)
			}
			got := result{first: done.First, runs: done.Runs, classes: done.Classes, complete: done.Search.Complete()}
			if done.Outcome != nil {
				got.schedule = done.Outcome.Schedule
			}
			if jobs == 1 {
				want = got
				t.Logf("%s: %+v", c.path, got)
			}
			if got != want {
				t.Errorf("%s with %d processes: %+v, with one %+v", c.path, jobs, got, want)
			}
		}
	}
}
