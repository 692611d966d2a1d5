package explore

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// distant returns a program as another machine opens it.
func distant(t *testing.T, p *Program) *Program {
	t.Helper()
	text, err := json.Marshal(p.Manifest())
	if err != nil {
		t.Fatal(err)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	there, err := Open(&m, Place{Binary: p.Path, Sites: p.SitesFile(), Dir: t.TempDir(), Environment: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	return there
}

// passOn returns a value as it comes out of a message.
func passOn[T any](t *testing.T, v *T) *T {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out := new(T)
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestASearchThatIsDoneElsewhereComesToTheSame: units are done by a program that was opened from its
// manifest, and the search is taken up from its state.
func TestASearchThatIsDoneElsewhereComesToTheSame(t *testing.T) {
	p := build(t, "testdata/pairs")
	there := distant(t, p)
	for _, target := range []string{"TestBugThreeCountersLoseACount", "TestFineThreeCounters"} {
		o := &Options{Strategy: sched.MethodPCT, Seed: 1, Budget: time.Minute, Runs: 3000, Races: true, All: true, Jobs: 1, Pairs: true}
		reached := func(s *Search) string {
			sum := s.Reached()
			return fmt.Sprint(sum.Runs, sum.Classes, sum.Steps, sum.Passed, len(s.Gathered()), sum.Search)
		}
		here := p.NewSearch(target, o)
		if err := here.Continue(t.Context(), time.Minute, 1); err != nil {
			t.Fatal(err)
		}
		hands := there.NewHands(t.Context(), target, o, false)
		defer hands.Close()
		away, pairs, errands := *o, map[uint64]bool{}, 0
		away.Elsewhere = func(_ context.Context, e *Errand) (*UnitsDone, error) {
			errands++
			done, err := hands.Do(passOn(t, e))
			if err != nil {
				return nil, err
			}
			for i := range done.Units {
				for _, pair := range done.Units[i].Pairs {
					pairs[pair] = true
				}
			}
			return passOn(t, done), nil
		}
		s := p.NewSearch(target, &away)
		if err := s.Continue(t.Context(), time.Minute, 1); err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := gob.NewEncoder(&text).Encode(s.State()); err != nil {
			t.Fatal(err)
		}
		state := &SearchState{}
		if err := gob.NewDecoder(&text).Decode(state); err != nil {
			t.Fatal(err)
		}
		s = p.NewSearch(target, &away)
		s.Restore(state)
		if reached(s) != reached(here) {
			t.Errorf("%s in %d errands: %s, want %s", target, errands, reached(s), reached(here))
		}
		if len(pairs) < 4 {
			t.Errorf("%s: %d pairs of conflicting accesses", target, len(pairs))
		}
		for i, g := range s.Gathered() {
			file := filepath.Join(t.TempDir(), fmt.Sprint(i, ".trace"))
			seen, err := there.Confirm(t.Context(), target, o, passOn(t, &g), file)
			if err != nil || !seen.Seen || seen.Finding.Kind == "" {
				t.Fatalf("%s: %+v, %v", &g.Failure, seen, err)
			}
			r, err := trace.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			again, err := p.Replay(t.Context(), r)
			if err != nil || again.Parting != nil {
				t.Errorf("the program at home takes another way: %v, %v", again, err)
			}
			rerun, err := there.RunAgain(t.Context(), target, seen.Schedule, o, false, file+"2")
			if err != nil || !rerun.Followed || len(rerun.Findings) == 0 || rerun.Findings[0].ID() != Findings(r, "")[0].ID() {
				t.Errorf("%+v, %v", rerun, err)
			}
			r.Close()
		}
	}
}

// TestHowAProcessEndsIsTheSameElsewhere: errors that decide how a search goes on survive a message.
func TestHowAProcessEndsIsTheSameElsewhere(t *testing.T) {
	for _, err := range []error{errChangesEndings, errChangesSteps, &StuckError{Output: "x"}, &DeathError{Cause: os.ErrClosed, Output: "o", Crash: "panic: c\n"}} {
		back := passOn(t, endedBy(err)).err()
		if fmt.Sprint(back) != fmt.Sprint(err) || fmt.Sprintf("%T", back) != fmt.Sprintf("%T", err) {
			t.Errorf("%v became %v", err, back)
		}
	}
	if endedBy(os.ErrClosed) != nil || (*Ended)(nil).err() != nil {
		t.Error("another error is told as the end of a process")
	}
}

func TestAProgramForAnotherMachineIsRefused(t *testing.T) {
	m := build(t, "testdata/pairs").Manifest()
	m.GOARCH = "pdp11"
	if _, err := Open(m, Place{}); err == nil {
		t.Error("it was opened")
	}
}
