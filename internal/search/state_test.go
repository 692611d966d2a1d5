package search

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// TestASearchThatIsLeftAndTakenUpMissesNothing: a search in many turns, by one process or each by
// another one from its state, comes to what it comes to in one go.
func TestASearchThatIsLeftAndTakenUpMissesNothing(t *testing.T) {
	o := Options{PlanOptions: sched.PlanOptions{Method: sched.MethodRandom, Seed: 2, Runs: 4000}, All: true}
	crew := &toyCrew{steps: 6, fails: func(order string) event.FailureKind {
		if order[:4] == "2121" {
			return event.FailureCrash
		}
		return 0
	}}
	sum := func(x *Pass) string {
		s := x.Sum
		return fmt.Sprint(s.Runs, s.Classes, s.Steps, s.Passed, len(s.Failures), s.Search)
	}
	whole := New(o)
	if err := whole.Run(crew, time.Minute, 1); err != nil {
		t.Fatal(err)
	}
	for _, handOver := range []bool{false, true} {
		x, turns := New(o), 0
		for ; !x.Over; turns++ {
			if err := x.Run(&turnCrew{toyCrew: crew}, 0, 1); err != nil {
				t.Fatal(err)
			}
			if handOver {
				x = elsewhere(t, x)
			}
		}
		if sum(x) != sum(whole) || turns < 5 {
			t.Errorf("in %d turns, handed over: %v: %s, want %s", turns, handOver, sum(x), sum(whole))
		}
	}
}

// elsewhere returns the pass as another process takes it up.
func elsewhere(t *testing.T, x *Pass) *Pass {
	t.Helper()
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(x.State()); err != nil {
		t.Fatal(err)
	}
	state := &State{}
	if err := gob.NewDecoder(&text).Decode(state); err != nil {
		t.Fatal(err)
	}
	x = New(x.o)
	x.Restore(state)
	return x
}

// A turnCrew has a turn end when it has done some units.
type turnCrew struct {
	*toyCrew
	did bool
}

func (c *turnCrew) Starting() time.Duration {
	if c.did {
		return -time.Hour
	}
	return time.Hour
}

func (c *turnCrew) Do(worker int, units []sched.Unit, _ func() time.Time) ([]wire.UnitDone, error) {
	defer func() { c.did = true }()
	return c.toyCrew.Do(worker, units, func() time.Time { return time.Now().Add(time.Hour) })
}
