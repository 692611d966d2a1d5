// Package stm runs transactions over ordinary Go variables.
//
//	err := stm.Atomically(func(tx *stm.Tx) error {
//		balance := stm.Load(tx, &from.Balance)
//		if balance < amount {
//			return errNotEnough // nothing has happened
//		}
//		stm.Store(tx, &from.Balance, balance-amount)
//		stm.Store(tx, &to.Balance, stm.Load(tx, &to.Balance)+amount)
//		return nil
//	})
//
// All of it happens, at one moment, or nothing. Variables need no wrapper and no
// preparation: while a variable is shared and can change, it is accessed through
// [Load] and [Store] in transactions only. What does not change after it was
// published, such as the key of a node, is read plainly. To have the compiler
// see to all that, use [Var]. [Copy] reads many variables at once.
//
// [Atomic] takes functions with plain accesses:
//
//	stm.Atomic(func() { from.Balance -= amount; to.Balance += amount })
//
// Built by cofferdam with -stm, they are transactions like any other. Otherwise they run
// one at a time. Entries of Go's maps are read and written by [MapLoad] and [MapStore].
//
// # How it works
//
// The algorithm is NOrec (Dalessandro, Spear, Scott, 2010). There is one word of
// shared metadata, the clock: a sequence lock that is odd while a transaction
// writes back. Reads are logged with the values that were seen, writes are kept in
// a log and made visible at commit, under the clock. A transaction is valid as long
// as memory still has the values that it read. A goroutine whose last transactions met no
// commit of another logs no reads in the next one: that is over when the clock moves.
//
// # Modes
//
// When a transaction is validated is its [Mode] (table 1 of the sandboxing paper):
//
//	Eager   at every read after a commit of another (NOrec)
//	Timer   at commit, and when a timer asks for it (NOrecSb), 20 to 1000 times a second,
//	        more often the more doomed transactions it finds
//	Helper  at commit, and all the time by a second goroutine (NOrecHt)
//	Clone   at commit, and by a second goroutine that runs the same function
//	        eagerly, for nothing but to find conflicts (NOrecCIV)
//
// An eager transaction only ever sees states that memory has had (opacity). In the
// other modes it may run on values that never were there together: it is doomed,
// and the sandbox hides what it does until it is found out.
//
// # The sandbox
//
//	what a doomed transaction can do     in hand-written code                  in compiled code (-stm)
//	-----------------------------------  ------------------------------------  ---------------------------
//	panic: nil, index, division, type    recovered and retried, if another     the same
//	assertion, closed channel, its own   has committed since and the values
//	                                     that were read are not there any more
//	return an error that is not true     validated first                       there are no errors
//	loop for ever with accesses          the timer or the helper raises a      the same, and Tx.Check is
//	                                     flag that every Load, Store and       called in every loop
//	                                     Tx.Check heeds
//	loop without an access: count to a   the timer interrupts it by a signal   Tx.Check in every loop
//	number that never was, call          (linux/amd64; package interrupt);
//	functions, grow a map or a slice     the analyzer asks for Tx.Check
//	recurse for ever                     with accesses, the depth of the       Tx.Check in every function
//	                                     stack is measured before it is        that calls others
//	                                     exhausted; without, it is
//	                                     interrupted like a loop
//	allocate far too much                Make validates above a limit; the     lengths of make and append,
//	                                     analyzer finds plain make             and of what a function of the
//	                                                                           library allocates by a number,
//	                                                                           are validated above a limit
//	wait for a channel for ever, lock,   not allowed in a transaction: the     validated, and irrevocable
//	do I/O, start goroutines             analyzer finds it; Tx.Irrevocable     before it happens
//	                                     makes it possible
//	write somewhere                      writes go to a log that is never      the same
//	                                     written back
//	read a torn value                    values wider than a word are read     the same
//	                                     under the clock in every mode
//	read a map that its owner, who has   a map is read by who is valid, and    the same
//	taken it out, writes plainly         a commit waits for who was
//	use its Tx elsewhere                 panics: after the function at once,   the Tx has no name
//	                                     in another goroutine at the next
//	                                     look, which is at every access in a
//	                                     build with -race; reads that need
//	                                     no log have none until another
//	                                     commits
//
// What an interruption does not reach: the loop of a function that defers something, if it calls
// nothing (a deferred function could see half of what the loop assigns). What it does not reach in
// time: code that is nearly always where nothing can be interrupted, such as a loop of nothing but
// runtime.Gosched, which may take seconds, and minutes beside many busy threads. A loop in the library or the runtime is ended when it
// returns, or, where memory is moved for an append, a string or a conversion, there: what it has
// allocated until then is what it can in the time that the timer takes to suspect it, three ticks
// or at most 150 ms, and one allocation more. runtime.Goexit, which t.FailNow calls, cannot be
// taken back: in a lazy mode Tx.Validate belongs before it.
// The analyzer reports loops if their bounds were read. In a build with -race each call is one
// of the race detector too, which cannot be interrupted: a recursion without an access may use
// up its stack first.
//
// The package's own bookkeeping is never interrupted: flags are looked at before an
// access, not in it.
//
// # Contention
//
// A transaction that meets conflicts waits a random while, longer each time. After 64
// conflicts in a row it runs alone: no transaction is run more than 65 times because of
// others. A validation that others' commits interrupt four times keeps them from committing
// once.
//
// # Rules
//
// The function may be called several times, and by two goroutines at once in Clone
// mode: it should have no effects but through Load and Store, [Tx.OnCommit] and its
// results ([Value]), and not even scratch memory of its own that outlives the call.
// It must not recover panics that it did not make. A call of [Atomically]
// inside a transaction is part of that transaction: if it returns an error, the
// outer function decides what becomes of it.
//
// # The race detector
//
// To it a transaction is a critical section of one global lock: plain accesses that
// race with transactions are reported, doomed transactions are not.
//
// # How it is built
//
//	tx.go                 a transaction and its attempts
//	run.go                as many attempts as it takes
//	goroutine.go          the Tx of a goroutine
//	access_unsafe.go      reading and writing
//	load_amd64.go, load_other.go
//	                      Load, which is inlined where no log has to be looked at
//	types_unsafe.go       where a value has pointers
//	header_unsafe.go      strings and slices
//	copy_unsafe.go        many words at once
//	log_unsafe.go, memory_unsafe.go
//	                      logs of words
//	lean.go               attempts without a log of reads
//	usual.go              the short way through most transactions
//	prefetch_unsafe.go    memory that is fetched ahead
//	validate.go           whether what an attempt has read is still there
//	helper.go             the modes
//	sandbox.go            what a doomed attempt meets
//	interrupt_unsafe.go   what interrupts one in plain code
//	retry.go              Retry and OrElse
//	irrevocable.go        irrevocable transactions and actions
//	atomic.go             functions with plain accesses
//	maps_unsafe.go        Go's maps
//	var.go, map.go, queue.go
//	                      Var, a cell of its own, and Map and Queue, which are made of such cells
//	stats.go              counts
//	race_unsafe.go        what the race detector is told
//	unsupported.go        keeps systems of 32 bits from compiling the package
//
// There is one lock that all transactions share, the clock. While it is held nothing is waited
// for, except by an irrevocable transaction.
package stm

