// Package instrument builds programs whose every step a scheduler decides.
//
// Build takes packages as they are and returns test binaries (or programs) in which
// goroutines, channels, locks, time and accesses to memory call the hooks of package
// rt. The source tree is not touched: the go command is given an overlay that maps
// each file to its rewritten text.
//
// # Modes
//
// The user's own packages (load.Own) are rewritten in memory mode: every access that other
// goroutines might see has a hook, and so has every function. Dependencies are
// rewritten in sync mode: their goroutines, channels and atomics are under control,
// their accesses are not. The standard library is patched (patches.go; version.go says of
// which versions of Go), a few of its packages are rewritten in sync mode, and the hooks
// themselves are laid over it as package cofferdamrt, so that any package can import them
// with no change to any go.mod.
//
// Package hooks does the rewriting, package by package.
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
// build.go has the whole and its result, lay.go the hooks, deps.go the flag for dependencies, overlay.go the
// packages that take part and their numbers, std.go what is rewritten of the standard library and how patches
// are made to it, patches.go and edits.go which, stdcache.go how what was rewritten is kept, identity.go the
// hash that a binary is known by, digest.go those of its declarations, parallel.go which tests run at the
// same time as others.
package instrument
