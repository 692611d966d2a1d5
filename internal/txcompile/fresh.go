package txcompile

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/syntax"
)

// A fresh variable holds what was made for it, and nothing else leads there until the variable
// is used for the last time. What it refers to is the transaction's own, and accessed plainly.
//
//	n := &node{}                 n is fresh
//	n.value = v                  n.value = v
//	n.next = x.first             n.next = stm.Load(tx, &x.first)
//	x.first = n                  stm.Store(tx, &x.first, n)
type freshness struct {
	unknown  bool      // it holds something else, too
	accessed token.Pos // where it is used last without being given away
	given    token.Pos // where it is given away first
}

// isFresh reports whether an expression is a fresh variable.
func (p *program) isFresh(info *types.Info, e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := info.ObjectOf(id).(*types.Var)
	if !ok || v.IsField() || v.Pkg() == nil || v.Parent() == v.Pkg().Scope() {
		return false
	}
	known := p.variable(v)
	f := &known.freshness
	return known.made && !f.unknown && !known.addressed && len(known.captors) == 0 && (!f.given.IsValid() || f.accessed < f.given)
}

// gatherFresh notes a use of a local variable, or its declaration: the last of a stack.
func (p *program) gatherFresh(f *source.File, v *types.Var, known *variable, stack []ast.Node) {
	switch v.Type().Underlying().(type) {
	case *types.Pointer, *types.Slice:
	default:
		return
	}
	id := stack[len(stack)-1].(*ast.Ident)
	switch n := stack[len(stack)-2].(type) {
	case *ast.AssignStmt:
		if i := slices.Index(n.Lhs, ast.Expr(id)); i >= 0 {
			known.made = known.made || len(n.Lhs) == len(n.Rhs)
			known.freshness.unknown = known.freshness.unknown || len(n.Lhs) != len(n.Rhs) || !isMade(f.Info, n.Rhs[i], v)
			return
		}
	case *ast.ValueSpec:
		if i := slices.Index(n.Names, id); i >= 0 {
			known.made = true
			known.freshness.unknown = known.freshness.unknown || len(n.Values) > 0 && (len(n.Values) != len(n.Names) || !isMade(f.Info, n.Values[i], v))
			return
		}
	}
	if f.Info.Defs[id] != nil { // a parameter, or the variable of a loop
		known.freshness.unknown = true
		return
	}
	if isAccess(f.Info, v, stack) {
		known.freshness.accessed = max(known.freshness.accessed, id.Pos())
		return
	}
	if !known.freshness.given.IsValid() || id.Pos() < known.freshness.given {
		known.freshness.given = id.Pos()
	}
	for _, n := range stack {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if n.Pos() > v.Pos() {
				known.freshness.unknown = true // what comes before in the source may come after
			}
		case *ast.FuncDecl, *ast.FuncLit:
			known.freshness.unknown = known.freshness.unknown || p.jumps[n]
		}
	}
}

// isMade reports whether an expression is something new, or the variable itself with more
// elements.
func isMade(info *types.Info, e ast.Expr, v *types.Var) bool {
	e = ast.Unparen(e)
	if info.Types[e].IsNil() {
		return true
	}
	switch e := e.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		_, ok := ast.Unparen(e.X).(*ast.CompositeLit)
		return ok && e.Op == token.AND
	case *ast.CallExpr:
		fun := ast.Unparen(e.Fun)
		if !info.Types[fun].IsBuiltin() {
			return false
		}
		switch syntax.BuiltinName(fun) {
		case "make":
			return true
		case "new":
			return info.Types[e.Args[0]].IsType()
		case "append":
			id, ok := ast.Unparen(e.Args[0]).(*ast.Ident)
			return ok && info.Uses[id] == v || isMade(info, e.Args[0], v)
		}
	}
	return false
}

// isAccess reports whether a use of a variable, the last of a stack, only reads or writes what
// it refers to: nothing else leads there afterwards.
func isAccess(info *types.Info, v *types.Var, stack []ast.Node) bool {
	id := stack[len(stack)-1].(*ast.Ident)
	switch n := stack[len(stack)-2].(type) {
	case *ast.IndexExpr:
		return n.X == id && staysPlace(info, stack[:len(stack)-1])
	case *ast.StarExpr:
		return staysPlace(info, stack[:len(stack)-1])
	case *ast.SelectorExpr:
		s := info.Selections[n]
		return s != nil && s.Kind() == types.FieldVal && staysPlace(info, stack[:len(stack)-1])
	case *ast.RangeStmt:
		return n.X == id
	case *ast.BinaryExpr:
		return info.Types[n.X].IsNil() || info.Types[n.Y].IsNil()
	case *ast.CallExpr:
		fun := ast.Unparen(n.Fun)
		if !info.Types[fun].IsBuiltin() || len(n.Args) == 0 || n.Args[0] != id {
			return false
		}
		switch syntax.BuiltinName(fun) {
		case "len", "cap", "copy", "clear":
			return true
		case "append":
			assign, ok := stack[len(stack)-3].(*ast.AssignStmt)
			if !ok || len(assign.Lhs) != len(assign.Rhs) {
				return false
			}
			to, ok := assign.Lhs[slices.Index(assign.Rhs, ast.Expr(n))].(*ast.Ident)
			return ok && info.ObjectOf(to) == v
		}
	}
	return false
}

// staysPlace reports whether a place, the last of a stack, is read or assigned to, and no
// pointer to it, or into it, is made.
func staysPlace(info *types.Info, stack []ast.Node) bool {
	for i := len(stack) - 1; i > 0; i-- {
		inner := stack[i].(ast.Expr)
		switch outer := stack[i-1].(type) {
		case *ast.ParenExpr:
		case *ast.SelectorExpr:
			if isPointer(info.TypeOf(inner)) {
				return true
			}
			s := info.Selections[outer]
			if s.Kind() != types.FieldVal {
				return source.ThroughPointer(s) || !source.HasPointerReceiver(s.Obj().(*types.Func))
			}
			if source.ThroughPointer(s) {
				return true
			}
		case *ast.IndexExpr:
			if _, ok := info.TypeOf(inner).Underlying().(*types.Array); !ok || outer.X != inner {
				return true
			}
		case *ast.SliceExpr:
			_, ok := info.TypeOf(inner).Underlying().(*types.Array)
			return !ok || outer.X != inner
		case *ast.UnaryExpr:
			return outer.Op != token.AND
		default:
			return true
		}
	}
	return true
}
