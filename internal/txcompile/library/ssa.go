package library

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// IsOf reports whether a function is declared in a package.
func IsOf(fn *ssa.Function, path string) bool {
	return fn != nil && fn.Object() != nil && fn.Object().Pkg() != nil && fn.Object().Pkg().Path() == path
}

// IsTranslated reports whether package compiled has a function of the library for what is shared.
func IsTranslated(fn *ssa.Function) bool {
	obj, ok := fn.Object().(*types.Func)
	if !ok {
		return false
	}
	name, _ := Translated(obj.Origin())
	return name != ""
}

// A Called is a method that a function of the library calls of what it is given: of values of a
// type, or of any if that is nil.
type Called struct {
	Name string
	Of   types.Type
}

// Calls returns the methods that a function of the library calls of what it is given: those that
// say what is written of it, what an error wraps, and how things are ordered.
func Calls(call ssa.CallInstruction, callee *ssa.Function) (all []Called) {
	if callee == nil || callee.Object() == nil {
		return nil
	}
	name := callee.Object().(*types.Func).FullName()
	if _, methods := ByMethods(name); methods != nil {
		return ownMethods(call.Common().Args[0], methods)
	}
	switch {
	case slices.Contains(lookers, name), name == "errors.As":
		return []Called{{Name: "Is"}, {Name: "Unwrap"}}
	case slices.Contains(writers, name), slices.Contains(fillers, name):
		for _, arg := range call.Common().Args {
			for _, v := range elements(arg) {
				all = append(all, writing(v)...)
			}
		}
	}
	return all
}

// ownMethods are methods of what a function that sorts, or keeps a heap, is given: the type's own,
// and not those that go/ssa has made of them.
func ownMethods(arg ssa.Value, methods []string) (all []Called) {
	var of types.Type
	if given, ok := arg.(*ssa.MakeInterface); ok {
		of = given.X.Type()
	}
	for _, name := range methods {
		t := of
		if p, ok := t.(*types.Pointer); ok {
			if m := OwnMethod(t, name); m != nil && !types.IsInterface(p.Elem()) {
				if _, byPointer := m.Signature().Recv().Type().(*types.Pointer); !byPointer {
					t = p.Elem()
				}
			}
		}
		all = append(all, Called{name, t})
	}
	return all
}

// elements are what is stored in a slice of arguments:
//
//	fmt.Sprint(err)     t1 = new [1]any; t2 = &t1[0]; *t2 = change interface any <- error err; ...
func elements(arg ssa.Value) (all []ssa.Value) {
	slice, ok := arg.(*ssa.Slice)
	if !ok {
		return nil
	}
	array, ok := slice.X.(*ssa.Alloc)
	if !ok {
		return nil
	}
	for _, use := range *array.Referrers() {
		if element, ok := use.(*ssa.IndexAddr); ok {
			for _, use := range *element.Referrers() {
				if store, ok := use.(*ssa.Store); ok {
					all = append(all, store.Val)
				}
			}
		}
	}
	return all
}

// writing returns the methods that say what is written of a value.
func writing(v ssa.Value) []Called {
	switch v := v.(type) {
	case *ssa.Const:
		return nil
	case *ssa.MakeInterface:
		if isFlat(v.X.Type(), isWrittenOut) {
			return nil
		}
		return []Called{{"Error", v.X.Type()}, {"String", v.X.Type()}}
	case *ssa.ChangeInterface:
		if IsError(v.X.Type()) {
			return []Called{{Name: "Error"}}
		}
	}
	return []Called{{Name: "Error"}, {Name: "String"}}
}

// keepsNothing are packages whose functions call no others than those that they are given, and
// methods.
var keepsNothing = []string{"bytes", "cmp", "container/heap", "errors", "fmt", "maps", "math", "math/bits", "math/rand", "math/rand/v2", "path", "runtime", "slices", "sort", "strconv", "strings", "sync",
	"sync/atomic", "time", "unicode", "unicode/utf8"}

// KeepsNothing reports whether a function calls no others than those that it is given here, and
// methods.
func KeepsNothing(fn *ssa.Function) bool {
	return slices.ContainsFunc(keepsNothing, func(path string) bool { return IsOf(fn, path) }) && fn.Object().(*types.Func).FullName() != "(*sync.Pool).Get"
}

// reading are packages of the library whose functions change nothing of the program's that
// they are given.
var reading = []string{"errors", "fmt", "log", "log/slog", "strconv", "strings", "sync", "sync/atomic", "testing", "time"}

// assigning are beginnings of names of functions of them that do: to a slice, or through a pointer.
var assigning = []string{"Append", "As", "Decode", "Fscan", "GobDecode", "Read", "Scan", "Sscan", "Unmarshal"}

// OnlyReads reports whether a function of the library changes nothing that it is given. What an
// error says of itself it has by reading.
func OnlyReads(fn *ssa.Function) bool {
	if fn.Signature.Recv() != nil && fn.Name() == "Error" && fn.Signature.Params().Len() == 0 {
		return true
	}
	return slices.ContainsFunc(reading, func(path string) bool { return IsOf(fn, path) }) &&
		!slices.ContainsFunc(assigning, func(begin string) bool { return strings.HasPrefix(fn.Object().Name(), begin) }) &&
		!(IsOf(fn, "sync/atomic") && fn.Signature.Recv() == nil)
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
