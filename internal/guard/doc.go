// Package guard says which lock guards which data, how sure that is, and which accesses
// deviate from it.
//
// # Terms
//
// A guard is a lock with the data that it protects. Hardly any program writes its guards
// down, so they are inferred: a field that is mostly accessed while a lock of the same
// object is held is guarded by that lock. An access that does not hold the lock is a
// deviation, a candidate for an asymmetric race. A sign is something besides an access that
// says that a lock guards data.
//
// # An example
//
// From the program
//
//	type Table struct {
//		mu   sync.Mutex // protects the fields below
//		rows map[string]int
//		size int
//	}
//
//	func (t *Table) Put(k string, v int) {
//		t.mu.Lock()
//		defer t.mu.Unlock()
//		t.rows[k] = v
//		t.grow()
//	}
//
//	func (t *Table) grow()     { t.size++ }
//	func (t *Table) Size() int { return t.size }
//
// Infer makes one guard:
//
//	Table.mu  guards  Table.rows  by mu   1 write with it; comment on the lock covers it
//	                  Table.size  by mu   1 write with it, 1 read without; the same sign
//	                              deviation: read in (*Table).Size
//
// The write of size counts as one with the lock, because all calls of grow hold it.
//
// # How it works
//
// Package lockset finds the accesses of a program and what is held at each. A lock and a
// field belong together if the way from the one to the other is always the same: a.mu guards
// a.x, and says nothing about b.x. The way may lead up, to the lock of the object that this
// one was reached from: ^conns.mu is the mu of the object whose field conns this is.
//
// For each variable, the locks that it was seen with are weighed, and the one with the most confidence is its
// guard. What people write counts as well: annotations, comments, names, the order of fields. Each access
// without the guard is a deviation. It is reported if it has a witness, an access that can happen beside it, and
// if something shows that goroutines share the object. Otherwise, and if a discipline other than the lock
// orders it, it is in doubt.
//
//	guard.go        the model, and Infer
//	choose.go       which lock guards a variable, and evidence.go what speaks for it: accesses with
//	                it and without
//	part.go         accesses to parts of a struct
//	confidence.go   the formula
//	sign.go         annotations, comments, names, the order of fields
//	declaration.go  where each field stands, and what is written beside it
//	prose.go        what comments mean
//	expected.go     which locks a function asks its caller to hold
//	doubt.go        which deviations may be meant to be, by callers.go what calls the function,
//	                signal.go what channels order, setting.go what the object was made for, and
//	                remark.go what comments say
//	witness.go      what shows that an access can happen beside another, and beside.go the same for
//	                goroutines of the package and for accesses with another lock
//	sharing.go      what shows that goroutines share the object
//	annotate.go     writes the guards into the source, as annotations that gVisor's checklocks reads
//	report.go       what guards -json prints
package guard
