package hooks

import (
	"go/ast"
	"go/types"

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
	return r.spliced(e, append(r.arguments(e), r.part(e.Fun, r.callee(e.Fun)))...)
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

// arguments returns the rewritten arguments of a call.
func (r *rewriter) arguments(e *ast.CallExpr) []part {
	parts := make([]part, len(e.Args))
	for i, a := range e.Args {
		parts[i] = r.part(a, r.value(a))
	}
	return parts
}

// conversion returns the text of a conversion. Those from a slice to a string or
// an array read its elements.
func (r *rewriter) conversion(e *ast.CallExpr) string {
	if len(e.Args) != 1 {
		return r.verbatim(e)
	}
	text := r.value(e.Args[0])
	from, to := r.typeOf(e.Args[0]), r.typeOf(e)
	if r.mode == Memory && isSlice(from) && (isString(to) || isArray(to)) {
		text = r.hook("RS", text, r.site(event.Load, e))
	}
	return r.spliced(e, r.part(e.Args[0], text))
}
