// Package judge runs small Go programs under every schedule there is, and says how they
// can end. It is the independent judge of exploration, of fixes and of the rewriters: it
// shares no code with the instrumented runs that it judges, neither the rewriting nor the
// scheduler, nor the vector clocks.
//
// # What it does
//
// A program is a function of a package in the form of go/ssa. The judge interprets that
// form. At every access to memory that another goroutine might reach, and at every
// operation that synchronises, each goroutine that can go on may be the one that does.
// All of these choices are tried. For
//
//	func Lost() string {
//		var n int
//		var wg sync.WaitGroup
//		for range 2 {
//			wg.Go(func() { n++ })
//		}
//		wg.Wait()
//		return show(n)
//	}
//
// Explore says that the outcomes are "1" and "2", and that the load and the store of n
// race with the store of n.
//
// # How
//
// A [state] holds everything: the heap, and each goroutine's stack. Its values are never
// changed in place, so that a copy of a state is cheap. A transition is one visible
// operation of one goroutine, with the local steps that follow it up to its next visible
// operation. States are explored depth first. A state that was seen before, under any
// names of its objects, is not explored again; that is what keeps the number of
// schedules, which grows exponentially, from mattering.
//
// Two goroutines race in a state if the next operation of both is an access to the same
// memory, one of them stores, and not both are atomic. Over all states that is the same
// as a happens-before race in some schedule, and needs no clocks.
//
// # What it knows
//
// The language as go/ssa has it; packages sync, sync/atomic and what else of the standard
// library is plain Go, from its source. A few functions are known by name (extern.go):
// what blocks, what is atomic, what ends a goroutine, and what is drawn by chance. Time does
// not exist: how long others take for what they do is not known, so a sleep orders nothing,
// if it is short; one of an hour ends when all others wait. Anything else that has no body in Go
// ends the exploration with an error, never with a guess.
//
// The order in which the operands of one expression are loaded is that of go/ssa, from
// left to right. The language leaves some of that open, and compilers differ: a program
// whose outcome depends on it is not for this judge.
//
//	program.go   loading a program, and what is known of its functions
//	library.go   loading many programs
//	search.go    states, schedules, outcomes, races
//	state.go     a state, its copies and its encoding
//	value.go     values, their types, equality
//	memory.go    objects and addresses
//	thread.go    goroutines, calls, returns, panics
//	instr.go     instructions
//	call.go      what a call calls
//	operator.go  arithmetic and conversions
//	builtin.go   built-in functions, maps
//	visible.go   which steps are visible, and whether they are possible
//	channel.go   channels and select
//	extern.go    packages sync and sync/atomic
package judge
