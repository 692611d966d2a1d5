package drive

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

var causes = map[abi.Signal]event.FailureCause{
	abi.SIGSEGV: event.BadMemory, abi.SIGBUS: event.BadMemory, abi.SIGABRT: event.Aborted, abi.SIGILL: event.BadInstruction,
	abi.SIGTRAP: event.BadInstruction, abi.SIGFPE: event.DivideByZero,
}

// crash returns how the end of a process is a failure, nil if it is none.
func (r *run) crash(e *linux.Exit) *trace.Failure {
	switch e.Reason {
	case linux.Killed:
		cause, ok := causes[e.Signal]
		if !ok {
			cause = event.OtherSignal
		}
		text := e.Text
		if last := r.lastLine(); e.Signal == abi.SIGABRT && last != "" {
			text = last
		}
		return r.failureAt(e.Thread, cause, strings.TrimSuffix(e.Signal.String()+": "+text, ": "), e.PC)
	case linux.Deadlock:
		return r.deadlock()
	case linux.Exited, linux.Limited, linux.Lacking:
	}
	return nil
}

// lastLine is the last that the program wrote, which is why it aborted.
func (r *run) lastLine() string {
	lines := bytes.Split(bytes.TrimSpace(r.output.text), []byte("\n"))
	return string(lines[len(lines)-1])
}

// failureAt describes a failure of a thread at pc. Its site is the innermost instruction of
// the program itself, since a call of abort is not where the reason is.
func (r *run) failureAt(t *linux.Thread, cause event.FailureCause, message string, pc uint64) *trace.Failure {
	f := &trace.Failure{Kind: event.FailureCrash, Cause: cause, Message: message}
	f.G, f.Stack = t.Number, r.stack(t, pc)
	f.Site = r.ownSite(t, pc)
	return f
}

// deadlock describes that no thread can go on.
func (r *run) deadlock() *trace.Failure {
	f := &trace.Failure{Kind: event.FailureDeadlock}
	var waits []string
	for _, t := range r.process.Threads() {
		if t.Ended || t.Runs() {
			continue
		}
		s := r.state(t)
		at := trace.Point{Op: s.op.Kind, G: t.Number, Site: r.ownSite(t, t.CPU.PC), Addr: uint64(s.op.Addr), Stack: r.stack(t, t.CPU.PC)}
		f.Waiting = append(f.Waiting, trace.Waiter{Point: at})
		waits = append(waits, fmt.Sprintf("thread %d in %s", t.Number, t.Waits()))
	}
	f.Message = "all threads wait: " + strings.Join(waits, ", ")
	return f
}

// How far a stack is searched for return addresses, and how many are shown.
const (
	stackWords = 512
	maxFrames  = 16
)

// returns calls f with pc and with every word on the stack that is the address after a
// call, until f returns false. There may be more than there are frames: stripped programs
// do not tell where their frames are.
func (r *run) returns(t *linux.Thread, pc uint64, f func(pc uint64) bool) {
	if !f(pc) {
		return
	}
	sp := t.CPU.R[x86.RSP]
	for i := range uint64(stackWords) {
		word, ok := r.process.Mem.Word(sp + 8*i)
		if !ok {
			return
		}
		if r.callSite(word) != 0 && !f(word) {
			return
		}
	}
}

// callSite returns the number of the call that returns to pc, 0 if that is not the address
// after a call that was executed.
func (r *run) callSite(pc uint64) uint32 {
	if at := r.callBefore(pc); at != 0 {
		return cpu.SiteOf(at)
	}
	return 0
}

// callBefore returns the address of the call that returns to pc, 0 if there is none that was
// executed.
func (r *run) callBefore(pc uint64) uint64 {
	if a, ok := r.process.Mem.Area(pc); !ok || a.Prot&mem.Exec == 0 {
		return 0
	}
	sites := r.process.Code.Sites()
	for n := uint64(2); n <= 8; n++ {
		if s, ok := sites[cpu.SiteOf(pc-n)]; ok && s.PC == pc-n && s.Inst.Op == x86.CALL && uint64(s.Inst.Len) == n {
			return s.PC
		}
	}
	return 0
}

// stack names the places that a thread is at, innermost first.
func (r *run) stack(t *linux.Thread, pc uint64) []trace.Call {
	var calls []trace.Call
	if r.symbols == nil {
		return nil
	}
	last := uint64(0)
	r.returns(t, pc, func(pc uint64) bool {
		if pc == last {
			return true // a failure at a call has the address after it on the stack as well
		}
		last = pc
		call := trace.Call{Function: r.symbols.Name(pc), File: r.symbols.File(pc)}
		at := pc
		if len(calls) > 0 {
			at-- // the call, and not what comes after it
		}
		if source, line := r.symbols.Line(at); line > 0 {
			call.File, call.Line = source, line
		}
		calls = append(calls, call)
		return len(calls) < maxFrames
	})
	return calls
}

// ownSite is the innermost instruction of the program itself, or the one at pc. Where the
// thread stands is an instruction of its own, also behind a call; all else is where calls
// return to.
func (r *run) ownSite(t *linux.Thread, pc uint64) uint32 {
	own := uint32(0)
	r.returns(t, pc, func(at uint64) bool {
		a, ok := r.process.Mem.Area(at)
		if !ok || a.File == nil || a.File.Name != r.own {
			return true
		}
		if at != t.CPU.PC {
			own = r.callSite(at)
		}
		if own == 0 {
			own = cpu.SiteOf(at)
		}
		return false
	})
	if own == 0 {
		own = cpu.SiteOf(pc)
	}
	return own
}
