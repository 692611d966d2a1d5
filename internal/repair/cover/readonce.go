package cover

import (
	"go/ast"
	"go/token"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// readsOnlyOne are the places in a region, a conditional statement, that read the one field or
// variable which all of the region is there for: it can be read once, ahead of the statement. They
// are nil if the region is there for something else too, or the statement may change it.
func (r *Region) readsOnlyOne() []ast.Expr {
	branch, ok := r.first().(*ast.IfStmt)
	if !ok || branch.Init != nil {
		return nil
	}
	one, ok := r.nodes[0].(ast.Expr)
	if !ok || !statement.OnlyReads(r.info(), one) || !statement.CanCopy(r.info().TypeOf(one)) {
		return nil
	}
	for _, n := range r.nodes[1:] {
		if e, ok := n.(ast.Expr); !ok || !source.SameExpression(r.info(), one, e) {
			return nil
		}
	}
	var uses []ast.Expr
	inHead, alone := false, true
	ast.Inspect(branch, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.ForStmt, *ast.RangeStmt:
			ast.Inspect(n, func(m ast.Node) bool { // it may be read later, or again
				if e, ok := m.(ast.Expr); ok && source.SameExpression(r.info(), one, e) {
					alone = false
				}
				return alone
			})
			return false
		case *ast.AssignStmt:
			for _, target := range n.Lhs {
				alone = alone && !source.SameExpression(r.info(), one, target)
			}
		case *ast.UnaryExpr:
			alone = alone && !(n.Op == token.AND && source.SameExpression(r.info(), one, n.X))
		case ast.Expr:
			if source.SameExpression(r.info(), one, n) {
				uses = append(uses, n)
				inHead = inHead || statement.Encloses(branch.Cond, n)
				return false
			}
		}
		return alone
	})
	if !alone || !inHead {
		return nil
	}
	return uses
}

// readsAhead reports whether a region holds the lock only for what it reads ahead of a statement
// that may wait: then it does not become one with a section that lies beside it.
func (code *Code) readsAhead(r *Region, l *Lock) bool {
	if _, held := code.heldBefore(r, l); held {
		return false
	}
	_, copier := r.snapshot()
	return code.whatMayWait(r.statements(), l) != "" && (code.hoistOf(r, l) != nil || !r.Write && (r.header() != nil || copier != ""))
}
