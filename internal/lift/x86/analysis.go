package x86

import (
	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// FailureOf finds the instruction of the program that a run failed at, and what was bad
// there. It is nil if the program's own code had no part in it, or if the failure is none
// of an instruction.
func (r *Run) FailureOf(f *trace.Failure) *Failure {
	if f == nil || f.Kind != event.FailureCrash {
		return nil
	}
	site, ok := r.process.Code.Sites()[f.Site]
	if !ok || !r.isOwn(site.PC) {
		return nil
	}
	out := &Failure{PC: site.PC}
	var thread *linux.Thread
	for _, t := range r.process.Threads() {
		if t.Number == f.G {
			thread = t
		}
	}
	if thread == nil {
		return nil
	}
	if pc := thread.CPU.PC; f.Cause == event.BadMemory && !r.isMapped(pc) && r.lastJump[thread.CPU] != 0 {
		// What is executed there is where the last jump went.
		return &Failure{PC: r.lastJump[thread.CPU], Cause: ir.BadAccess}
	}
	frames := r.thread(f.G).frames
	for i := len(frames) - 1; i >= 0; i-- {
		if frames[i].caller != 0 && frames[i].caller != out.PC {
			out.Callers = append(out.Callers, frames[i].caller)
		}
	}
	outside := site.Inst.Op == x86.CALL && !r.isOwn(thread.CPU.PC) && r.isMapped(thread.CPU.PC)
	switch f.Cause {
	case event.DivideByZero:
		out.Cause = ir.DivideByZero
	case event.Aborted, event.BadInstruction:
		out.Cause = ir.Abort
		if outside && !r.abortsAt(f.G) {
			out.Cause, out.Outside, out.Argument = ir.BadAccess, true, x86.RDI // the allocator complains about what it was given
		}
	case event.BadMemory:
		out.Cause = ir.BadAccess
		if outside {
			out.Outside, out.Argument = true, r.badArgument(f.G, thread.FaultAddress())
		}
	case event.UseAfterFree:
		out.Cause = ir.BadAccess
		reads, writes := cpu.Accesses(site.Inst)
		out.AtStore = f.Op == event.Store && reads && writes && !site.Inst.Lock
		if outside {
			out.Outside, out.Argument = true, r.badArgument(f.G, f.Addr)
		}
	case event.DoubleFree:
		out.Cause, out.Outside, out.Argument = ir.BadAccess, true, x86.RDI
	default:
		return nil
	}
	return out
}

func (r *Run) isMapped(pc uint64) bool {
	_, ok := r.process.Mem.Area(pc)
	return ok
}

// outermost is the call of a library that a thread is in, nil if it is in none.
func (r *Run) outermost(g uint32) *runFrame {
	frames := r.thread(g).frames
	for i := len(frames) - 1; i >= 0; i-- {
		if frames[i].boundary {
			return &frames[i]
		}
	}
	return nil
}

// abortsAt reports whether the library's function that a thread is in is there to abort.
func (r *Run) abortsAt(g uint32) bool {
	f := r.outermost(g)
	return f == nil || aborting[f.name]
}

// arguments are the registers of a call's arguments.
var arguments = [6]x86.Reg{x86.RDI, x86.RSI, x86.RDX, x86.RCX, x86.R8, x86.R9}

// badArgument is the argument of a library's function that a bad address was computed from:
// the nearest at or below it.
func (r *Run) badArgument(g uint32, addr uint64) x86.Reg {
	f := r.outermost(g)
	best, distance := x86.RDI, ^uint64(0)
	if f == nil {
		return best
	}
	for i, v := range f.args {
		if v <= addr && addr-v < distance {
			best, distance = arguments[i], addr-v
		}
	}
	return best
}

// Failure is the failure in the engine's terms.
func (f *Failure) Engine(g uint32) exec.Failure {
	return exec.Failure{Cause: f.Cause, G: g, CrashedAt: func(in *ir.Instr) bool { return Address(in) == f.PC }}
}
