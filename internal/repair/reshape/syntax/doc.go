// Package syntax finds its way in the typed syntax of a program, for package reshape: what is
// around a node, which variable an expression names, what a statement may do, how often it
// runs. It knows nothing of failures and changes nothing.
//
// All questions are about one file and are answered by syntax and types alone. Where the answer
// depends on more, it is the one that allows less: a call may panic, a field may be guarded.
//
//	go func() { s.c <- v }()
//
//	PathOf(s.c)          the field c, by way of the variable s
//	FunctionAround(...)  the literal; GoroutineAround says that a goroutine runs it
//	Leaves, MayWait      of the send: no, yes
//
// # Files
//
//	around.go     the list, loop, function and goroutine that a node is in
//	variable.go   paths, and what is done to the variables at their ends
//	statement.go  what statements and expressions may do: leave, wait, panic, need a lock
//	type.go       calls by name, results, contexts
//	closing.go    statements that close channels
//	element.go    locks that are elements of an array or slice
//	usage.go      all uses of a variable, by goroutine
//	rounds.go     how many values are sent to a channel
package syntax
