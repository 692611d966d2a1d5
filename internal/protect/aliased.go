package protect

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/packages"
)

// findAliased returns the map variables and fields whose map may be known by another
// name as well: somebody uses them other than by index, length, range, delete, clear,
// comparison with nil, or to assign a map that is new. A section must not exchange such
// a map for a copy.
func findAliased(pkgs []*packages.Package) map[key]bool {
	all := make(map[key]bool)
	for _, p := range pkgs {
		a := &aliasing{p.Fset, p.TypesInfo, all}
		for _, f := range p.Syntax {
			var parents []ast.Node
			ast.Inspect(f, func(n ast.Node) bool {
				if n == nil {
					parents = parents[:len(parents)-1]
					return true
				}
				a.node(n, parents)
				parents = append(parents, n)
				return true
			})
		}
	}
	return all
}

type aliasing struct {
	fset *token.FileSet
	info *types.Info
	all  map[key]bool
}

func (a *aliasing) node(n ast.Node, parents []ast.Node) {
	e, ok := n.(ast.Expr)
	if !ok || len(parents) == 0 {
		return
	}
	parent := parents[len(parents)-1]
	switch e := e.(type) {
	case *ast.CompositeLit:
		a.literal(e)
		return
	case *ast.Ident:
		if s, ok := parent.(*ast.SelectorExpr); ok && s.Sel == e {
			return // asked for the selector
		}
	}
	if wholeUse(a.info, e, parent) {
		a.whole(a.info.TypeOf(e))
	}
	v := a.variable(e)
	if v == nil || !isMap(v.Type()) {
		return
	}
	switch p := parent.(type) {
	case *ast.IndexExpr:
		if p.X == e {
			return
		}
	case *ast.RangeStmt:
		if p.X == e {
			return
		}
	case *ast.BinaryExpr:
		return
	case *ast.CallExpr:
		switch builtinOf(a.info, ast.Unparen(p.Fun)) {
		case "len", "delete", "clear":
			return
		}
	case *ast.KeyValueExpr:
		if p.Key == e {
			return // a field in a literal, which has its own case
		}
	case *ast.AssignStmt:
		for i, l := range p.Lhs {
			if l == e && len(p.Lhs) == len(p.Rhs) && a.isNew(p.Rhs[i]) {
				return
			}
		}
	case *ast.ValueSpec:
		for i, name := range p.Names {
			if name == e && (len(p.Values) == 0 || len(p.Values) == len(p.Names) && a.isNew(p.Values[i])) {
				return
			}
		}
	case *ast.Field:
		return // its declaration
	}
	a.all[keyOf(a.fset, v)] = true
}

// variable returns the variable or field that an expression names.
func (a *aliasing) variable(e ast.Expr) *types.Var {
	switch e := e.(type) {
	case *ast.Ident:
		v, _ := a.info.ObjectOf(e).(*types.Var)
		return v
	case *ast.SelectorExpr:
		v, _ := a.info.ObjectOf(e.Sel).(*types.Var)
		return v
	}
	return nil
}

// literal looks at the maps that a struct literal gives its fields.
func (a *aliasing) literal(l *ast.CompositeLit) {
	s, ok := a.info.TypeOf(l).Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i, e := range l.Elts {
		var f *types.Var
		value := e
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			value = kv.Value
			if id, ok := kv.Key.(*ast.Ident); ok {
				f, _ = a.info.ObjectOf(id).(*types.Var)
			}
		} else if i < s.NumFields() {
			f = s.Field(i)
		}
		if f != nil && isMap(f.Type()) && !a.isNew(value) {
			a.all[keyOf(a.fset, f)] = true
		}
	}
}

// isNew reports whether an expression is a map that nothing else refers to, or nil.
func (a *aliasing) isNew(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.Ident:
		_, ok := a.info.ObjectOf(e).(*types.Nil)
		return ok
	case *ast.CallExpr:
		if builtinOf(a.info, ast.Unparen(e.Fun)) == "make" {
			return true
		}
		f := calleeOf(a.info, e.Fun)
		return f != nil && f.FullName() == "maps.Clone"
	}
	return false
}

// whole marks the maps in a struct that is copied.
func (a *aliasing) whole(t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if isMap(f.Type()) {
				a.all[keyOf(a.fset, f)] = true
			}
			a.whole(f.Type())
		}
	case *types.Array:
		a.whole(u.Elem())
	}
}
