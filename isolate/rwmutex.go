package isolate

import (
	"sync"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// An RWMutex is a reader/writer lock, like sync.RWMutex, that guards the data
// allocated for it. A writer's section stops all careless accesses; a reader's
// stops careless writes and lets careless reads pass. The zero value is unlocked.
// It must not be copied.
type RWMutex struct {
	d  door // first: see Own
	mu sync.RWMutex
}

func (rw *RWMutex) door() (*door, bool) { return &rw.d, false }

// Lock begins a writer's section.
//
//go:noinline
func (rw *RWMutex) Lock() {
	if !rw.mu.TryLock() {
		rw.wait()
	}
	if !page.Enter(rw.d.gate.Load()) {
		rw.settle()
	}
}

// TryLock begins a writer's section if no other is running, and reports whether
// it did.
//
//go:noinline
func (rw *RWMutex) TryLock() bool {
	if !rw.mu.TryLock() {
		return false
	}
	if !page.Enter(rw.d.gate.Load()) {
		rw.settle()
	}
	return true
}

func (rw *RWMutex) wait() {
	w := page.Await(rw.d.gate.Load())
	rw.mu.Lock()
	page.Awaited(w)
}

//go:noinline
func (rw *RWMutex) settle() {
	if !rw.d.settle(rw) {
		rw.mu.Unlock()
		panic("isolate: Lock of a closed RWMutex")
	}
}

// Unlock ends a writer's section. It panics if there is none.
func (rw *RWMutex) Unlock() {
	gate := rw.d.gate.Load()
	if gate == nil || !gate.Locked() {
		panic("isolate: Unlock of an unlocked RWMutex: each Unlock needs a Lock before it")
	}
	gate.Leave()
	rw.mu.Unlock()
	if gate.Blocked() {
		gate.Wake()
	}
}

// RLock begins a reader's section. Like that of sync.RWMutex it must not be
// nested.
//
//go:noinline
func (rw *RWMutex) RLock() {
	if !rw.mu.TryRLock() {
		w := page.Await(rw.d.gate.Load())
		rw.mu.RLock()
		page.Awaited(w)
	}
	page.Mark(rw.enterRead())
}

// TryRLock begins a reader's section if no writer's is running, and reports
// whether it did.
//
//go:noinline
func (rw *RWMutex) TryRLock() bool {
	if !rw.mu.TryRLock() {
		return false
	}
	page.Mark(rw.enterRead())
	return true
}

func (rw *RWMutex) enterRead() *page.Gate {
	gate := rw.d.gate.Load()
	if gate == nil {
		gate = open(rw).gate
	}
	if !gate.EnterRead() {
		rw.mu.RUnlock()
		panic("isolate: RLock of a closed RWMutex")
	}
	return gate
}

// RUnlock ends a reader's section. It panics if there is none.
func (rw *RWMutex) RUnlock() {
	gate := rw.d.gate.Load()
	if gate == nil || !gate.LeaveRead() {
		panic("isolate: RUnlock of an unlocked RWMutex: each RUnlock needs an RLock before it")
	}
	rw.mu.RUnlock()
	if gate.Blocked() {
		gate.Wake()
	}
}

// RLocker returns a Locker whose Lock and Unlock are RLock and RUnlock.
func (rw *RWMutex) RLocker() sync.Locker { return (*rlocker)(rw) }

type rlocker RWMutex

func (r *rlocker) Lock()   { (*RWMutex)(r).RLock() }
func (r *rlocker) Unlock() { (*RWMutex)(r).RUnlock() }

// Plain returns the writer's lock without the section; see [Mutex.Plain].
func (rw *RWMutex) Plain() sync.Locker { return &rw.mu }

// SetName names the guard in findings.
func (rw *RWMutex) SetName(name string) { open(rw).name.Store(&name) }

// Close waits for the sections that are running, if any, and returns the guard's
// memory; see [Mutex.Close].
func (rw *RWMutex) Close() error {
	rw.mu.Lock()
	defer rw.mu.Unlock()
	return rw.d.close()
}

// A Cond is a condition variable on a lock of this package. Wait is the end of
// one section and the beginning of another: between them careless accesses pass,
// and what [Own] returned before is not to be used after.
// It is sync.Cond, which asks no more of its lock than Lock and Unlock.
type Cond = sync.Cond

// NewCond returns a Cond on l.
func NewCond(l Guard) *Cond { return sync.NewCond(l) }
