package statement

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A Look asks what a map has for a key, and ends the function if that will do:
//
//	if v, ok := m[k]; ok {        e, ok := m[k]
//		return v                  if ok && e.expires.After(now) {
//	}                             	return e.value
//	                              }
type Look struct {
	Init      *ast.AssignStmt
	Condition ast.Expr // in which a variable that Init sets is
	Back      *ast.ReturnStmt
	Element   *ast.IndexExpr
	// Length is how many statements it is, of which the first Reading read the map.
	Length, Reading int
}

// LookOf returns the look that statements of a file begin with, nil if they begin with something else.
// Between reading and asking, statements may stand that are let off.
func LookOf(f *source.File, list []ast.Stmt, letOff func(ast.Stmt) bool) *Look {
	l := &Look{Length: 1, Reading: 1}
	branch, ok := list[0].(*ast.IfStmt)
	if ok {
		l.Init, _ = branch.Init.(*ast.AssignStmt)
	} else {
		l.Init, _ = list[0].(*ast.AssignStmt)
		for l.Length < len(list) && letOff(list[l.Length]) {
			l.Length++
		}
		if l.Length == 1 {
			l.Reading = 2
		}
		if l.Length == len(list) {
			return nil
		}
		if branch, _ = list[l.Length].(*ast.IfStmt); branch != nil && branch.Init != nil {
			return nil
		}
		l.Length++
	}
	if l.Init == nil || branch == nil || branch.Else != nil || len(branch.Body.List) != 1 || l.Init.Tok != token.DEFINE || len(l.Init.Rhs) != 1 {
		return nil
	}
	l.Condition = branch.Cond
	l.Element, _ = ast.Unparen(l.Init.Rhs[0]).(*ast.IndexExpr)
	l.Back, _ = branch.Body.List[0].(*ast.ReturnStmt)
	if l.Element == nil || l.Back == nil || !contains(branch.Cond, l.IsFound(f.Info)) {
		return nil
	}
	if _, isMap := f.Info.TypeOf(l.Element.X).Underlying().(*types.Map); !isMap {
		return nil
	}
	for _, x := range l.Back.Results {
		if !isName(x) && !l.isPart(f.Info, x) {
			return nil
		}
	}
	return l
}

// IsFound tells the variables that have what the map has.
func (l *Look) IsFound(info *types.Info) func(ast.Node) bool {
	return func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || info.Uses[id] == nil {
			return false
		}
		for _, found := range l.Init.Lhs {
			if v, ok := found.(*ast.Ident); ok && info.Defs[v] == info.Uses[id] {
				return true
			}
		}
		return false
	}
}

// isPart reports whether an expression is a part of what was found, and not of what that leads to.
func (l *Look) isPart(info *types.Info, x ast.Expr) bool {
	sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
	if !ok {
		return l.IsFound(info)(ast.Unparen(x))
	}
	selection := info.Selections[sel]
	return selection != nil && selection.Kind() == types.FieldVal && !selection.Indirect() && l.isPart(info, sel.X)
}

// IsNeededLater reports whether something in a function needs what was found after the look. If nothing
// was found, it is zeros, as it is by another look.
func (l *Look) IsNeededLater(info *types.Info, body *ast.BlockStmt) bool {
	if last, ok := l.Init.Lhs[len(l.Init.Lhs)-1].(*ast.Ident); ok && len(l.Init.Lhs) == 2 {
		if asked, ok := ast.Unparen(l.Condition).(*ast.Ident); ok && asked.Name == last.Name {
			return false
		}
	}
	is := l.IsFound(info)
	return contains(body, func(n ast.Node) bool { return n.Pos() > l.Back.End() && is(n) })
}

// isName reports whether an expression is a name or a constant, which needs no lock.
func isName(e ast.Expr) bool {
	switch ast.Unparen(e).(type) {
	case *ast.Ident, *ast.BasicLit:
		return true
	}
	return false
}

// contains reports whether one of the nodes in a node is such a one.
func contains(n ast.Node, is func(ast.Node) bool) bool {
	found := false
	ast.Inspect(n, func(m ast.Node) bool {
		found = found || m != nil && is(m)
		return !found
	})
	return found
}
