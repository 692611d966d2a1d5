package instrument

import "go/ast"

// mapRead returns the text of m[k] as a value:
//
//	m[k]   ->   cofferdamrt.MR(m, 7)[k]
func (r *rewriter) mapRead(e *ast.IndexExpr) string {
	return r.spliced(e, r.part(e.X, r.mapOperand(e.X, "MR", "map read", e)), r.part(e.Index, r.value(e.Index)))
}

// mapWrite returns the text of m[k] as what is assigned to, with the hook before
// the assignment.
func (r *rewriter) mapWrite(e *ast.IndexExpr) string {
	return r.spliced(e, r.part(e.X, r.mapOperand(e.X, "MW", "map write", e)), r.part(e.Index, r.value(e.Index)))
}

// mapOperand returns the text of a map that is about to be read or written.
func (r *rewriter) mapOperand(m ast.Expr, hook, kind string, whole ast.Node) string {
	text := r.value(m)
	if r.mode != Memory {
		return text
	}
	return r.hook(hook, text, r.site(kind, whole))
}
