// Package stmcheck finds what a transaction of package stm should not do.
//
// # Analyzer stmcheck
//
// stmcheck: report code that the sandbox of package stm cannot hide
//
// A transaction may run on values that never were in memory together, may be run
// several times, and by two goroutines at once. Package stm hides that, with the
// help of the rules that are checked here. Each diagnostic has one of these
// categories:
//
//	checkpoint  a loop or a recursion that can go on without Load, Store or
//	            Tx.Check: nothing stops it in a doomed transaction.
//	            The suggested fix inserts the call of Tx.Check
//	effect      a channel operation that blocks, a lock, I/O, a goroutine: it is not
//	            undone, and is done again with each attempt
//	captured    a write to a variable from outside of the transaction, without Store
//	plain       a read without Load, or a write without Store, of what the package
//	            sets by Store elsewhere
//	escape      a Tx that is used in another goroutine or after its transaction
//	recover     a recover that stops the panic by which an attempt is given up
//	allocation  make, or a function that allocates, with a number that the transaction has
//	            read: there may not be as much memory
//
// What follows Tx.Irrevocable on every path may do all of this but let the Tx
// escape. Functions that are given to Tx.OnCommit and Tx.OnAbort run outside of the
// transaction.
//
// Use it with go vet, or by itself:
//
//	go install github.com/cofferdam-go/cofferdam/cmd/stmcheck@latest
//	go vet -vettool=$(go env GOPATH)/bin/stmcheck ./...
//	stmcheck -fix ./...
//
// A diagnostic about something that is meant is silenced by a comment on its line,
// or on the line above, that says why:
//
//	fmt.Println("again") //stmcheck:ok attempts are what is counted here
//
// # Terms
//
// A function is transactional if it has a parameter of type *stm.Tx, or is a
// literal inside such a function that runs as part of it. It is reported on in its
// own body. Any other function is a helper: what it does is reported where a
// transactional function calls it, and known in other packages by a fact, the
// summary.
//
// A checkpoint is a call that looks at the transaction's flag (see package stm), or
// of a function that makes such a call on each of its paths.
//
// # How it works
//
// Each function is one walk over its control flow graph (go/cfg): the nodes of each
// block become events in the order of evaluation (function.go, event.go). Two things
// are then computed for all functions of the package, until nothing changes:
// which have a checkpoint on every path, and which do something (summary.go). Each
// check is a file that looks at the events or at the graph: loop.go, recursion.go,
// effect.go, captured.go, plain.go, escape.go, recover.go, doomed.go (numbers that were
// read, and what is allocated by them).
//
// Why syntax and go/cfg, and not SSA: a finding is about a statement, its fix
// is an edit of one, and whether a variable is captured is a question of scopes.
// SSA has lost all three. What it would add, aliases, is what the checks do without:
// a write through a pointer is only seen if the pointer itself is from outside.
//
// # What is not seen
//
// Calls through interfaces and function values, other than of literals that a local variable holds. Writes
// through pointers that were made inside. A loop that counts up to a bound is taken to be finite unless the
// bound is computed from what was read, in the same function or by the caller of a helper: that a result of a
// helper was, or a field of what a pointer leads to, is not seen. Functions of the standard library are known
// by a table (effect.go), not by their code; what is a lock is for internal/locks to say. The package known
// in testdata has an example of each, and of each kind of false alarm.
//
// # Files
//
// stmcheck.go is the analyzer, api.go knows package stm, fix.go makes suggested fixes; the
// others are named above.
package stmcheck
