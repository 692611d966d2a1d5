package tolerate

import "sync"

// A Mutex is a mutual exclusion lock, like sync.Mutex, whose sections work on
// copies of the variables that were given to [Guard]. The zero value is unlocked
// and guards nothing yet. It must not be copied.
type Mutex struct {
	mu sync.Mutex
	g  guard
}

func (m *Mutex) guard() *guard { return &m.g }

// Lock begins a section.
func (m *Mutex) Lock() {
	m.mu.Lock()
	m.g.enter()
}

// TryLock begins a section if no other is running, and reports whether it did.
func (m *Mutex) TryLock() bool {
	if !m.mu.TryLock() {
		return false
	}
	m.g.enter()
	return true
}

// Unlock ends the section. It panics, with the lock released, if a resolver did;
// see [Refuse].
func (m *Mutex) Unlock() {
	races := m.g.leave()
	m.mu.Unlock()
	if races != nil {
		tell(m.g.lockName(), races)
	}
}

// SetName names the lock in findings.
func (m *Mutex) SetName(name string) { m.g.name.Store(&name) }
