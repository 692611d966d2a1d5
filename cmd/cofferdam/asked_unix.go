//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyAsked sends to a channel when the user asks by SIGUSR1 for what was found so far.
func notifyAsked(asked chan<- os.Signal) { signal.Notify(asked, syscall.SIGUSR1) }
