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

// CalleeName is the name of the function in a call, without type arguments; nil if it has none.
func CalleeName(call *ast.CallExpr) *ast.Ident {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		fun = ast.Unparen(f.X)
	case *ast.IndexListExpr:
		fun = ast.Unparen(f.X)
	}
	switch f := fun.(type) {
	case *ast.Ident:
		return f
	case *ast.SelectorExpr:
		return f.Sel
	}
	return nil
}

// Body is the body of a function, declared or a literal; nil if the node is none.
func Body(fn ast.Node) *ast.BlockStmt {
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		return fn.Body
	case *ast.FuncLit:
		return fn.Body
	}
	return nil
}

// CopierOf is the package whose Clone copies values of a type; empty if it is no map or slice.
func CopierOf(t types.Type) string {
	switch t.Underlying().(type) {
	case *types.Map:
		return "maps"
	case *types.Slice:
		return "slices"
	}
	return ""
}

// IsIndexed reports whether an expression of the file stands before an index: m in m[k].
func (f *File) IsIndexed(e ast.Expr) (indexed bool) {
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if index, ok := n.(*ast.IndexExpr); ok && ast.Unparen(index.X) == e {
			indexed = true
		}
		return !indexed
	})
	return indexed
}

// CallOnLine is the first call in a node of the file that a line is within, nil if there is none. A call of more
// than two lines has others in it that are meant.
func (f *File) CallOnLine(in ast.Node, line int) ast.Node {
	var found ast.Node
	ast.Inspect(in, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && found == nil {
			from, to := f.Line(call.Pos()), f.Line(call.End())
			if from <= line && line <= to && to-from < 2 {
				found = call
			}
		}
		return true
	})
	return found
}
