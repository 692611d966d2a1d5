package trace

import (
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A Problem is something in a trace that no run can have done.
type Problem struct {
	Seq  uint64
	What string
}

func (p Problem) String() string { return fmt.Sprintf("event %d: %s", p.Seq, p.What) }

// maxProblems is how many are worth reading.
const maxProblems = 100

// Validate reads a trace and checks that it makes sense:
//
//   - sequence numbers rise;
//   - a goroutine is created by a Go, and once; it does nothing before its Start and
//     after its End. The first one needs no Go and no Start;
//   - a frame is defined by a Call before it is used;
//   - a lock is taken while it is free, and given back while it is held. Locks that
//     were touched while a goroutine was outside of control are not checked.
//
// It is a sanity pass over the recording, for tests and for traces that look wrong.
// The error is for a trace that cannot be read to its end.
func Validate(r *Reader) ([]Problem, error) {
	v := &validator{gs: map[uint32]life{1: started}, frames: map[uint32]uint64{}, locks: map[uint64]int{}}
	c := r.Cursor(Filter{})
	for c.Next() && len(v.problems) < maxProblems {
		v.event(c.Event())
	}
	return v.problems, c.Err()
}

// A life is what a goroutine has come to.
type life uint8

const (
	unknown life = iota
	created
	started
	ended
)

const lockedForWriting = -1

type validator struct {
	problems []Problem
	last     uint64
	any      bool
	outside  bool
	gs       map[uint32]life
	frames   map[uint32]uint64 // by number divided by 64: which are defined
	locks    map[uint64]int    // readers, or lockedForWriting
}

func (v *validator) problem(e *event.Event, format string, args ...any) {
	v.problems = append(v.problems, Problem{e.Seq, fmt.Sprintf(format, args...)})
}

func (v *validator) event(e *event.Event) {
	if v.any && e.Seq <= v.last {
		v.problem(e, "it comes after event %d", v.last)
	}
	v.last, v.any = e.Seq, true
	if !e.Kind.Valid() {
		v.problem(e, "it has the unknown kind %d", e.Kind)
	}
	v.goroutine(e)
	v.frame(e)
	v.lock(e)
}

func (v *validator) goroutine(e *event.Event) {
	switch e.Kind {
	case event.Go:
		child := uint32(e.Arg)
		if v.gs[child] != unknown {
			v.problem(e, "goroutine %d is created a second time", child)
		} else {
			v.gs[child] = created
		}
		// A timer creates in the name of the goroutine that set it, which may be gone.
		if e.Site == 0 {
			return
		}
	case event.Start:
		switch v.gs[e.G] {
		case unknown:
			v.problem(e, "goroutine %d starts, and nobody created it", e.G)
		case started:
			if e.G != 1 {
				v.problem(e, "goroutine %d starts a second time", e.G)
			}
		case ended:
			v.problem(e, "goroutine %d starts after its end", e.G)
		}
		v.gs[e.G] = started
		return
	}
	// Goroutine 0 stands for events that are of no goroutine: timers, choices.
	if e.G == 0 {
		return
	}
	switch v.gs[e.G] {
	case unknown, created:
		v.problem(e, "%v by goroutine %d, which has not started", e.Kind, e.G)
		v.gs[e.G] = started
	case ended:
		v.problem(e, "%v by goroutine %d, which has ended", e.Kind, e.G)
	}
	if e.Kind == event.End {
		v.gs[e.G] = ended
	}
}

func (v *validator) frame(e *event.Event) {
	if e.Kind == event.Call {
		caller := uint32(e.Arg)
		if e.Arg > 1<<32-1 || e.Frame == 0 {
			v.problem(e, "a call defines frame %d with caller %d", e.Frame, e.Arg)
			return
		}
		if caller != 0 && !v.defined(caller) {
			v.problem(e, "a call defines frame %d with caller %d, which is not defined", e.Frame, caller)
		}
		v.frames[e.Frame/64] |= 1 << (e.Frame % 64)
		return
	}
	if e.Frame != 0 && !v.defined(e.Frame) {
		v.problem(e, "it is in frame %d, which is not defined", e.Frame)
		v.frames[e.Frame/64] |= 1 << (e.Frame % 64)
	}
}

func (v *validator) defined(frame uint32) bool { return v.frames[frame/64]>>(frame%64)&1 != 0 }

func (v *validator) lock(e *event.Event) {
	if e.Kind == event.Outside {
		v.outside = true
	}
	if v.outside || e.Addr == 0 {
		return
	}
	held := v.locks[e.Addr]
	switch e.Kind {
	case event.Lock, event.TryLock:
		if e.Kind == event.TryLock && e.Arg == 0 {
			return
		}
		if held != 0 {
			v.problem(e, "the lock at %#x is taken while it is held", e.Addr)
		}
		v.locks[e.Addr] = lockedForWriting
	case event.Unlock:
		if held != lockedForWriting {
			v.problem(e, "the lock at %#x is given back while it is not held", e.Addr)
		}
		delete(v.locks, e.Addr)
	case event.RLock, event.TryRLock:
		if e.Kind == event.TryRLock && e.Arg == 0 {
			return
		}
		if held == lockedForWriting {
			v.problem(e, "the lock at %#x is taken for reading while it is held", e.Addr)
			held = 0
		}
		v.locks[e.Addr] = held + 1
	case event.RUnlock:
		if held <= 0 {
			v.problem(e, "the lock at %#x is given back by a reader while none holds it", e.Addr)
			return
		}
		if held == 1 {
			delete(v.locks, e.Addr)
		} else {
			v.locks[e.Addr] = held - 1
		}
	}
}
