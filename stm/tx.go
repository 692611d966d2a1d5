package stm

import (
	"math/rand/v2"
	"sync/atomic"
)

// clock is NOrec's one lock and one piece of shared metadata: a sequence lock. It
// is odd while a transaction writes back, and grows by two with each commit that wrote.
// It has a cache line of its own. It is never 0, so that a Tx that has not begun has no clock.
var clock struct {
	_ [64]byte
	atomic.Uint64
	_ [56]byte
}

func init() { clock.Store(2) }

// A Tx is a transaction that is running. It is valid during the call of the
// function that it was passed to, in the goroutine that called it.
type Tx struct {
	flag  atomic.Uint32 // not zero: something to heed before the next access
	mode  Mode
	eager bool // every read is checked
	lean  bool // this attempt logs no reads, and ends when another commits: see lean.go
	state state

	bareAt   uint64 // the clock at which reads are bare, or never: see lean.go
	snapshot uint64 // the even clock at which everything that was read was valid
	credit   int    // reads that a lean attempt may still do before it has to look again
	reads    readLog
	writes   writeSet

	// interruptible is not 0 while a lazy attempt runs its function, and interrupted when a
	// panic was raised in the middle of it. unheeded is for the timer alone.
	interruptible, interrupted atomic.Uint32
	unheeded                   int

	g           uintptr // the goroutine that it belongs to
	clone       bool    // a helper's, which never commits
	held        bool    // the clock is odd for this transaction: nobody else can commit
	asked       bool    // Irrevocable was called
	inPlace     bool    // Perform was called: what is stored is in memory at once
	mapsLocked  bool    // by Perform
	keepsPanics bool    // what was done before a panic has happened, as in Atomic
	unlogged    bool    // something that was read is not in the log: the attempt is lean, or called LoadWhole
	cautious    int     // transactions in which LoadWhole logs
	quiet       int     // transactions in a row beside which nobody was seen to commit, at most trust
	trust       int     // how many such there have to be before the next one is lean
	ceiling     int     // length of a log at which look is called

	maps []pendingMap // writes to maps

	onCommit, onAbort []func()
	helper            *helper // of this attempt, if its mode has one
	count             counts
	random            rand.PCG
}

// A state says what a transaction is doing.
type state uint8

const (
	idle     state = iota // none is running
	running               // the function is being called
	aborted               // unwinding: a conflict
	retrying              // unwinding: Retry was called
)

// What flag asks for.
const (
	flagDoomed = 1 << iota // a helper has found a read that is not valid any more
	flagCheck              // a while has passed: validate
	flagShow               // the helper wants to see the reads
)

// A signal unwinds the stack to attempt. It is recovered by nobody else, or else
// the transaction meets its flag again at its next access.
type signal struct{ name string }

func (s *signal) Error() string {
	return "stm: a transaction was unwound through a recover that should have passed this on: " + s.name
}

var unwind = &signal{"unwind"}

// begin prepares for the next attempt.
func (tx *Tx) begin() {
	tx.lean = tx.mayBeLean()
	tx.eager = tx.mode == Eager || tx.lean
	tx.unlogged = tx.lean
	tx.enter()
	if tx.flag.Load() != 0 && !tx.clone {
		tx.flag.Store(0)
	}
	for spins := 0; ; spins++ {
		tx.snapshot = clock.Load()
		if tx.snapshot&1 == 0 {
			break
		}
		pause(spins)
	}
	if tx.lean {
		tx.bareAt = tx.snapshot
	}
	acquired()
	if !tx.eager {
		tx.interrupted.Store(0)
		tx.interruptible.Store(1)
	}
}

// enter and leave change the state. Only while the transaction is running there is
// room in its logs.
func (tx *Tx) enter() {
	tx.state = running
	if tx.inPlace {
		return
	}
	tx.writes.room = cap(tx.writes.all)
	if tx.lean {
		tx.credit = manyReads
		return
	}
	tx.reads.makeRoom(tx.ceiling)
}

func (tx *Tx) leave(to state) {
	tx.state = to
	tx.uninterrupted()
	tx.writes.room = 0
	if tx.lean {
		tx.endLean()
	} else {
		tx.reads.wordRoom, tx.reads.pointerRoom = 0, 0
	}
}

// uninterrupted says that what comes is the package's own, or cannot be given up.
func (tx *Tx) uninterrupted() {
	if tx.interruptible.Load() != 0 {
		tx.interruptible.Store(0)
	}
}

// An outcome is how an attempt ended.
type outcome uint8

const (
	over outcome = iota // committed, and nothing is left to do: see usual.go
	committed
	failed    // the function returned an error
	again     // a conflict
	wait      // Retry
	unwinding // not yet: a panic, or Goexit, is on its way
)

