package use

import (
	"go/ast"
	"go/token"
	"go/types"
)

// An Addition is a statement that adds to a variable without its lock, where sections have
// copies of the variable. It is written as one atomic step: a load before the end of a section
// and a store after it would take away what the section did.
//
//	x.n++        Add(&x.n, 1)
type Addition struct {
	Stmt   ast.Stmt
	Target ast.Expr
	// Amount is nil for one.
	Amount    ast.Expr
	Subtracts bool
}

// AdditionOf returns the addition that a statement is, if it can be one step: of a number, by an amount that may as well be evaluated
// before the number's address.
func AdditionOf(info *types.Info, n ast.Node) (Addition, bool) {
	a, ok := additionOf(n)
	return a, ok && isReal(info.TypeOf(a.Target)) && (a.Amount == nil || IsPlain(a.Amount))
}

func additionOf(n ast.Node) (Addition, bool) {
	switch n := n.(type) {
	case *ast.IncDecStmt:
		return Addition{n, n.X, nil, n.Tok == token.DEC}, true
	case *ast.AssignStmt:
		if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
			return Addition{n, n.Lhs[0], n.Rhs[0], n.Tok == token.SUB_ASSIGN}, true
		}
	}
	return Addition{}, false
}

// isReal reports whether a type is that of numbers with an order, whatever the instance.
func isReal(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat) != 0
}
