package drive

import (
	"errors"

	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// A Route is a run by the places where its threads were stopped, which are the same on a
// processor: steps are not, since the C library there is other code.
type Route struct {
	Legs []Leg
	// Failing is the thread that failed, and At with Count where: it goes on from the last
	// leg. At is 0 if that is not in the program's own code.
	Failing uint32
	At      uint64
	Count   int
}

// A Leg is the run of one thread.
type Leg struct {
	Thread uint32
	// At is the instruction that the thread stops in front of, by its address in the program's
	// file, when it comes there for the Count-th time. It is 0 where the thread ends or has to
	// wait for another.
	At    uint64
	Count int
}

// ErrHalves says that a schedule has one thread come between the load and the store of one
// instruction of another. No debugger can stop a thread there.
var ErrHalves = errors.New("a thread comes between the load and the store of one instruction of another, where none can be stopped")

// Route returns where the threads of a run by a schedule were stopped. A thread that was
// stopped in a library counts as stopped in front of the call that led there, or, with after,
// behind it.
func (p *Program) Route(schedule string, after bool) (*Route, error) {
	parsed, err := sched.ParseSchedule(schedule)
	if err != nil {
		return nil, err
	}
	// The first run finds the places, the second counts how often each is passed.
	places := &routing{after: after}
	if _, err := p.routed(parsed, places); err != nil {
		return nil, err
	}
	if places.halves {
		return nil, ErrHalves
	}
	counting := &routing{after: after, arrivals: map[arrival]int{}}
	for _, leg := range places.legs {
		if leg.At != 0 {
			counting.places = append(counting.places, leg.At)
		}
	}
	if places.failedAt != 0 {
		counting.places = append(counting.places, places.failedAt)
	}
	r, err := p.routed(parsed, counting)
	if err != nil {
		return nil, err
	}
	if r.failure == nil {
		return nil, errors.New("the schedule does not fail any more")
	}
	route := &Route{Failing: r.failure.G, At: counting.failedAt, Legs: counting.legs}
	base := r.process.Program().Base
	if route.At != 0 {
		route.Count = counting.arrivals[arrival{route.Failing, route.At}]
		route.At -= base
	}
	for i := range route.Legs {
		if leg := &route.Legs[i]; leg.At != 0 {
			leg.At -= base
		}
	}
	return route, nil
}

// routed makes a run from the very first instruction, with its route.
func (p *Program) routed(s sched.Schedule, routing *routing) (*run, error) {
	again := p.fresh()
	again.routing = routing
	r, err := again.runAll(sched.NewReplay(s), func(process *linux.Process) {
		for _, pc := range routing.places {
			process.Code.Mark(pc)
		}
	})
	if err == nil && r.failure != nil {
		routing.failedAt = r.failedAt()
	}
	return r, err
}

// A routing is the route of a run that is under way.
type routing struct {
	after    bool // see Route
	legs     []Leg
	halves   bool
	failedAt uint64
	places   []uint64
	arrivals map[arrival]int
}

// An arrival is a thread at a place.
type arrival struct {
	thread uint32
	at     uint64
}

// arrives counts a thread that is about to execute a marked instruction.
func (r *routing) arrives(t *linux.Thread) {
	if r != nil && r.arrivals != nil {
		r.arrivals[arrival{t.Number, t.CPU.PC}]++
	}
}

// leaves ends the leg of a thread.
func (r *run) leaves(t *linux.Thread) {
	routing := r.routing
	leg := Leg{Thread: t.Number}
	behindCall := false
	if t.Runs() {
		if r.state(t).half.step == 2 {
			routing.halves = true
		}
		if leg.At, behindCall = r.stoppedAt(t); leg.At == 0 && !r.wasOwn(t) {
			return // it has not come to the program's own code yet
		}
	}
	leg.Count = routing.arrivals[arrival{t.Number, leg.At}]
	if behindCall {
		leg.Count++ // the thread has yet to come there
	}
	if n := len(routing.legs) - 1; n >= 0 && routing.legs[n].Thread == t.Number {
		routing.legs[n] = leg
		return
	}
	routing.legs = append(routing.legs, leg)
}

// stoppedAt is the place in the program's own code where a thread is: 0 if it is not called by
// any. Of a thread in a library it is the call that led there or, with after, where that call
// returns to: behindCall.
func (r *run) stoppedAt(t *linux.Thread) (at uint64, behindCall bool) {
	inLibrary := false
	r.returns(t, t.CPU.PC, func(pc uint64) bool {
		switch {
		case !r.isOwnCode(pc):
			inLibrary = true
			return true
		case inLibrary && !r.routing.after:
			at = r.callBefore(pc)
		default:
			at, behindCall = pc, inLibrary
		}
		return false
	})
	return at, behindCall
}

// wasOwn reports whether a thread has been stopped in the program's own code before.
func (r *run) wasOwn(t *linux.Thread) bool {
	for _, leg := range r.routing.legs {
		if leg.Thread == t.Number && leg.At != 0 {
			return true
		}
	}
	return false
}

// isOwnCode reports whether an address is in the code of the program itself.
func (r *run) isOwnCode(pc uint64) bool {
	a, ok := r.process.Mem.Area(pc)
	return ok && a.File != nil && a.File.Name == r.own
}

// failedAt is the program's own instruction at which a run failed, 0 if there is none.
func (r *run) failedAt() uint64 {
	if len(r.failure.Waiting) > 0 {
		return 0
	}
	if s, ok := r.process.Code.Sites()[r.failure.Site]; ok && r.isOwnCode(s.PC) {
		return s.PC
	}
	return 0
}
