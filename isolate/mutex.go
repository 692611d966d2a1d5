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
	d door // first: see Own
}

func (m *Mutex) door() (*door, bool) { return &m.d, true }

// Lock begins a section.
func (m *Mutex) Lock() { m.d.latch.Lock() }

// Unlock ends the section. It panics if there is none.
func (m *Mutex) Unlock() { m.d.latch.Unlock() }

// lock is Lock where its latch does not do it alone: the lock is not free, or the gate is not
// sealed, or this is the first use, or the last was Close.
func (m *Mutex) lock(site [2]uintptr, taken bool) {
	if !taken && !m.mu().TryLock() {
		m.wait()
	}
	if !m.d.enter(m, site) {
		m.mu().Unlock()
		panic(lockOfClosed)
	}
}

const lockOfClosed = "isolate: Lock of a closed Mutex"

// unlock is Unlock where its latch does not do it alone.
func (m *Mutex) unlock() {
	gate := m.d.gate.Load()
	if gate == nil || !m.d.latch.Leave(gate) {
		panic("isolate: Unlock of an unlocked Mutex: each Unlock needs a Lock before it")
	}
	m.mu().Unlock()
	if gate.Blocked() {
		gate.Wake()
	}
}

// TryLock begins a section if no other is running, and reports whether it did.
//
// It must not be inlined: page.Enter takes the site of the section from its frame.
//
//go:noinline
func (m *Mutex) TryLock() bool {
	if !m.mu().TryLock() {
		return false
	}
	if !page.Enter(m.d.gate.Load()) {
		m.settle()
	}
	return true
}

func (m *Mutex) mu() *sync.Mutex { return &m.d.latch.Mu }

// wait takes the lock when it is not free.
func (m *Mutex) wait() {
	w := page.Await(m.d.gate.Load())
	m.mu().Lock()
	page.Awaited(w)
	m.d.latch.NoteWaiters()
}

// settle begins the section where TryLock could not: on the first use, after
// careless accesses, or never, on a closed guard.
//
//go:noinline
func (m *Mutex) settle() {
	if !m.d.settle(m) {
		m.mu().Unlock()
		panic(lockOfClosed)
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
	if !m.mu().TryLock() {
		m.wait()
	}
	gate := m.d.gate.Load()
	if gate.Closed() {
		m.mu().Unlock()
		panic(lockOfClosed)
	}
	m.d.latch.Disarm() // an Unlock without a section has to be seen
	gate.StepOutside()
}

func (p *plainMutex) Unlock() {
	m := (*Mutex)(p)
	gate := m.d.gate.Load()
	if gate == nil || gate.Locked() {
		panic("isolate: Unlock of a plain lock that is not held: each Unlock needs a Lock of the same kind before it")
	}
	gate.StepInside()
	m.d.latch.Rearm(gate)
	m.mu().Unlock()
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
	m.mu().Lock()
	defer m.mu().Unlock()
	m.d.latch.Disarm()
	return m.d.close()
}
