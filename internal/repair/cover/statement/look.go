package statement

import (
	"go/ast"
	"go/token"
	"slices"
)

// A Look asks whether a map has a key, and ends the function if it has:
//
//	if v, ok := m[k]; ok {        v, ok := m[k]
//		return v                  if ok {
//	}                             	return v
//	                              }
type Look struct {
	Init    *ast.AssignStmt
	Found   *ast.Ident // the second variable that Init sets
	Back    *ast.ReturnStmt
	Element *ast.IndexExpr
	// Length is how many statements it is.
	Length int
}

// LookOf returns the look that statements begin with, nil if they begin with something else.
func LookOf(list []ast.Stmt) *Look {
	l := &Look{Length: 1}
	branch, ok := list[0].(*ast.IfStmt)
	if ok {
		l.Init, _ = branch.Init.(*ast.AssignStmt)
	} else if l.Init, _ = list[0].(*ast.AssignStmt); len(list) > 1 {
		if branch, _ = list[1].(*ast.IfStmt); branch != nil && branch.Init != nil {
			return nil
		}
		l.Length = 2
	}
	if l.Init == nil || branch == nil || branch.Else != nil || len(branch.Body.List) != 1 || l.Init.Tok != token.DEFINE || len(l.Init.Lhs) != 2 || len(l.Init.Rhs) != 1 {
		return nil
	}
	l.Element, _ = ast.Unparen(l.Init.Rhs[0]).(*ast.IndexExpr)
	l.Back, _ = branch.Body.List[0].(*ast.ReturnStmt)
	l.Found, _ = l.Init.Lhs[1].(*ast.Ident)
	condition, _ := ast.Unparen(branch.Cond).(*ast.Ident)
	if l.Element == nil || l.Back == nil || l.Found == nil || condition == nil || condition.Name != l.Found.Name || slices.ContainsFunc(l.Back.Results, isMoreThanAName) {
		return nil
	}
	return l
}

// isMoreThanAName reports whether an expression is no name and no constant, and may need a lock.
func isMoreThanAName(e ast.Expr) bool {
	switch ast.Unparen(e).(type) {
	case *ast.Ident, *ast.BasicLit:
		return false
	}
	return true
}
