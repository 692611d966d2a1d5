package explore

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

func TestTargetsAreChosenByName(t *testing.T) {
	p := build(t, "testdata/pairs")
	p = withArguments(p, "-test.run=^TestFineMutex$")
	all, broken, err := p.build.Targets(t.Context())
	if err != nil || len(all) != 1 || len(broken) != 0 || all[0].Name() != "TestFineMutex" || all[0].Program != p {
		t.Errorf("%+v, %v, %v", all, broken, err)
	}
	p = withArguments(p, "-test.run=^Nothing$")
	if all, _, err := p.build.Targets(t.Context()); err == nil || !strings.Contains(err.Error(), "no test to explore") {
		t.Errorf("%+v, %v", all, err)
	}
	if name := (Target{Program: p}).Name(); name != "main" {
		t.Errorf("a program is called %s", name)
	}
}

// TestNothingIsSeenOfHowATestIsSelected: a run has the same events, and a search the same runs,
// whatever the test is chosen by.
func TestNothingIsSeenOfHowATestIsSelected(t *testing.T) {
	p := build(t, "testdata/pairs")
	var events []uint64
	var tried []string
	for _, args := range [][]string{nil, {"-test.run=^TestFine(Mutex|No)$|^TestBugMutex", "-test.skip=Bug+"}} {
		p, o := withArguments(p, args...), options(t)
		o.Runs = 200
		res, err := p.Explore(t.Context(), "TestFineMutex", o)
		if err != nil || res.Failure != nil || res.NothingRan != 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		tried = append(tried, res.Search.String())
		done, err := p.Record(t.Context(), "TestFineMutex", "default", o, o.Trace)
		if err != nil || done.Outcome.Result != event.Passed {
			t.Fatalf("%+v, %v", done, err)
		}
		r, err := trace.Open(o.Trace)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, r.Len())
		r.Close()
	}
	if events[0] != events[1] || events[0] == 0 {
		t.Errorf("events without and with patterns: %d", events)
	}
	if tried[0] != tried[1] {
		t.Errorf("tried without and with patterns: %q", tried)
	}
}

// TestAProgramThatEndsWellBeforeItIsAskedHasNoTests: whether it ends before the order is written or
// after that is for the machine to say, and must not matter.
func TestAProgramThatEndsWellBeforeItIsAskedHasNoTests(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{
		build:  &Build{config: instrument.Config{Tests: true}, args: []string{"-test.run=^$"}},
		Binary: instrument.Binary{Path: path, Dir: "."},
	}
	c, err := p.start(t.Context(), &Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c.reports); err != nil { // until it has ended
		t.Fatal(err)
	}
	if _, err = c.order(&wire.Order{Verb: wire.List}, nil); !errors.Is(unlisted(err), ErrNoTests) {
		t.Errorf("%v", unlisted(err))
	}
}

func TestTimeIsSharedByTheTargetsThatAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deadline := time.Now().Add(9 * time.Second)
		if got := Share(deadline, 3); got != 3*time.Second {
			t.Errorf("the first of three gets %v", got)
		}
		<-time.After(time.Second)
		if got := Share(deadline, 2); got != 4*time.Second {
			t.Errorf("the next gets %v of what the first has left", got)
		}
		<-time.After(time.Minute)
		if got := Share(deadline, 1); got != leastShare {
			t.Errorf("after the deadline: %v", got)
		}
	})
}
