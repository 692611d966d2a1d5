// Package twovar keeps two variables equal, with nothing that stops a reader from
// seeing one changed and the other not yet.
package twovar

// A Mirror holds a value twice.
type Mirror struct {
	left, right int
}

// Set gives both sides the value.
func (m *Mirror) Set(v int) {
	m.left = v
	m.right = v
}

// Equal reports whether both sides are the same.
func (m *Mirror) Equal() bool {
	return m.left == m.right
}
