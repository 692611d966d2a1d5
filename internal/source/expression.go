package source

import (
	"go/ast"
	"go/types"
)

// SameExpression reports whether two expressions select the same fields of the same variable.
func SameExpression(info *types.Info, a, b ast.Expr) bool {
	switch a := ast.Unparen(a).(type) {
	case *ast.Ident:
		b, ok := ast.Unparen(b).(*ast.Ident)
		return ok && info.ObjectOf(a) != nil && info.ObjectOf(a) == info.ObjectOf(b)
	case *ast.SelectorExpr:
		b, ok := ast.Unparen(b).(*ast.SelectorExpr)
		return ok && info.ObjectOf(a.Sel) != nil && info.ObjectOf(a.Sel) == info.ObjectOf(b.Sel) && SameExpression(info, a.X, b.X)
	}
	return false
}
