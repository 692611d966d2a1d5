package syntax

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A Path is an expression that names a variable by nothing but names: s.pool.wg.
type Path struct {
	Root     *ast.Ident
	Variable *types.Var // at its end
	Plain    bool       // no pointer is loaded from a field on the way
}

// PathOf returns what an expression names; ok is false if it is more than names.
func PathOf(info *types.Info, e ast.Expr) (p Path, ok bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := info.ObjectOf(e).(*types.Var)
		return Path{Root: e, Variable: v, Plain: true}, ok
	case *ast.SelectorExpr:
		selection := info.Selections[e]
		if selection == nil {
			v, ok := info.Uses[e.Sel].(*types.Var) // of another package
			return Path{Root: e.Sel, Variable: v, Plain: true}, ok
		}
		p, ok = PathOf(info, e.X)
		if !ok || selection.Kind() != types.FieldVal || len(selection.Index()) != 1 {
			return Path{}, false
		}
		_, pointer := info.TypeOf(e.X).Underlying().(*types.Pointer)
		p.Plain = p.Plain && !(pointer && p.Variable.IsField())
		p.Variable = selection.Obj().(*types.Var)
		return p, true
	case *ast.StarExpr:
		return PathOf(info, e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return PathOf(info, e.X)
		}
	}
	return Path{}, false
}

// Same reports whether two variables are declared at the same place: those of the instances of
// a generic type, and of the variants of a package, are different objects.
func Same(a, b *types.Var) bool { return a != nil && b != nil && a.Pos() == b.Pos() }

// Contains reports whether a variable is one of some, by Same.
func Contains(all []*types.Var, v *types.Var) bool {
	for _, other := range all {
		if Same(other, v) {
			return true
		}
	}
	return false
}

// DeclaredIn reports whether an object is declared inside a node.
func DeclaredIn(o types.Object, n ast.Node) bool {
	return o != nil && n.Pos() <= o.Pos() && o.Pos() < n.End()
}

// DeclarationOf is the statement that declares a variable of a function, and the function; nil
// if it is a parameter or a result.
func DeclarationOf(f *source.File, v *types.Var) (statement ast.Stmt, function ast.Node) {
	Inspect(f, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || f.Info.Defs[id] != types.Object(v) {
			return
		}
		for i := len(around) - 1; i > 0; i-- {
			if s, ok := around[i].(ast.Stmt); ok {
				if list, _ := ListAround(s, around[:i]); list != nil {
					statement = s
					function, _ = FunctionAround(around)
					return
				}
			}
			if _, ok := around[i].(*ast.FuncType); ok {
				return
			}
		}
	})
	return statement, function
}

// FunctionWithResult is the function that has a variable as a result; nil if it is none.
func FunctionWithResult(f *source.File, v *types.Var) (function ast.Node) {
	Inspect(f, func(n ast.Node, _ []ast.Node) {
		var signature *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			signature = n.Type
		case *ast.FuncLit:
			signature = n.Type
		default:
			return
		}
		if signature.Results != nil && DeclaredIn(v, signature.Results) {
			function = n
		}
	})
	return function
}

// FreshIn reports whether a variable is one of the function that a node is in, and holds what
// the function has made itself: a composite literal or new.
func FreshIn(f *source.File, root *ast.Ident, around []ast.Node) bool {
	fn, _ := FunctionAround(around)
	v := f.Info.ObjectOf(root)
	if fn == nil || !DeclaredIn(v, fn) {
		return false
	}
	fresh := false
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if id, ok := left.(*ast.Ident); ok && f.Info.Defs[id] == v && len(n.Rhs) == len(n.Lhs) {
					fresh = fresh || makesNew(f.Info, n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if f.Info.Defs[id] == v {
					fresh = fresh || len(n.Values) == 0 || makesNew(f.Info, n.Values[i])
				}
			}
		}
		return true
	})
	return fresh
}

// makesNew reports whether an expression is a value that nothing else refers to.
func makesNew(info *types.Info, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		return e.Op == token.AND && makesNew(info, e.X)
	case *ast.CallExpr:
		return IsBuiltin(info, e, "new")
	}
	return false
}

// Mentions reports whether an identifier inside a node means a variable.
func Mentions(f *source.File, n ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && f.Info.Uses[id] == types.Object(v)
		return !found
	})
	return found
}

// MentionsField reports whether a node has to do with a variable or field.
func MentionsField(f *source.File, n ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used, ok := f.Info.Uses[id].(*types.Var)
			found = found || ok && Same(used.Origin(), v)
		}
		return !found
	})
	return found
}

