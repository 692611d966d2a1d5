package linux

import (
	"encoding/binary"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// firstTID is the process, and its first thread, as the program knows them.
const firstTID = 1000

// A Thread is a thread of the process.
type Thread struct {
	CPU *cpu.CPU
	// Number counts the threads from 1, TID is what the program knows.
	Number uint32
	TID    uint32 // of the first thread, the process's
	// Ended: it will not execute anything any more.
	Ended bool

	wait    waiting
	calling bool // Advance stopped it at a system call, which is the next step

	blocked  uint64 // signals that are not delivered
	pending  uint64
	restore  uint64 // the mask to go back to when sigsuspend returns
	restores bool
	stack    [3]uint64 // the alternative stack: address, flags, size
	clearTID uint64
	fault    faultInfo
	handling int // signal handlers that it is in
}

// waiting is what a thread waits for.
type waiting struct {
	kind waitKind
	name string // of the system call
	addr uint64 // of a futex; of what is to be told about a signal
	mask uint32
	// signals are those that sigtimedwait waits for.
	signals uint64
	// deadline is when it gives up, 0 for never.
	deadline int64
	fds      []polled
	order    uint64 // futex waiters are woken in the order in which they came
	child    int64  // which child, as wait4 has it
}

type waitKind uint8

const (
	notWaiting waitKind = iota
	onFutex
	onTime   // until the deadline
	onFiles  // until one of fds is ready; then the system call is made again
	onSignal // until one arrives
	onChild  // until one ends that the thread waits for; then the system call is made again
)

// repeats reports whether the system call is made again when the wait is over.
func (k waitKind) repeats() bool { return k == onFiles || k == onChild }

// newThread makes a thread. It can run at once.
func (p *Process) newThread() *Thread {
	t := &Thread{CPU: cpu.New(p.Mem, p.Code), Number: uint32(len(p.threads) + 1), TID: p.nextTID}
	p.nextTID++
	t.CPU.Clock = func() uint64 { return uint64(p.now() - files.StartTime + 1e12) }
	p.threads = append(p.threads, t)
	return t
}

// Runs reports whether a thread neither ended nor waits.
func (t *Thread) Runs() bool { return !t.Ended && t.wait.kind == notWaiting }

// Handling reports whether a thread is in a signal handler.
func (t *Thread) Handling() bool { return t.handling > 0 }

// Calling reports whether the next step of a thread is a system call.
func (t *Thread) Calling() bool { return t.calling }

// Waits names the system call that a thread waits in, "" if it does not.
func (t *Thread) Waits() string { return t.wait.name }

// ClearTID is the word that the kernel clears when the thread ends, 0 if there is none.
func (t *Thread) ClearTID() uint64 { return t.clearTID }

// FaultAddress is the address that the thread could not access last.
func (t *Thread) FaultAddress() uint64 { return t.fault.addr }

// Ready reports whether a thread can go on, and has it go on if it waited.
func (p *Process) Ready(t *Thread) bool {
	if t.Ended {
		return false
	}
	w := &t.wait
	switch {
	case w.kind == notWaiting:
		return true
	case w.signals != 0 && p.takeAwaited(t):
	case p.deliverable(t) != 0:
		if w.kind.repeats() && p.restarts(t) {
			break // the system call is made again after the handler
		}
		// The signal frame keeps this as what the system call returned.
		t.CPU.R[x86.RAX] = abi.EINTR.Result()
		if w.kind.repeats() {
			t.CPU.PC += 2
		}
	case w.kind == onFiles && p.anyReady(w.fds):
	case w.kind == onChild && p.hasEnded(w.child):
	case w.deadline != 0 && p.now() >= w.deadline:
		switch w.kind {
		case onFutex:
			t.CPU.R[x86.RAX] = abi.ETIMEDOUT.Result()
		case onFiles:
			t.CPU.R[x86.RAX] = 0
			t.CPU.PC += 2
		case onSignal:
			t.CPU.R[x86.RAX] = abi.EAGAIN.Result()
		case onTime:
			t.CPU.R[x86.RAX] = 0
		}
	default:
		return false
	}
	t.wait = waiting{}
	return true
}

// A Moment is when time does something next: a thread has waited for long enough, or an alarm
// rings.
type Moment struct {
	// In is how many nanoseconds from now.
	In int64
	// Futex is the word that a thread gives up waiting at, 0 if there is none. Sleeps: nothing
	// but the ends of sleeps comes then.
	Futex  uint64
	Sleeps bool
}

// Next returns the next moment. ok is false if there is none.
func (p *Process) Next() (m Moment, ok bool) {
	next, now := int64(0), p.now()
	m.Sleeps = true
	for _, t := range p.threads {
		w := &t.wait
		if t.Ended || w.deadline == 0 || next != 0 && w.deadline > next {
			continue
		}
		if w.deadline != next {
			next, m = w.deadline, Moment{Sleeps: true}
		}
		m.Sleeps = m.Sleeps && w.kind == onTime
		if w.kind == onFutex {
			m.Futex = w.addr
		}
	}
	if p.alarm != 0 && (next == 0 || p.alarm <= next) {
		next, m = p.alarm, Moment{}
	}
	m.In = max(next-now, 0)
	return p.nextOfChildren(m, next != 0)
}

// Pass lets time pass.
func (p *Process) Pass(nanoseconds int64) {
	p.skipped += nanoseconds
	p.ring()
}

// Idle lets time pass until a thread can go on, or something comes from outside that one waits
// for. It reports whether one ever can.
func (p *Process) Idle() bool {
	if p.Serve() {
		return true
	}
	m, ok := p.Next()
	if p.waitsOutside(!ok) {
		p.awaitOutside(&m, ok)
		return true
	}
	if ok {
		p.Pass(m.In)
	}
	return ok
}

// now is the program's time. An instruction takes a nanosecond.
func (p *Process) now() int64 { return files.StartTime + p.skipped + int64(p.count) }

// endThread ends a thread.
func (p *Process) endThread(t *Thread) {
	t.Ended = true
	t.CPU.Note(event.Access{Kind: event.End})
	if t.clearTID != 0 {
		p.Mem.WriteAt(make([]byte, 4), t.clearTID)
		p.wake(t.clearTID, 1, ^uint32(0))
	}
	for _, other := range p.threads {
		if !other.Ended {
			return
		}
	}
	p.exit = &Exit{Thread: t, PC: t.CPU.PC}
}

// cloneArgs is struct clone_args.
type cloneArgs struct {
	flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls uint64
}

func sysClone(p *Process, t *Thread, a *args) uint64 {
	return p.clone(t, cloneArgs{flags: a[0], stack: a[1], parentTID: a[2], childTID: a[3], tls: a[4]})
}

func sysClone3(p *Process, t *Thread, a *args) uint64 {
	var raw [64]byte
	if !p.Mem.ReadAt(raw[:min(a[1], 64)], a[0]) {
		return abi.EFAULT.Result()
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(raw[8*i:]) }
	c := cloneArgs{word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7)}
	c.stack += c.stackSize
	return p.clone(t, c)
}

