package drive

import (
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// TestARunHaltsBeforeThePreemptionThatIsAsked: of three turns, two of which leave the goroutine
// that could go on, it is at the last that the second preemption is made.
func TestARunHaltsBeforeThePreemptionThatIsAsked(t *testing.T) {
	schedule, err := sched.ParseSchedule("1.1+2,2.2+1")
	if err != nil {
		t.Fatal(err)
	}
	for wanted, want := range map[int][]int{1: {0}, 2: {2}, 3: nil} {
		turn := 0
		var halted []int
		h := &haltingStrategy{Recorder: sched.NewRecorder(sched.NewReplay(schedule), false), before: wanted, halt: func() { halted = append(halted, turn) }}
		h.Begin()
		ops := []event.Op{{Kind: event.Store, G: 1}, {Kind: event.Store, G: 2}}
		for n, at := range []struct {
			current uint32
			taken   uint64
		}{{1, 1}, {2, 1}, {2, 2}} {
			turn = n
			h.Pick(&sched.Turn{Current: at.current, Last: at.current, Taken: at.taken, Ready: []uint32{1, 2}, Ops: ops})
		}
		if !slices.Equal(halted, want) {
			t.Errorf("before preemption %d: halted at turns %v, want %v", wanted, halted, want)
		}
	}
}
