// Package reshape writes the repairs of failures for which no lock is missing: what has to
// change is the order of two steps, how a channel is closed or made, where a lock is taken or
// released, or which variable a goroutine uses.
//
// A repair begins at the shape of the failure (the cause of a panic, why goroutines wait,
// the two sides of a data race) and looks in the typed source for the one mistake that has
// this shape. It changes all places that make the mistake, not only the one that the run
// shows, or none: if one of them cannot be changed there is no repair. Whether a repair
// helps is not decided here; package repair audits and proves it like a lock.
//
// # Repairs
//
// A WaitGroup counts up in the goroutine that it counts, so that Wait may come first:
//
//	go func() {                  wg.Add(1)
//		wg.Add(1)                go func() {
//		defer wg.Done()          	defer wg.Done()
//
// A channel is closed twice:
//
//	close(s.done)                s.doneOnce.Do(func() { close(s.done) })
//
// Two locks are taken in two orders; all places that have the rarer one get the other:
//
//	p.b.Lock()                   p.a.Lock()
//	p.a.Lock()                   p.b.Lock()
//
// A way out of a function misses the Unlock:
//
//	mu.Lock()                    mu.Lock()
//	if bad {                     defer mu.Unlock()
//		return                   if bad {
//	}                            	return
//	n++                          }
//	mu.Unlock()                  n++
//
// A lock is held over a wait that needs it to end:
//
//	mu.Lock()                    mu.Lock()
//	n++                          n++
//	done <- n0                   mu.Unlock()
//	mu.Unlock()                  done <- n0
//
// A goroutine is left with an answer that nobody takes any more:
//
//	c := make(chan int)          c := make(chan int, 1)
//	go func() { c <- f() }()     go func() { c <- f() }()
//
// Goroutines share a variable of which each needs one of its own:
//
//	go func() {                  go func() {
//		_, err = f()             	_, err := f()
//
// Plain accesses to a word race with those by functions of sync/atomic:
//
//	atomic.AddInt64(&s.n, 1)     atomic.AddInt64(&s.n, 1)
//	return s.n                   return atomic.LoadInt64(&s.n)
//
// A function reads what a goroutine sets for it before the goroutine has:
//
//	go func() { n = f() }()      var wg sync.WaitGroup
//	return n                     wg.Go(func() { n = f() })
//	                             wg.Wait()
//	                             return n
//
// # Files
//
//	reshape.go    a failing run, the changes for it, and which come first
//	syntax.go     finding one's way in syntax
//	waitgroup.go  counting up before the goroutine starts
//	once.go       closing once
//	lockorder.go  one order of two locks
//	release.go    releasing on every way out
//	heldover.go   releasing before a wait
//	buffer.go     room for an answer
//	atomic.go     atomic accesses, all of them
//	capture.go    a variable for each goroutine
//	join.go       waiting for a goroutine
package reshape
