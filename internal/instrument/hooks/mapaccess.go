package hooks

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// mapRead returns the text of m[k] as a value. The map is read by the hook, after the key
// has been evaluated:
//
//	m[k]   ->   cofferdamrt.Map(m).Get(k, 7)
func (r *rewriter) mapRead(e *ast.IndexExpr) string { return r.mapGet(e, "Get") }

// mapRead2 returns the text of m[k] as the only right side of an assignment to two operands:
//
//	v, ok = m[k]   ->   v, ok = cofferdamrt.Map(m).Get2(k, 7)
func (r *rewriter) mapRead2(e *ast.IndexExpr) string { return r.mapGet(e, "Get2") }

func (r *rewriter) mapGet(e *ast.IndexExpr, method string) string {
	if !r.accesses() {
		return r.spliced(e, r.part(e.X, r.value(e.X)), r.part(e.Index, r.value(e.Index)))
	}
	m := r.hook("Map", r.value(e.X))
	gap := r.newlines(e.X.End(), e.Index.Pos())
	return m + "." + method + "(" + gap + r.value(e.Index) + ", " + r.entrySite(event.MapRead, e, e.X) + r.closing(e.Index.End(), e.End())
}

// entrySite is site for an access to an entry of a map.
func (r *rewriter) entrySite(kind event.Kind, n ast.Node, m ast.Expr) string {
	id := r.site(kind, n)
	if t, ok := r.typeOf(m).Underlying().(*types.Map); ok && id != library {
		r.sites[len(r.sites)-1].Type = entryLayout(t, r.pkg.TypesSizes)
	}
	return id
}

// mapUpdate returns the text of an assignment operation on m[k]:
//
//	m[k] += v   ->   cofferdamrt.SumsOf(m).Add(k, v, 7)
func (r *rewriter) mapUpdate(op token.Token, e *ast.IndexExpr, operand func() string) string {
	update := r.hook(mappings[op], r.value(e.X)) + "." + operators[op] + "("
	update += r.newlines(e.X.End(), e.Index.Pos()) + r.value(e.Index) + ", "
	update += operand() + ", "
	return update + r.entrySite(event.MapWrite, e, e.X) + ")"
}

// mapWrite returns the text of m[k] as what is shifted, with the hook before the operation. After it
// nothing is evaluated but the key, whose own hooks come before it:
//
//	m[k] <<= v     ->   cofferdamrt.Map(m).Update(k, 7)[k] <<= v
//	m[x.f] <<= v   ->   w := cofferdamrt.R(&x.f, 6); cofferdamrt.Map(m).Update(w, 7)[w] <<= v
//
// Where the key cannot be evaluated ahead, it is not told to the hook: it would be evaluated twice.
func (r *rewriter) mapWrite(e *ast.IndexExpr) string {
	m := ""
	if r.hasHook(e.Index) {
		m = r.ahead(e.X)
	} else {
		m = r.value(e.X)
	}
	index := r.ahead(e.Index)
	switch {
	case !r.accesses():
	case r.hasHook(e.Index) && r.early == nil, strings.Contains(index, "\n"), strings.Contains(index, "/*line"):
		m = r.hook("MW", m, r.site(event.MapWrite, e))
	default:
		m = r.hook("Map", m) + ".Update(" + index + ", " + r.entrySite(event.MapWrite, e, e.X) + ")"
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
