// Package cover writes locks around statements: regions of a program's source become
// sections of one lock, in text that a person could have written.
//
// # Terms
//
// A [Region] is a run of statements of one function that a lock is to cover. A [Lock] is one
// that the program has or a new one, and is known by the field or variable that declares it.
// A section is what the program has between taking a lock and releasing it. A [Patch] is
// what comes out: the new texts of some files.
//
// # How
//
// [Code.LocksFor] lists the locks that may serve, the best first: those that guard the data
// elsewhere, the mutexes of the struct that has the data, a new one in that struct, beside
// the variable that closures share, or of the package. [Code.Write] then arranges the
// regions for one lock (write.go), and covers each (exits.go). What cannot be covered is an
// error that says why.
//
// Each hazard, with the source before and after:
//
// A return inside of the region computes its results before the lock is released:
//
//	if full {                     mu.Lock()
//		return len(q)             if full {
//	}                             	result := len(q)
//	q = append(q, x)              	mu.Unlock()
//	                              	return result
//	                              }
//	                              q = append(q, x)
//	                              mu.Unlock()
//
// A region that lasts to the end of its function, with a return or a call that may panic in
// it, has its unlock deferred. In a loop it would come too late, so there it stands on each
// way out: before break, continue and goto that leave the region, return and panic.
//
// An object that is overwritten would lose a new lock in it, so its fields are set:
//
//	*s = Stats{}                  s.mu.Lock()
//	                              s.requests, s.byCode = 0, nil
//	                              s.mu.Unlock()
//
// A pointer that leads to the lock is looked at before the lock is taken:
//
//	if c == nil || c.closed {     if c == nil {
//		return errClosed          	return errClosed
//	}                             }
//	                              c.mu.Lock()
//	                              if c.closed {
//
// A name of the lock that means something else at a way out is refused:
//
//	mu.Lock()
//	for mu := range mutexes {     mu.Unlock() here would release another
//		if mu == nil {
//			return
//
// A section of the lock that the region touches, before, behind or within it, becomes one
// with it:
//
//	if m.ready() {                m.mu.Lock()
//		m.mu.Lock()               if m.ready() {
//		m.n++                     	m.n++
//		m.mu.Unlock()             }
//	}                             m.mu.Unlock()
//
// A statement that calls what may wait makes the call ahead of the lock:
//
//	out = append(out, fetch())    value := fetch()
//	                              mu.Lock()
//	                              out = append(out, value)
//	                              mu.Unlock()
//
// A region that would hold the lock while it waits for another goroutine, calls a function
// value that the package's users hand in, or calls a function that takes the lock, is refused:
// it may wait for itself. What a call of another function value or through an interface may
// run is looked into.
//
// A loop over a slice that is there only for the slice takes a copy of it:
//
//	for _, h := range hooks {     mu.Lock()
//		h.run()                   values := hooks
//	}                             mu.Unlock()
//	                              for _, h := range values {
//	                              	h.run()
//	                              }
//
// A loop that does nothing else of length is one section, and not one in each round:
//
//	for _, x := range list {      mu.Lock()
//		total += x                for _, x := range list {
//	}                             	total += x
//	                              }
//	                              mu.Unlock()
//
// Where the elements are changed in place, and the loop may wait, it goes over a copy of them:
//
//	for k, v := range cache {     mu.Lock()
//		send(k, v)                values := maps.Clone(cache)
//	}                             mu.Unlock()
//	                              for k, v := range values {
//	                              	send(k, v)
//	                              }
//
// Any other loop that hands on what it reads, to what may wait, reads all of it first:
//
//	for e := l.head; e != nil; e = e.next {     l.mu.Lock()
//		visit(e.name)                           var values []string
//	}                                           for e := l.head; e != nil; e = e.next {
//	                                            	values = append(values, e.name)
//	                                            }
//	                                            l.mu.Unlock()
//	                                            for _, value := range values {
//	                                            	visit(value)
//	                                            }
//
// A statement that waits with what it has read reads it ahead, with the lock held:
//
//	if f := m.hooks[k]; f != nil {     m.mu.Lock()
//		f()                            f := m.hooks[k]
//	}                                  m.mu.Unlock()
//	                                   if f != nil {
//	                                   	f()
//	                                   }
//
// A function literal that a call runs at once belongs to the statement with the call:
//
//	sort.Slice(b.list, func(i, j int) bool {     b.mu.Lock()
//		return b.list[i] < b.list[j]             sort.Slice(b.list, func(i, j int) bool {
//	})                                           	return b.list[i] < b.list[j]
//	                                             })
//	                                             b.mu.Unlock()
//
// A call at the end of a way through a region is made after the lock was released, if it may wait:
//
//	if len(b.buf) >= b.max {      if len(b.buf) >= b.max {
//		b.flush()                 	b.mu.Unlock()
//	}                             	b.flush()
//	                              } else {
//	                              	b.mu.Unlock()
//	                              }
//
// A function that calls itself, or that is called from within other sections alone, is left
// alone, and the calls of it from elsewhere are covered instead:
//
//	func (t *Tree) Insert(k int) {                t.mu.Lock()
//		t.root = t.insert(t.root, k)              t.root = t.insert(t.root, k)
//	}                                             t.mu.Unlock()
//
// A function that cannot name the lock, or that some call with the lock held, is left alone,
// and the calls of it are covered instead:
//
//	func add(n *int) { *n++ }     func add(n *int) { *n++ }
//	add(&c.n)                     c.mu.Lock()
//	                              add(&c.n)
//	                              c.mu.Unlock()
//
// # Files
//
//	code.go     Code: the source with what is known of its locks
//	region.go   Region, and regions that become one
//	atonce.go   regions in function literals that run at once
//	data.go     Data: the fields and variables that are to be guarded
//	lock.go     Lock: which may serve
//	tail.go     calls at the end of a section, for which the lock is released
//	newlock.go  where a new lock is declared (package further: whether a struct can have it)
//	overwrite.go objects with a new lock that are overwritten as a whole
//	name.go     how a region names a lock
//	write.go    regions arranged for a lock: moved to callers, outwards, dropped
//	callers.go  functions that leave the lock to their callers
//	variant.go  functions that take the lock, for callers that have it (package variant)
//	absorb.go   sections of the lock that a region touches
//	nilcheck.go the lock of a pointer that may be nil
//	recheck.go  looks that are made again, where the lock cannot be held
//	loop.go     loops that a section goes around
//	exits.go    Lock and Unlock on all ways through a region
//	ahead.go    calls that are made before the lock is taken
//	gather.go   loops that read all before they hand it on
//	hoist.go    data that is read before a statement that waits
//	copyout.go  copies of what is handed to code without the lock
//	readonce.go the one thing that such a statement reads
//	waits.go    what may wait while the lock is held
//	outside.go  what waits for other machines, and is done without the lock (package outside)
//	patch.go    Patch: the edits of all files
package cover
