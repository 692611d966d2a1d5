// Package goroutine tells goroutines apart by the number that stack traces give them.
//
// The runtime offers the number nowhere but in the text of a stack trace, so asking costs
// about a microsecond. That is little where a finding names a goroutine, and where a section
// of package tolerate begins. Code that asks at every access names a goroutine by the
// address of its g instead, which takes a few lines of assembly: page.G for packages that a
// program links, and package rt for programs under control, whose assembly becomes a part of
// package runtime. The two names do not mix: the runtime uses a g again for another
// goroutine, while a number is used once.
//
// This package is linked into users' programs and imports the standard library alone. It is
// one file.
package goroutine

import "runtime"

// prefix is what a stack trace begins with; the number follows.
const prefix = "goroutine "

// ID returns the number of the running goroutine.
func ID() uint64 {
	var buffer [len(prefix) + 20]byte // 20 digits is the longest number
	return parse(buffer[:runtime.Stack(buffer[:], false)])
}

// parse returns the number in the beginning of a stack trace, 0 if there is none: no
// goroutine has it.
func parse(trace []byte) uint64 {
	if len(trace) < len(prefix) || string(trace[:len(prefix)]) != prefix {
		return 0
	}
	id := uint64(0)
	for _, digit := range trace[len(prefix):] {
		if digit < '0' || digit > '9' {
			break
		}
		id = id*10 + uint64(digit-'0')
	}
	return id
}
