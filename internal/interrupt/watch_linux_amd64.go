package interrupt

//lint:file-ignore U1000 what is declared here is used by the handler, in assembly

import (
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
)

// A slot is what the handler knows of a goroutine. Offsets into it come from go_asm.h.
type slot struct {
	view View // no G: the slot is free
	// pc is the last program counter that the handler has seen, 0 for none.
	pc uint64
	// callers are where the functions that it was in return to, innermost first, up to a 0. The
	// first is right if the function that it was in has no frame.
	callers [1 + callerCount + 1]uint64
	// safe is a range of program counters as offsets to control.base, the upper one in the
	// upper half: one word, so that the handler never sees half of a change.
	safe uint64
	// calls is a range likewise, of a function in whose calls the goroutine may be ended: when
	// they return, or begin, if what is called is one of entries, functions that are on the
	// stack already.
	calls   uint64
	entries [entryCount]uint64
	// steps is how many instructions more the goroutine is stepped. Before the last one from was
	// its program counter, and fromSP its stack pointer.
	steps, from, fromSP uint64
	// began and stepped are when the first and the last of these steps were, by the processor.
	began, stepped uint64
	// thread is the one that the handler has seen the goroutine on, and doomed says that it
	// has found something changed that the goroutine has read.
	thread, doomed uint64
	info           [128]byte // a siginfo of SIGSEGV
}

const (
	slotCount   = 16
	callerCount = 15 // append is some five calls of the runtime deep when it clears memory
	entryCount  = 4
	// stepCount is how many instructions a doomed goroutine is stepped after a signal, at
	// something more than a microsecond each.
	stepCount = 2000
)

var slots [slotCount]slot

// control is what else the handler knows.
var control controlBlock

type controlBlock struct {
	preempt uintptr // the runtime's handler of SIGURG
	fault   uintptr // and of SIGSEGV
	trap    uintptr // and of SIGTRAP
	base    uintptr
	// textFrom and textTo are around the program's code. Where that is not known no goroutine
	// is stepped.
	textFrom, textTo uintptr
	// movers and fillers are functions, as ranges like a slot's, that a goroutine has been
	// seen in; see isSafe.
	movers  [moverCount]uint64
	fillers [fillerCount]uint64
}

// mu guards which slots are used, and the installation.
var mu sync.Mutex

// A Watch is a slot that is used.
type Watch struct{ *slot }

// Start takes a slot for a goroutine. There is none if all are used.
func Start(v View) (Watch, bool) {
	mu.Lock()
	defer mu.Unlock()
	if !supported() || install() != nil {
		return Watch{}, false
	}
	for i := range slots {
		s := &slots[i]
		if atomic.LoadUintptr(&s.view.G) != 0 {
			continue
		}
		atomic.StoreUint64(&s.pc, 0)
		atomic.StoreUint64(&s.safe, 0)
		atomic.StoreUint64(&s.calls, 0)
		for j := range s.entries {
			atomic.StoreUint64(&s.entries[j], 0)
		}
		atomic.StoreUint64(&s.steps, 0)
		s.began, s.stepped = 0, 0
		atomic.StoreUint64(&s.doomed, 0)
		g := v.G
		v.G = 0
		s.view = v
		s.info[0], s.info[8] = byte(syscall.SIGSEGV), 1 // SEGV_MAPERR, at address 0
		atomic.StoreUintptr(&s.view.G, g)
		return Watch{s}, true
	}
	return Watch{}, false
}

// Stop gives the slot back, and ends the alarms if no other goroutine needs them.
func (w Watch) Stop() {
	mu.Lock()
	defer mu.Unlock()
	atomic.StoreUintptr(&w.view.G, 0)
	for i := range slots {
		if atomic.LoadUintptr(&slots[i].view.G) != 0 && atomic.LoadUint64(&slots[i].doomed) != 0 {
			return
		}
	}
	endAlarms()
}

// Poke has the handler look at all goroutines with a slot. What it notes is judged by Judge.
func Poke() {
	pid := os.Getpid()
	for _, thread := range threads() {
		syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(pid), uintptr(thread), uintptr(syscall.SIGURG))
	}
}

// chases is how often a doomed goroutine is looked at in one go.
const chases = 500

// Chase looks at a goroutine that is known to be doomed again and again, on the thread that it
// was seen on, until it is somewhere safe or this has lasted for some milliseconds: it may be
// in the runtime nearly all the time. Alarms look at it as well from then on, until it is
// watched no more.
func (w Watch) Chase(ended func() bool) {
	if atomic.LoadUint64(&w.doomed) != 0 {
		setAlarms()
	}
	pid := uintptr(os.Getpid())
	for i := 0; i < chases && atomic.LoadUint64(&w.doomed) != 0 && !ended(); i++ {
		syscall.RawSyscall(syscall.SYS_TGKILL, pid, uintptr(atomic.LoadUint64(&w.thread)), uintptr(syscall.SIGURG))
		w.Judge()
	}
}

// Judge looks at the program counter that the handler has seen last, and has it interrupt the
// goroutine around there from now on, if that is safe. A goroutine that is in the runtime nearly
// all the time, such as one that appends to a slice of gigabytes, is hardly ever seen elsewhere:
// what counts is then where it will go on, so that the first time is enough. Of functions that
// defer it is the calls that can be interrupted.
func (w Watch) Judge() {
	pc := uintptr(atomic.SwapUint64(&w.pc, 0))
	if pc == 0 {
		return
	}
	next, deferring := 1, 0
	if isAssembly(pc) {
		next = 0
	}
	for ; pc != 0; next++ {
		from, to, defers, ok := safeRange(pc)
		if ok && deferring == 0 {
			atomic.StoreUint64(&w.calls, rangeOf(from, to))
		}
		if ok && !defers {
			atomic.StoreUint64(&w.safe, rangeOf(from, to))
			return
		}
		if ok && deferring < entryCount {
			_, entry := outermost(pc)
			atomic.StoreUint64(&w.entries[deferring], uint64(entry))
			deferring++
		}
		if control.learn(pc); next == len(w.callers) {
			return
		}
		pc = uintptr(atomic.LoadUint64(&w.callers[next]))
	}
}

// rangeOf is a range of program counters in one word.
func rangeOf(from, to uintptr) uint64 {
	return uint64(from-control.base) | uint64(to-control.base)<<32
}

// learn notes the function of a program counter if it is one that moves memory or fills what is
// new.
func (c *controlBlock) learn(pc uintptr) {
	name, entry := outermost(pc)
	note := func(ranges []uint64, names []string) {
		if i := slices.Index(names, name); i >= 0 && atomic.LoadUint64(&ranges[i]) == 0 {
			atomic.StoreUint64(&ranges[i], rangeOf(entry, end(entry)))
		}
	}
	note(c.movers[:], movers[:])
	note(c.fillers[:], fillers[:])
}
