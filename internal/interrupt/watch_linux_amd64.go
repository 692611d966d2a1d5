package interrupt

//lint:file-ignore U1000 what is declared here is used by the handler, in assembly

import (
	"os"
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
	// loop is a range likewise: of a loop without calls in such a function, in which the goroutine
	// may be ended at the beginning, when it has gone there from there and has not left it. It is
	// turn then.
	loop, turn uint64
	// steps is how many instructions more the goroutine is stepped. Before the last one from was
	// its program counter, and fromSP its stack pointer.
	steps, from, fromSP uint64
	// began and stepped are when the first and the last of these steps were, by the processor.
	began, stepped uint64
	// thread is the one that the handler has seen the goroutine on, and doomed says that it
	// has found something changed that the goroutine has read, at the time since.
	thread, doomed, since uint64
	info                  [128]byte // a siginfo of SIGSEGV
}

const (
	slotCount   = 16
	callerCount = 15 // append is some five calls of the runtime deep when it clears memory
	entryCount  = 4
	// stepCount is how many instructions a doomed goroutine is stepped after a signal, at
	// something more than a microsecond each.
	stepCount = 10000
)

var slots [slotCount]slot

// control is what else the handler knows.
var control controlBlock

type controlBlock struct {
	preempt uintptr // the runtime's handler of SIGURG, 0 if the program ignores it
	fault   uintptr // and of SIGSEGV
	trap    uintptr // and of SIGTRAP
	base    uintptr
	// stepping is not 0 where goroutines may be stepped: in a process that is traced, what follows
	// an instruction is a stop that the debugger has not asked for.
	stepping uint64
	// The program's code begins at textFrom. Where that is not known no goroutine is stepped. The
	// other code is the kernel's that the runtime calls to know the time.
	textFrom, textSize, clockFrom, clockSize uintptr

	known   knownFunctions
	wrapper uint8 // what the runtime calls functions that the compiler makes of methods
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
		atomic.StoreUint64(&s.loop, 0)
		for j := range s.entries {
			atomic.StoreUint64(&s.entries[j], 0)
		}
		atomic.StoreUint64(&s.steps, 0)
		atomic.StoreUint64(&s.thread, 0)
		s.began, s.stepped = 0, 0
		atomic.StoreUint64(&s.doomed, 0)
		s.since = 0
		stepping := uint64(1)
		if traced() {
			stepping = 0
		}
		atomic.StoreUint64(&control.stepping, stepping)
		g := v.G
		v.G = 0
		s.view = v
		s.info[0], s.info[8] = byte(syscall.SIGSEGV), 1 // SEGV_MAPERR, at address 0
		atomic.StoreUintptr(&s.view.G, g)
		return Watch{s}, true
	}
	return Watch{}, false
}

// Stop gives the slot back, and ends the alarms if no other goroutine is watched.
func (w Watch) Stop() {
	mu.Lock()
	defer mu.Unlock()
	atomic.StoreUintptr(&w.view.G, 0)
	for i := range slots {
		if atomic.LoadUintptr(&slots[i].view.G) != 0 {
			return
		}
	}
	endAlarms()
}

// Poke has the handler look at all goroutines with a slot, at once and by alarms: where there is one
// processor, none of them runs now. What it notes is judged by Judge. A program may have begun to
// ignore the signal since the last time.
func Poke() {
	mu.Lock()
	install()
	mu.Unlock()
	pid, all := os.Getpid(), threads()
	setAlarms(all)
	for _, thread := range all {
		syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(pid), uintptr(thread), uintptr(syscall.SIGURG))
	}
}

// chases is how often a doomed goroutine is looked at in one go.
const chases = 500

// Chase looks at a goroutine that is known to be doomed again and again, on the thread that it
// was seen on, until it is somewhere safe or this has lasted for some milliseconds: it may be
// in the runtime nearly all the time.
func (w Watch) Chase(ended func() bool) {
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
	for innermost := true; pc != 0; next++ {
		from, to, defers, ok := safeRange(pc)
		if ok && defers && innermost {
			w.judgeLoop(pc)
		}
		innermost = false
		if ok && deferring == 0 {
			atomic.StoreUint64(&w.calls, rangeOf(from, to))
		}
		if ok && !defers {
			atomic.StoreUint64(&w.safe, rangeOf(from, to))
			return
		}
		if ok && deferring < entryCount {
			_, entry := describe(pc)
			atomic.StoreUint64(&w.entries[deferring], uint64(entry))
			deferring++
		}
		if next == len(w.callers) {
			return
		}
		pc = uintptr(atomic.LoadUint64(&w.callers[next]))
	}
}

// judgeLoop has the goroutine interrupted in the loop around a program counter, of a function that
// defers.
func (w Watch) judgeLoop(pc uintptr) {
	loop := atomic.LoadUint64(&w.loop)
	if pc -= control.base; uint64(pc) >= loop&(1<<32-1) && uint64(pc) < loop>>32 {
		return
	}
	atomic.StoreUint64(&w.loop, loopOf(control.base+pc))
}

// rangeOf is a range of program counters in one word.
func rangeOf(from, to uintptr) uint64 {
	return uint64(from-control.base) | uint64(to-control.base)<<32
}
