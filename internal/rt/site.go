package rt

import (
	"runtime"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// libraryOp is an operation on o by a patched function of the standard library. Where
// it was called is only worth finding out if it matters: when there is a
// choice to make, when it may race or wait, and when it is recorded.
func (c *goroutine) libraryOp(kind event.Kind, o *object) event.Op {
	op := event.Op{Kind: kind, Addr: o.addr, Size: 1}
	if s.config.Races || len(s.ready) > 1 || s.busy {
		op.Site = c.site()
	}
	return op
}

// site returns where the program called the patched function that is being executed.
func (c *goroutine) site() uint32 {
	var pcs [8]uintptr
	n := returns(&pcs, len(pcs))
	return s.frames.FirstSite(pcs[:n])
}

// callerIndex is which of the addresses that returns finds is in the caller of the
// function that called it. That depends on whether there is a frame in between that
// belongs to the assembler's calling convention.
var callerIndex = probe()

//go:noinline
func probe() int {
	var pcs [8]uintptr
	n := returns(&pcs, len(pcs))
	caller, _, _, _ := runtime.Caller(1)
	for i, pc := range pcs[:n] {
		if pc == caller+1 || pc == caller {
			return i
		}
	}
	return len(pcs)
}
