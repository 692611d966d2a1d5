package txcompile

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/cofferdam-go/cofferdam/internal/txcompile/library"
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
	callingBack            // likewise, which calls functions that it is given
	arranging              // of one that changes the order of a slice
	tellingErrors          // of one that calls methods of the errors that it is given
	unknownCall            // of anything else: the transaction works in place from here on
)

// A target is what a call calls.
type target struct {
	kind       callKind
	name       string    // of a builtin, of what changes the order of a slice, or tells errors
	conversion string    // of the slice that it is given
	function   *function // that is cloned
	reason     string    // why it is unknown, for people
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
	if library.IsHarmless(info, callee, call) {
		return target{kind: harmless}
	}
	if library.IsOfErrors(info, callee, call) && (callee.Pkg().Path() == "fmt" || !p.unwraps) {
		return target{kind: tellingErrors, name: callee.FullName()}
	}
	if library.IsReader(callee, info, call) {
		if kind, ok := p.reader(info, call); ok {
			return target{kind: kind}
		}
	}
	if as, ok := library.IsArranger(callee, info, call); ok {
		if _, ok := p.reader(info, call); ok {
			return target{kind: arranging, name: callee.Name(), conversion: as}
		}
	}
	if sig.Recv() == nil && library.IsHarmlessWithout(callee) {
		return target{kind: unknownCall, reason: "calls " + calleeName(callee) + " with what leads to memory, or has methods"}
	}
	return target{kind: unknownCall, reason: "calls " + knownName(info, fun, callee)}
}

// knownName is the name of a function for people. A method that a type has from an embedded one
// which is not exported is known as the outer type's: t.Error is (*testing.T).Error.
func knownName(info *types.Info, fun ast.Expr, callee *types.Func) string {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok || info.Selections[sel] == nil {
		return calleeName(callee)
	}
	of := info.Selections[sel]
	receiver := callee.Signature().Recv().Type()
	if pointer, ok := receiver.(*types.Pointer); ok {
		receiver = pointer.Elem()
	}
	if named, ok := receiver.(*types.Named); !ok || named.Obj().Exported() || len(of.Index()) == 1 {
		return calleeName(callee)
	}
	return "(" + types.TypeString(of.Recv(), shortQualifier) + ")." + callee.Name()
}

// reader says what a call is of a function that reads slices, and calls what it is given. It is
// not ok if it cannot be seen what that is: literals can, and declared functions.
func (p *program) reader(info *types.Info, call *ast.CallExpr) (kind callKind, ok bool) {
	kind = harmless
	for _, arg := range call.Args {
		if _, isFunction := info.TypeOf(arg).Underlying().(*types.Signature); !isFunction {
			continue
		}
		arg = ast.Unparen(arg)
		if _, isLiteral := arg.(*ast.FuncLit); !isLiteral && !p.dualName(info, arg) {
			return unknownCall, false
		}
		kind = callingBack
	}
	return kind, true
}

// dualName reports whether an expression names a function of the program that can be dual, and
// has a type of its own.
func (p *program) dualName(info *types.Info, e ast.Expr) bool {
	fn := p.asValues[e]
	if fn == nil || fn.Signature().Recv() != nil {
		return false
	}
	_, inferred := info.Instances[nameOf(e)]
	f := p.functions[fn.FullName()]
	return f != nil && f.decl.Body != nil && f.whyInPlace == "" && !inferred
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
