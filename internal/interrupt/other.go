//go:build !linux || !amd64

package interrupt

// Supported reports whether goroutines can be interrupted.
func Supported() bool { return false }

// A Watch is nothing here.
type Watch struct{}

// Start finds no slot.
func Start(View) (Watch, bool) { return Watch{}, false }

// Stop does nothing.
func (Watch) Stop() {}

// Chase does nothing.
func (Watch) Chase(func() bool) {}

// Judge does nothing.
func (Watch) Judge() {}

// Poke does nothing.
func Poke() {}
