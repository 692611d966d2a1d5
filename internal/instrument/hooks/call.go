package hooks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// call returns the text of a call or conversion.
func (r *rewriter) call(e *ast.CallExpr) string {
	if r.info.Types[e.Fun].IsType() {
		return r.conversion(e)
	}
	if r.isC(e.Fun) {
		r.calls++
		// cgo's checks depend on how the arguments are written.
		return r.verbatim(e)
	}
	if name := r.builtin(e.Fun); name != "" {
		return r.builtinCall(e, name)
	}
	r.calls++
	if text, ok := r.atomicCall(e); ok {
		return text
	}
	r.together(append([]ast.Expr{e.Fun}, e.Args...)...)
	if text, ok := r.appended(e); ok {
		return text
	}
	fun := r.part(e.Fun, r.callee(e.Fun))
	return r.spliced(e, append(r.announced(e, r.arguments(e, 0)), fun)...)
}

// callee returns the text of what is called.
func (r *rewriter) callee(fun ast.Expr) string {
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		if s := r.info.Selections[sel]; s != nil && s.Kind() == types.MethodVal {
			return r.receiver(sel, s) + r.source(sel.X.End(), sel.End())
		}
	}
	return r.value(fun)
}

// isC reports whether e is a name of cgo's package C.
func (r *rewriter) isC(e ast.Expr) bool {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	return ok && r.packageOf(sel) == "C"
}

// arguments returns the rewritten arguments of a call, from one of them on.
func (r *rewriter) arguments(e *ast.CallExpr, from int) []part {
	var parts []part
	for _, a := range e.Args[from:] {
		parts = append(parts, r.part(a, r.value(a)))
	}
	return parts
}

// closing returns the end of a call that is written in place of what ends at a position, with
// the line breaks that stand before that.
func (r *rewriter) closing(from, to token.Pos) string {
	if lines := r.newlines(from, to); lines != "" {
		return "," + lines + ")"
	}
	return ")"
}

// hasCallIn is hasCall for several expressions.
func (r *rewriter) hasCallIn(all []ast.Expr) bool {
	return slices.ContainsFunc(all, func(e ast.Expr) bool { return r.hasCall(e) })
}

// conversion returns the text of a conversion. Those from a slice to a string or
// an array read its elements.
func (r *rewriter) conversion(e *ast.CallExpr) string {
	if len(e.Args) != 1 {
		return r.verbatim(e)
	}
	text := r.value(e.Args[0])
	from, to := r.typeOf(e.Args[0]), r.typeOf(e)
	if r.accesses() && isSlice(from) && (isString(to) || isArray(to)) {
		text = r.hook("RS", text, r.site(event.Load, e))
	}
	return r.spliced(e, r.part(e.Args[0], text))
}
