// Package record delivers the events of a run in the order of their effects.
//
// The effect of a store is not known when its hook returns. Such an event is kept until
// the goroutine calls the next hook, which is before anything else can happen; then
// Complete adds what is there and delivers it.
package record

import (
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/peek"
)

// A Recorder delivers events.
type Recorder struct {
	// On says that the run is recorded. Nothing else may be called if it is not.
	On bool

	record      func(*event.Event)
	deliver     func([]event.Access) // nil: record gets the accesses, too
	pending     pending
	seq         uint64
	allocations uint64
	event       event.Event
	before      [event.MaxValue]byte
	// accesses are events that have not been delivered yet. There are some because what
	// receives them is then not called for each.
	accesses []event.Access
	waiting  int // of accesses
}

// together is how many accesses are delivered at once: few enough to be in the cache
// still.
const together = 64

// pending says what is to be completed: event, or the last of accesses.
type pending uint8

const (
	nothing pending = iota
	pendingEvent
	pendingAccess
)

// New returns a recorder that calls record with every event; or accesses, if that is not
// nil, with those that can be told as accesses, some at a time, in the same order.
func New(record func(*event.Event), accesses func([]event.Access)) Recorder {
	r := Recorder{On: record != nil, record: record, deliver: accesses}
	if accesses != nil {
		r.accesses = make([]event.Access, together)
	}
	return r
}

// Event delivers an event that has happened.
func (r *Recorder) Event(g, frame uint32, kind event.Kind, site uint32, addr, size uintptr, arg uint64) {
	r.Deliver()
	r.prepare(g, frame, kind, site, addr, size).Arg = arg
	r.record(&r.event)
}

// prepare makes the next event, without what only some have. The fields are set one by
// one because a literal would be put together elsewhere first.
func (r *Recorder) prepare(g, frame uint32, kind event.Kind, site uint32, addr, size uintptr) *event.Event {
	r.seq++
	e := &r.event
	e.Seq, e.G, e.Frame, e.Kind, e.Site = r.seq, g, frame, kind, site
	e.Addr, e.Size, e.Arg, e.Before, e.After = uint64(addr), uint32(size), 0, nil, nil
	return e
}

// Access takes note of a Load or Store that is about to happen, and reports whether it is
// to be completed.
func (r *Recorder) Access(g, frame uint32, kind event.Kind, site uint32, addr, size uintptr) (unsettled bool) {
	before, ok := peek.Number(addr, size)
	if !ok || r.accesses == nil {
		return r.Value(g, frame, kind, site, addr, size)
	}
	if r.waiting == len(r.accesses) {
		r.Deliver()
	}
	r.seq++
	a := &r.accesses[r.waiting]
	a.Seq, a.Addr, a.Before, a.After = r.seq, uint64(addr), before, 0
	a.G, a.Site, a.Frame, a.Kind, a.Size = g, site, frame, kind, uint8(size)
	r.waiting++
	if kind == event.Store {
		r.pending = pendingAccess
		return true
	}
	return false
}

// Value is Access for any access, with the value of any size.
func (r *Recorder) Value(g, frame uint32, kind event.Kind, site uint32, addr, size uintptr) (unsettled bool) {
	r.Deliver()
	r.prepare(g, frame, kind, site, addr, size).Before = r.before[:copy(r.before[:], peek.Bytes(addr, min(size, event.MaxValue)))]
	if kind.IsRead() {
		r.record(&r.event)
		return false
	}
	r.pending = pendingEvent
	return true
}

// Allocation returns the number of the next allocation.
func (r *Recorder) Allocation() uint64 {
	r.allocations++
	return r.allocations
}

// Swapped says whether the compare and swap that is to be completed changed its value.
func (r *Recorder) Swapped(changed bool) {
	if r.pending == pendingEvent && changed {
		r.event.Arg = 1
	}
}

// Deliver delivers the accesses that have happened so far, which are complete.
func (r *Recorder) Deliver() {
	if r.waiting > 0 {
		r.deliver(r.accesses[:r.waiting])
		r.waiting = 0
	}
}

// Complete completes the event that is pending, if one is.
func (r *Recorder) Complete() {
	switch r.pending {
	case nothing:
	case pendingAccess:
		a := &r.accesses[r.waiting-1]
		a.After, _ = peek.Number(uintptr(a.Addr), uintptr(a.Size))
	case pendingEvent:
		r.event.After = peek.Bytes(uintptr(r.event.Addr), min(uintptr(r.event.Size), event.MaxValue))
		r.record(&r.event)
	}
	r.pending = nothing
}
