package isolate

import (
	"sync"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// A Mutex is a mutual exclusion lock, like sync.Mutex, that guards the data
// allocated for it. The zero value is unlocked and guards nothing yet. It must
// not be copied.
//
// A Mutex that guards data holds memory outside the Go heap until it is closed.
type Mutex struct {
	d  door // first: see Own
	mu sync.Mutex
}

func (m *Mutex) door() (*door, *sync.Mutex) { return &m.d, &m.mu }

// Lock begins a section.
//
// It must not be inlined: page.Enter takes the site of the section from its
// frame.
//
//go:noinline
func (m *Mutex) Lock() {
	if !m.mu.TryLock() {
		m.wait()
	}
	if !page.Enter(m.d.gate.Load()) {
		m.settle()
	}
}

// TryLock begins a section if no other is running, and reports whether it did.
//
//go:noinline
func (m *Mutex) TryLock() bool {
	if !m.mu.TryLock() {
		return false
	}
	if !page.Enter(m.d.gate.Load()) {
		m.settle()
	}
	return true
}

// wait takes the lock when it is not free.
func (m *Mutex) wait() {
	w := page.Await(m.d.gate.Load())
	m.mu.Lock()
	page.Awaited(w)
}

// settle begins the section where Lock could not: on the first use, after
// careless accesses, or never, on a closed guard.
//
//go:noinline
func (m *Mutex) settle() {
	if !m.d.settle(m) {
		m.mu.Unlock()
		panic("isolate: Lock of a closed Mutex")
	}
}

// Unlock ends the section. It panics if there is none.
func (m *Mutex) Unlock() {
	gate := m.d.gate.Load()
	if gate == nil || !gate.Locked() {
		panic("isolate: Unlock of an unlocked Mutex: each Unlock needs a Lock before it")
	}
	gate.Leave()
	m.mu.Unlock()
	if gate.Blocked() {
		gate.Wake()
	}
}

// Plain returns the same lock without the section: a sync.Locker for code that
// takes the lock but knows nothing of [Own]. It excludes sections as Lock does;
// while it is held the guard's pages can be reached through the shared pointer,
// by everybody.
func (m *Mutex) Plain() sync.Locker { return (*plainMutex)(m) }

type plainMutex Mutex

func (p *plainMutex) Lock() {
	m := (*Mutex)(p)
	open(m)
	if !m.mu.TryLock() {
		m.wait()
	}
	gate := m.d.gate.Load()
	if gate.Closed() {
		m.mu.Unlock()
		panic("isolate: Lock of a closed Mutex")
	}
	gate.StepOutside()
}

func (p *plainMutex) Unlock() {
	m := (*Mutex)(p)
	gate := m.d.gate.Load()
	if gate == nil || gate.Locked() {
		panic("isolate: Unlock of a plain lock that is not held: each Unlock needs a Lock of the same kind before it")
	}
	gate.StepInside()
	m.mu.Unlock()
	if gate.Blocked() {
		gate.Wake()
	}
}

// SetName names the guard in findings. Without a name it is known by the place
// of its first use.
func (m *Mutex) SetName(name string) { open(m).name.Store(&name) }

// Close waits for the section that is running, if any, and returns the guard's
// memory. Using the lock or the guard afterwards panics; using a pointer into it
// stops the program. Closing twice does nothing.
func (m *Mutex) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.d.close()
}
