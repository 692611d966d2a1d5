package txcompile

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/assigned"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/syntax"
)

// In x.n + x.take() the language leaves open which comes first. Go's compiler makes all calls
// of a statement, from left to right, and reads variables when it needs them: after the calls.
// A Load is a call like any other, and is made before take:
//
//	return x.n, x.take()                return stm.Load(tx, &x.n), x.take_stm(tx)
//	x.a = append(x.a, x.describe())     where describe appends to x.a, too
//
// A program must not mean something else with -stm. So a statement that reads what a later call
// in it may assign to is one that cannot be expressed through a transaction: it is left as it
// is, and the transaction works in place. What a call may assign to is told by package assigned.

// orderMatters returns a read and a call in a statement, in words, if the statement means what
// Go's compiler makes of their order; "" if there is no such pair.
func (p *program) orderMatters(f *source.File, r region, s ast.Stmt) string {
	o := &ordering{p: p, f: f, region: r}
	switch s := s.(type) {
	case *ast.ExprStmt:
		o.expr(s.X)
	case *ast.ReturnStmt:
		o.exprs(s.Results)
	case *ast.DeferStmt:
		o.operands(s.Call)
	case *ast.IncDecStmt:
		o.expr(s.X)
	case *ast.AssignStmt:
		for _, l := range s.Lhs {
			o.place(l)
		}
		o.exprs(s.Rhs)
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				o.exprs(v.Values)
				o.pending = nil
			}
		}
	case *ast.RangeStmt:
		o.expr(s.X)
	case *ast.IfStmt, *ast.ForStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt:
		return p.orderInHeader(f, r, s)
	}
	return o.reason
}

// orderInHeader is orderMatters for the parts of a statement that are evaluated one by one.
func (p *program) orderInHeader(f *source.File, r region, s ast.Stmt) string {
	for _, part := range syntax.Header(s) {
		o := &ordering{p: p, f: f, region: r}
		switch part := part.(type) {
		case ast.Expr:
			o.expr(part)
		case ast.Stmt:
			o.reason = p.orderMatters(f, r, part)
		}
		if o.reason != "" {
			return o.reason
		}
	}
	if branch, ok := s.(*ast.IfStmt); ok {
		if next, ok := branch.Else.(*ast.IfStmt); ok {
			return p.orderInHeader(f, r, next)
		}
	}
	return ""
}

// An ordering goes through a statement in the order in which its parts are evaluated.
type ordering struct {
	p       *program
	f       *source.File
	region  region
	pending []pendingRead // what was read and is not an argument of a call that was made
	reason  string
}

// A pendingRead is a variable that is named in front of a call.
type pendingRead struct {
	place assigned.Place
	text  string
}

func (o *ordering) exprs(list []ast.Expr) {
	for _, e := range list {
		o.expr(e)
	}
}

// expr goes through an expression whose value is wanted.
func (o *ordering) expr(e ast.Expr) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		o.expr(e.X)
	case *ast.Ident, *ast.StarExpr, *ast.SelectorExpr:
		o.place(e)
		o.read(e)
	case *ast.IndexExpr:
		if o.f.Info.Types[e.Index].IsType() {
			return // an instance of a function
		}
		o.place(e)
		o.read(e)
	case *ast.UnaryExpr:
		switch e.Op {
		case token.AND:
			o.place(e.X)
		case token.ARROW:
			o.complete(func() { o.expr(e.X) })
		default:
			o.expr(e.X)
		}
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			o.complete(func() { o.expr(e.X) })
			o.complete(func() { o.expr(e.Y) })
			return
		}
		o.expr(e.X)
		o.expr(e.Y)
	case *ast.CallExpr:
		o.call(e)
	case *ast.CompositeLit:
		o.exprs(e.Elts)
	case *ast.KeyValueExpr:
		if v, ok := o.f.Info.Uses[asIdent(e.Key)].(*types.Var); !ok || !v.IsField() {
			o.expr(e.Key)
		}
		o.expr(e.Value)
	case *ast.SliceExpr:
		o.expr(e.X)
		for _, bound := range []ast.Expr{e.Low, e.High, e.Max} {
			if bound != nil {
				o.expr(bound)
			}
		}
	case *ast.TypeAssertExpr:
		o.expr(e.X)
	}
}

func asIdent(e ast.Expr) *ast.Ident {
	id, _ := e.(*ast.Ident)
	return id
}

// place goes through an expression whose variable is wanted, and not its value: what leads
// there is read.
func (o *ordering) place(e ast.Expr) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		o.place(e.X)
	case *ast.StarExpr:
		o.expr(e.X)
	case *ast.SelectorExpr:
		switch s := o.f.Info.Selections[e]; {
		case s == nil: // of a package
		case isPointer(o.f.Info.TypeOf(e.X)):
			o.expr(e.X)
		default:
			o.place(e.X)
		}
	case *ast.IndexExpr:
		if _, ok := o.f.Info.TypeOf(e.X).Underlying().(*types.Array); ok {
			o.place(e.X)
		} else {
			o.expr(e.X)
		}
		o.expr(e.Index)
	case *ast.CompositeLit:
		o.expr(e)
	}
}

// complete goes through something whose value is complete before anything else happens.
func (o *ordering) complete(parts func()) {
	before := len(o.pending)
	parts()
	o.pending = o.pending[:before]
}

// operands goes through what a call is given.
func (o *ordering) operands(call *ast.CallExpr) {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.SelectorExpr:
		if s := o.f.Info.Selections[fun]; s != nil {
			o.expr(fun.X)
		}
	case *ast.FuncLit:
	default:
		if !o.f.Info.Types[fun].IsType() && !o.f.Info.Types[fun].IsBuiltin() {
			o.expr(fun)
		}
	}
	o.exprs(call.Args)
}

// read notes that a variable is read, if that is a Load in a transaction.
func (o *ordering) read(e ast.Expr) {
	tv := o.f.Info.Types[e]
	if !tv.IsValue() || tv.Value != nil || !o.isEntry(e) && !o.p.sharedPlace(o.f, o.region, e) {
		return
	}
	if place, ok := assigned.PlaceOf(o.p.Fset, o.f.Info, e); ok {
		o.pending = append(o.pending, pendingRead{place, o.f.TextOf(e)})
	}
}

// isEntry reports whether an expression is an entry of a map.
func (o *ordering) isEntry(e ast.Expr) bool {
	index, ok := e.(*ast.IndexExpr)
	if !ok {
		return false
	}
	_, ok = o.f.Info.TypeOf(index.X).Underlying().(*types.Map)
	return ok
}

// call goes through a call, and looks whether it may assign to what was read before it. A
// conversion, or a function of the language, is none: what it needs can be read later.
func (o *ordering) call(call *ast.CallExpr) {
	kind := o.p.classify(o.f.Info, call).kind
	if kind == conversion || kind == builtin {
		o.operands(call)
		return
	}
	o.complete(func() { o.operands(call) })
	if kind == harmless {
		return
	}
	if len(o.pending) == 0 || o.reason != "" {
		return
	}
	effects := o.p.assignments.Of(o.p.flow.Sites()[call.Lparen])
	for _, r := range o.pending {
		if effects.May(r.place) {
			o.reason = "reads " + r.text + " beside a call that may assign to it, and Go leaves open which comes first"
			return
		}
	}
}
