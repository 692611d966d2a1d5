package use

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/library"
)

// ComesFirst reports whether a statement loads a variable before it runs anything else that could change the variable: all that
// it calls, and what it receives from, is given what is made of the load.
//
//	log.Print(x.n)                    x.n comes first
//	return encode(x.n, y)
//	log.Print(errors.New("n"), x.n)   here, too, because errors.New changes nothing
//	log.Print(f(), x.n)               it does not: f runs before the load
//	x.n = f()
//	log.Print(&x.n)                   no load
//
// Go leaves it open whether a load comes before a call beside it, so only calls around the load count as coming later.
func ComesFirst(info *types.Info, s ast.Stmt, x ast.Expr) bool {
	switch s.(type) {
	case *ast.ExprStmt, *ast.AssignStmt, *ast.ReturnStmt:
	default:
		return false // what it has may run again, or not at all
	}
	first := true
	ast.PreorderStack(s, nil, func(n ast.Node, around []ast.Node) bool {
		if l, ok := n.(*ast.FuncLit); ok {
			first = first && !contains(l, x)
			return false
		}
		first = first && (!runs(info, n) || contains(n, x)) && !(n == ast.Node(x) && TakesAddress(info, n, around))
		return first
	})
	return first
}

// runs reports whether an expression does more than to make a value of others: it calls a function, receives, or writes to memory.
func runs(info *types.Info, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.UnaryExpr:
		return n.Op == token.ARROW
	case *ast.CallExpr:
		f := ast.Unparen(n.Fun)
		return !info.Types[f].IsType() && !changesNothing(info, n) && !slices.Contains([]string{"len", "cap", "min", "max", "make", "new", "real", "imag", "complex"}, facts.BuiltinOf(info, f))
	}
	return false
}

// changesNothing reports whether a call is of a function of the standard library that makes a value of numbers and texts.
func changesNothing(info *types.Info, c *ast.CallExpr) bool {
	fn := typeutil.StaticCallee(info, c)
	return fn != nil && fn.Signature().Recv() == nil && library.Harmless(info, fn, c) && !slices.ContainsFunc(c.Args, func(a ast.Expr) bool {
		_, basic := info.TypeOf(a).Underlying().(*types.Basic)
		return !basic
	})
}

// OnlyItself reports whether a statement uses of a variable that leads elsewhere no more than the variable: the length of a
// slice, or whether there is anything.
func OnlyItself(info *types.Info, s ast.Stmt, x ast.Expr) bool {
	only := false
	ast.PreorderStack(s, nil, func(n ast.Node, around []ast.Node) bool {
		if n != ast.Node(x) {
			return contains(n, x)
		}
		switch p := around[len(around)-1].(type) {
		case *ast.BinaryExpr:
			only = p.Op == token.EQL || p.Op == token.NEQ
		case *ast.CallExpr:
			b := facts.BuiltinOf(info, ast.Unparen(p.Fun))
			only = facts.IsSlice(info.TypeOf(x)) && (b == "len" || b == "cap")
		}
		return false
	})
	return only
}
