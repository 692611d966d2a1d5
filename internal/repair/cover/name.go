package cover

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/handle"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
)

// name is how a region names the lock; "" if it cannot.
func (code *Code) name(l *Lock, r *Region) string {
	if l.owner == nil {
		if l.pkg != nil && l.pkg.Path() != r.file.Types.Path() {
			return ""
		}
		if l.scope != nil && !(l.scope.Pos() <= r.fn.Pos() && r.fn.End() <= l.scope.End()) {
			return ""
		}
		meant := r.file.Lookup(l.variable, r.first().Pos())
		if l.Exists() && meant != types.Object(l.object) || !l.Exists() && meant != nil {
			return "" // the name means something else there
		}
		return l.variable
	}
	if l.pkg.Path() != r.file.Types.Path() && !token.IsExported(l.field) {
		return ""
	}
	v := code.reachOwner(r, l.owner)
	if short := code.promoted(r, l, v); short != "" {
		return short
	}
	switch {
	case v == "" || l.field == "":
		return v
	case l.striped:
		i := code.stripe(r, l)
		if i == "" {
			return ""
		}
		return v + "." + l.field + "[" + i + "]"
	}
	return v + "." + l.field
}

// promoted is the name of a lock by way of embedded structs that its owner is reached over, as
// r.mu for r.Base.mu; "" if it has none.
func (code *Code) promoted(r *Region, l *Lock, owner string) string {
	root, rest, ok := strings.Cut(owner, ".")
	if !ok || l.striped || l.object == nil {
		return ""
	}
	v, ok := r.file.Lookup(root, r.first().Pos()).(*types.Var)
	if !ok {
		return ""
	}
	t := v.Type()
	for _, name := range strings.Split(rest, ".") {
		o, _, _ := types.LookupFieldOrMethod(t, true, l.pkg, name)
		f, ok := o.(*types.Var)
		if !ok || !f.Embedded() {
			return ""
		}
		t = f.Type()
	}
	wanted, name := l.field, root+"."+l.field
	if wanted == "" {
		wanted, name = l.object.Name(), root
		if o, _, _ := types.LookupFieldOrMethod(v.Type(), true, l.pkg, "Lock"); o == nil {
			return ""
		}
	}
	if o, _, _ := types.LookupFieldOrMethod(v.Type(), true, l.pkg, wanted); o == nil || o.Pos() != l.object.Pos() {
		return ""
	}
	return name
}

// stripe is the index that a region has for the other fields of a lock's struct; "" if
// there is none, or no single one that stays the same.
func (code *Code) stripe(r *Region, l *Lock) string {
	info := r.info()
	found := map[string]bool{}
	statement.Each(r.statements(), func(n ast.Node) {
		x, ok := n.(*ast.IndexExpr)
		if !ok {
			return
		}
		sel, ok := ast.Unparen(x.X).(*ast.SelectorExpr)
		if !ok || named(info.TypeOf(sel.X)) != l.owner {
			return
		}
		switch i := x.Index.(type) {
		case *ast.Ident:
			v, ok := info.Uses[i].(*types.Var)
			if ok && v.Pos() < r.first().Pos() && code.meansTheSame(r, v) {
				found[i.Name] = true
				return
			}
		case *ast.BasicLit:
			found[i.Value] = true
			return
		}
		found[""] = true // an index that may mean another element when the region ends
	})
	return onlyElement(found)
}

// onlyElement is the one element of a set; "" if there are none or several.
func onlyElement(set map[string]bool) string {
	if len(set) != 1 {
		return ""
	}
	for one := range set {
		return one
	}
	return ""
}

// reachOwner is the expression by which a region reaches a struct, such as a variable or a
// field of one; "" if there is none, or no single one. It must mean the same throughout
// the region.
func (code *Code) reachOwner(r *Region, n *types.Named) string {
	finder := handle.Finder{Info: r.info(), Assigned: code.uses().Assigned}
	found := map[string]bool{}
	consider := func(all []handle.Handle) {
		for _, h := range all {
			if named(h.Type) == n && (h.ByPointer || code.isOriginal(h.Root)) && h.Root.Pos() < r.first().Pos() && code.meansTheSame(r, h.Root) {
				found[h.Text] = true
			}
		}
	}
	see := func(e ast.Expr) bool {
		consider(finder.In(e))
		return true
	}
	for _, node := range r.nodes {
		ast.Inspect(node, func(m ast.Node) bool {
			e, ok := m.(ast.Expr)
			return !ok || see(e)
		})
	}
	if len(found) == 0 {
		for _, id := range handle.Parameters(r.fn) {
			see(id)
		}
	}
	// A literal works for the function that it is in: what it visits is reached from the receiver.
	for literal, ok := r.fn.(*ast.FuncLit); ok && len(found) == 0; {
		around := statement.FunctionAround(r.file.Syntax, literal)
		for _, id := range handle.Parameters(around) {
			see(id)
		}
		literal, ok = around.(*ast.FuncLit)
	}
	if len(found) == 0 {
		statement.Each(r.statements(), func(m ast.Node) {
			if e, ok := m.(ast.Expr); ok {
				see(e)
			}
		})
	}
	if len(found) == 0 {
		for _, id := range handle.Parameters(r.fn) {
			for _, h := range finder.In(id) {
				consider(finder.Embedded(h))
			}
		}
	}
	return onlyElement(found)
}

// isOriginal reports whether a variable of a struct type is the struct that is shared.
func (code *Code) isOriginal(v *types.Var) bool {
	if v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		return true
	}
	f := code.File(code.Fset.PositionFor(v.Pos(), false).Filename)
	return f != nil && handle.IsOriginal(f.Syntax, v)
}

// meansTheSame reports whether a variable's name means it where the region begins, and the
// variable is not changed in it.
func (code *Code) meansTheSame(r *Region, v *types.Var) bool {
	if r.file.Lookup(v.Name(), r.first().Pos()) != v {
		return false
	}
	same := true
	for _, s := range r.statements() {
		ast.Inspect(s, func(n ast.Node) bool {
			var changed []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				changed = n.Lhs
			case *ast.RangeStmt:
				changed = []ast.Expr{n.Key, n.Value}
			}
			for _, l := range changed {
				if id, ok := l.(*ast.Ident); ok && r.info().ObjectOf(id) == v {
					same = false
				}
			}
			return true
		})
	}
	return same
}
