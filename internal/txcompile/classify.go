package txcompile

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/cofferdam-go/cofferdam/internal/txcompile/library"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/listing"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/syntax"
)

const (
	stmPath      = listing.STM
	compiledPath = listing.Compiled
)

// A callKind says what a call in a transaction becomes.
type callKind uint8

const (
	conversion     callKind = iota
	builtin                 // see builtin.go
	literalCall             // of a function literal on the spot
	nested                  // of stm.Atomic
	cloned                  // of a function of the program, which has a clone
	throughMethod           // of an interface's method
	throughValue            // of a function value
	harmless                // of a function of the library that neither reads nor writes what is shared
	callingBack             // likewise, which calls functions that it is given
	arranging               // of one that changes the order of a slice
	writingOut              // of one that writes out what it is given, and calls its methods for that
	lookingThrough          // of one that looks through what an error wraps
	assigningError          // likewise, and assigns to what it is given a pointer to
	byMethods               // of one that sorts, or keeps a heap, by methods of its first argument
	translated              // of one that package compiled has for what is shared
	iterating               // likewise, which makes an iterator
	appending               // of one of package strconv that appends to a slice
	unknownCall             // of anything else: the transaction works in place from here on
)

// A target is what a call calls.
type target struct {
	kind       callKind
	name       string            // of a builtin, of what changes the order of a slice, or in package compiled
	written    []library.Written // how what writes it out is given each argument
	conversion string            // of the slice that it is given
	function   *function         // that is cloned
	methods    []*function       // by which things are ordered, likewise
	reason     string            // why it is unknown, for people
}

// classify says what a call calls.
func (p *program) classify(info *types.Info, call *ast.CallExpr) target {
	fun := ast.Unparen(call.Fun)
	tv := info.Types[fun]
	if tv.IsType() {
		return target{kind: conversion}
	}
	if tv.IsBuiltin() {
		return target{kind: builtin, name: syntax.BuiltinName(fun)}
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
	case syntax.IsMethodExpression(info, fun):
		return target{kind: unknownCall, reason: "calls the method expression " + callee.Name()}
	case sig.Recv() != nil && types.IsInterface(sig.Recv().Type()): // of an interface, or of a type parameter
		return target{kind: throughMethod}
	case len(call.Args) == 1 && syntax.IsTuple(info, call.Args[0]):
		return target{kind: unknownCall, reason: "passes the results of a call on to " + callee.Name()}
	}
	if f := p.functions[callee.FullName()]; f != nil && f.decl.Body != nil {
		if f.whyInPlace != "" {
			return target{kind: unknownCall, reason: "calls " + syntax.CalleeName(callee) + ", which " + f.whyInPlace}
		}
		return target{kind: cloned, function: f}
	}
	if library.IsHarmless(info, callee, call) {
		return target{kind: harmless}
	}
	switch how, ok := library.Writes(info, callee, call); {
	case ok && !library.IsFiller(callee):
		return target{kind: writingOut, written: how}
	case library.IsLooker(callee, call):
		return target{kind: lookingThrough}
	case library.IsAs(info, callee, call):
		return target{kind: assigningError}
	}
	if name, called := library.ByMethods(callee.FullName()); name != "" {
		if methods := p.ownMethods(info.TypeOf(call.Args[0]), called); methods != nil {
			return target{kind: byMethods, name: name, methods: methods}
		}
	}
	switch name, iterator := library.Translated(callee); {
	case name == "" || !syntax.IsSelected(fun):
	case iterator:
		return target{kind: iterating, name: name}
	default:
		return target{kind: translated, name: name}
	}
	if library.IsAppender(callee) {
		return target{kind: appending}
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
		return target{kind: unknownCall, reason: "calls " + syntax.CalleeName(callee) + " with what leads to memory, or has methods"}
	}
	reason := "calls " + syntax.KnownName(info, fun, callee)
	if callee.Pkg() != nil && p.left[callee.Pkg().Path()] != "" {
		reason += ", " + p.left[callee.Pkg().Path()]
	}
	return target{kind: unknownCall, reason: reason}
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
	_, inferred := info.Instances[syntax.NameOf(e)]
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

// isAtomic reports whether a call is of stm.Atomic, as a function or with options.
func isAtomic(info *types.Info, call *ast.CallExpr) bool {
	f, ok := typeutil.Callee(info, call).(*types.Func)
	return ok && f.Name() == "Atomic" && f.Pkg() != nil && f.Pkg().Path() == stmPath && !syntax.IsMethodExpression(info, ast.Unparen(call.Fun))
}
