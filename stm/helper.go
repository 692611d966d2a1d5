package stm

import (
	"sync"
	"sync/atomic"
	"time"
)

// assisted makes an attempt with the help that a lazy mode asks for, which finish
// ends.
func (tx *Tx) assisted(fn, clone func(*Tx) error) (end outcome, err error) {
	switch tx.mode {
	case Timer:
	case Helper:
		tx.help(tx.watch)
	case Clone:
		tx.help(func(h *helper) { tx.mirror(h, clone) })
	default:
		panic("stm: unknown mode")
	}
	// For helpers, too: a clone that is slower than its leader sees what was
	// committed meanwhile from the start, and finds no conflict in it.
	timer.need()
	return tx.attempt(fn)
}

// timer raises the flag of every transaction from time to time. It runs as long as
// there are any that heed it.
var timer ticker

type ticker struct {
	running atomic.Bool
	asleep  atomic.Bool // it ran, and may be needed again
}

// The timer is faster the more doomed transactions it finds, and slower the fewer: from a
// thousand times to twenty times a second. Slower it must not be, because a recursion without
// an access can use up a stack in half a second.
const (
	fastestTick = time.Millisecond
	slowestTick = 50 * time.Millisecond
	idleTime    = time.Second
)

// doomed counts the attempts that were found to be doomed because of a flag or by an
// interruption.
var doomed atomic.Uint64

func (t *ticker) need() {
	if !t.running.Load() && t.running.CompareAndSwap(false, true) {
		t.asleep.Store(false)
		go t.run()
	}
}

// nextTick is the time to the next tick, by that to the last one and whether anything was
// found since.
func nextTick(last time.Duration, found bool) time.Duration {
	if found {
		return max(fastestTick, last/2)
	}
	return min(slowestTick, last+last/4)
}

// run asks everybody to validate, tick by tick. A flag that is still up from the
// last time belongs to a goroutine that has not accessed anything since; when all
// are, for a second, and none of them is a suspect, nobody needs a timer. It is started
// again by the next transaction that does, or by the next commit, of whatever mode: without
// one nobody is doomed.
func (t *ticker) run() {
	all := make(suspects)
	defer all.stop()
	tick, before := 10*time.Millisecond, doomed.Load()
	for quiet := time.Duration(0); quiet < idleTime; quiet += tick {
		time.Sleep(tick)
		everybody(func(tx *Tx) {
			heeded := tx.flag.Or(flagCheck)&flagCheck == 0
			if all.note(tx, heeded) || heeded {
				quiet = 0
			}
		})
		all.poke()
		found := doomed.Load()
		tick, before = nextTick(tick, found != before), found
		if len(all) > 0 {
			tick = fastestTick // most of what a suspect does may be the runtime's
		}
	}
	t.running.Store(false)
	t.asleep.Store(true)
	everybody(func(tx *Tx) { tx.flag.Or(flagCheck) }) // for commits that came just before
}

// A helper is what a second goroutine does for an attempt.
type helper struct {
	stop  atomic.Bool
	done  sync.WaitGroup
	clone atomic.Pointer[Tx] // in Clone mode

	// What the leader has read, for Helper mode: prefixes of its logs, which only
	// grow while the attempt lasts.
	mu    sync.Mutex
	reads readLog
	shown uint64 // times
}

// help gives work to a helper's goroutine, one that waits for some if there is any.
func (tx *Tx) help(work func(h *helper)) {
	h := &helper{}
	tx.helper = h
	h.done.Add(1)
	job := func() {
		defer h.done.Done() // also if the transaction's function calls Goexit
		work(h)
	}
	select {
	case jobs <- job:
	default:
		go assist(job)
	}
}

// jobs is where goroutines of helpers wait for the next attempt that needs one.
var jobs = make(chan func())

// assist does one job after the other, until there has been none for a while.
func assist(job func()) {
	idle := time.NewTimer(idleTime)
	defer idle.Stop()
	for {
		job()
		idle.Reset(idleTime)
		select {
		case job = <-jobs:
		case <-idle.C:
			return
		}
	}
}

// unhelp ends it, and waits for that: nobody runs the function, or looks at the
// logs, when the attempt is over.
func (tx *Tx) unhelp() {
	h := tx.helper
	h.stop.Store(true)
	if clone := h.clone.Load(); clone != nil {
		clone.flag.Or(flagDoomed) // it may be in a loop
	}
	h.done.Wait()
	tx.helper = nil
}

// show lets the helper see what the leader has read so far. The helper asks for it
// by a flag, so that reading is as fast as without.
func (tx *Tx) show() {
	if h := tx.helper; h != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.reads = tx.reads
		h.shown++
	}
}

// seen returns what the leader has shown.
func (h *helper) seen() (reads readLog, shown uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reads, h.shown
}

// watch validates what the leader has read after every commit of another, and
// dooms it when something is not there any more.
func (tx *Tx) watch(h *helper) {
	last := uint64(1) // no clock that was ever seen: look at once
	for spins := 0; !h.stop.Load(); spins++ {
		t := clock.Load()
		if t == last || t&1 != 0 {
			pause(spins)
			continue
		}
		// Everything that the leader has read before it shows its reads is among
		// them. What it reads later, it reads after t.
		_, before := h.seen()
		tx.flag.Or(flagShow)
		reads, shown := h.seen()
		for spins = 0; shown == before && !h.stop.Load(); spins++ {
			pause(spins)
			reads, shown = h.seen()
		}
		same := reads.same()
		if clock.Load() != t {
			continue
		}
		if !same {
			tx.flag.Or(flagDoomed)
			return
		}
		last, spins = t, 0
	}
}

// mirror runs a clone of the transaction, eagerly, and dooms the leader when the
// clone finds a conflict.
func (tx *Tx) mirror(h *helper, fn func(*Tx) error) {
	clone := mine()
	clone.mode, clone.eager, clone.clone = Eager, true, true
	clone.flag.Store(0)
	defer func() { // also if the function calls Goexit
		clone.finish(false)
		clone.clone = false
		clone.given()
	}()
	h.clone.Store(clone)
	if h.stop.Load() {
		return // the leader may not have seen the clone
	}
	clone.begin()
	end, _ := clone.attempt(fn)
	if end == again && !h.stop.Load() {
		tx.flag.Or(flagDoomed)
	}
	for spins := 0; end == committed && !h.stop.Load(); spins++ {
		if clock.Load() == clone.snapshot {
			pause(spins)
			continue
		}
		spins = 0
		t, ok := clone.revalidate()
		if !ok {
			tx.flag.Or(flagDoomed)
			break
		}
		clone.snapshot = t
	}
}
