package tolerate

import "sync"

// An RWMutex is a reader/writer lock, like sync.RWMutex, whose sections work on
// copies of the variables that were given to [Guard]. The zero value is unlocked.
// It must not be copied.
//
// Readers that overlap share one copy, taken by the first and given up by the
// last. A reader only reads through [Var.Own].
type RWMutex struct {
	mu sync.RWMutex
	g  guard

	reading sync.Mutex // guards readers, and makes the others wait while the first takes the copy
	readers int
}

func (rw *RWMutex) guard() *guard { return &rw.g }

// Lock begins a writer's section.
func (rw *RWMutex) Lock() {
	rw.mu.Lock()
	rw.g.enter()
}

// TryLock begins a writer's section if no other is running, and reports whether it
// did.
func (rw *RWMutex) TryLock() bool {
	if !rw.mu.TryLock() {
		return false
	}
	rw.g.enter()
	return true
}

// Unlock ends a writer's section; see [Mutex.Unlock].
func (rw *RWMutex) Unlock() {
	races := rw.g.leave()
	rw.mu.Unlock()
	if races != nil {
		tell(rw.g.lockName(), races)
	}
}

// RLock begins a reader's section. Like that of sync.RWMutex it must not be
// nested.
func (rw *RWMutex) RLock() {
	rw.mu.RLock()
	rw.enterRead()
}

// TryRLock begins a reader's section if no writer's is running, and reports
// whether it did.
func (rw *RWMutex) TryRLock() bool {
	if !rw.mu.TryRLock() {
		return false
	}
	rw.enterRead()
	return true
}

func (rw *RWMutex) enterRead() {
	rw.reading.Lock()
	defer rw.reading.Unlock()
	if rw.readers++; rw.readers > 1 {
		return
	}
	rw.g.enter()
	// Own notes that a copy is used. Readers would do that at the same time.
	if vars := rw.g.vars.Load(); vars != nil {
		for _, v := range *vars {
			v.touch()
		}
	}
}

// RUnlock ends a reader's section.
func (rw *RWMutex) RUnlock() {
	races := rw.leaveRead()
	rw.mu.RUnlock()
	if races != nil {
		tell(rw.g.lockName(), races)
	}
}

func (rw *RWMutex) leaveRead() []*race {
	rw.reading.Lock()
	defer rw.reading.Unlock()
	if rw.readers--; rw.readers == 0 {
		return rw.g.leave()
	}
	rw.readers = max(rw.readers, 0) // sync.RWMutex is about to end the program
	return nil
}

// RLocker returns a Locker whose Lock and Unlock are RLock and RUnlock.
func (rw *RWMutex) RLocker() sync.Locker { return (*rlocker)(rw) }

type rlocker RWMutex

func (r *rlocker) Lock()   { (*RWMutex)(r).RLock() }
func (r *rlocker) Unlock() { (*RWMutex)(r).RUnlock() }

// SetName names the lock in findings.
func (rw *RWMutex) SetName(name string) { rw.g.name.Store(&name) }
