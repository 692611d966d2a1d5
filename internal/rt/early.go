package rt

import (
	"runtime"
	"sync/atomic"
)

// Goroutines that are started before the first run: by the initialisation of packages, and
// by TestMain.
//
// A goroutine that has begun cannot be put back to its beginning, as memory can. So one that
// is started before the first run is held back, and begins anew in each run, before the
// root does anything else:
//
//	func init() { go janitor() }   ->   every run: go janitor(), then the test
//
// To the program that is a machine on which the goroutine did not get a processor until
// then. What is lost is that it could have run beside the rest of the initialisation.
//
// It does not work where something before the first run waits for the goroutine, nor where
// the goroutine may wait for something that no run can have for itself: a timer that goes
// in real time, a socket, a pipe, another process. Then all of them begin at once, and stay
// outside control. Which of the two it is depends on nothing but the program.

// early are the goroutines that are held back.
var early struct {
	busy  atomic.Bool // a lock, of the goroutine that swaps it from false
	all   []earlyGoroutine
	count atomic.Int32
	// native says that no more are held back.
	native atomic.Bool
	looks  atomic.Int32
}

// An earlyGoroutine is one that has not begun.
type earlyGoroutine struct {
	f    func()
	site uint32
}

func lockEarly() {
	for !early.busy.CompareAndSwap(false, true) {
		runtime.Gosched()
	}
}

// holdBack keeps a goroutine for the runs to come; false if it is to begin now.
func holdBack(site uint32, f func()) bool {
	if !frozen.Load() {
		return false
	}
	lockEarly()
	defer early.busy.Store(false)
	if early.native.Load() {
		return false
	}
	early.all = append(early.all, earlyGoroutine{f, site})
	early.count.Add(1)
	return true
}

// releaseEarly has the goroutines begin that are held back, outside control, and all that
// are started later before the first run.
func releaseEarly() {
	lockEarly()
	all := early.all
	early.all = nil
	early.count.Store(0)
	early.native.Store(true)
	early.busy.Store(false)
	for _, e := range all {
		others.Add(1)
		go plain(e.f)
	}
}

// heldBack reports whether goroutines are held back that what waits before the first run
// may wait for.
func heldBack() bool { return early.count.Load() > 0 && frozen.Load() }

// waitsEarly is called before a wait outside control.
func waitsEarly() {
	if heldBack() {
		releaseEarly()
	}
}

// manyLooks is how often a lock is taken, or an atomic variable looked at, before that is
// taken for waiting.
const manyLooks = 1000

// looksEarly is called before something outside control that may be a part of waiting.
func looksEarly() {
	if heldBack() && early.looks.Add(1) > manyLooks {
		releaseEarly()
	}
}

// Makes is Controlled, for a caller that is about to make a timer, a socket, a pipe or a
// process. One that is made before the first run goes in real time.
func Makes() bool {
	if Controlled() {
		return true
	}
	if frozen.Load() && !early.native.Load() {
		releaseEarly()
	}
	return false
}

// StartEarly starts the goroutines that were held back, as the calling goroutine's own.
func StartEarly() {
	for _, e := range early.all {
		c := enter()
		if c == nil {
			return
		}
		c.spawn(e.site, e.f, nil).early = true
		c.leave()
	}
}
