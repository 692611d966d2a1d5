// Package lockset finds the accesses of a program to data that goroutines may share, and
// which locks are held at each, across calls. Package guard infers from it which lock guards
// what.
//
// # Terms
//
// A context is a function with what is known where it is entered: the locks that are held,
// in the function's own terms, which objects are fresh, which functions it is given. A
// function is analysed once per context that it is called in. An observation is what is
// held, on one path through one context, at one access; a site is a line with all that was
// observed there.
//
// # An example
//
//	func (t *Table) Put(k string) {
//		t.mu.Lock()                    a context of Put: nothing is held
//		t.grow()                       a context of grow: t.mu is held
//		t.mu.Unlock()
//	}
//
//	func (t *Table) Reset() {
//		t.grow()                       another context of grow: nothing is held
//	}
//
//	func (t *Table) grow() {
//		t.size++                       a site of Table.size with two observations:
//	}                                      Held: mu        Held: nothing
//
// A lock in an observation is named as seen from the object that has the data: mu, wherever
// the object came from.
//
// # How it works
//
// Locks, places and paths are those of package locks; this package follows them through a
// whole program in SSA form. Analysis begins with the functions where execution comes in:
// main, tests, the exported functions of packages that others can import (entry.go). Each
// call leads to a context of what it calls (call.go, target.go): the locks that the caller
// holds are translated into the callee's terms and, as it returns, back. When the exits of a
// context change, its callers are analysed again, from the call on (context.go, flow.go, visit.go). Functions that
// nothing was seen to call come last.
//
// Then each context is gone through once more, and its accesses are recorded (access.go, address.go,
// argument.go, structs.go, reflect.go with package printed; package inplace has what functions change that
// they are given), and with them the reads of maps and arrays by way of references that were loaded before
// (use.go), and the operations of sync/atomic and of sync.Map (operation.go). Accesses to objects that
// nothing else can reach yet (fresh.go, foreign.go, reach.go), and those before any other goroutine runs, are
// initialisation: they count neither for nor against a lock. So are those that a sync.Once makes, if all
// others come after it (once.go). What an observation says about a lock is in holding.go, where the
// goroutines begin that make it in root.go, which functions take a lock or release it at any depth in
// operator.go.
//
// # What it cannot see
//
// Code outside the given packages is taken to hold no lock. What it is given it may call at
// any time, on any goroutine, and publish, unless it is code of the standard library that is
// known to be done with it when it returns. Elements of a container are told apart by the key's value
// only. A function that is reached in more than a few dozen contexts, or with locks that it
// cannot name, is given the benefit of the doubt: what it holds cannot be told.
//
// lockset.go has Analyse and the order of functions, which is the same in every run.
package lockset
