package statement

import (
	"go/ast"
	"go/types"
)

// FunctionAround is the innermost function of a file, an *ast.FuncDecl or an *ast.FuncLit, that a node stands in
// and is not itself; nil if there is none.
func FunctionAround(file *ast.File, n ast.Node) ast.Node {
	var found ast.Node
	ast.Inspect(file, func(m ast.Node) bool {
		switch m.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			if m != n && Encloses(m, n) {
				found = m
			}
		}
		return true
	})
	return found
}

// FunctionWords names a function for a person.
func FunctionWords(fn ast.Node) string {
	if d, ok := fn.(*ast.FuncDecl); ok {
		return d.Name.Name
	}
	return "a function literal"
}

// DeclaresFreeNames reports whether the names that a statement declares mean nothing else in the function that it
// stands in, so that it can stand elsewhere in the function.
func DeclaresFreeNames(info *types.Info, fn ast.Node, declaring *ast.AssignStmt) bool {
	declared := make(map[string]types.Object)
	for _, l := range declaring.Lhs {
		if id, ok := l.(*ast.Ident); ok && id.Name != "_" {
			declared[id.Name] = info.Defs[id]
		}
	}
	free := true
	ast.Inspect(fn, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o, ok := declared[id.Name]; ok && info.ObjectOf(id) != o {
				if v, ok := info.ObjectOf(id).(*types.Var); !ok || !v.IsField() {
					free = false
				}
			}
		}
		return free
	})
	return free
}

// PartOf is what a slice expression in a function takes of a map or slice, or the whole of it if none does.
func PartOf(fn ast.Node, whole ast.Expr) ast.Expr {
	part := whole
	ast.Inspect(fn, func(n ast.Node) bool {
		if s, ok := n.(*ast.SliceExpr); ok && ast.Unparen(s.X) == whole {
			part = s
		}
		return true
	})
	return part
}
