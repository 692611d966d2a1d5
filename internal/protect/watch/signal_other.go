//go:build !unix

package watch

// onSignals does nothing where there are no signals.
func onSignals() {}
