// Package abi has the names and numbers by which programs and the Linux kernel of x86-64 know
// system calls, their errors, and signals, and the frame of a signal handler.
//
//	calls.go  system calls
//	errno.go  errors
//	signal.go signals
//	frame.go  the frames of their handlers
//	flags.go  flags of open and clone
package abi
