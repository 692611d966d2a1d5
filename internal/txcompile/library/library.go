// Package library lists functions of the standard library by what a call of them does in a transaction:
// functions that only compute, functions that read what they are given and change nothing, and functions that
// keep none of the functions that they are given. The compiler of transactions leaves a call of these as it
// is. A function that is not listed may do anything.
//
// library.go is about calls in source, errors.go about those of functions that read errors,
// methods.go about those that order things by their methods, and ssa.go about those of go/ssa.
package library

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// harmlessPackages are those whose functions only compute, from numbers and strings.
var harmlessPackages = []string{
	"cmp", "errors", "html", "math", "math/bits", "math/cmplx", "math/rand", "math/rand/v2", "path", "strconv", "strings", "time",
	"unicode", "unicode/utf16", "unicode/utf8",
}

// harmful are functions of them that do more.
var harmful = []string{"time.Sleep", "time.After", "time.Tick", "time.NewTimer", "time.NewTicker", "math/rand.Seed", "math/rand.Read"}

// harmlessFunctions are functions of other packages that compute from what they are given, and
// are harmless with numbers and strings.
var harmlessFunctions = []string{"runtime.Gosched", "fmt.Sprint", "fmt.Sprintf", "fmt.Sprintln", "fmt.Errorf"}

// IsHarmless reports whether a function of the library can be called as it is: what it reads
// is all in its arguments.
func IsHarmless(info *types.Info, callee *types.Func, call *ast.CallExpr) bool {
	if !IsHarmlessWithout(callee) {
		return false
	}
	if r := callee.Signature().Recv(); r != nil && !IsFlat(r.Type()) {
		return false
	}
	// errors.Join keeps errors and looks into none; functions of cmp compare values of any type
	// by operators, and call none of their methods.
	if callee.FullName() == "errors.Join" || callee.Pkg().Path() == "cmp" {
		return !call.Ellipsis.IsValid()
	}
	return !call.Ellipsis.IsValid() && !slices.ContainsFunc(call.Args, func(e ast.Expr) bool { return !IsFlat(info.Types[e].Type) })
}

// IsHarmlessWithout reports whether a function of the library can be called as it is with
// arguments, and on a receiver, that lead to no memory and have no methods of the program's.
func IsHarmlessWithout(callee *types.Func) bool {
	if callee.Pkg() == nil {
		return false
	}
	name := callee.FullName()
	return slices.Contains(harmlessFunctions, name) || slices.Contains(harmlessPackages, callee.Pkg().Path()) && !slices.Contains(harmful, name)
}

// readers are functions that touch nothing but elements of slices that they are given, which
// they read, and call nothing but functions that they are given.
var readers = map[string][]string{
	"bytes":   {"Compare", "Contains", "Equal", "HasPrefix", "HasSuffix", "Index", "IndexByte"},
	"slices":  {"BinarySearch", "BinarySearchFunc", "Clone", "Compare", "CompareFunc", "Contains", "ContainsFunc", "Equal", "EqualFunc", "Index", "IndexFunc", "IsSorted", "IsSortedFunc", "Max", "MaxFunc", "Min", "MinFunc"},
	"sort":    {"Find", "Float64sAreSorted", "IntsAreSorted", "Search", "SearchFloat64s", "SearchInts", "SearchStrings", "StringsAreSorted"},
	"strings": {"ContainsFunc", "FieldsFunc", "IndexFunc", "Join", "LastIndexFunc", "Map", "TrimFunc", "TrimLeftFunc", "TrimRightFunc"},
}

// IsReader reports whether a function of the library means the same with copies of the slices
// that it is given, and functions that find their transaction by themselves. What else it is
// given must be flat; a function of package slices does no more with it than to compare it, or to
// hand it on.
func IsReader(callee *types.Func, info *types.Info, call *ast.CallExpr) bool {
	if callee.Pkg() == nil || callee.Signature().Recv() != nil || !slices.Contains(readers[callee.Pkg().Path()], callee.Name()) || call.Ellipsis.IsValid() {
		return false
	}
	return !slices.ContainsFunc(call.Args, func(e ast.Expr) bool {
		switch info.TypeOf(e).Underlying().(type) {
		case *types.Slice, *types.Signature:
			return false
		}
		return info.Types[e].IsNil() || callee.Pkg().Path() != "slices" && !IsFlat(info.TypeOf(e))
	})
}

// IsAppender reports whether a function appends to a slice of bytes, its first argument, what it
// makes of numbers and strings.
func IsAppender(callee *types.Func) bool {
	return callee.Pkg() != nil && callee.Pkg().Path() == "strconv" && strings.HasPrefix(callee.Name(), "Append")
}

