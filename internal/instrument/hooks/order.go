package hooks

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// The order of evaluation within a statement.
//
// The language orders the calls, receives and short-circuit operators of a statement from
// left to right, and leaves open when a variable is loaded in between. The compiler makes
// the calls first, and then what remains: in x.n + f() it calls f and then loads x.n. A hook
// is a call itself, so that the load would come first. Programs depend on what the compiler
// does, mostly without knowing, and so does what is a race: in
//
//	total := x.n + <-done
//
// the receive orders the load. So where a load has a call after it, the calls are made ahead
// of the statement:
//
//	y = x.n + f()       ->   { v := f(); y = cofferdamrt.R(&x.n, 7) + v }
//	g(x.n, f(), h())    ->   { v := f(); w := h(); g(cofferdamrt.R(&x.n, 7), v, w) }
//
// What is together evaluated is a region: the operands of a statement, or those of one call. A call that is
// made ahead takes those before it along. Where nothing can stand ahead (the right side of && and ||, the
// cases of a switch, simple statements before a block, package-level variables) operands are evaluated from
// left to right, which the language allows as well.

// An early holds the statements that come ahead of the one that is being rewritten.
type early struct {
	stmts []string
	line  int // of the statement
	// moved says that some of them stand on another line than they did.
	moved bool
}

// withEarly calls f, which returns the text of something that begins at pos, and returns
// what has to stand ahead of that as well.
func (r *rewriter) withEarly(pos token.Pos, f func() string) (ahead *early, text string) {
	outer := r.early
	r.early = &early{line: r.line(pos)}
	defer func() { r.early = outer }()
	text = f()
	return r.early, text
}

// withoutEarly calls f for something ahead of which nothing can stand.
func (r *rewriter) withoutEarly(f func() string) string {
	outer := r.early
	r.early = nil
	defer func() { r.early = outer }()
	return f()
}

// before returns the statements, for the text of a node to follow on the same line.
func (a *early) before(r *rewriter, n ast.Node) string {
	if len(a.stmts) == 0 {
		return ""
	}
	text := strings.Join(a.stmts, "; ") + "; "
	if a.moved {
		text += r.at(n.Pos())
	}
	return text
}

// after returns what follows the text of a node, so that the source goes on in its line.
func (a *early) after(r *rewriter, n ast.Node) string {
	if !a.moved {
		return ""
	}
	return r.at(n.End())
}

// together marks the calls of a region that have to be made ahead: all up to the last one
// that has a load before it, or calls of its own that have to be made ahead.
func (r *rewriter) together(all ...ast.Expr) {
	if r.early == nil || !r.accesses() {
		return
	}
	o := r.orderOf(all...)
	for _, c := range o.calls[:o.late] {
		r.aheadOf[c] = true
	}
}

// orderOf walks over a region.
func (r *rewriter) orderOf(all ...ast.Expr) *ordering {
	o := &ordering{r: r}
	for _, e := range all {
		if e != nil {
			o.visit(e)
		}
	}
	return o
}

// An ordering is a walk over a region, in the order of its source.
type ordering struct {
	r      *rewriter
	calls  []ast.Expr
	loaded bool
	late   int // how many of calls have to be made ahead
}

func (o *ordering) visit(e ast.Expr) {
	r := o.r
	if tv := r.info.Types[e]; tv.IsType() || tv.Value != nil || tv.IsNil() {
		return
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		if r.info.Types[e.Fun].IsType() || pureBuiltin(r.builtin(e.Fun)) {
			for _, a := range e.Args {
				o.visit(a)
			}
			return
		}
		o.call(e)
		return
	case *ast.UnaryExpr:
		if e.Op == token.ARROW {
			o.call(e)
			return
		}
		o.visit(e.X)
		return
	case *ast.BinaryExpr:
		if (e.Op == token.LAND || e.Op == token.LOR) && r.hasCall(e) {
			o.call(e)
			return
		}
		o.visit(e.X)
		o.visit(e.Y)
		return
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				if isMap(r.typeOf(e)) {
					o.visit(kv.Key)
				}
				x = kv.Value
			}
			o.visit(x)
		}
		return
	case *ast.ParenExpr:
		o.visit(e.X)
	case *ast.SelectorExpr:
		if r.info.Selections[e] != nil {
			o.visit(e.X)
		}
	case *ast.IndexExpr:
		o.visit(e.X)
		o.visit(e.Index)
		o.loaded = o.loaded || isMap(r.typeOf(e.X))
	case *ast.SliceExpr:
		o.visit(e.X)
		for _, i := range []ast.Expr{e.Low, e.High, e.Max} {
			if i != nil {
				o.visit(i)
			}
		}
	case *ast.StarExpr:
		o.visit(e.X)
	case *ast.TypeAssertExpr:
		o.visit(e.X)
	}
	if r.isPlace(e) && r.shared(e) {
		o.loaded = true
	}
}

// call notes a call. One with several results, or with none, has nothing beside it.
func (o *ordering) call(e ast.Expr) {
	if t, ok := o.r.typeOf(e).(*types.Tuple); ok && t != nil {
		return
	}
	o.calls = append(o.calls, e)
	if o.loaded || o.inside(e).late > 0 {
		o.late = len(o.calls)
	}
}

// inside walks over the region that a call has to itself.
func (o *ordering) inside(e ast.Expr) *ordering {
	switch e := e.(type) {
	case *ast.CallExpr:
		return o.r.orderOf(append([]ast.Expr{e.Fun}, e.Args...)...)
	case *ast.UnaryExpr:
		return o.r.orderOf(e.X)
	case *ast.BinaryExpr:
		return o.r.orderOf(e.X)
	}
	panic(fmt.Sprintf("a call of %T", e))
}

// pureBuiltin reports whether the compiler evaluates a built-in function with what remains,
// and not with the calls, as it does min and max.
func pureBuiltin(name string) bool {
	switch name {
	case "len", "cap", "new", "make", "real", "imag", "complex":
		return true
	}
	return strings.HasPrefix(name, "unsafe.")
}

// ahead returns the text of a value that is evaluated ahead of the statement if it has hooks
// or calls in it, and there is a place for that.
func (r *rewriter) ahead(e ast.Expr) string {
	if r.aheadOf[e] {
		return r.value(e)
	}
	text := r.value(e)
	if r.early == nil || !r.hasHook(e) || r.untypedShift(e) {
		return text
	}
	return r.bindEarly(e, text)
}

// hasHook reports whether the text of an expression has hooks or calls in it.
func (r *rewriter) hasHook(e ast.Expr) bool {
	o := r.orderOf(e)
	return o.loaded || len(o.calls) > 0 || r.hasCall(e)
}

// bindEarly has text, which is that of e, evaluated ahead, and returns what stands for it.
func (r *rewriter) bindEarly(e ast.Expr, text string) string {
	v := r.name()
	place, back := "", ""
	if first, last := r.line(e.Pos()), r.line(e.End()); first != r.early.line || last != r.early.line {
		r.early.moved = true
		place, back = r.at(e.Pos()), r.at(e.End())
	}
	r.early.stmts = append(r.early.stmts, place+v+" := "+text)
	return r.use(v, e) + back
}
