// Package randprog makes random concurrent Go programs, for the judges of this product:
// exploration against every schedule of the interpreter (package judge), fixes against the
// programs that their locks were taken out of, and protected programs against plain ones.
//
// A program is a function without parameters that starts goroutines, waits for them and
// returns what it saw:
//
//	func P17() string {
//		var x17 int
//		var mu17 sync.Mutex
//		var wg sync.WaitGroup
//		wg.Go(func() { mu17.Lock(); x17 += 2; mu17.Unlock() })
//		wg.Go(func() { v := x17; x17 = v * 3 })
//		wg.Wait()
//		seen0 := x17
//		return show(seen0)
//	}
//
// Every statement and expression of the language that matters to concurrency can be in it; a
// test counts in how many of a thousand programs each of them is.
// A program that is asked to be free of races is so by construction: each variable has a
// lock or a goroutine that it belongs to, and is used by nobody else.
//
// Programs of other kinds have packages of their own, which draw from the same numbers: sharing
// and compound.
//
// # Draws
//
// All choices are drawn from one list of numbers, [Draws]. A list gives the same program
// each time, any list gives a program that compiles, and smaller numbers give simpler
// programs. So a program that shows a defect is made smaller without knowing anything
// about programs: [Smaller] takes numbers out of the list, or makes them smaller, and those
// that still show the defect are gone on with.
//
// # Order within an expression
//
// The language does not say whether the x of x + f() is loaded before f is called, and
// compilers differ. A program that has no [Options.OpenOrder] does not depend on it: no
// operand that is loaded from shared memory, and no pointer or slice that is stored through, has a
// call (max is one), a receive or an atomic operation after it in the same statement.
//
//	draws.go    the numbers, and smaller ones
//	program.go  variables, goroutines, the whole
//	prelude.go  a file of programs, and what all of them use
//	stmt.go     statements
//	control.go  statements with other ways through them: switch, defer, panic, range, select
//	blocking.go statements that may wait for ever
//	line.go     goroutines that wait in a line for a channel
//	signal.go   what one goroutine brings about and others wait for, loops that poll
//	expr.go     expressions
//	values.go   shared variables that are more than numbers
//	object.go   packages with a type whose methods race; object_field.go what those do to a field
//	mistake.go  packages with a mistake for which no lock is missing, and below it
//	            mistake_order.go, mistake_channel.go, mistake_lock.go: the mistakes
//	library.go  calls of the standard library
package randprog
