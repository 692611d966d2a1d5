// Package instrument builds programs whose every step a scheduler decides.
//
// Build takes packages as they are and returns test binaries (or programs) in which
// goroutines, channels, locks, time and accesses to memory call the hooks of package
// rt. The source tree is not touched: the go command is given an overlay that maps
// each file to its rewritten text.
//
// # Modes
//
// Packages of the main module are rewritten in memory mode: every access that other
// goroutines might see has a hook, and so has every function. Dependencies are
// rewritten in sync mode: their goroutines, channels and atomics are under control,
// their accesses are not. The standard library is patched (patches.go; version.go says of
// which versions of Go), a few of its packages are rewritten in sync mode, and the hooks
// themselves are laid over it as package cofferdamrt, so that any package can import them
// with no change to any go.mod.
//
// # Rewriting
//
// A rewriter takes one file with its types and returns text. There is a file for each
// construct: access.go (loads), assign.go and hoist.go (stores), mapaccess.go,
// builtin.go, atomic.go, alloc.go, call.go, gostmt.go, channel.go, selectstmt.go,
// rangestmt.go, stmt.go (other statements), frame.go (functions). Each shows before and
// after. rewrite.go has what they share, core.go the questions about types, shared.go
// which variables other goroutines may reach, layout.go how values lie in memory. What
// holds for all of them:
//
//   - Hooks are written into the line they belong to. No line is added, moved or
//     removed, so positions in panics and stack traces stay right; where text has
//     to move to another line, a line directive goes with it. Nothing is printed from
//     syntax trees: that would move directives.
//   - A hook that is called by a goroutine which is not under control does what the
//     original did, so the rewritten program means what the original meant: order
//     of evaluation, panics, recover, labels, terminating statements and loop
//     variables included.
//   - What cannot be rewritten is left as it is and listed, with the reason.
//
// # Sites
//
// Each hook is called with the number of its site, which Program.Sites describes: one
// table of trace.Site, which traces carry and every later reader of a number looks into.
// Packages are numbered in blocks, so that an edit to one does not renumber, and so
// recompile, the others.
//
// # Building
//
// build.go has the whole and its result, overlay.go the packages that take part and their
// numbers, package.go one package, std.go how patches are made to the standard library and
// patches.go which, library.go the calls of it, identity.go the hash that a binary is known by.
package instrument
