package linux

import (
	"encoding/binary"
	"math/bits"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// An action is what a program wants done about a signal.
type action struct{ handler, flags, restorer, mask uint64 }

const (
	saOnStack   = 0x08000000
	saRestart   = 0x10000000
	saNoDefer   = 0x40000000
	saResetHand = 0x80000000

	handlerDefault = 0
	handlerIgnore  = 1
)

// faultInfo is what a handler is told about a fault.
type faultInfo struct {
	signal abi.Signal
	addr   uint64
}

// ignored reports whether a signal makes no difference to the process.
func (p *Process) ignored(s abi.Signal) bool {
	switch p.actions[s].handler {
	case handlerIgnore:
		return true
	case handlerDefault:
		return s == abi.SIGCHLD || s == abi.SIGCONT || s == 23 || s == 28
	}
	return false
}

// resetHandlers has all signals that have handlers do what they do by default.
func (p *Process) resetHandlers() {
	for i := range p.actions {
		if p.actions[i].handler != handlerIgnore {
			p.actions[i] = action{}
		}
	}
}

// raise makes a signal pending, for one thread or for the process.
func (p *Process) raise(s abi.Signal, t *Thread) {
	if s == 0 || p.ignored(s) && s != abi.SIGKILL && !p.awaited(s) {
		return
	}
	if t != nil {
		t.pending |= s.Bit()
	} else {
		p.pending |= s.Bit()
	}
}

// awaited reports whether a thread waits for just this signal.
func (p *Process) awaited(s abi.Signal) bool {
	for _, t := range p.threads {
		if t.wait.signals&s.Bit() != 0 {
			return true
		}
	}
	return false
}

// deliverable returns the signals that can be delivered to a thread.
func (p *Process) deliverable(t *Thread) uint64 { return (t.pending | p.pending) &^ t.blocked }

// restarts reports whether the system call that the next signal interrupts is to be made
// again.
func (p *Process) restarts(t *Thread) bool {
	return p.actions[bits.TrailingZeros64(p.deliverable(t))+1].flags&saRestart != 0
}

// deliver has a thread enter the handler of a pending signal, or the process die of it.
func (p *Process) deliver(t *Thread) {
	for p.exit == nil {
		set := p.deliverable(t)
		if set == 0 {
			return
		}
		s := abi.Signal(bits.TrailingZeros64(set) + 1)
		if t.pending&s.Bit() != 0 {
			t.pending &^= s.Bit()
		} else {
			p.pending &^= s.Bit()
		}
		if p.ignored(s) && s != abi.SIGKILL {
			continue
		}
		if p.actions[s].handler == handlerDefault || s == abi.SIGKILL {
			p.kill(t, s, "")
			return
		}
		p.enter(t, s)
	}
}

// kill ends the process by a signal.
func (p *Process) kill(t *Thread, s abi.Signal, text string) {
	p.exit = &Exit{Reason: Killed, Signal: s, Code: 128 + int(s), Thread: t, PC: t.CPU.PC, Text: text}
}

// fault is a signal that an instruction causes: it cannot be ignored, nor come later.
func (p *Process) fault(t *Thread, s abi.Signal, addr uint64, text string) {
	t.fault = faultInfo{s, addr}
	h := p.actions[s].handler
	if h == handlerDefault || h == handlerIgnore || t.blocked&s.Bit() != 0 {
		p.kill(t, s, text)
		return
	}
	p.enter(t, s)
}

// enter pushes a frame and starts the handler of a signal.
func (p *Process) enter(t *Thread, s abi.Signal) {
	c, a := t.CPU, p.actions[s]
	mask := t.blocked
	if t.restores {
		mask, t.restores = t.restore, false
	}
	sp := c.R[x86.RSP] - 128 // below the red zone
	if a.flags&saOnStack != 0 && t.stack[2] != 0 && sp-t.stack[0] >= t.stack[2] {
		sp = t.stack[0] + t.stack[2]
	}
	fx := (sp - abi.FXSize) &^ 63
	frame := (fx-abi.FrameSize)&^15 - 8
	if !p.writeFrame(t, s, frame, fx, mask) {
		p.kill(t, abi.SIGSEGV, "no room on the stack for a signal")
		return
	}
	c.R[x86.RSP] = frame
	c.R[x86.RDI], c.R[x86.RSI], c.R[x86.RDX], c.R[x86.RAX] = uint64(s), frame+abi.FrameInfo, frame+abi.FrameContext, 0
	c.PC = a.handler
	c.SetFlags(c.Flags() &^ cpu.DF)
	t.blocked |= a.mask
	if a.flags&saNoDefer == 0 {
		t.blocked |= s.Bit()
	}
	if a.flags&saResetHand != 0 {
		p.actions[s].handler = handlerDefault
	}
	t.fault = faultInfo{}
	t.handling++
}

// saved are the registers in the order of struct sigcontext.
var saved = [16]x86.Reg{x86.R8, x86.R9, x86.R10, x86.R11, x86.R12, x86.R13, x86.R14, x86.R15, x86.RDI, x86.RSI, x86.RBP, x86.RBX, x86.RDX, x86.RAX, x86.RCX, x86.RSP}

func (p *Process) writeFrame(t *Thread, s abi.Signal, frame, fx, mask uint64) bool {
	c := t.CPU
	f := abi.Frame{Restorer: p.actions[s].restorer, Stack: t.stack, PC: c.PC, Flags: c.Flags(), FX: fx, Mask: mask, Signal: s, Process: p.pid, User: files.User}
	for i, r := range saved {
		f.Registers[i] = c.R[r]
	}
	if t.fault.signal == s {
		f.Fault, f.Addr = true, t.fault.addr
	}
	state := make([]byte, abi.FXSize)
	c.EncodeFXState(state)
	return p.Mem.WriteAt(state, fx) && p.Mem.WriteAt(f.Encode(), frame)
}

// sysSigreturn goes back to where a signal came.
func sysSigreturn(p *Process, t *Thread, _ *args) uint64 {
	c := t.CPU
	b := make([]byte, abi.FrameSize)
	// The handler's return took the first word.
	if !p.Mem.ReadAt(b[8:], c.R[x86.RSP]) {
		p.kill(t, abi.SIGSEGV, "the stack of a signal handler is gone")
		return 0
	}
	f := abi.DecodeFrame(b)
	for i, r := range saved {
		c.R[r] = f.Registers[i]
	}
	t.handling--
	c.PC = f.PC
	c.SetFlags(f.Flags)
	t.blocked = f.Mask &^ (abi.SIGKILL.Bit() | abi.SIGSTOP.Bit())
	state := make([]byte, abi.FXSize)
	if f.FX != 0 && p.Mem.ReadAt(state, f.FX) {
		c.DecodeFXState(state)
	}
	return c.R[x86.RAX]
}

func sysSigaction(p *Process, t *Thread, a *args) uint64 {
	s := a[0]
	if s < 1 || s > 64 {
		return abi.EINVAL.Result()
	}
	le := binary.LittleEndian
	var b [32]byte
	if a[2] != 0 {
		old := p.actions[s]
		for i, w := range []uint64{old.handler, old.flags, old.restorer, old.mask} {
			le.PutUint64(b[8*i:], w)
		}
		if !p.Mem.WriteAt(b[:], a[2]) {
			return abi.EFAULT.Result()
		}
	}
	if a[1] != 0 {
		if !p.Mem.ReadAt(b[:], a[1]) {
			return abi.EFAULT.Result()
		}
		p.actions[s] = action{le.Uint64(b[0:]), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])}
	}
	return 0
}

