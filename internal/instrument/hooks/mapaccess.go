package hooks

import (
	"go/ast"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// mapRead returns the text of m[k] as a value:
//
//	m[k]   ->   cofferdamrt.MR(m, 7)[k]
func (r *rewriter) mapRead(e *ast.IndexExpr) string {
	return r.spliced(e, r.part(e.X, r.mapOperand(e.X, "MR", event.MapRead, e)), r.part(e.Index, r.value(e.Index)))
}

// mapWrite returns the text of m[k] as what is assigned to, with the hook before
// the assignment.
func (r *rewriter) mapWrite(e *ast.IndexExpr) string {
	return r.spliced(e, r.part(e.X, r.mapOperand(e.X, "MW", event.MapWrite, e)), r.part(e.Index, r.value(e.Index)))
}

// mapOperand returns the text of a map that is about to be read or written.
func (r *rewriter) mapOperand(m ast.Expr, hook string, kind event.Kind, whole ast.Node) string {
	text := r.value(m)
	if r.mode != Memory {
		return text
	}
	return r.hook(hook, text, r.site(kind, whole))
}
