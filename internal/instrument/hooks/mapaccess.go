package hooks

import (
	"go/ast"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// mapRead returns the text of m[k] as a value. The map is read by the hook, after the key
// has been evaluated:
//
//	m[k]   ->   cofferdamrt.Map(m).Get(k, 7)
func (r *rewriter) mapRead(e *ast.IndexExpr) string {
	if !r.accesses() {
		return r.spliced(e, r.part(e.X, r.value(e.X)), r.part(e.Index, r.value(e.Index)))
	}
	m := r.hook("Map", r.value(e.X))
	gap := r.newlines(e.X.End(), e.Index.Pos())
	return m + ".Get(" + gap + r.value(e.Index) + ", " + r.site(event.MapRead, e) + r.closing(e.Index.End(), e.End())
}

// mapRead2 returns the text of m[k] as the only right side of an assignment to two operands.
// Nothing is evaluated after the hook but the key, whose own hooks come before it:
//
//	v, ok = m[k]      ->   v, ok = cofferdamrt.MR(m, 7)[k]
//	v, ok = m[x.f]    ->   w := cofferdamrt.R(&x.f, 6); v, ok = cofferdamrt.MR(m, 7)[w]
func (r *rewriter) mapRead2(e *ast.IndexExpr) string {
	return r.mapPlace(e, "MR", event.MapRead)
}

// mapWrite returns the text of m[k] as what is assigned to, with the hook before
// the assignment.
func (r *rewriter) mapWrite(e *ast.IndexExpr) string {
	return r.mapPlace(e, "MW", event.MapWrite)
}

// mapPlace returns the text of m[k] with a hook on the map, after which nothing else is
// evaluated.
func (r *rewriter) mapPlace(e *ast.IndexExpr, hook string, kind event.Kind) string {
	m := ""
	if r.hasHook(e.Index) {
		m = r.ahead(e.X)
	} else {
		m = r.value(e.X)
	}
	index := r.ahead(e.Index)
	if r.accesses() {
		m = r.hook(hook, m, r.site(kind, e))
	}
	return r.spliced(e, r.part(e.X, m), r.part(e.Index, index))
}

// mapOperand returns the text of a map that is about to be read or written.
func (r *rewriter) mapOperand(m ast.Expr, hook string, kind event.Kind, whole ast.Node) string {
	text := r.value(m)
	if !r.accesses() {
		return text
	}
	return r.hook(hook, text, r.site(kind, whole))
}

// mapElement returns the operation if e is an element of a map, as the right side of an
// assignment to two operands.
func (r *rewriter) mapElement(e ast.Expr) *ast.IndexExpr {
	if x, ok := ast.Unparen(e).(*ast.IndexExpr); ok && r.accesses() && isMap(r.typeOf(x.X)) {
		return x
	}
	return nil
}
