// Package toctou checks a value and then uses it, while another goroutine changes
// it in between.
package toctou

// A Meter counts what passes by.
type Meter struct {
	count int
}

// Tick counts one.
func (m *Meter) Tick() {
	m.count++
}

// Steady reads the count twice and reports whether both readings were the same.
func (m *Meter) Steady() bool {
	first := m.count
	second := m.count
	return first == second
}
