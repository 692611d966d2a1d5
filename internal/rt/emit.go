package rt

import (
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// recording says that there is a run and it is recorded.
var recording atomic.Bool

// emit records an event of c, or of no goroutine if that is nil.
func (s *scheduler) emit(c *goroutine, kind event.Kind, site uint32, addr, size uintptr, arg uint64) {
	if !s.recorder.On {
		return
	}
	s.completeLast()
	var g, frame uint32
	if c != nil {
		g, frame = c.id, c.Frame
	}
	s.recorder.Event(g, frame, kind, site, addr, size, arg)
}

// emitOp is emit for what was announced as op.
func (s *scheduler) emitOp(c *goroutine, op event.Op, arg uint64) {
	s.emit(c, op.Kind, op.Site, op.Addr, op.Size, arg)
}
