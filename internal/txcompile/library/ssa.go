package library

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// IsOf reports whether a function is declared in a package.
func IsOf(fn *ssa.Function, path string) bool {
	return fn != nil && fn.Object() != nil && fn.Object().Pkg() != nil && fn.Object().Pkg().Path() == path
}

// WritesErrors reports whether a call is of a function that calls the method Error of what it is
// given, and an error is among that:
//
//	fmt.Sprint(err)     t1 = new [1]any; t2 = &t1[0]; *t2 = change interface any <- error err; ...
func WritesErrors(call ssa.CallInstruction, callee *ssa.Function) bool {
	if !IsOf(callee, "fmt") || !slices.Contains(ofErrors, callee.Object().(*types.Func).FullName()) {
		return false
	}
	return slices.ContainsFunc(call.Common().Args, func(arg ssa.Value) bool {
		slice, ok := arg.(*ssa.Slice)
		if !ok {
			return false
		}
		array, ok := slice.X.(*ssa.Alloc)
		return ok && !allUses(array, func(use ssa.Instruction) bool {
			element, ok := use.(*ssa.IndexAddr)
			return !ok || allUses(element, func(use ssa.Instruction) bool {
				store, ok := use.(*ssa.Store)
				return !ok || !isErrorAsAny(store.Val)
			})
		})
	})
}

func isErrorAsAny(v ssa.Value) bool {
	change, ok := v.(*ssa.ChangeInterface)
	return ok && IsError(change.X.Type())
}

// keepsNothing are packages whose functions call no others than those that they are given, and
// methods.
var keepsNothing = []string{"bytes", "cmp", "errors", "fmt", "maps", "math", "math/bits", "math/rand", "math/rand/v2", "path", "runtime", "slices", "sort", "strconv", "strings", "sync",
	"sync/atomic", "time", "unicode", "unicode/utf8"}

// KeepsNothing reports whether a function calls no others than those that it is given here, and
// methods.
func KeepsNothing(fn *ssa.Function) bool {
	return slices.ContainsFunc(keepsNothing, func(path string) bool { return IsOf(fn, path) }) && fn.Object().(*types.Func).FullName() != "(*sync.Pool).Get"
}

// reading are packages of the library whose functions change nothing of the program's that
// they are given.
var reading = []string{"errors", "fmt", "log", "log/slog", "strconv", "strings", "sync", "sync/atomic", "testing", "time"}

// scanning are functions of them that do.
var scanning = []string{"Scan", "Scanf", "Scanln", "Sscan", "Sscanf", "Sscanln", "Fscan", "Fscanf", "Fscanln"}

// OnlyReads reports whether a function of the library changes nothing that it is given.
func OnlyReads(fn *ssa.Function) bool {
	return slices.ContainsFunc(reading, func(path string) bool { return IsOf(fn, path) }) && !slices.Contains(scanning, fn.Object().Name())
}

// OnlyRead reports whether a value becomes an interface to be given to functions that change
// nothing:
//
//	fmt.Println(x)     t1 = new [1]any; t2 = &t1[0]; *t2 = make any <- x; t3 = slice t1; fmt.Println(t3)
func OnlyRead(v *ssa.MakeInterface) bool {
	return allUses(v, func(use ssa.Instruction) bool {
		store, ok := use.(*ssa.Store)
		if !ok {
			return isReadingCall(use)
		}
		element, ok := store.Addr.(*ssa.IndexAddr)
		if !ok {
			return false
		}
		array, ok := element.X.(*ssa.Alloc)
		return ok && array.Comment == "varargs" && allUses(array, func(use ssa.Instruction) bool {
			if slice, ok := use.(*ssa.Slice); ok {
				return allUses(slice, isReadingCall)
			}
			_, ok := use.(*ssa.IndexAddr)
			return ok
		})
	})
}

func isReadingCall(use ssa.Instruction) bool {
	call, ok := use.(ssa.CallInstruction)
	if !ok {
		return false
	}
	callee := call.Common().StaticCallee()
	return callee != nil && callee.Blocks == nil && OnlyReads(callee)
}

func allUses(v ssa.Value, allowed func(ssa.Instruction) bool) bool {
	return !slices.ContainsFunc(*v.Referrers(), func(use ssa.Instruction) bool {
		_, ok := use.(*ssa.DebugRef)
		return !ok && !allowed(use)
	})
}
