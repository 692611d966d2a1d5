package stm

import (
	"runtime"
	"time"
)

// run runs a transaction, or a part of the one that is running. The function is given
// twice where the mode can be Clone, for a second goroutine: only there a closure has
// to be on the heap.
func (o Options) run(fn, clone func(*Tx) error) error {
	tx := mine()
	switch {
	case tx.state != idle:
		return tx.part(fn)
	case o.Mode <= Eager && o.Context == nil:
		return tx.runEager(fn, o.keepsPanics)
	}
	return tx.run(o, fn, clone)
}

// part runs a part of the transaction that is running.
func (tx *Tx) part(fn func(*Tx) error) error {
	tx.Check()
	return fn(tx)
}

// runEager is run for nearly all transactions: it makes the first attempt with little to
// remember. Those that need more go on elsewhere.
func (tx *Tx) runEager(fn func(*Tx) error, keepsPanics bool) error {
	tx.keepsPanics = keepsPanics
	if !tx.begun() {
		tx.mode = Eager
		tx.begin()
	}
	end, err := tx.attempt(fn)
	if end == over {
		return nil
	}
	return tx.goOn(Options{Mode: Eager, keepsPanics: keepsPanics}, fn, nil, end, err)
}

// run runs a transaction to its end.
func (tx *Tx) run(o Options, fn, clone func(*Tx) error) error {
	if o.Mode == Default {
		o.Mode = Eager
	}
	if err := tx.cancelled(o); err != nil {
		return err
	}
	end, err := tx.try(o, fn, clone, 0)
	return tx.goOn(o, fn, clone, end, err)
}

// goOn does what follows from the first attempt of a transaction, and makes others until one
// ends it.
func (tx *Tx) goOn(o Options, fn, clone func(*Tx) error, end outcome, err error) error {
	for conflicts := 0; ; {
		switch end {
		case over:
			return nil
		case committed:
			tx.ended()
			return nil
		case failed:
			tx.count.failures++
			tx.finish(false)
			tx.flush()
			tx.given()
			return err
		case wait:
			tx.count.retries++
			if tx.unlogged {
				tx.logNext() // what there is to wait for is in no log
				tx.finish(false)
			} else if err := tx.waitForChange(o); err != nil {
				tx.given()
				return err
			}
			conflicts = 0
		case again:
			tx.count.conflicts++
			tx.finish(false)
			conflicts++
			tx.backOff(conflicts)
		}
		if err := tx.cancelled(o); err != nil {
			return err
		}
		end, err = tx.try(o, fn, clone, conflicts)
	}
}

// cancelled returns the error of the context, if it is done.
func (tx *Tx) cancelled(o Options) error {
	if o.Context == nil {
		return nil
	}
	err := o.Context.Err()
	if err != nil {
		tx.given()
	}
	return err
}

// try makes an attempt.
func (tx *Tx) try(o Options, fn, clone func(*Tx) error, conflicts int) (end outcome, err error) {
	tx.mode, tx.keepsPanics = o.Mode, o.keepsPanics // actions may have run another transaction
	tx.begin()
	if conflicts >= patience {
		tx.hold()
		tx.log()
		tx.eager = false
	}
	if tx.mode == Eager {
		return tx.attempt(fn)
	}
	return tx.assisted(fn, clone)
}

// ended is the end of a transaction that has committed.
func (tx *Tx) ended() {
	if tx.cautious != 0 {
		tx.cautious--
	}
	tx.undisturbed()
	tx.count.commits++
	tx.finish(true)
	tx.flush()
	tx.given()
}

// patience is the number of conflicts after which a transaction runs alone, so
// that every one ends in the end.
const patience = 64

// backOff waits a random while, longer with each conflict.
func (tx *Tx) backOff(conflicts int) {
	if conflicts < 3 {
		return
	}
	for range tx.random.Uint64() % (1 << min(conflicts, 12)) {
		pause(0)
	}
	if conflicts > 8 {
		runtime.Gosched()
	}
}

// pause waits for another transaction's commit: shortly at first, as a commit is short,
// and out of the way later, as an irrevocable transaction need not be.
func pause(spins int) {
	switch {
	case spins < 64:
		for range 8 {
			relax()
		}
	case spins < 1024:
		runtime.Gosched()
	default:
		time.Sleep(20 * time.Microsecond)
	}
}

// relax is a moment.
//
//go:noinline
func relax() {}
