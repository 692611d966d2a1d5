// Package statement says what statements and expressions are by themselves, for sections that are put
// around them: where control goes, and what can be read ahead.
//
//	if full {                     the return leaves the section, and len(q) is to be computed
//		return len(q)             before the lock is released; ErrFull need not be, which
//	}                             nothing changes
//	return ErrFull
//
//	control.go  where control goes from statements, and what stands in what
//	function.go the functions that statements stand in
//	polling.go  loops that wait for a change
//	look.go     looks whether a map has a key
//	value.go    what expressions read, and how to keep their values
package statement
