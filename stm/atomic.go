package stm

// Atomic runs a function with plain accesses as a transaction:
//
//	stm.Atomic(func() { from.Balance -= amount; to.Balance += amount })
//
// In a program that is built by cofferdam with -stm, the function and what it calls are
// compiled to use Load and Store, and run beside other transactions. In any other build
// transactions that are written like this run one at a time, and beside no commit of any
// other. What is printed and returned is the same, also where the language leaves the order of
// evaluation open: in return x.n, x.take() the call comes first, as Go's compiler has it.
//
// A panic that leaves the function, or runtime.Goexit, ends the transaction where it was:
// what the function did so far has happened, as it has with a lock that is unlocked by
// defer. A call in a transaction is part of that.
//
// What plain code has done cannot be taken back in a build without -stm, so after a call in a
// transaction that transaction is irrevocable there, and [Retry] panics: call Retry before
// Atomic, or write the whole transaction by hand.
func Atomic(fn func()) { Options{}.Atomic(fn) }

// Atomic runs a function with plain accesses as a transaction with options. The mode matters
// to programs that are built with -stm alone; the context does not matter, because there is
// no error to say that it is done.
func (o Options) Atomic(fn func()) {
	o.Compiled(func(tx *Tx) {
		tx.Perform()
		fn()
	})
}

// Compiled is what Atomic becomes in a program that is built with -stm: the function has
// been compiled to access memory through the transaction.
func Compiled(fn func(tx *Tx)) {
	tx := mine()
	if tx.state != idle {
		tx.Check()
		fn(tx)
		return
	}
	tx.runEager(func(tx *Tx) error { fn(tx); return nil }, true)
}

// Compiled is the function [Compiled] with options. As with [Options.Atomically], a function that captures
// variables is allocated.
func (o Options) Compiled(fn func(tx *Tx)) {
	tx := mine()
	if tx.state != idle {
		tx.Check()
		fn(tx)
		return
	}
	if o.Mode == Default {
		o.Mode = Eager
	}
	o.Context = nil // there is no result that could say that it is done
	o.keepsPanics = true
	run := func(tx *Tx) error { fn(tx); return nil }
	tx.run(o, run, run)
}

// commitPanic commits what a function did before it panicked, or called Goexit. It reports
// false if that could not be: something that it has read has changed.
func (tx *Tx) commitPanic() (ok bool) {
	defer func() {
		if tx.state == aborted {
			recover() // of the commit's own unwinding
			ok = false
		}
	}()
	tx.commit()
	return true
}

// Current returns the transaction that the calling goroutine runs, nil if there is none.
func Current() *Tx {
	tx := mine()
	if tx.state == idle {
		tx.given()
		return nil
	}
	return tx
}

// careful is the number of transactions that log everything after one has been given up for
// what it had not logged.
const careful = 64

// Perform makes the transaction irrevocable, and has it work in place from here on: all that
// it has written is in memory when Perform returns, and what it writes later is there at
// once. Code that knows nothing of transactions can then be called: nothing else commits
// before this transaction has ended.
func (tx *Tx) Perform() {
	if tx.Check(); tx.inPlace {
		return
	}
	tx.Irrevocable()
	performed()
	tx.writeBack()
	tx.writes.reset()
	clear(tx.maps)
	tx.maps = tx.maps[:0]
	tx.lockMaps()
	tx.inPlace = true
	bump(&effects)
	tx.reads.wordRoom, tx.reads.pointerRoom, tx.writes.room = 0, 0, 0
}

// effects changes when a transaction does something that no log has, such as sending on a
// channel: before, when nobody can have seen it yet, and when all of it has happened.
var effects uint64

// Observe makes what other transactions do in place, such as sending on a channel, a thing
// that the transaction reads: if any does so before this one commits, it is run again.
func (tx *Tx) Observe() { Load(tx, &effects) }
