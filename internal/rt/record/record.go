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

	record func(*event.Event)
	// deliver gets accesses, and returns room for the next; nil: record gets them, too.
	deliver     func([]event.Access) []event.Access
	pending     *event.Access // the store to be completed; nil if event is, or nothing
	unfinished  bool          // event is to be completed
	seq         uint64
	allocations uint64
	event       event.Event
	before      [event.MaxValue]byte
	after       [event.MaxValue]byte // of an entry
	// accesses is room for events that have not been delivered yet. There are some because
	// what receives them is then not called for each.
	accesses []event.Access
	waiting  int // of accesses
	// nextHalt is the number of the next event to halt at; 0 if there is none.
	nextHalt  uint64
	laterHalt []uint64
	halt      func()
}

// New returns a recorder that calls record with every event; or accesses, if that is not
// nil, with those that can be told as accesses, some at a time, in the same order. Accesses
// returns room for the next ones, which is used until another function is called.
func New(record func(*event.Event), accesses func([]event.Access) []event.Access) Recorder {
	return Recorder{On: record != nil, record: record, deliver: accesses}
}

// HaltAt has a function called when one of some events is made, by the goroutine that makes it. The
// numbers ascend. An access has not happened then; what else there is has.
func (r *Recorder) HaltAt(events []uint64, halt func()) {
	r.laterHalt, r.halt = events, halt
	r.setNextHalt()
}

func (r *Recorder) setNextHalt() {
	r.nextHalt = 0
	if len(r.laterHalt) > 0 {
		r.nextHalt, r.laterHalt = r.laterHalt[0], r.laterHalt[1:]
	}
}

// number returns the number of the next event.
func (r *Recorder) number() uint64 {
	if r.seq++; r.seq == r.nextHalt {
		r.setNextHalt()
		r.halt()
	}
	return r.seq
}

// Event delivers an event that has happened.
func (r *Recorder) Event(g, frame uint32, kind event.Kind, site uint32, addr, size uintptr, arg uint64) {
	r.Deliver()
	r.prepare(g, frame, kind, site, addr, size).Arg = arg
	r.tell()
}

// Entry delivers an access to an entry of a map. What a read leaves there is what was there.
func (r *Recorder) Entry(g, frame uint32, kind event.Kind, site uint32, addr, size uintptr, before, after event.Entry) {
	r.Deliver()
	e := r.prepare(g, frame, kind, site, addr, size)
	e.Before = r.before[:before.Put(&r.before)]
	if kind == event.MapWrite {
		e.After = r.after[:after.Put(&r.after)]
	}
	r.tell()
}

// tell delivers the event that is prepared. What room there was for accesses is gone then.
func (r *Recorder) tell() {
	r.accesses = nil
	r.record(&r.event)
}

// prepare makes the next event, without what only some have. The fields are set one by
// one because a literal would be put together elsewhere first.
func (r *Recorder) prepare(g, frame uint32, kind event.Kind, site uint32, addr, size uintptr) *event.Event {
	e := &r.event
	e.Seq, e.G, e.Frame, e.Kind, e.Site = r.number(), g, frame, kind, site
	e.Addr, e.Size, e.Arg, e.Before, e.After = uint64(addr), uint32(size), 0, nil, nil
	return e
}

// Access takes note of a Load or Store that is about to happen, and reports whether it is
// to be completed.
func (r *Recorder) Access(g, frame uint32, kind event.Kind, site uint32, addr, size uintptr) (unsettled bool) {
	var before uint64
	if size == 8 {
		before = uint64(peek.Word(addr))
	} else {
		var ok bool
		if before, ok = peek.Number(addr, size); !ok {
			return r.Value(g, frame, kind, site, addr, size)
		}
	}
	if r.deliver == nil {
		return r.Value(g, frame, kind, site, addr, size)
	}
	if r.waiting == len(r.accesses) {
		r.accesses, r.waiting = r.deliver(r.accesses), 0
	}
	a := &r.accesses[r.waiting]
	a.Seq, a.Addr, a.Before, a.After = r.number(), uint64(addr), before, 0
	a.G, a.Site, a.Frame, a.Kind, a.Size = g, site, frame, kind, uint8(size)
	r.waiting++
	if kind == event.Store {
		r.pending = a
		return true
	}
	return false
}

// Value is Access for any access, with the value of any size.
func (r *Recorder) Value(g, frame uint32, kind event.Kind, site uint32, addr, size uintptr) (unsettled bool) {
	r.Deliver()
	r.prepare(g, frame, kind, site, addr, size).Before = r.before[:copy(r.before[:], peek.Bytes(addr, min(size, event.MaxValue)))]
	if kind.IsRead() {
		r.tell()
		return false
	}
	r.unfinished = true
	return true
}

// Allocation returns the number of the next allocation.
func (r *Recorder) Allocation() uint64 {
	r.allocations++
	return r.allocations
}

// Swapped says whether the compare and swap that is to be completed changed its value.
func (r *Recorder) Swapped(changed bool) {
	if r.unfinished && changed {
		r.event.Arg = 1
	}
}

// Deliver delivers the accesses that have happened so far, which are complete.
func (r *Recorder) Deliver() {
	if r.waiting > 0 {
		r.accesses, r.waiting = r.deliver(r.accesses[:r.waiting]), 0
	}
}

// CompleteAccess completes the store that is to be completed, and reports whether there was
// one that was taken note of by Access alone.
func (r *Recorder) CompleteAccess() bool {
	a := r.pending
	if a == nil {
		return false
	}
	r.pending = nil
	if a.Size == 8 {
		a.After = uint64(peek.Word(uintptr(a.Addr)))
	} else {
		a.After, _ = peek.Number(uintptr(a.Addr), uintptr(a.Size))
	}
	return true
}

// Complete completes what is to be completed, if anything is.
func (r *Recorder) Complete() {
	if r.CompleteAccess() || !r.unfinished {
		return
	}
	r.unfinished = false
	r.event.After = peek.Bytes(uintptr(r.event.Addr), min(uintptr(r.event.Size), event.MaxValue))
	r.tell()
}
