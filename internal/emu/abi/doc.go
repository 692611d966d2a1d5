// Package abi has the names and numbers by which programs and the Linux kernel of x86-64 know
// system calls, their errors, and signals.
//
//	calls.go  system calls
//	errno.go  errors
//	signal.go signals
//	open.go   flags of open
package abi
