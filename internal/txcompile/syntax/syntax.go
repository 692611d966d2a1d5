// Package syntax answers questions of the compiler of transactions that a piece of source and its types decide without
// the rest of the program: the parts of a statement, the name of what is called, whether a function calls recover.
package syntax

import (
	"go/ast"
	"go/types"
)

// Header returns the parts of a statement that are not blocks.
func Header(s ast.Stmt) []ast.Node {
	var all []ast.Node
	add := func(nodes ...ast.Node) {
		for _, n := range nodes {
			if n != nil && !isNilNode(n) {
				all = append(all, n)
			}
		}
	}
	switch s := s.(type) {
	case *ast.IfStmt:
		add(s.Init, s.Cond)
	case *ast.ForStmt:
		add(s.Init, s.Cond, s.Post)
	case *ast.RangeStmt:
		add(s.Key, s.Value, s.X)
	case *ast.SwitchStmt:
		add(s.Init, s.Tag)
		for _, c := range s.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				add(e)
			}
		}
	case *ast.TypeSwitchStmt:
		add(s.Init, s.Assign)
	case *ast.CaseClause, *ast.CommClause:
	default:
		add(s)
	}
	return all
}

func isNilNode(n ast.Node) bool {
	switch n := n.(type) {
	case ast.Expr:
		return n == nil
	case ast.Stmt:
		return n == nil
	}
	return false
}

// Recovers reports whether a function itself calls recover, or what looks like it.
func Recovers(b *ast.BlockStmt) (calls bool) {
	ast.Inspect(b, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok {
			id, ok := ast.Unparen(call.Fun).(*ast.Ident)
			calls = calls || ok && id.Name == "recover"
		}
		return !calls
	})
	return calls
}

func HasCalls(b *ast.BlockStmt) (calls bool) {
	ast.Inspect(b, func(n ast.Node) bool {
		_, ok := n.(*ast.CallExpr)
		calls = calls || ok
		return !calls
	})
	return calls
}

func IsCommaOK(e ast.Expr) bool {
	switch ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return false
	}
	return true
}

func IsMethodExpression(info *types.Info, fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	s := info.Selections[sel]
	return s != nil && s.Kind() == types.MethodExpr
}

func IsTuple(info *types.Info, e ast.Expr) bool {
	t, ok := info.Types[e].Type.(*types.Tuple)
	return ok && t.Len() != 1
}

func BuiltinName(fun ast.Expr) string {
	switch fun := fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return "unsafe." + fun.Sel.Name
	}
	return ""
}

func CalleeName(f *types.Func) string {
	if r := f.Signature().Recv(); r != nil {
		return "(" + types.TypeString(r.Type(), shortQualifier) + ")." + f.Name()
	}
	return shortQualifier(f.Pkg()) + "." + f.Name()
}

func shortQualifier(p *types.Package) string {
	if p == nil {
		return ""
	}
	return p.Name()
}

// KnownName is the name of a function for people. A method that a type has from an embedded one
// which is not exported is known as the outer type's: t.Error is (*testing.T).Error.
func KnownName(info *types.Info, fun ast.Expr, callee *types.Func) string {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok || info.Selections[sel] == nil {
		return CalleeName(callee)
	}
	of := info.Selections[sel]
	receiver := callee.Signature().Recv().Type()
	if pointer, ok := receiver.(*types.Pointer); ok {
		receiver = pointer.Elem()
	}
	if named, ok := receiver.(*types.Named); !ok || named.Obj().Exported() || len(of.Index()) == 1 {
		return CalleeName(callee)
	}
	return "(" + types.TypeString(of.Recv(), shortQualifier) + ")." + callee.Name()
}

// IsSelected reports whether a function is named by its package and its name, and nothing else.
func IsSelected(fun ast.Expr) bool {
	_, ok := fun.(*ast.SelectorExpr)
	return ok
}

func SignatureOf(n ast.Node) *ast.FuncType {
	if decl, ok := n.(*ast.FuncDecl); ok {
		return decl.Type
	}
	return n.(*ast.FuncLit).Type
}

// NameOf is the name in an expression that names a function.
func NameOf(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return NameOf(e.X)
	}
	return nil
}
