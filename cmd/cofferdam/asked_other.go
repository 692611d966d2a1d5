//go:build !unix

package main

import "os"

// notifyAsked does nothing: there is no signal that asks for what was found so far.
func notifyAsked(chan<- os.Signal) {}
