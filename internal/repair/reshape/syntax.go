package reshape

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// inspect calls f for every node of a file with the nodes around it, the outermost first.
func inspect(f *source.File, visit func(n ast.Node, around []ast.Node)) {
	ast.PreorderStack(f.Syntax, nil, func(n ast.Node, stack []ast.Node) bool {
		visit(n, stack)
		return true
	})
}

// within reports whether a node is inside another, or is it.
func within(inner, outer ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}

// listAround returns the statements that a statement is one of, and its index; nil if it is
// no element of a list.
func listAround(s ast.Stmt, around []ast.Node) ([]ast.Stmt, int) {
	if len(around) == 0 {
		return nil, 0
	}
	list := statements(around[len(around)-1])
	for i, other := range list {
		if other == s {
			return list, i
		}
	}
	return nil, 0
}

// statements are those that a node is a list of.
func statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// functionAround returns the innermost function among nodes, with its body.
func functionAround(around []ast.Node) (ast.Node, *ast.BlockStmt) {
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.FuncLit:
			return n, n.Body
		case *ast.FuncDecl:
			return n, n.Body
		}
	}
	return nil, nil
}

// methodCall returns what a method of package sync is called on, if a call is one of it.
func methodCall(info *types.Info, call *ast.CallExpr, typeName, method string) (receiver ast.Expr, ok bool) {
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != method {
		return nil, false
	}
	fn, ok := info.Uses[selector.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "sync" {
		return nil, false
	}
	named := receiverType(fn)
	return selector.X, named != nil && named.Obj().Name() == typeName
}

func receiverType(fn *types.Func) *types.Named {
	receiver := fn.Signature().Recv()
	if receiver == nil {
		return nil
	}
	return namedType(receiver.Type())
}

// namedType is the named type that a type or its pointer is, nil if it is none.
func namedType(t types.Type) *types.Named {
	if t == nil {
		return nil
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	if n == nil {
		return nil
	}
	return n.Origin()
}

// A path is an expression that names a variable by nothing but names: s.pool.wg.
type path struct {
	root     *ast.Ident
	variable *types.Var // at its end
	plain    bool       // no pointer is loaded from a field on the way
}

// pathOf returns what an expression names; ok is false if it is more than names.
func pathOf(info *types.Info, e ast.Expr) (p path, ok bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := info.ObjectOf(e).(*types.Var)
		return path{root: e, variable: v, plain: true}, ok
	case *ast.SelectorExpr:
		selection := info.Selections[e]
		if selection == nil {
			v, ok := info.Uses[e.Sel].(*types.Var) // of another package
			return path{root: e.Sel, variable: v, plain: true}, ok
		}
		p, ok = pathOf(info, e.X)
		if !ok || selection.Kind() != types.FieldVal || len(selection.Index()) != 1 {
			return path{}, false
		}
		_, pointer := info.TypeOf(e.X).Underlying().(*types.Pointer)
		p.plain = p.plain && !(pointer && p.variable.IsField())
		p.variable = selection.Obj().(*types.Var)
		return p, true
	case *ast.StarExpr:
		return pathOf(info, e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return pathOf(info, e.X)
		}
	}
	return path{}, false
}

// declaredIn reports whether an object is declared inside a node.
func declaredIn(o types.Object, n ast.Node) bool {
	return o != nil && n.Pos() <= o.Pos() && o.Pos() < n.End()
}

// isBuiltin reports whether a call is one of a function of the language.
func isBuiltin(info *types.Info, call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := info.Uses[id].(*types.Builtin)
	return ok && b.Name() == name
}

// callOf returns the call that a statement consists of, nil if it is another statement.
func callOf(s ast.Stmt) *ast.CallExpr {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	call, _ := ast.Unparen(e.X).(*ast.CallExpr)
	return call
}

// same reports whether two variables are declared at the same place: those of the instances of
// a generic type, and of the variants of a package, are different objects.
func same(a, b *types.Var) bool { return a != nil && b != nil && a.Pos() == b.Pos() }

// leaves reports whether a statement may leave the function that it is in by a return or a
// goto.
func leaves(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
		case *ast.BranchStmt:
			found = found || n.Tok == token.GOTO
		}
		return !found
	})
	return found
}

// mayWait reports whether statements may wait for another goroutine, as far as they say so
// themselves: by a channel, or by what is called Wait.
func mayWait(f *source.File, list []ast.Stmt) bool {
	waits := false
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.SelectStmt, *ast.SendStmt:
				waits = true
			case *ast.UnaryExpr:
				waits = waits || n.Op == token.ARROW
			case *ast.RangeStmt:
				_, channel := f.Info.TypeOf(n.X).Underlying().(*types.Chan)
				waits = waits || channel
			case *ast.SelectorExpr:
				waits = waits || n.Sel.Name == "Wait"
			}
			return true
		})
	}
	return waits
}
