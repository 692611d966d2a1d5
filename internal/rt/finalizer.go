package rt

import (
	"runtime"
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/rt/frames"
)

// Finalizers, cleanups and weak pointers.
//
// Nothing is collected during a run but where the program calls runtime.GC, because an address
// must not be used twice. So that is where objects are found to be unreachable, and where
// what was registered for them begins, under control: finalizers in one goroutine, one after
// the other in the order in which they were registered, and each cleanup in a goroutine of
// its own. When else a collector might have come is not tried; it is part of what a search
// holds fixed.
//
//	runtime.SetFinalizer(x, f)    Register
//	runtime.GC()                  the runtime hands over f(x) (TakeOver), which GC starts
//
// Before the run's end most objects are reachable, and later they are those of an earlier run,
// whose finalizers must not be called: their memory is what it was before that run. Those of
// the standard library are left to the runtime, so that files are closed. They do nothing to
// the program's memory.

// A departure is what is to be called for an object that is not reachable any more.
type departure struct {
	order   uint64 // of registration
	cleanup bool
	call    func()
}

// departed are those that the runtime has found, and that have not begun.
var departed departures

type departures struct {
	busy atomic.Bool // a lock, of the goroutine that swaps it from false
	all  []departure // in the order of registration, whatever the order of their addresses
}

func (all *departures) add(d departure) {
	at := len(all.all)
	all.all = append(all.all, d)
	for ; at > 0 && all.all[at-1].order > d.order; at-- {
		all.all[at] = all.all[at-1]
	}
	all.all[at] = d
}

func lockDeparted() {
	for !departed.busy.CompareAndSwap(false, true) {
		runtime.Gosched()
	}
}

// finalizers are those of a run.
type finalizers struct {
	// registered are the objects with a finalizer, and the arguments of cleanups, by their
	// addresses, in the order of registration.
	registered map[uintptr]uint64
	// queue is for goroutine, which calls one after the other.
	queue     []func()
	goroutine *goroutine
}

// Register is told of a finalizer or cleanup, by the address that TakeOver is told, and the
// code of its function.
func Register(key, code uintptr) {
	c := enter()
	if c == nil {
		return
	}
	if !c.dying && !frames.IsStandard(code) {
		if s.finalizers.registered == nil {
			s.finalizers.registered = map[uintptr]uint64{}
		}
		s.finalizers.registered[key] = uint64(len(s.finalizers.registered))
		s.result.Held.Collector = true
	}
	c.leave()
}

// Weak is called by weak.Make, directly.
func Weak() {
	c := enterLibrary()
	if c == nil {
		return
	}
	var pcs [4]uintptr
	calls := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	calls.Next()
	if caller, _ := calls.Next(); !frames.IsStandardFrame(caller) {
		s.result.Held.Collector = true
	}
	c.leave()
}

// TakeOver is called by the runtime with what it would call for an object. It returns false if
// the runtime is to do so itself.
func TakeOver(key, code uintptr, cleanup bool, call func()) bool {
	if frames.IsStandard(code) {
		return false
	}
	lockDeparted()
	if order, ok := s.finalizers.registered[key]; ok {
		departed.add(departure{order, cleanup, call})
		delete(s.finalizers.registered, key)
	}
	departed.busy.Store(false)
	return true
}

// GC is runtime.GC(). Elsewhere in a run nothing is collected, so that no address is used twice.
func GC() {
	c := enter()
	runtime.GC()
	if c == nil {
		return
	}
	s.races.Forget()
	if Patched.AwaitFinalizers != nil && !c.dying {
		Patched.AwaitFinalizers()
		c.startDeparted(c.site())
	}
	c.leave()
}

// startDeparted has called what was registered for objects that are not reachable any more.
func (c *goroutine) startDeparted(site uint32) {
	lockDeparted()
	all := departed.all
	departed.all = nil
	departed.busy.Store(false)
	f := &s.finalizers
	for _, d := range all {
		if d.cleanup {
			c.spawnAfterAll(site, d.call)
			continue
		}
		f.queue = append(f.queue, d.call)
	}
	switch {
	case len(f.queue) == 0:
	case f.goroutine == nil || f.goroutine.state == ended:
		f.goroutine = c.spawnAfterAll(site, runFinalizers)
	default:
		f.goroutine.acquireAll()
	}
}

// spawnAfterAll starts a goroutine that comes after all that was done so far, as the race
// detector has it: nothing of the program orders the last use of an object and its
// finalizer, but the collector does.
func (c *goroutine) spawnAfterAll(site uint32, f func()) *goroutine {
	d := c.spawn(site, f, nil)
	d.acquireAll()
	return d
}

// runFinalizers is the goroutine of finalizers.
func runFinalizers() {
	for f := &s.finalizers; len(f.queue) > 0; {
		next := f.queue[0]
		f.queue = f.queue[1:]
		next()
	}
}
