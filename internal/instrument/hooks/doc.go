// Package hooks writes calls of hooks into the source of packages: before and after all that
// a goroutine does which other goroutines can see.
//
//	t.n = u.n        cofferdamrt.P(&t.n).Set(cofferdamrt.R(&u.n, 4), 5)
//	go f()           cofferdamrt.GoCall(6, func() { f() })
//	v := <-ch        v := cofferdamrt.Recv(ch, 7)
//
// # Rewriting
//
// [Rewrite] takes a package with its types, and a rewriter takes one file of it and returns
// text. There is a file for each construct, which shows before and after: access.go (loads),
// assign.go and hoist.go (stores), mapaccess.go, builtin.go, atomic.go, alloc.go, call.go,
// gostmt.go, channel.go, selectstmt.go, rangestmt.go, stmt.go (other statements), frame.go
// (functions), unseen.go (calls of assembly), borrowed.go (functions of the runtime that are taken
// by their linker names). order.go has the order of evaluation within a statement. What they
// share is in rewrite.go, questions about types in core.go, which variables other goroutines may
// reach in shared.go, how values lie in memory in layout.go.
// What holds for all of them:
//
//   - Hooks are written into the line they belong to. No line is added, moved or
//     removed, so positions in panics and stack traces stay right; where text has
//     to move to another line, a line directive goes with it. Nothing is printed from
//     syntax trees: that would move directives.
//   - A hook that is called by a goroutine which is not under control does what the
//     original did, so the rewritten program means what the original meant: order
//     of evaluation, panics, recover, labels, terminating statements and loop
//     variables included.
//   - An access, and an operation of package sync/atomic, is announced where it takes
//     effect, after all that is evaluated before it. So a hook makes the access itself, or
//     nothing is evaluated between the hook and the access.
//   - What cannot be rewritten is left as it is and listed, with the reason.
//
// # Files
//
// package.go has Rewrite and what it returns, library.go finds the calls of the standard
// library. The other files are named above.
package hooks
