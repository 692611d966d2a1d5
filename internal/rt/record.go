package rt

import (
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// recording says that there is a run and it is recorded.
var recording atomic.Bool

// A recorder delivers events.
//
// The effect of a store is not known when its hook returns. Such an event is kept until
// the goroutine calls the next hook, which is before anything else can happen.
type recorder struct {
	on          bool
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

func (s *scheduler) emit(c *goroutine, kind event.Kind, site uint32, addr, size uintptr, arg uint64) {
	if !s.recorder.on {
		return
	}
	s.settle()
	var g, frame uint32
	if c != nil {
		g, frame = c.id, c.frame
	}
	s.deliver()
	s.prepare(g, frame, kind, site, addr, size).Arg = arg
	s.config.Record(&s.recorder.event)
}

// emitOp is emit for what was announced as op.
func (s *scheduler) emitOp(c *goroutine, op event.Op, arg uint64) {
	s.emit(c, op.Kind, op.Site, op.Addr, op.Size, arg)
}

// prepare makes the next event, without what only some have. The fields are set one by
// one because a literal would be put together elsewhere first.
func (s *scheduler) prepare(g, frame uint32, kind event.Kind, site uint32, addr, size uintptr) *event.Event {
	s.recorder.seq++
	e := &s.recorder.event
	e.Seq, e.G, e.Frame, e.Kind, e.Site = s.recorder.seq, g, frame, kind, site
	e.Addr, e.Size, e.Arg, e.Before, e.After = uint64(addr), uint32(size), 0, nil, nil
	return e
}

// noted takes note of a Load or Store that is about to happen, if it can be told as an
// access.
func (s *scheduler) noted(c *goroutine, kind event.Kind, site uint32, addr, size uintptr) bool {
	r := &s.recorder
	before, ok := numberAt(addr, size)
	if !ok || r.accesses == nil {
		return false
	}
	if r.waiting == len(r.accesses) {
		s.deliver()
	}
	r.seq++
	a := &r.accesses[r.waiting]
	a.Seq, a.Addr, a.Before, a.After = r.seq, uint64(addr), before, 0
	a.G, a.Site, a.Frame, a.Kind, a.Size = c.id, site, c.frame, kind, uint8(size)
	r.waiting++
	if kind == event.Store {
		r.pending = pendingAccess
		s.unsettled = true
	}
	return true
}

// emitMemory is emit for an access that is about to happen, with the value.
func (s *scheduler) emitMemory(c *goroutine, kind event.Kind, site uint32, addr, size uintptr) {
	r := &s.recorder
	s.deliver()
	s.prepare(c.id, c.frame, kind, site, addr, size).Before = r.before[:copy(r.before[:], bytesAt(addr, min(size, event.MaxValue)))]
	if kind.IsRead() {
		s.config.Record(&r.event)
		return
	}
	r.pending = pendingEvent
	s.unsettled = true
}

// deliver delivers the accesses that have happened so far, which are complete.
func (s *scheduler) deliver() {
	if r := &s.recorder; r.waiting > 0 {
		s.config.Accesses(r.accesses[:r.waiting])
		r.waiting = 0
	}
}

// complete completes the event that is pending.
func (s *scheduler) complete() {
	r := &s.recorder
	switch r.pending {
	case nothing:
	case pendingAccess:
		a := &r.accesses[r.waiting-1]
		a.After, _ = numberAt(uintptr(a.Addr), uintptr(a.Size))
	case pendingEvent:
		r.event.After = bytesAt(uintptr(r.event.Addr), min(uintptr(r.event.Size), event.MaxValue))
		s.config.Record(&r.event)
	}
	r.pending = nothing
}
