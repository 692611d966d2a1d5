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
	pending     bool // event is to be completed and delivered
	seq         uint64
	allocations uint64
	event       event.Event
	before      [event.MaxValue]byte
}

func (s *scheduler) emit(c *goroutine, kind event.Kind, site uint32, addr, size uintptr, arg uint64) {
	if !s.recorder.on {
		return
	}
	s.settle()
	var g, frame uint32
	if c != nil {
		g, frame = c.id, c.frame
	}
	s.prepare(event.Event{G: g, Kind: kind, Site: site, Frame: frame, Addr: uint64(addr), Size: uint32(size), Arg: arg})
	s.config.Record(&s.recorder.event)
}

// emitOp is emit for what was announced as op.
func (s *scheduler) emitOp(c *goroutine, op event.Op, arg uint64) {
	s.emit(c, op.Kind, op.Site, op.Addr, op.Size, arg)
}

func (s *scheduler) prepare(e event.Event) {
	s.recorder.seq++
	e.Seq = s.recorder.seq
	s.recorder.event = e
}

// emitMemory is emit for an access that is about to happen, with the value.
func (s *scheduler) emitMemory(c *goroutine, kind event.Kind, site uint32, addr, size uintptr) {
	r := &s.recorder
	s.prepare(event.Event{G: c.id, Kind: kind, Site: site, Frame: c.frame, Addr: uint64(addr), Size: uint32(size)})
	r.event.Before = r.before[:copy(r.before[:], bytesAt(addr, min(size, event.MaxValue)))]
	if kind.IsRead() {
		s.config.Record(&r.event)
		return
	}
	r.pending = true
	s.unsettled = true
}

// flush completes and delivers the event that is pending.
func (s *scheduler) flush() {
	r := &s.recorder
	if !r.pending {
		return
	}
	r.pending = false
	r.event.After = bytesAt(uintptr(r.event.Addr), min(uintptr(r.event.Size), event.MaxValue))
	s.config.Record(&r.event)
}
