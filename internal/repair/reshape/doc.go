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
// What a failing run and a change are is said in package change, how to find one's way in syntax in
// package syntax.
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
// Two locks of one kind are taken, each goroutine's own first; both are taken in one step:
//
//	from.mu.Lock()               pairMu.Lock()
//	to.mu.Lock()                 from.mu.Lock()
//	                             to.mu.Lock()
//	                             pairMu.Unlock()
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
// A function reads what a goroutine sets for it before the goroutine has:
//
//	go func() { n = f() }()      var wg sync.WaitGroup
//	return n                     wg.Go(func() { n = f() })
//	                             wg.Wait()
//	                             return n
//
// A goroutine starts before what it uses is there:
//
//	go s.run()                   s.queue = make(chan int)
//	s.queue = make(chan int)     go s.run()
//
// A lock is released between a check and the use of what was checked:
//
//	mu.Lock()                    mu.Lock()
//	m[k] = v                     if closed {
//	mu.Unlock()                  	mu.Unlock()
//	                             	return
//	                             }
//	                             m[k] = v
//	                             mu.Unlock()
//
// A channel is closed before a goroutine sends to it, or between its look at the flag that the
// close sets and the send:
//
//	mu.Lock()                    mu.Lock()
//	if closed {                  defer mu.Unlock()
//		mu.Unlock()              if closed {
//		return                   	return
//	}                            }
//	mu.Unlock()                  c <- v
//	c <- v
//
// A channel is closed between the look for it and a send that does not wait:
//
//	mu.Lock()                    mu.Lock()
//	c := subscribers[k]          c := subscribers[k]
//	mu.Unlock()                  select {
//	select {                     case c <- v:
//	case c <- v:                 default:
//	default:                     }
//	}                            mu.Unlock()
//
// A goroutine waits for a channel and not for what tells it to stop:
//
//	c <- v                       select {
//	                             case c <- v:
//	                             case <-ctx.Done():
//	                             	return
//	                             }
//
// A method that holds a lock calls one that takes it:
//
//	mu.Lock()                    mu.Lock()
//	n := s.Len()                 n := s.lenLocked()
//
// A callback that needs the lock is called with the lock held:
//
//	mu.Lock()                    mu.Lock()
//	n++                          n++
//	s.changed(n0)                changed := s.changed
//	mu.Unlock()                  mu.Unlock()
//	                             changed(n0)
//
// A condition changes between a waiter's look at it and its Wait:
//
//	ready = true                 mu.Lock()
//	cond.Signal()                ready = true
//	                             cond.Signal()
//	                             mu.Unlock()
//
// A goroutine that is woken goes on though another came first:
//
//	if len(q.items) == 0 {       for len(q.items) == 0 {
//		q.cond.Wait()            	q.cond.Wait()
//	}                            }
//
// Goroutines assign to the error of the function, whether they failed or not:
//
//	go func() { err = f() }()    go func() {
//	                             	if e := f(); e != nil {
//	                             		errOnce.Do(func() { err = e })
//	                             	}
//	                             }()
//
// A method takes the lock of a copy:
//
//	func (s Stats) Hit() {       func (s *Stats) Hit() {
//		s.mu.Lock()              	s.mu.Lock()
//
// A loop takes the lock of a copy:
//
//	for _, s := range r.sensors {     for i := range r.sensors {
//		s.mu.Lock()                   	s := &r.sensors[i]
//	                                  	s.mu.Lock()
//
// Two locks are there for the same data:
//
//	t.readMu.Lock()              t.readMu.Lock()
//	n := t.rows[k]               n := t.rows[k]
//
//	t.writeMu.Lock()             t.readMu.Lock()
//	t.rows[k] = n                t.rows[k] = n
//
// Repairs by atomic variables are in package atomics, those of channels in package channels, and those of
// slices that share an array in package arrays.
//
// # Files
//
//	reshape.go    the changes for a failing run, and which come first
//	waitgroup.go  counting up before the goroutine starts
//	startlater.go starting a goroutine behind what it uses, and making that before
//	checkagain.go checking again when a lock is taken again
//	doublelock.go methods made two, for callers with the lock
//	callback.go   releasing before a callback, or a loop of calls
//	together.go   what the lock that is released kept together
//	waitloop.go   looking again after a Wait
//	signal.go     signalling under the lock
//	firsterror.go the first error of several goroutines
//	lockorder.go  one order of two locks
//	gate.go       two locks of one kind in one step
//	release.go    releasing on every way out
//	heldover.go   releasing before a wait
//	receiver.go   the lock of the receiver, and not of a copy
//	rangecopy.go  the locks of elements, and not of copies
//	onelock.go    one lock in the place of two
//	capture.go    a variable for each goroutine
//	join.go       waiting for a goroutine
package reshape
