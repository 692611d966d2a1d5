// Package facts gathers what is known of a program before anything about its protection
// is decided. What code may touch is read off its SSA form, in which each dereference,
// conversion, copy and range that the source does not write out is an instruction; how
// the source names things, which is what can be written in another way, off its syntax.
//
// # What code may do
//
// An [Effect] is what running some code can mean to a section that works on copies: the
// variables and fields that the code names in whatever object, the types that it reaches
// through pointers, whether it takes a lock or may panic, and why it is opaque, if it is:
// it may synchronise with another goroutine, or reach variables in a way that is not
// known.
//
//	func (t *T) add(d int) { t.n += d }      names T.n
//	func (t *T) tell()     { t.done <- t.n } is opaque: uses a channel
//	func reset(p *int)     { *p = 0 }        reaches int through a pointer
//	func text(b []byte)    { _ = string(b) } reaches byte through a pointer
//
// The effect of a function has that of all functions in it that are called by name. A
// function value and a method of an interface can be anything, so a call of one is
// opaque; so is a call of a function whose body is not at hand, unless it is one of the
// standard library that is known to do nothing but use what it is given. An instruction
// that is not known ends the analysis.
//
// A [Statement] is the effect of a piece of a function: of the instructions that come from
// there. Its [Touch]es are the memory that they reach, its [Access]es the expressions that
// name a variable. A touch that is not by way of such an expression needs the variable
// itself, even if it looks the same in SSA form:
//
//	p := &x.n      takes the address of x.n, which is used elsewhere
//	*p = 1         touches x.n, and has no access to it
//
// # What may reach a variable
//
// A [Place] is memory that one expression names for a whole section. A [Footprint] is a
// variable as code may reach it: by name, or through a pointer, if there can be one. An
// [Exposure] says whether there can.
//
//	p := &x.n                      x.n is pointed to: code that uses an *int may reach it
//	s := x.array[:]                x.array is: code that uses elements of its type may
//	(*[8]byte)(unsafe.Pointer(&x.n))   x.n is forged: code that uses any pointer may
//	x.counts.add(1)                x.counts stays hidden if add borrows its receiver
//	c := &x.counts                 x.counts stays hidden if c goes nowhere
//
// While add runs, and in the function that has c, a pointer leads to x.counts all the same:
// there it has the footprint that FootprintIn describes.
//
// # What must stay where it is
//
// Data can be put on pages if each of its uses can be found and rewritten, and if it has
// an address at each. What cannot is pinned, with the reason:
//
//	y := *x                 the struct of x is copied, and its fields with it
//	json.Marshal(x)         reflection looks at the struct of x
//	var t = T{n: 1}         the first value of a variable sets T.n before any code runs
//	len(x.array)            is a constant, and would not be one
//	make().n                is used in a value that has no address
//	List[T], unsafe.Sizeof(t), T2(t), cgo, assembly, linkname
//
// # Files
//
//	facts.go        the passes over all packages, uses, assignments
//	code.go         the SSA form, found by syntax
//	instruction.go  what one instruction does
//	touch.go        the memory at an address, and whether it may be a variable
//	update.go       how a store makes the new value of the old one
//	panic.go        which instructions may panic
//	effect.go       effects of functions, footprints
//	unnamed.go      functions that code may run which does not name them
//	statement.go    the effects and accesses of a statement
//	exposure.go     addresses that are taken
//	borrow.go       parameters whose addresses are not kept
//	lent.go         what pointers lead to while a function runs
//	alias.go        maps that are known by several names
//	place.go        places, and keys of variables and functions
//	types.go        what types are and have
//	lock.go         operations on locks
//	declaration.go  where variables and fields are declared
//	pin.go          what must stay where it is
//	word.go         loads and stores of pointers
//	entry.go        what is done with one entry of a map
//	element.go      elements of slices, as package alias knows them
package facts
