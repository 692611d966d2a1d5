package drive

import (
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// Time moves by itself when no thread can go on, to the next moment at which a thread has
// slept, or waited, for long enough. It may also move while threads are ready, if the strategy
// says so: the machine was busy, and a sleep of another thread ended before they went on. All
// such stalls of a run together are limited, as for programs with source (internal/rt): a
// program is not at fault if it fails on a machine that stands still for ten seconds.

// moves is how time has moved, since the last step and in all.
type moves struct {
	step          uint64 // how many steps there were
	idle, stalled uint32 // by itself, and though threads were ready
	total         int64  // nanoseconds of the run in which threads were ready
}

// since prepares for counting or telling moves after so many steps.
func (m *moves) since(step uint64) {
	if m.step != step {
		m.step, m.idle, m.stalled = step, 0, 0
	}
}

// sleeping is the address that stands for the ends of sleeps, which nothing else touches.
const sleeping = 16

// fires is what it means to others that a moment comes.
func fires(m *linux.Moment) event.Op {
	op := event.Op{Kind: event.TimerFire, Addr: kernel, Size: 8}
	switch {
	case m.Sleeps:
		op.Addr = sleeping
	case m.Futex != 0:
		op.Addr, op.Size = uintptr(m.Futex), 4
	}
	return op
}

// offerTime adds to what can go next that time moves on, if it may. It reports whether it
// does.
func (r *run) offerTime(p *sched.Turn) bool {
	r.moves.since(r.steps)
	p.Idle, p.Stalled = r.moves.idle, r.moves.stalled
	if r.stall == 0 {
		return false
	}
	m, ok := r.process.Next()
	switch {
	case !ok:
		return false
	case m.In > r.stall-r.moves.total:
		r.held.Stall, r.held.StallLimit = true, r.stall
		return false
	}
	p.Ready, p.Ops = append(p.Ready, sched.Time), append(p.Ops, fires(&m))
	return true
}

// stalls moves time on to the next moment, though threads are ready.
func (r *run) stalls() {
	m, _ := r.process.Next()
	r.moves.stalled++
	r.moves.total += m.In
	r.process.Pass(m.In)
}

// idle moves time on because no thread can go on. It reports whether one ever can.
func (r *run) idle(watches bool) bool {
	if r.process.Serve() {
		// A child that never ends must not keep the run from being cut off.
		r.cutOff = r.stop != nil && r.stop()
		return true
	}
	m, ok := r.process.Next()
	if ok && watches {
		p := &r.point
		r.moves.since(r.steps)
		p.Step, p.Current, p.Last, p.Taken, p.Idle, p.Stalled = r.steps, 0, 0, 0, r.moves.idle, r.moves.stalled
		if r.last != nil {
			p.Last, p.Taken = r.last.Number, r.state(r.last).taken
		}
		p.Ready, p.Ops = append(p.Ready[:0], sched.Time), append(p.Ops[:0], fires(&m))
		r.strategy.Pick(p)
	}
	if ok {
		r.moves.since(r.steps)
		r.moves.idle++
	}
	return r.process.Idle()
}
