// Package protect builds programs whose critical sections have what their lock guards to
// themselves: on pages that no other goroutine can reach, or as private copies. It is the
// compiler of the Isolator paper (its sections 5.3 and 5.4), at source level and for Go.
// Package isolate says what becomes of a careless access to data on pages that falls into
// a section, and package tolerate, with the semantics of ToleRace, what becomes of one to
// data with copies.
//
//	x.mu.Lock()       x.mu.Lock(); v := x.n; b := v
//	x.n++             v++
//	x.mu.Unlock()     Put(&x.n, v, b); x.mu.Unlock()
//
// # How
//
// A program goes through four packages, and each knows nothing of those after it:
//
//	guard    which lock guards what
//	facts    what is known of the program: what code may touch, whether it synchronises,
//	         whose address is taken, what must stay where it is
//	plan     for each variable how it is protected, and why not; for each section what it
//	         has copies of, and which statements must find them published
//	write    the plan as new texts of files
//
// Facts are gathered in one pass. A plan is data: it can be printed, and that is the
// table that a protected program shows when it starts. What is written follows from the
// plan alone. See package plan for what a section becomes, and for why a correct program
// means the same.
//
// The texts reach the go command by an overlay, with the packages that the program links
// laid over the standard library: tolerate, isolate, watch, which tells what was found,
// and aside, which has the data on pages.
//
// # Files
//
//	protect.go   from packages to new texts
//	build.go     from patterns to flags of the go command
//	compile.go   functions that do not build when they are rewritten
//	ends.go      what the standard library gets, so that findings are told however a program ends
package protect
