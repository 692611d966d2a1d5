// Package alias finds out whether the array of a slice has another name than the variable or field that holds the
// slice. If it has none, then all code that reaches the elements names the variable, and can be told to wait.
//
//	x.s = append(x.s, v); x.s[i]++; x.s = x.s[1:]; len(x.s)      none of this makes a name
//	y.s = x.s; global = x.s; go f(x.s); return x.s               each of this does
//
// # How
//
// All of it is decided on SSA form. A walk begins at each value that may be the array's: where the slice is loaded from
// its holder, and where a new array is made that is stored there. It follows the value over parts of the slice, branches, addresses of
// elements, and into functions that are called with it. An instruction that does something else with it, which is
// not known to be harmless, lets it escape: the slice of that holder has other names in the program.
//
//	old := x.s                 old is a name for a while
//	v := old[len(old)-1]       which is used here,
//	x.s = old[:len(old)-1]     and goes back to where it came from
//
// Such a name for a while does no harm where the lock is held all the while. Which that is, this package does
// not know: a [Name] has the instructions that use the elements by it, and package plan looks whether all of them are
// in the section.
//
// What is stored to a holder has to be new, nil, or what the same holder of the same object had. New is what make and
// literals make, what append returns for something new, and what a function returns that makes it. A
// new array may be filled before it is stored. What comes after that is a name, as above. A struct takes its slices along when it is
// copied or assigned, unless a literal has made it for that.
//
//	var x = T{s: make([]int, 8)}; *y = T{}      none of this makes a name
//
// Elements that are slices themselves, or structs that have some, belong to the same memory: x.s[i][j] is
// an element, and x.s[i] = y needs a y that is new. What pointers, maps and interfaces among the elements lead to does not.
//
// # Library
//
// Of the standard library the bodies are not at hand. A package that uses nothing but what it is given cannot keep a
// slice, unless a result or another argument can hold it, which their types say. A test has the bodies, and holds this
// against them.
//
// # Files
//
//	alias.go     holders, names, escapes
//	walk.go      following a value forward
//	call.go      calls
//	origin.go    where a value comes from that is stored
//	library.go   what the standard library does with slices
package alias
