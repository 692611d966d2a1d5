package txcompile

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/cofferdam-go/cofferdam/internal/txcompile/listing"
)

const (
	stmPath      = listing.STM
	compiledPath = listing.Compiled
)

// A callKind says what a call in a transaction becomes.
type callKind uint8

const (
	conversion    callKind = iota
	builtin                // see builtin.go
	literalCall            // of a function literal on the spot
	nested                 // of stm.Atomic
	cloned                 // of a function of the program, which has a clone
	throughMethod          // of an interface's method
	throughValue           // of a function value
	harmless               // of a function of the library that neither reads nor writes what is shared
	unknownCall            // of anything else: the transaction works in place from here on
)

// A target is what a call calls.
type target struct {
	kind     callKind
	name     string    // of a builtin
	function *function // that is cloned
	reason   string    // why it is unknown, for people
}

// classify says what a call calls.
func (p *program) classify(info *types.Info, call *ast.CallExpr) target {
	fun := ast.Unparen(call.Fun)
	tv := info.Types[fun]
	if tv.IsType() {
		return target{kind: conversion}
	}
	if tv.IsBuiltin() {
		return target{kind: builtin, name: builtinName(fun)}
	}
	if isAtomic(info, call) {
		return target{kind: nested}
	}
	if _, ok := fun.(*ast.FuncLit); ok {
		return target{kind: literalCall}
	}
	obj := typeutil.Callee(info, call)
	callee, ok := obj.(*types.Func)
	if !ok {
		if _, ok := tv.Type.Underlying().(*types.Signature); !ok {
			return target{kind: unknownCall, reason: "a call of a value whose type is a type parameter"}
		}
		return target{kind: throughValue}
	}
	callee = callee.Origin()
	sig := callee.Signature()
	switch {
	case sig.Recv() != nil && isTypeParam(info, fun):
		return target{kind: unknownCall, reason: "calls " + callee.Name() + " of a type parameter"}
	case sig.Recv() != nil && types.IsInterface(sig.Recv().Type()):
		return target{kind: throughMethod}
	case isMethodExpression(info, fun):
		return target{kind: unknownCall, reason: "calls the method expression " + callee.Name()}
	case len(call.Args) == 1 && isTuple(info, call.Args[0]):
		return target{kind: unknownCall, reason: "passes the results of a call on to " + callee.Name()}
	}
	if f := p.functions[callee.FullName()]; f != nil && f.decl.Body != nil {
		if f.whyInPlace != "" {
			return target{kind: unknownCall, reason: "calls " + calleeName(callee) + ", which " + f.whyInPlace}
		}
		return target{kind: cloned, function: f}
	}
	if isHarmless(info, callee, call) {
		return target{kind: harmless}
	}
	return target{kind: unknownCall, reason: "calls " + calleeName(callee)}
}

// runsCode reports whether an expression calls code that may assign to anything.
func (p *program) runsCode(info *types.Info, e ast.Expr) (runs bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return p.immediate(n)
		case *ast.CallExpr:
			switch p.classify(info, n).kind {
			case conversion, builtin, harmless:
			default:
				runs = true
			}
		}
		return !runs
	})
	return runs
}

func builtinName(fun ast.Expr) string {
	switch fun := fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return "unsafe." + fun.Sel.Name
	}
	return ""
}

// isAtomic reports whether a call is of stm.Atomic, as a function or with options.
func isAtomic(info *types.Info, call *ast.CallExpr) bool {
	f, ok := typeutil.Callee(info, call).(*types.Func)
	return ok && f.Name() == "Atomic" && f.Pkg() != nil && f.Pkg().Path() == stmPath && !isMethodExpression(info, ast.Unparen(call.Fun))
}

func isMethodExpression(info *types.Info, fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	s := info.Selections[sel]
	return s != nil && s.Kind() == types.MethodExpr
}

func isTypeParam(info *types.Info, fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok || info.Selections[sel] == nil {
		return false
	}
	t := info.Selections[sel].Recv()
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	_, ok = types.Unalias(t).(*types.TypeParam)
	return ok
}

func isTuple(info *types.Info, e ast.Expr) bool {
	t, ok := info.Types[e].Type.(*types.Tuple)
	return ok && t.Len() != 1
}

func calleeName(f *types.Func) string {
	if r := f.Signature().Recv(); r != nil {
		return "(" + types.TypeString(r.Type(), shortQualifier) + ")." + f.Name()
	}
	return shortQualifier(f.Pkg()) + "." + f.Name()
}

func shortQualifier(p *types.Package) string {
	if p == nil {
		return ""
	}
	return p.Name()
}

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

// isHarmless reports whether a function of the library can be called as it is: what it reads
// is all in its arguments.
func isHarmless(info *types.Info, callee *types.Func, call *ast.CallExpr) bool {
	if callee.Pkg() == nil {
		return false
	}
	name := callee.FullName()
	if !slices.Contains(harmlessFunctions, name) && (!slices.Contains(harmlessPackages, callee.Pkg().Path()) || slices.Contains(harmful, name)) {
		return false
	}
	if r := callee.Signature().Recv(); r != nil && !isFlat(r.Type()) {
		return false
	}
	return !call.Ellipsis.IsValid() && !slices.ContainsFunc(call.Args, func(e ast.Expr) bool { return !isFlat(info.Types[e].Type) })
}

// isFlat reports whether a value of a type refers to no memory that can change, and has no
// methods of the program's that harmlessFunctions might call.
func isFlat(t types.Type) bool {
	if named, ok := types.Unalias(t).(*types.Named); ok {
		switch pkg := named.Obj().Pkg(); {
		case pkg != nil && pkg.Path() == "time" && (named.Obj().Name() == "Time" || named.Obj().Name() == "Duration"):
			return true
		case named.NumMethods() > 0:
			return false
		}
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Kind() != types.UnsafePointer
	case *types.Array:
		return isFlat(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if !isFlat(f.Type()) {
				return false
			}
		}
		return true
	}
	return false
}

// allocating are harmless functions that allocate as much as an argument says.
var allocating = map[string]int{"strings.Repeat": 1}