func sysSigprocmask(p *Process, t *Thread, a *args) uint64 {
	old := t.blocked
	if a[1] != 0 {
		set, ok := p.Mem.Word(a[1])
		if !ok {
			return abi.EFAULT.Result()
		}
		switch a[0] {
		case 0:
			t.blocked |= set
		case 1:
			t.blocked &^= set
		case 2:
			t.blocked = set
		default:
			return abi.EINVAL.Result()
		}
		t.blocked &^= abi.SIGKILL.Bit() | abi.SIGSTOP.Bit()
	}
	if a[2] != 0 && !p.putWord(a[2], old) {
		return abi.EFAULT.Result()
	}
	return 0
}

func sysSigaltstack(p *Process, t *Thread, a *args) uint64 {
	var b [24]byte
	if a[1] != 0 {
		for i, w := range t.stack {
			binary.LittleEndian.PutUint64(b[8*i:], w)
		}
		if t.stack[2] == 0 {
			b[8] = 2 // SS_DISABLE
		}
		if !p.Mem.WriteAt(b[:], a[1]) {
			return abi.EFAULT.Result()
		}
	}
	if a[0] != 0 {
		if !p.Mem.ReadAt(b[:], a[0]) {
			return abi.EFAULT.Result()
		}
		for i := range t.stack {
			t.stack[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
		if t.stack[1]&2 != 0 {
			t.stack = [3]uint64{}
		}
	}
	return 0
}

func sysSigsuspend(p *Process, t *Thread, a *args) uint64 {
	set, ok := p.Mem.Word(a[0])
	if !ok {
		return abi.EFAULT.Result()
	}
	t.restore, t.restores, t.blocked = t.blocked, true, set
	t.wait = waiting{kind: onSignal, name: "rt_sigsuspend"}
	return abi.EINTR.Result()
}

func sysPause(_ *Process, t *Thread, _ *args) uint64 {
	t.wait = waiting{kind: onSignal, name: "pause"}
	return abi.EINTR.Result()
}

// sysSigtimedwait takes a pending signal, or waits for the time it is given.
func sysSigtimedwait(p *Process, t *Thread, a *args) uint64 {
	set, ok := p.Mem.Word(a[0])
	if !ok {
		return abi.EFAULT.Result()
	}
	t.wait = waiting{kind: onSignal, name: "rt_sigtimedwait", signals: set, addr: a[1]}
	if a[2] != 0 {
		d, _ := p.timespec(a[2])
		t.wait.deadline = p.now() + max(d, 1)
	}
	if p.takeAwaited(t) {
		t.wait = waiting{}
		return t.CPU.R[x86.RAX]
	}
	return abi.EAGAIN.Result()
}

// takeAwaited gives a thread in sigtimedwait its signal, if one is pending.
func (p *Process) takeAwaited(t *Thread) bool {
	set := (t.pending | p.pending) & t.wait.signals
	if set == 0 {
		return false
	}
	s := abi.Signal(bits.TrailingZeros64(set) + 1)
	if t.pending&s.Bit() != 0 {
		t.pending &^= s.Bit()
	} else {
		p.pending &^= s.Bit()
	}
	if t.wait.addr != 0 {
		info := make([]byte, 128)
		binary.LittleEndian.PutUint32(info, uint32(s))
		p.Mem.WriteAt(info, t.wait.addr)
	}
	t.CPU.R[x86.RAX] = uint64(s)
	return true
}

func sysKill(p *Process, t *Thread, a *args) uint64 {
	pid, found := int64(int32(a[0])), false
	for _, other := range p.root().family() {
		// Groups are not kept: the whole family is one, and a child is one of its own.
		if pid == 0 || pid == -1 || pid == int64(other.pid) || -pid == int64(other.pid) {
			found = true
			if e := other.send(nil, a[1]); e != 0 {
				return e
			}
		}
	}
	if !found {
		return abi.ESRCH.Result()
	}
	return 0
}

func sysTkill(p *Process, t *Thread, a *args) uint64  { return p.sendTo(a[0], a[1]) }
func sysTgkill(p *Process, t *Thread, a *args) uint64 { return p.sendTo(a[1], a[2]) }

func (p *Process) sendTo(tid, signal uint64) uint64 {
	for _, t := range p.threads {
		if uint64(t.TID) == tid && !t.Ended {
			return p.send(t, signal)
		}
	}
	return abi.ESRCH.Result()
}

func (p *Process) send(t *Thread, signal uint64) uint64 {
	if signal > 64 {
		return abi.EINVAL.Result()
	}
	p.raise(abi.Signal(signal), t)
	return 0
}

func sysSigpending(p *Process, t *Thread, a *args) uint64 {
	if !p.putWord(a[0], t.pending|p.pending) {
		return abi.EFAULT.Result()
	}
	return 0
}
