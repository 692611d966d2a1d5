//go:build unix

package watch

import (
	"os"
	"os/signal"
	"syscall"
)

// onlyOurs reports whether a signal is for nobody but a channel.
var onlyOurs = func(chan<- os.Signal, os.Signal) bool { return false }

// deadly are the signals that end a program, and by which a program is told to end.
var deadly = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// onSignals has all told at each SIGUSR1, and when the program is about to die of a signal.
// A signal that the program was started to ignore is still ignored.
func onSignals() {
	c := make(chan os.Signal, 1)
	for _, s := range append([]os.Signal{syscall.SIGUSR1}, deadly...) {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	go func() {
		for s := range c {
			switch {
			case s == syscall.SIGUSR1:
				tellNow()
			case onlyOurs(c, s):
				Tell()
				signal.Stop(c) // from here on the signal does what it does without us
				_ = syscall.Kill(syscall.Getpid(), s.(syscall.Signal))
			}
		}
	}()
}

// tellNow tells what was found so far.
func tellNow() {
	telling.Lock()
	defer telling.Unlock()
	if !told {
		tellAll()
	}
}
