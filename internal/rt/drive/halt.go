package drive

import (
	"runtime"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// halt is called by a goroutine that has come to where its run is to wait for a debugger, inside
// rt: the goroutine keeps the token, so that nothing else happens in the run until halt returns.
// The breakpoint is hit on the goroutine's own stack, where a debugger finds the program's frames
// below those of rt.
//
// The first time, the tool is told, and a debugger is waited for. Later there is one, or it has
// left: then nothing would catch the breakpoint.
func (s *server) halt() {
	// A debugger attaches to one thread after the other, and it is this one that matters: a
	// breakpoint on a thread that is not traced yet ends the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if !s.halted {
		s.halted = true
		admitDebuggers()
		if s.out.Encode(&wire.Report{Halted: true}) != nil {
			return // the tool is gone
		}
		for !traced() {
			pauseThread()
		}
	}
	if traced() {
		// The signal by which a debugger stops a thread that it attaches to comes a moment after
		// the thread counts as traced.
		pauseThread()
		runtime.Breakpoint()
	}
}

// A haltingStrategy halts before a preemption: when it has been decided on, by the goroutine that
// could have gone on.
type haltingStrategy struct {
	*sched.Recorder
	before int
	halt   func()
}

func (h *haltingStrategy) Pick(p *sched.Turn) int {
	defer h.look(h.Preemptions())
	return h.Recorder.Pick(p)
}

func (h *haltingStrategy) Branch(c sched.Choice) int {
	defer h.look(h.Preemptions())
	return h.Recorder.Branch(c)
}

// look halts if there is the preemption that there was not before.
func (h *haltingStrategy) look(were int) {
	if were < h.before && h.Preemptions() >= h.before {
		h.halt()
	}
}
