//go:build !amd64 || race

package rt

// As in token_unsafe.go, for processors where other threads may see a plain store before
// the ones that come first, and for the race detector.

// takeToken takes g, if that is what runs, inside.
func takeToken(g uintptr) bool { return token.CompareAndSwap(g, g|inside) }

// setToken is called by the goroutine that has the token.
func setToken(t uintptr) { token.Store(t) }