// Assigned reports whether statements may assign to the variable that an identifier means.
func Assigned(f *source.File, list []ast.Stmt, root *ast.Ident) bool {
	v := f.Info.ObjectOf(root)
	found := false
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IncDecStmt:
				id, ok := ast.Unparen(n.X).(*ast.Ident)
				found = found || ok && f.Info.Uses[id] == v
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					if id, ok := ast.Unparen(left).(*ast.Ident); ok && f.Info.Uses[id] == v {
						found = true
					}
				}
			case *ast.RangeStmt:
				for _, left := range []ast.Expr{n.Key, n.Value} {
					if id, ok := left.(*ast.Ident); ok && f.Info.Uses[id] == v {
						found = true
					}
				}
			}
			return !found
		})
	}
	return found
}

// NamesField reports whether an expression has to do with a field of a struct.
func NamesField(f *source.File, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			selection := f.Info.Selections[s]
			found = found || selection != nil && selection.Kind() == types.FieldVal
		}
		return !found
	})
	return found
}

// FieldsIn are the fields and variables of the package that an expression names, without those
// that are on the way to others.
func FieldsIn(f *source.File, e ast.Expr) []*types.Var {
	var all []*types.Var
	ast.Inspect(e, func(n ast.Node) bool {
		part, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		p, ok := PathOf(f.Info, part)
		if !ok {
			return true
		}
		if v := p.Variable; v.IsField() || v.Parent() == v.Pkg().Scope() {
			all = append(all, v.Origin())
		}
		return false
	})
	return all
}

// LocalName is a name for what a field or variable holds: its own, if the function has that for
// nothing else.
func LocalName(f *source.File, function ast.Node, v *types.Var, names *source.Names) string {
	name := source.Unexported(v.Name())
	taken := !v.IsField() || token.IsKeyword(name) || f.Lookup(name, function.Pos()) != nil
	ast.Inspect(function, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			other, ok := f.Info.ObjectOf(id).(*types.Var)
			taken = taken || !ok || !other.IsField()
		}
		return !taken
	})
	if taken {
		return names.Free(name + "Now")
	}
	return name
}

// ChangesAny reports whether a statement assigns to one of some fields.
func ChangesAny(f *source.File, s ast.Stmt, fields []*types.Var) bool {
	changed := func(e ast.Expr) bool {
		if index, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
			e = index.X
		}
		p, ok := PathOf(f.Info, e)
		return ok && Contains(fields, p.Variable.Origin())
	}
	switch s := s.(type) {
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE && slices.ContainsFunc(s.Lhs, changed)
	case *ast.IncDecStmt:
		return changed(s.X)
	}
	return false
}

// Captured are the variables that a function literal on a line uses and does not declare.
func Captured(f *source.File, line int) []*types.Var {
	if f == nil {
		return nil
	}
	var all []*types.Var
	Inspect(f, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || f.Line(id.Pos()) != line {
			return
		}
		v, ok := f.Info.Uses[id].(*types.Var)
		if !ok || v.IsField() || v.Pkg() == nil || v.Parent() == v.Pkg().Scope() {
			return
		}
		if fn, _ := FunctionAround(around); fn != nil && !DeclaredIn(v, fn) {
			all = append(all, v)
		}
	})
	return all
}

// SentOn are the variables of functions that a line sends to.
func SentOn(f *source.File, line int) []*types.Var {
	var all []*types.Var
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		send, ok := n.(*ast.SendStmt)
		if !ok || f.Line(send.Pos()) != line {
			return true
		}
		if id, ok := ast.Unparen(send.Chan).(*ast.Ident); ok {
			if v, ok := f.Info.Uses[id].(*types.Var); ok && v.Parent() != v.Pkg().Scope() {
				all = append(all, v)
			}
		}
		return true
	})
	return all
}

// ChangesFresh reports whether a statement changes what the function around it has just made.
func ChangesFresh(f *source.File, s ast.Stmt, around []ast.Node) bool {
	assign, ok := s.(*ast.AssignStmt)
	if !ok {
		return false
	}
	p, ok := PathOf(f.Info, assign.Lhs[0])
	return ok && p.Variable.IsField() && FreshIn(f, p.Root, around)
}

// IsPlainNumber reports whether an expression is an integer made of variables and constants, so that
// it can be evaluated once more.
func IsPlainNumber(f *source.File, x ast.Expr) bool {
	basic, ok := f.Info.TypeOf(x).Underlying().(*types.Basic)
	plain := ok && basic.Info()&types.IsInteger != 0
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			id, _ := ast.Unparen(n.Fun).(*ast.Ident)
			b, ok := f.Info.Uses[id].(*types.Builtin)
			plain = plain && ok && b.Name() == "len"
		case *ast.UnaryExpr:
			plain = plain && n.Op != token.ARROW
		case *ast.FuncLit:
			plain = false
		}
		return plain
	})
	return plain
}
