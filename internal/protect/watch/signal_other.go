//go:build !unix

package watch

// onSignal does nothing where there is no SIGUSR1.
func onSignal(func()) {}
