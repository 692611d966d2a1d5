// Package library knows which calls of the standard library a section that works on copies can make without being
// interrupted: those of functions that access nothing but what they are given, and that synchronise with no other
// goroutine. Any other call might read a variable whose newest value only the section's copy has.
//
//	s := strconv.Itoa(x.n)       is made in the middle of the section, with the copy
//	log.Print(x.n)               interrupts it: the logger takes a lock, and calls a writer
//	sort.Slice(x.list, less)     interrupts it: less may access anything
//
// If less is a function literal in the place of the argument, its instructions are those of the statement, which is
// interrupted for what they do and for nothing else.
//
//	library.go  functions that run no code of the program
//	literal.go  functions that run the literals which they are given
package library

import (
	"go/ast"
	"go/types"
	"slices"
)

// quietPackages are packages of the standard library whose functions use no variables but
// what they are given, and tell other goroutines nothing. Functions that are given a
// function or an interface can run any code; they are not harmless.
var quietPackages = []string{
	"bytes", "cmp", "encoding/binary", "encoding/hex", "errors", "maps", "math", "math/bits", "path", "path/filepath",
	"slices", "sort", "strconv", "strings", "time", "unicode", "unicode/utf16", "unicode/utf8",
}

// printing are functions of package fmt that run no other code as long as what is
// printed has no methods.
var printing = []string{"Sprint", "Sprintf", "Sprintln", "Print", "Printf", "Println", "Errorf"}

// IsQuiet reports whether a function is of one of these packages, and has nothing to do with timers.
func IsQuiet(f *types.Func) bool {
	return f.Pkg() != nil && slices.Contains(quietPackages, f.Pkg().Path()) && !startsTimer(f)
}

// Harmless reports whether a call of a function from the standard library has no
// effect on copies.
func Harmless(info *types.Info, f *types.Func, c *ast.CallExpr) bool {
	if f.Pkg() == nil {
		return false
	}
	if f.Pkg().Path() == "fmt" && slices.Contains(printing, f.Name()) {
		for _, a := range c.Args {
			if t, ok := types.Unalias(info.TypeOf(a)).(*types.Basic); !ok || t.Kind() == types.UnsafePointer {
				return false
			}
		}
		return !c.Ellipsis.IsValid()
	}
	if !IsQuiet(f) {
		return false
	}
	s, ok := info.TypeOf(c.Fun).(*types.Signature)
	if !ok {
		return false
	}
	for v := range s.Params().Variables() {
		t := v.Type()
		if u, ok := t.Underlying().(*types.Slice); ok {
			t = u.Elem()
		}
		if !inert(t, 0) {
			return false
		}
	}
	return true
}

// runsAtOnce are functions that run the functions which they are given, before they return, and nothing else: what they do by
// themselves is to look at elements, or to move them.
var runsAtOnce = map[string][]string{
	"sort":    {"Search", "Find", "Slice", "SliceStable", "SliceIsSorted"},
	"slices":  {"SortFunc", "SortStableFunc", "IsSortedFunc", "BinarySearchFunc", "IndexFunc", "ContainsFunc", "DeleteFunc", "MaxFunc", "MinFunc", "EqualFunc", "CompactFunc"},
	"strings": {"Map", "IndexFunc", "LastIndexFunc", "ContainsFunc", "FieldsFunc", "TrimFunc", "TrimLeftFunc", "TrimRightFunc"},
	"bytes":   {"Map", "IndexFunc", "LastIndexFunc", "ContainsFunc", "FieldsFunc", "TrimFunc", "TrimLeftFunc", "TrimRightFunc"},
}

// runsGiven reports whether a call of a function has no effect on copies but that of the functions which it is given.
func runsGiven(f *types.Func) bool {
	return f.Pkg() != nil && f.Signature().Recv() == nil && slices.Contains(runsAtOnce[f.Pkg().Path()], f.Name())
}

// startsTimer reports whether a function has to do with timers: what a timer does
// when it fires happens after what was done before it was set.
func startsTimer(f *types.Func) bool {
	if f.Pkg().Path() != "time" {
		return false
	}
	if r := f.Signature().Recv(); r != nil {
		t := types.Unalias(r.Type())
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		n, ok := t.(*types.Named)
		return !ok || n.Obj().Name() == "Timer" || n.Obj().Name() == "Ticker"
	}
	return slices.Contains([]string{"NewTimer", "NewTicker", "After", "AfterFunc", "Tick"}, f.Name())
}

// inert reports whether the standard library can do nothing with a value of the
// type but use it: the value has no code of its own.
func inert(t types.Type, depth int) bool {
	if depth > 4 {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer
	case *types.Slice:
		return inert(u.Elem(), depth+1)
	case *types.Array:
		return inert(u.Elem(), depth+1)
	case *types.Map:
		return inert(u.Key(), depth+1) && inert(u.Elem(), depth+1)
	case *types.Pointer:
		return isOfQuietPackage(u.Elem())
	case *types.Struct:
		return isOfQuietPackage(t)
	}
	return false
}

func isOfQuietPackage(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && slices.Contains(quietPackages, n.Obj().Pkg().Path())
}
