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
// For each variable, choose.go weighs the locks that it was seen with and picks the one with the most
// confidence; part.go counts accesses to parts of a struct for it. evidence.go says of each access whether it
// has a lock, and collects the deviations; doubt.go says which of these may be meant to be, by what calls the
// function (callers.go), what channels order (signal.go), what the object was made for (setting.go), and what
// comments say (remark.go). witness.go looks for what shows that an access can happen beside another one,
// without which it is in doubt whatever else is known, beside.go for that of goroutines of the package and of
// accesses with another lock, and sharing.go for what shows that goroutines share the object at all;
// confidence.go has the formula. What people write counts too: annotations, comments, names, the order of
// fields (sign.go). declaration.go reads where each field stands and what is written beside it, prose.go
// understands the sentences, expected.go says which locks a function asks its caller to hold. annotate.go
// writes the result into the source, as annotations that gVisor's checklocks reads.
//
// guard.go has the model and Infer, report.go the form of it that guards -json prints.
package guard
