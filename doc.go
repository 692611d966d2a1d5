// Package cofferdam is the front door of a project for concurrent Go programs that are not
// correct yet. It finds the schedule under which a test fails, writes the locks that keep
// that from happening, proves them, and keeps a program that still has a race correct
// meanwhile.
//
// Most of it is a command:
//
//	go install github.com/cofferdam-go/cofferdam/cmd/cofferdam@latest
//
//	cofferdam explore ./...          look for a schedule under which a test fails
//	cofferdam replay FILE.trace      run it again, to the same end
//	cofferdam fix ./pkg              write the locks, and prove them
//	cofferdam guards ./...           say which lock guards what, and which accesses deviate
//	cofferdam run -protect ./cmd/x   run a program with its guarded data protected
//
// Three packages are for programs to import. They import the standard library alone:
//
//   - [github.com/cofferdam-go/cofferdam/isolate]: memory that only the holder of a lock
//     can reach. Code that skips the lock waits, and is reported.
//   - [github.com/cofferdam-go/cofferdam/tolerate]: sections that work on private copies.
//     What code that skips the lock did meanwhile is merged, and reported.
//   - [github.com/cofferdam-go/cofferdam/stm]: transactions over ordinary variables.
//     [github.com/cofferdam-go/cofferdam/stm/stmcheck] finds what must not be in one.
//
// README.md has a transcript of each command, ARCHITECTURE.md says where to start reading
// the code, HACKING.md how to change it, GLOSSARY.md what its words mean.
//
// This package itself holds nothing for programs. sources.go carries the sources of the
// packages that instrumented and protected programs are built with: files can be embedded
// only from a directory above them.
package cofferdam
