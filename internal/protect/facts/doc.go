// Package facts gathers what is known of a program before anything about its protection
// is decided. It goes through the syntax of all packages once, and notes what each node
// shows; what depends on other functions is worked out afterwards.
//
// # What code may do
//
// An [Effect] is what running some code can mean to a section that works on copies: the
// variables and fields that the code names in whatever object, the types that it reaches
// through pointers, whether it takes a lock, and why it is opaque, if it is: it may
// synchronise with another goroutine, or reach variables in a way that is not known.
//
//	func (t *T) add(d int) { t.n += d }      names t and T.n
//	func (t *T) tell()     { t.done <- t.n } is opaque: uses a channel
//	func reset(p *int)     { *p = 0 }        reaches int through a pointer
//
// The effect of a function has that of all functions in it that are called by name. A
// function value and a method of an interface can be anything, so a call of one is
// opaque; so is a call of a function whose body is not at hand, unless it is one of the
// standard library that is known to be harmless.
//
// Effect, [Footprint] and [Statement] are the only way in which the planner asks what
// code may touch, and whether it synchronises. What is not understood is harmful.
//
// # What may reach a variable
//
// A [Place] is memory that one expression names for a whole section. A [Footprint] is a
// variable as code may reach it: by name, or through a pointer, if there can be one. An
// [Exposure] says whether there can.
//
//	p := &x.n                      x.n is pointed to: code that uses an *int may reach it
//	(*[8]byte)(unsafe.Pointer(&x.n))   x.n is forged: code that uses any pointer may
//	x.counts.add(1)                x.counts stays hidden if add borrows its receiver
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
//	facts.go        the pass over all packages, uses, assignments, calls of os.Exit
//	place.go        places, and keys of variables and functions
//	types.go        what types are and have
//	lock.go         operations on locks
//	effect.go       effects of functions and statements, footprints
//	node.go         the effect of one node
//	library.go      what is harmless in the standard library
//	statement.go    the accesses of a statement
//	exposure.go     addresses that are taken
//	borrow.go       methods that do not keep their receiver's address
//	alias.go        maps that are known by several names
//	declaration.go  where variables and fields are declared
//	pin.go          what must stay where it is
//	reflect.go      what reflection may look at
package facts
