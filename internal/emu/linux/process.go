package linux

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
	"github.com/cofferdam-go/cofferdam/internal/emu/image"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/emu/sockets"
	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A Config says what to run.
type Config struct {
	Path string
	// Args are all arguments, the name of the program included.
	Args []string
	Env  []string
	Dir  string
	// Stdin is read when the program first asks, and to its end. nil is empty.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Seed is what the program gets as random bytes follows from.
	Seed uint64
	// Limit is how many instructions a run may have; 0 is no limit.
	Limit uint64
	// World is what is outside. Processes of one program share it; nil is one of its own.
	World *sockets.World
}

// A Process is an emulated process.
type Process struct {
	Mem  *mem.Space
	Code *cpu.Code

	config  Config
	program image.Image
	state

	// running is the thread whose instructions are executed.
	running *Thread
	stdin   *files.Node
	shared  *shared
	watch   func(*Thread, []event.Access)
}

// state is all that a snapshot keeps, besides memory.
type state struct {
	*system
	pid      uint32
	parent   *Process   // nil of the program itself
	orphan   bool       // parent only runs it: the process that made it has ended
	children []*Process // those that ended among them, until that is asked about

	threads []*Thread // in the order of their numbers
	fds     []fileNumber
	dir     string
	umask   uint32

	brk, brkStart uint64
	actions       [65]action
	pending       uint64 // signals for the whole process
	alarm         int64

	skipped int64  // virtual time that passed while no thread could go on
	count   uint64 // instructions executed so far
	rng     rand.PCG
	used    Used
	exit    *Exit
}

// system is what a process and its children have in common.
type system struct {
	files   *files.Tree
	net     *sockets.Net
	nextTID uint32
}

// shared is what all runs of a process add to.
type shared struct {
	notes []string
	seen  map[string]bool
	// decoded is code that children execute.
	decoded *cpu.Library
}

// An Exit says how a process ended.
type Exit struct {
	Code   int
	Signal abi.Signal // that killed it, or 0
	// Thread is the one that did it, PC where it was.
	Thread *Thread
	PC     uint64
	// Text says more: what could not be emulated, which address was bad.
	Text string
	// Reason tells the ends that no program brings about by itself.
	Reason Reason
}

// A Reason is why a process ended.
type Reason uint8

const (
	Exited   Reason = iota // by itself: with a code
	Killed                 // by a signal
	Deadlock               // no thread can ever go on
	Limited                // it took more instructions than it may
	Lacking                // something is not emulated
)

// New loads a program, which has executed nothing yet.
func New(c Config) (*Process, error) {
	p := &Process{Mem: mem.NewSpace(), Code: cpu.NewCode(), config: c, shared: &shared{seen: map[string]bool{}, decoded: cpu.NewLibrary()}}
	p.system = &system{files: files.New(p.note), nextTID: firstTID}
	p.pid = firstTID
	if c.World == nil {
		c.World = sockets.NewWorld()
	}
	p.net = sockets.New(c.World)
	p.umask = 0o022
	p.rng = *rand.NewPCG(c.Seed, 0x636f66666572)
	p.dir = c.Dir
	if p.dir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("the directory to run in: %w", err)
		}
		p.dir = dir
	}
	p.openStandard()
	if err := p.start(); err != nil {
		return nil, err
	}
	return p, nil
}

// Notes lists what the program was denied, or got from outside of the emulation.
func (p *Process) Notes() []string { return p.shared.notes }

func (p *Process) note(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !p.shared.seen[s] {
		p.shared.seen[s] = true
		p.shared.notes = append(p.shared.notes, s)
	}
}

// Exit returns how the process ended, nil while it has not.
func (p *Process) Exit() *Exit { return p.exit }

// Threads returns all threads there were, in the order of their numbers.
func (p *Process) Threads() []*Thread { return p.threads }

// Instructions returns how many instructions were executed.
func (p *Process) Instructions() uint64 { return p.count }

// Program returns the program's image.
func (p *Process) Program() image.Image { return p.program }

// slice is how many instructions a thread executes before another one's turn.
const slice = 20_000

// Run executes the process to its end, its threads in turn.
func (p *Process) Run() *Exit {
	for p.exit == nil {
		any := false
		for i := 0; i < len(p.threads) && p.exit == nil; i++ {
			if t := p.threads[i]; p.Ready(t) {
				any = true
				p.turn(t)
			}
		}
		if !any && p.exit == nil && !p.Idle() {
			p.deadlock()
		}
	}
	return p.exit
}

// turn lets a thread execute a slice.
func (p *Process) turn(t *Thread) {
	defer p.tell(t)
	run := t.CPU.Run
	if p.watch != nil {
		run = func(n uint64) cpu.Trap { return t.CPU.Advance(n, nil, nil, false) }
	}
	for left := int64(slice); left > 0 && p.exit == nil && t.Runs(); {
		before := t.CPU.Count
		trap := p.execute(t, func() cpu.Trap { return run(uint64(left)) })
		left -= int64(t.CPU.Count - before)
		if trap.Kind == cpu.Marked {
			continue
		}
		if trap.Kind == cpu.Limit {
			return
		}
		if yielded := p.handle(t, trap); yielded {
			return
		}
	}
}

// Watch has f called with all that a thread did, after each of its turns and steps: every
// access, call and return, in the form of accesses without goroutine and order; and with
// the kinds Go, Start and End what became of threads. nil ends it.
func (p *Process) Watch(f func(*Thread, []event.Access)) {
	p.watch = f
	for _, t := range p.threads {
		t.CPU.Record(f != nil)
	}
}

