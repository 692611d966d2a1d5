// Package guards is an analyzer that reports accesses to data without the lock that guards it.
//
// Which lock guards what is inferred, as cofferdam guards does it: from how often data is accessed with which
// lock held, from annotations (+checklocks:mu), comments, names, and the order of fields. An access without
// the lock is reported if users of the package can make it at any time, beside another one with the lock, and
// something shows that goroutines share the object: most functions that users call take the lock, or the
// function itself does, ahead of the access or behind it, or the data is written with the lock held for
// reading. It is not if there is a reason to think that it is meant to be so: another lock is held, the
// object is being made, a comment says that it is for one goroutine, and so on.
//
//	type Counter struct {
//		mu sync.Mutex
//		n  int
//	}
//
//	func (c *Counter) Add()     { c.mu.Lock(); c.n++; c.mu.Unlock() }
//	func (c *Counter) Sub()     { c.mu.Lock(); c.n--; c.mu.Unlock() }
//	func (c *Counter) Get() int { return c.n }    // read of Counter.n without Counter.mu
//
// What is inferred of exported fields is a fact: other packages that access them are held to it,
// though the methods that take the lock are not analysed again.
//
// Where taking the lock for the whole function can neither deadlock nor wait, because the function calls
// nothing, a fix does so.
//
// A comment //cofferdam:ignore with a reason, on the line or above it, says that an access is
// meant to be so.
//
//	doc.go     this
//	guards.go  the analyzer, and its facts
//	fix.go     the fix
//	ignore.go  the comments
package guards