import "context"

// A Mode says when a transaction is validated; see the package comment.
type Mode uint8

// The modes.
const (
	Default Mode = iota // the one that is best in most cases, Eager
	Eager
	Timer
	Helper
	Clone
)

// Options change how a transaction runs. The zero value is the default.
type Options struct {
	Mode Mode

	// Context ends the transaction when it is done: between two attempts, and
	// while it waits in Retry.
	Context context.Context

	keepsPanics bool // see Atomic
}

// Atomically runs the function as a transaction, again and again until it commits.
// If the function returns an error, nothing has happened and the error is returned.
func Atomically(fn func(tx *Tx) error) error {
	tx := mine()
	if tx.state != idle {
		return tx.part(fn)
	}
	return tx.runEager(fn, false)
}

// Atomically runs a transaction with options. Unlike with the function of the same
// name, a function that captures variables is allocated: where that matters, make it
// once, outside of the loop.
func (o Options) Atomically(fn func(tx *Tx) error) error {
	if o.Mode > Eager || o.Context != nil {
		return o.run(fn, fn)
	}
	tx := mine()
	if tx.state != idle {
		return tx.part(fn)
	}
	return tx.runEager(fn, false)
}

// Value runs a transaction that has a result. With an error there is none.
func Value[T any](fn func(tx *Tx) (T, error)) (result T, err error) {
	err = Options{}.run(func(tx *Tx) error {
		result, err = fn(tx)
		return err
	}, nil)
	return valueOf(result, err)
}

// ValueWith runs a transaction that has a result, with options. For the function the
// same is true as with [Options.Atomically].
func ValueWith[T any](o Options, fn func(tx *Tx) (T, error)) (result T, err error) {
	if o.Mode == Clone {
		return clonedValue(o, fn)
	}
	err = o.run(func(tx *Tx) error {
		result, err = fn(tx)
		return err
	}, nil)
	return valueOf(result, err)
}

// clonedValue is ValueWith in Clone mode. The clone has a result, too, that nobody
// wants, unless it is a part of a clone that does.
func clonedValue[T any](o Options, fn func(tx *Tx) (T, error)) (result T, err error) {
	if mine().state != idle {
		return Value(fn)
	}
	both := func(tx *Tx) error {
		v, err := fn(tx)
		if !tx.clone {
			result = v
		}
		return err
	}
	err = o.run(both, both)
	return valueOf(result, err)
}

func valueOf[T any](result T, err error) (T, error) {
	if err != nil {
		return *new(T), err
	}
	return result, nil
}