// arrangers are functions that change the order of a slice, their first argument, and touch
// nothing else. Those that are not generic are given a slice of a type without a name.
var arrangers = map[string]string{
	"slices.Sort": "", "slices.SortFunc": "", "slices.SortStableFunc": "", "slices.Reverse": "",
	"sort.Ints": "[]int", "sort.Strings": "[]string", "sort.Float64s": "[]float64",
	"sort.Slice": "", "sort.SliceStable": "",
}

// IsArranger reports whether a function changes the order of its first argument, which must be
// seen to be a slice. If it is given a slice of a type without a name, that is as.
func IsArranger(callee *types.Func, info *types.Info, call *ast.CallExpr) (as string, ok bool) {
	if as, ok = arrangers[callee.FullName()]; !ok {
		return "", false
	}
	_, ok = info.TypeOf(call.Args[0]).Underlying().(*types.Slice)
	return as, ok
}

// translated are functions that package compiled has, under names of its own, for slices and maps
// that are shared. They touch nothing else, and call nothing but functions that they are given.
var translated = map[string]string{
	"slices.AppendSeq": "AppendSeq", "slices.Clip": "Clip", "slices.Collect": "Collect", "slices.Compact": "Compact", "slices.CompactFunc": "CompactFunc",
	"slices.Concat": "Concat", "slices.Delete": "Delete", "slices.DeleteFunc": "DeleteFunc", "slices.Grow": "Grow", "slices.Insert": "Insert",
	"slices.Repeat": "Repeat", "slices.Replace": "Replace",
	"slices.Sorted": "Sorted", "slices.SortedFunc": "SortedFunc", "slices.SortedStableFunc": "SortedStableFunc",
	"maps.Clone": "MapClone", "maps.Collect": "MapCollect", "maps.Copy": "MapCopy", "maps.DeleteFunc": "MapDeleteFunc",
	"maps.Equal": "MapEqual", "maps.EqualFunc": "MapEqualFunc", "maps.Insert": "MapInsert",
}

// iterators are likewise, and read nothing before their result is called.
var iterators = map[string]string{
	"slices.All": "All", "slices.Backward": "Backward", "slices.Chunk": "Chunk", "slices.Values": "Values",
	"maps.All": "MapEntries", "maps.Keys": "MapKeys", "maps.Values": "MapValues",
}

// Translated is the name in package compiled of what a function of the library is in a
// transaction, "" if there is none, and whether it is an iterator, which finds its transaction.
func Translated(callee *types.Func) (name string, iterator bool) {
	if name, ok := iterators[callee.FullName()]; ok {
		return name, true
	}
	return translated[callee.FullName()], false
}

// Witnesses are functions of packages, as instances: a file whose calls have all become others
// still uses what it imports by naming one.
var Witnesses = map[string]string{"slices": "Values[[]int]", "maps": "Keys[map[int]int]"}

// IsFlat reports whether a value of a type refers to no memory that can change, and has no
// methods of the program's that harmlessFunctions might call.
func IsFlat(t types.Type) bool { return isFlat(t, func(string) bool { return true }) }

// isFlat reports whether a value of a type refers to no memory that can change, and neither it nor
// a part of it has a method that is called.
func isFlat(t types.Type, called func(method string) bool) bool {
	if named, ok := types.Unalias(t).(*types.Named); ok {
		if pkg := named.Obj().Pkg(); pkg != nil && pkg.Path() == "time" && (named.Obj().Name() == "Time" || named.Obj().Name() == "Duration") {
			return true
		}
		for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
			if called(m.Obj().Name()) {
				return false
			}
		}
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Kind() != types.UnsafePointer
	case *types.Array:
		return isFlat(t.Elem(), called)
	case *types.Struct:
		for f := range t.Fields() {
			if !isFlat(f.Type(), called) {
				return false
			}
		}
		return true
	}
	return false
}

// allocating are functions that allocate as much as one of their arguments says.
var allocating = map[string]int{
	"(*bytes.Buffer).Grow": 0, "(*strings.Builder).Grow": 0, "math/rand.Perm": 0, "math/rand/v2.Perm": 0,
	"strconv.AppendFloat": 3, "strconv.FormatFloat": 2, "strings.Repeat": 1,
}

// Allocates returns the argument that says how much a function allocates.
func Allocates(f *types.Func) (argument int, ok bool) {
	argument, ok = allocating[f.FullName()]
	return argument, ok
}

// IsWriter reports whether methods of a type touch nothing but their receiver, and what that
// alone leads to.
func IsWriter(t types.Type) bool {
	return slices.Contains([]string{"*strings.Builder", "*bytes.Buffer"}, types.TypeString(t, nil))
}

// OnlyAppends reports whether methods of a type write nothing but what is beyond the end of what
// a copy of their receiver says is there.
func OnlyAppends(t types.Type) bool { return types.TypeString(t, nil) == "strings.Builder" }