// clone makes a thread that goes on where its creator does.
func (p *Process) clone(t *Thread, a cloneArgs) uint64 {
	if a.flags&abi.CloneThread == 0 {
		return p.fork(t, a)
	}
	if a.flags&abi.CloneVM == 0 {
		return abi.EINVAL.Result()
	}
	n := p.newThread()
	n.CPU.CopyRegisters(t.CPU)
	n.CPU.Transfer = t.CPU.Transfer
	if t.CPU.Recording() {
		n.CPU.Record(true)
		n.CPU.Note(event.Access{Kind: event.Start})
		t.CPU.Note(event.Access{Kind: event.Go, After: uint64(n.Number)})
	}
	p.begin(n, t, a)
	var tid [4]byte
	binary.LittleEndian.PutUint32(tid[:], n.TID)
	if a.flags&abi.CloneParentSetTID != 0 {
		p.Mem.WriteAt(tid[:], a.parentTID)
	}
	return uint64(n.TID)
}

// begin gives a new thread what its creator wants it to begin with.
func (p *Process) begin(n, creator *Thread, a cloneArgs) {
	n.CPU.R[x86.RAX] = 0
	if a.stack != 0 {
		n.CPU.R[x86.RSP] = a.stack
	}
	if a.flags&abi.CloneSetTLS != 0 {
		n.CPU.SetFSBase(a.tls)
	}
	n.blocked = creator.blocked
	if a.flags&abi.CloneChildClear != 0 {
		n.clearTID = a.childTID
	}
	if a.flags&abi.CloneChildSetTID != 0 {
		p.Mem.WriteAt(binary.LittleEndian.AppendUint32(nil, n.TID), a.childTID)
	}
}

// CreatesThread reports whether the system call that a thread is about to make creates a
// thread.
func (p *Process) CreatesThread(t *Thread) bool {
	name, a := t.Call()
	flags := a[0]
	switch name {
	case "clone":
	case "clone3":
		flags, _ = p.Mem.Word(a[0])
	default:
		return false
	}
	return flags&abi.CloneThread != 0
}

func sysExit(p *Process, t *Thread, a *args) uint64 {
	p.endThread(t)
	if p.exit != nil {
		p.exit.Code = int(a[0] & 0xff)
	}
	return 0
}

func sysExitGroup(p *Process, t *Thread, a *args) uint64 {
	p.noteLeft()
	p.exit = &Exit{Code: int(a[0] & 0xff), Thread: t, PC: t.CPU.PC}
	return 0
}
