package assigned

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A Place is a variable that is read, as far as variables are told apart.
type Place struct {
	declared position // none for elements, and for what is pointed to
	kind     string   // its type
}

// A position is where something is declared. It is the same in all packages that a file is in,
// with tests and without.
type position struct {
	file   string
	offset int
}

func positionOf(fset *token.FileSet, at token.Pos) position {
	pos := fset.PositionFor(at, false)
	return position{pos.Filename, pos.Offset}
}

// kindOf is the same for all instances of a generic type.
func kindOf(t types.Type) string {
	if named, ok := types.Unalias(t).(*types.Named); ok {
		t = named.Origin()
	}
	return types.TypeString(t, nil)
}

// PlaceOf is the place that an expression reads; not ok if it reads none.
func PlaceOf(fset *token.FileSet, info *types.Info, e ast.Expr) (p Place, ok bool) {
	var name *ast.Ident
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		name = e
	case *ast.SelectorExpr:
		name = e.Sel
	case *ast.StarExpr:
		return Place{kind: kindOf(info.TypeOf(e))}, true
	case *ast.IndexExpr:
		if m, ok := info.TypeOf(e.X).Underlying().(*types.Map); ok {
			return Place{kind: kindOf(m)}, true
		}
		return Place{kind: kindOf(info.TypeOf(e))}, true
	}
	if v, ok := info.Uses[name].(*types.Var); ok {
		return Place{positionOf(fset, v.Pos()), kindOf(v.Type())}, true
	}
	return Place{}, false
}