// attempt calls the function once and commits.
func (tx *Tx) attempt(fn func(*Tx) error) (end outcome, err error) {
	end = unwinding
	defer func() {
		if end != unwinding {
			return
		}
		hide, how := tx.unwound()
		if hide && recover() != nil {
			end = how
			return
		}
		if tx.keepsPanics && !tx.clone && !tx.commitPanic() {
			if recover() != nil {
				end = again
				return
			}
		}
		tx.finish(tx.keepsPanics) // a panic that goes on, or Goexit, which nothing can stop
		tx.given()
	}()
	err = fn(tx)
	if err == nil && tx.settled() {
		end = over
		return over, nil
	}
	switch {
	case err == nil && tx.state == running && tx.interrupted.Load() == 0:
		tx.commit()
		end = committed
	case tx.state == aborted, tx.interrupted.Load() != 0:
		end = again // the function recovered what was not meant for it
	case tx.state == retrying:
		end = wait
	default:
		tx.confirm() // the error may stem from data that was never there
		end = failed
	}
	return end, err
}

// unwound decides about a panic, or Goexit, that comes out of the function: it is
// hidden if it is ours, or if the transaction is doomed, and passed on otherwise.
func (tx *Tx) unwound() (hide bool, end outcome) {
	switch {
	case tx.state == aborted:
		return true, again
	case tx.state == retrying:
		return true, wait
	case tx.interrupted.Load() != 0:
		tx.count.interrupted++
		doomed.Add(1)
		return true, again
	case tx.clone:
		return true, failed // if it is true, the leader will find so, too
	case tx.state == running && !tx.valid():
		tx.count.hidden++
		return true, again
	}
	return false, failed
}

// abort gives the attempt up.
func (tx *Tx) abort() {
	tx.leave(aborted)
	panic(unwind)
}

// commit writes back, if there is anything to write, while the clock is odd.
func (tx *Tx) commit() {
	if tx.clone {
		return
	}
	if len(tx.writes.all) == 0 && !tx.held && len(tx.maps) == 0 {
		if !tx.eager && clock.Load() != tx.snapshot {
			tx.extend()
		}
		tx.told()
		return
	}
	if !tx.eager || tx.held || starving.Load() != 0 || !clock.CompareAndSwap(tx.snapshot, tx.snapshot+1) {
		tx.hold()
	}
	tx.held = true
	tx.told()
	// A transaction that comes too late to be seen here will see that the clock is odd, and wait.
	waiting, asleep := changes.waiting.Load() != 0, timer.asleep.Load()
	if len(tx.maps) == 0 && !tx.inPlace {
		tx.count.writes += uint64(tx.writes.store())
		storeClock(tx.snapshot + 2)
		tx.held = false
	} else {
		tx.writeBack()
		tx.release(2)
	}
	tx.awaitMapReaders()
	if waiting {
		notify()
	}
	if asleep {
		timer.need()
	}
}

// writeBack puts what was written into memory; the clock is odd. Maps come first: a
// lazy transaction that reads the new version of a map must find the new map, too.
func (tx *Tx) writeBack() {
	if len(tx.maps) != 0 {
		for _, m := range tx.maps {
			m.commit()
		}
	}
	tx.count.writes += uint64(tx.writes.store())
	if tx.inPlace {
		bump(&effects)
	}
}

// hold makes the clock odd: from here on nobody else can commit, and everything
// that was read stays as it is.
func (tx *Tx) hold() {
	tx.uninterrupted()
	for spins := 0; starving.Load() != 0 && !tx.held && spins < 64; spins++ {
		pause(spins)
	}
	for !tx.held {
		if tx.held = clock.CompareAndSwap(tx.snapshot, tx.snapshot+1); !tx.held {
			tx.extend()
		}
	}
}

// release makes it even again: by 2 if something was written, by 0 if not.
func (tx *Tx) release(by uint64) {
	if tx.mapsLocked {
		tx.unlockMaps()
	}
	storeClock(tx.snapshot + by)
	tx.held = false
}

// giveUp makes the clock even when a transaction that held it ends without a commit. What
// one that worked in place has written is there, and has to be noticed.
func (tx *Tx) giveUp() {
	if !tx.inPlace {
		tx.release(0)
		return
	}
	tx.told()
	bump(&effects)
	tx.release(2)
	tx.awaitMapReaders()
	notify()
	timer.need()
}

// finish ends the transaction, or the attempt: the logs are emptied, and what
// wanted to know of it is called.
func (tx *Tx) finish(ok bool) {
	if tx.held {
		tx.giveUp()
	}
	if tx.helper != nil {
		tx.unhelp() // after the clock is free: a clone may be waiting for it
	}
	if n := tx.reads.len(); n != 0 {
		tx.count.reads += uint64(n)
		tx.reads.reset()
		tx.ceiling = manyReads
	}
	if n := len(tx.writes.all); n != 0 {
		tx.count.writes += uint64(n)
		tx.writes.reset()
	}
	if len(tx.maps) != 0 {
		clear(tx.maps)
		tx.maps = tx.maps[:0]
	}
	tx.leave(idle)
	if tx.asked || tx.inPlace { // a store that changes nothing waits for others all the same
		tx.asked, tx.inPlace = false, false
	}
	if tx.onCommit != nil || tx.onAbort != nil {
		tx.actions(ok)
	}
}

// actions runs what OnCommit or OnAbort asked for, the latter in reverse.
func (tx *Tx) actions(ok bool) {
	commits, aborts := tx.onCommit, tx.onAbort
	tx.onCommit, tx.onAbort = nil, nil
	if ok {
		for _, f := range commits {
			f()
		}
		return
	}
	for i := range aborts {
		aborts[len(aborts)-1-i]()
	}
}
