package use

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// takesAddress reports whether the node around an expression takes its address.
func takesAddress(info *types.Info, parent, whole ast.Node) bool {
	switch n := parent.(type) {
	case *ast.UnaryExpr:
		return n.Op == token.AND
	case *ast.SliceExpr:
		return n.X == whole && facts.IsArray(info.TypeOf(n.X))
	case *ast.SelectorExpr:
		m, ok := info.Selections[n].Obj().(*types.Func)
		return ok && facts.IsPointer(m.Signature().Recv().Type()) && !facts.IsPointer(info.TypeOf(n.X))
	}
	return false
}

// TakesAddress reports whether a use takes the address of a field or of a part of it, from the nodes around it.
func TakesAddress(info *types.Info, use ast.Node, around []ast.Node) bool {
	whole, i := wholeOf(info, use, around)
	return takesAddress(info, around[i-1], whole)
}

// wholeOf returns the expression for the part of a field that is used, or for all of it, and how many
// of the nodes are around that.
func wholeOf(info *types.Info, use ast.Node, around []ast.Node) (whole ast.Node, outside int) {
	whole, i := use, len(around)
	for isPartOf(info, around[i-1], whole) {
		i--
		whole = around[i]
	}
	return whole, i
}

// isPartOf reports whether a node is an expression for a part of a variable, or for all of it, and
// another node is the expression for the variable.
func isPartOf(info *types.Info, n, variable ast.Node) bool {
	switch n := n.(type) {
	case *ast.ParenExpr:
		return true
	case *ast.SelectorExpr:
		if n.Sel == variable {
			return true // with the name of the variable's package
		}
		sel := info.Selections[n]
		return n.X == variable && sel.Kind() == types.FieldVal && !sel.Indirect()
	case *ast.IndexExpr:
		return n.X == variable && facts.IsArray(info.TypeOf(n.X))
	}
	return false
}

// storesTo reports whether a statement stores to a variable.
func storesTo(n, variable ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return e == variable })
	case *ast.IncDecStmt:
		return true
	}
	return false
}

// isListed reports whether a statement is one of a block's, before and behind which others can stand.
func isListed(n, parent ast.Node) bool {
	switch b := parent.(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	case *ast.CommClause:
		return b.Comm != n
	}
	return false
}

// runsOtherCode reports whether the statement with a use may run other code between finding the
// data and using it.
func runsOtherCode(info *types.Info, use ast.Node, around []ast.Node) bool {
	for _, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.CaseClause:
			return slices.ContainsFunc(n.List, func(e ast.Expr) bool { return callsBeside(info, use, e) })
		case *ast.RangeStmt:
			_, number := info.TypeOf(n.X).Underlying().(*types.Basic)
			return !number || !contains(n.X, use) || callsBeside(info, use, n.X)
		case ast.Stmt:
			return callsBeside(info, use, n)
		}
	}
	return true // the first value of a variable
}

// callsBeside reports whether a node calls a function, or receives, other than with the use as
// an operand. What is in blocks is not a part of the statement that has them.
func callsBeside(info *types.Info, use, in ast.Node) (calls bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.BlockStmt:
			return false
		case *ast.CallExpr:
			f := ast.Unparen(n.Fun)
			calls = calls || !contains(n, use) && !info.Types[f].IsType() && facts.BuiltinOf(info, f) == ""
		case *ast.UnaryExpr:
			calls = calls || n.Op == token.ARROW && !contains(n, use)
		}
		return !calls
	})
	return calls
}

// IsPlain reports whether it does not matter if an expression is evaluated before or after the address of
// a variable: it calls nothing, and does not panic, other than at a nil pointer, as the variable may.
func IsPlain(e ast.Expr) bool {
	plain := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.Ident, *ast.BasicLit, *ast.SelectorExpr, *ast.ParenExpr:
		case *ast.BinaryExpr:
			plain = plain && n.Op != token.QUO && n.Op != token.REM && n.Op != token.SHL && n.Op != token.SHR
		case *ast.UnaryExpr:
			plain = plain && n.Op != token.ARROW
		default:
			plain = false
		}
		return plain
	})
	return plain
}

func contains(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}
