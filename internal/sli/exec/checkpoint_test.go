package exec_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

// longLoop is a goroutine that counts in a variable without events, and stores each count to
// one with events, so often that there are many checkpoints.
func longLoop(rounds int) *exec.Replay {
	b := slitest.NewBuilder()
	f := b.Func("f")
	count := f.Alloc(8)
	head, body, end := f.NewBlock(), f.NewBlock(), f.NewBlock()
	f.Jump(head)
	f.Enter(head)
	now := f.LoadAt(count, 8, "count")
	last(f).Sites = nil
	f.Branch(ir.Binary(ir.OpLt, ir.Unsigned, now, ir.Number(8, uint64(rounds))), body, end)
	f.Enter(body)
	f.StoreAt(count, ir.Binary(ir.OpAdd, ir.Unsigned, now, ir.Number(8, 1)), "count")
	last(f).Sites = nil
	stored := f.Store("shown", now)
	f.Jump(head)
	f.Enter(end)
	f.Return()
	events := []exec.Event{entered(f, 1, 0)}
	for i := range rounds {
		events = append(events, store(stored, varA, uint64(i)))
	}
	return exec.NewReplay(b.Program(), numbered(append(events, left(f, 1))...), exec.Failure{})
}

// told has a function that notes steps by the event they made and the count.
func told(all *[]string, from, to uint64) func(*exec.Thread, *exec.Step) bool {
	return func(_ *exec.Thread, s *exec.Step) bool {
		if s.MadeEvent && s.Time >= from && s.Time <= to {
			*all = append(*all, fmt.Sprint(s.Time, s.Point, s.Frame.Regs[len(s.Frame.Regs)-1]))
		}
		return s.Time <= to
	}
}

// TestAGoroutineIsFollowedAgainFromACheckpoint compares what is seen around an event, from the
// start and from a checkpoint: the memory that makes no events is as it was then.
func TestAGoroutineIsFollowedAgainFromACheckpoint(t *testing.T) {
	const rounds = 60_000
	r := longLoop(rounds)
	steps := 0
	r.Run(1, nil, func(*exec.Thread, *exec.Step) bool { steps++; return true })
	if got := r.Steps(1); got != steps || steps < 4*rounds {
		t.Fatalf("%d steps, of which %d were told", got, steps)
	}
	for _, at := range []uint64{50_000, 2, 1000, 59_999, 30_000} {
		var want, got, window []string
		r.Run(1, nil, told(&want, at-1, at+1))
		first, made := uint64(0), 0
		r.RunFrom(1, at, 500, nil, func(thread *exec.Thread, s *exec.Step) bool {
			if made++; first == 0 {
				first = s.Time
			}
			return told(&got, at-1, at+1)(thread, s)
		})
		if d := cmp.Diff(want, got); d != "" || len(want) == 0 {
			t.Errorf("around %d (-from the start +from a checkpoint):\n%s", at, d)
		}
		if at > 20_000 && (first+100 > at || made > 40_000) {
			t.Errorf("to event %d, %d steps were made from event %d on", at, made, first)
		}
		r.RunWindows(1, []exec.Window{{From: at, To: at + 1}, {From: at - 1, To: at}}, nil, told(&window, at-1, at+1))
		if d := cmp.Diff(want, window); d != "" {
			t.Errorf("in a window around %d (-from the start +in the window):\n%s", at, d)
		}
	}
	if w := r.TailWindow(1, 1000); w.From < 50_000 || w.To != r.Trace.Last() {
		t.Errorf("the end of the run is %+v", w)
	}
	if w := r.WindowAround(1, 30_000, 1000); w.From > 29_800 || w.From < 10_000 || w.To < 30_200 || w.To > 50_000 {
		t.Errorf("the steps around an event are %+v", w)
	}
}

// TestFollowingEndsWhenItIsInterrupted: nothing is followed any more then.
func TestFollowingEndsWhenItIsInterrupted(t *testing.T) {
	r := longLoop(50_000)
	asked := 0
	r.Interrupted = func() error {
		if asked++; asked > 2 {
			return fmt.Errorf("enough")
		}
		return nil
	}
	steps := 0
	for range 2 {
		r.Run(1, nil, func(*exec.Thread, *exec.Step) bool { steps++; return true })
	}
	if r.Err() == nil || steps > 50_000 {
		t.Errorf("%d steps, error %v", steps, r.Err())
	}
}
