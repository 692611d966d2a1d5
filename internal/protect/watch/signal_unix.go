//go:build unix

package watch

import (
	"os"
	"os/signal"
	"syscall"
)

// onSignal calls f at each SIGUSR1.
func onSignal(f func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	go func() {
		for range c {
			f()
		}
	}()
}