// tell passes on what a thread did.
func (p *Process) tell(t *Thread) {
	if p.watch != nil {
		if done := t.CPU.Recorded(); len(done) > 0 {
			p.watch(t, done)
		}
	}
}

// execute runs f, which executes instructions of a thread.
func (p *Process) execute(t *Thread, f func() cpu.Trap) cpu.Trap {
	p.running = t
	before := t.CPU.Count
	p.deliver(t)
	trap := f()
	p.count += t.CPU.Count - before
	if p.config.Limit > 0 && p.count > p.config.Limit && p.exit == nil {
		p.exit = &Exit{Reason: Limited, Thread: t, PC: t.CPU.PC, Text: fmt.Sprintf("it executed more than %d instructions", p.config.Limit)}
	}
	return trap
}

// Advance executes instructions of a thread until the next one makes an access for which
// visible is true, until it is about to make a system call, or until it cannot go on. A
// system call that it is about to make is made first; with decided, the first instruction
// is executed whatever it accesses.
func (p *Process) Advance(t *Thread, n uint64, ref *cpu.Ref, visible func(*cpu.Ref) bool, decided bool) cpu.TrapKind {
	defer p.tell(t)
	if t.calling {
		t.calling = false
		p.running = t
		p.syscall(t)
		if p.exit != nil || !t.Runs() {
			return cpu.Syscall
		}
	}
	trap := p.execute(t, func() cpu.Trap { return t.CPU.Advance(n, ref, visible, decided) })
	if trap.Kind == cpu.Syscall {
		// A step of its own, which the caller decides about.
		t.calling = true
		return cpu.Syscall
	}
	if trap.Kind != cpu.Limit && trap.Kind != cpu.Visible && trap.Kind != cpu.Marked {
		p.handle(t, trap)
	}
	return trap.Kind
}

// ReadHalf reads the operand of an instruction that a thread is about to execute, which
// reads and writes it, and tells that as a load. It reports whether the operand is there.
func (p *Process) ReadHalf(t *Thread, ref *cpu.Ref) (value uint64, ok bool) {
	var b [8]byte
	if !p.Mem.ReadAt(b[:ref.Size], ref.Addr) {
		return 0, false
	}
	value = binary.LittleEndian.Uint64(b[:])
	t.CPU.Note(event.Access{Kind: event.Load, Addr: ref.Addr, Size: uint8(ref.Size), Before: value, Site: ref.Site})
	p.tell(t)
	return value, true
}

// WriteHalf makes ready for the rest of such an instruction: it is to see what it read then,
// whatever is there now.
func (p *Process) WriteHalf(t *Thread, ref *cpu.Ref, read uint64) {
	var now [8]byte
	p.Mem.ReadAt(now[:ref.Size], ref.Addr)
	if t.CPU.Recording() {
		t.CPU.Resume(binary.LittleEndian.Uint64(now[:]))
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], read)
	if b != now {
		p.Mem.Poke(b[:ref.Size], ref.Addr)
	}
}

// handle does what a trap asks for. It reports whether the thread's turn is over.
func (p *Process) handle(t *Thread, trap cpu.Trap) (yielded bool) {
	switch trap.Kind {
	case cpu.Syscall:
		return p.syscall(t)
	case cpu.Segment:
		p.fault(t, abi.SIGSEGV, trap.Addr, trap.Text)
	case cpu.Protection:
		p.fault(t, abi.SIGSEGV, 0, trap.Text)
	case cpu.Divide:
		p.fault(t, abi.SIGFPE, t.CPU.PC, trap.Text)
	case cpu.Breakpoint:
		p.fault(t, abi.SIGTRAP, t.CPU.PC, "a breakpoint")
	case cpu.Invalid:
		p.fault(t, abi.SIGILL, t.CPU.PC, "an instruction that is there to trap")
	case cpu.Missing:
		p.exit = &Exit{Reason: Lacking, Thread: t, PC: t.CPU.PC, Text: trap.Text}
	}
	return false
}

// deadlock ends a process of which no thread can go on.
func (p *Process) deadlock() {
	var waits []string
	for _, t := range p.threads {
		if t.wait.kind != notWaiting {
			waits = append(waits, fmt.Sprintf("thread %d in %s", t.Number, t.wait.name))
		}
	}
	p.exit = &Exit{Reason: Deadlock, Text: "no thread can go on: " + strings.Join(waits, ", ")}
}

// Used is what a program used that another run could find otherwise.
type Used struct {
	Random  bool // random bytes
	Clock   bool // the time of day
	Outside bool // a connection to what is outside
}

// Used returns what the program has used so far.
func (p *Process) Used() Used { return p.used }

// Draw has the program draw random bytes from another sequence from now on; 0 is the one that
// it starts with.
func (p *Process) Draw(sequence uint64) {
	p.used = Used{Outside: p.used.Outside}
	if sequence != 0 {
		p.rng = *rand.NewPCG(p.config.Seed, 0x636f66666572^sequence<<48^sequence)
	}
}

// random fills b.
func (p *Process) random(b []byte) {
	for i := range b {
		b[i] = byte(p.rng.Uint64() >> 56)
	}
}

// maps is /proc/self/maps.
func (p *Process) maps() string {
	var b strings.Builder
	for _, a := range p.Mem.Areas() {
		prot := []byte("---p")
		for i, bit := range []uint8{mem.Read, mem.Write, mem.Exec} {
			if a.Prot&bit != 0 {
				prot[i] = "rwx"[i]
			}
		}
		fmt.Fprintf(&b, "%x-%x %s %08x 00:00 0 %s\n", a.Start, a.End, prot, a.Offset, a.Name)
	}
	return b.String()
}
