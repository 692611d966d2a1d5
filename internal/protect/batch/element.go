package batch

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// An Element is an expression for memory behind a pointer or a slice, as large as the source names it at that place.
type Element struct {
	// Holder names the slice or pointer that leads there, nil for what is found otherwise.
	Holder ast.Expr
	// Base says what leads to the memory: elements of one Base with the same path are in one batch.
	Base string
	// Parts are the expression, and what it is a part of in the same memory, the largest first.
	Parts []Part

	root ast.Node // what the step evaluates, in which the expression stands
}

// A Part is an expression for a part of some memory.
type Part struct {
	Expr ast.Expr
	// Variable is the guarded variable or field that the part belongs to: the slice, the pointer, or the field of a node.
	Variable *types.Var
	Path     string    // from the memory to the part
	At       token.Pos // where the address of the part is computed
	// Field is the last field on the way to the part, nil if there is none.
	Field *types.Var
	Type  types.Type
}

// Whole is the part that the source names.
func (e *Element) Whole() Part { return e.Parts[len(e.Parts)-1] }

// PartAt returns the part with a path.
func (e *Element) PartAt(path string) (Part, bool) {
	for _, p := range e.Parts {
		if p.Path == path {
			return p, true
		}
	}
	return Part{}, false
}

// A Finder finds the elements of steps.
type Finder struct {
	Info *types.Info
	// Guarded reports whether the lock of the section guards a variable or field.
	Guarded func(*types.Var) bool
	// Known reports whether an expression has a copy by its name, or may have.
	Known func(ast.Expr) bool
}

// Find returns the elements that nodes of a step use by themselves, and not in function literals.
func (f *Finder) Find(nodes []ast.Node) []*Element {
	var all []*Element
	for _, root := range nodes {
		ast.PreorderStack(root, nil, func(n ast.Node, around []ast.Node) bool {
			x, ok := n.(ast.Expr)
			if _, literal := n.(*ast.FuncLit); literal || ok && f.Info.Types[x].Value != nil {
				return false // a constant evaluates nothing
			}
			if _, paren := n.(*ast.ParenExpr); !ok || paren {
				return true
			}
			if e := f.element(x); e != nil && !f.isPartOfLarger(x, around) {
				e.root = root
				all = append(all, e)
			}
			return true
		})
	}
	return all
}

// isPartOfLarger reports whether the node around an expression names a part of the same memory.
func (f *Finder) isPartOfLarger(x ast.Expr, around []ast.Node) bool {
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.ParenExpr:
			continue
		case *ast.IndexExpr:
			return ast.Unparen(n.X) == x && facts.IsArray(f.Info.TypeOf(x))
		case *ast.SelectorExpr:
			sel := f.Info.Selections[n]
			return sel != nil && sel.Kind() == types.FieldVal && !sel.Indirect()
		}
		return false
	}
	return false
}

// element returns the element that an expression is, nil if it is none, or not one that is guarded.
func (f *Finder) element(x ast.Expr) *Element {
	switch x := ast.Unparen(x).(type) {
	case *ast.StarExpr:
		return f.behind(x, x.X, "*", x.Star, f.Info.TypeOf(x))
	case *ast.IndexExpr:
		if !f.Info.Types[x.X].IsValue() {
			return nil
		}
		switch t := f.Info.TypeOf(x.X).Underlying().(type) {
		case *types.Slice, *types.Pointer:
			return f.behind(x, x.X, "[]", x.Lbrack, f.Info.TypeOf(x))
		case *types.Array:
			return f.part(x, x.X, "[]", x.Lbrack, nil, t.Elem())
		}
	case *ast.SelectorExpr:
		sel := f.Info.Selections[x]
		if sel == nil || sel.Kind() != types.FieldVal || f.Known(x) {
			return nil
		}
		path, base := f.way(sel)
		field := sel.Obj().(*types.Var).Origin()
		if base == "" {
			if e := f.part(x, x.X, path, x.Sel.Pos(), field, f.Info.TypeOf(x)); e != nil || !f.isBehind(x.X) {
				return e
			}
			base = facts.TypeName(sel.Recv())
		}
		if f.Guarded(field) {
			return &Element{Base: base, Parts: []Part{{x, field, path, x.Sel.Pos(), field, f.Info.TypeOf(x)}}}
		}
	}
	return nil
}

// way returns the fields that a selection leads through in one memory, and the struct that a pointer leads to on the way,
// "" if there is no pointer.
func (f *Finder) way(sel *types.Selection) (path, base string) {
	t := sel.Recv()
	for _, i := range sel.Index() {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t, path = p.Elem(), ""
			base = facts.TypeName(t)
		}
		field := t.Underlying().(*types.Struct).Field(i)
		path += "." + field.Name()
		t = field.Type()
	}
	return path, base
}

// isBehind reports whether an expression is for memory behind a pointer or a slice, which need not be guarded.
func (f *Finder) isBehind(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.StarExpr:
		return true
	case *ast.IndexExpr:
		switch f.Info.TypeOf(x.X).Underlying().(type) {
		case *types.Slice, *types.Pointer:
			return true
		case *types.Array:
			return f.isBehind(x.X)
		}
	case *ast.SelectorExpr:
		sel := f.Info.Selections[x]
		return sel != nil && sel.Kind() == types.FieldVal && (sel.Indirect() || f.isBehind(x.X)) && !f.Known(x)
	}
	return false
}

// behind returns the element behind a pointer or slice.
func (f *Finder) behind(x, holder ast.Expr, step string, at token.Pos, t types.Type) *Element {
	part := Part{Expr: x, At: at, Type: t}
	if inner := f.element(holder); inner != nil {
		part.Variable = inner.Whole().Variable
		return &Element{Holder: inner.Holder, Base: inner.Base + inner.Whole().Path + step, Parts: []Part{part}}
	}
	if v := f.variable(holder); v != nil && f.Guarded(v) {
		part.Variable = v
		return &Element{Holder: ast.Unparen(holder), Base: facts.TypeName(v.Type()) + v.Name() + step, Parts: []Part{part}}
	}
	return nil
}

// part returns the element that is a part of another one.
func (f *Finder) part(x, of ast.Expr, step string, at token.Pos, field *types.Var, t types.Type) *Element {
	e := f.element(of)
	if e == nil {
		return nil
	}
	whole := e.Whole()
	variable := whole.Variable
	if field == nil {
		field = whole.Field
	} else if f.Guarded(field) {
		variable = field
	}
	e.Parts = append(e.Parts, Part{x, variable, whole.Path + step, at, field, t})
	return e
}

// variable returns the variable or field that an expression names.
func (f *Finder) variable(x ast.Expr) *types.Var {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		v, _ := f.Info.ObjectOf(x).(*types.Var)
		return v
	case *ast.SelectorExpr:
		if sel := f.Info.Selections[x]; sel != nil && sel.Kind() == types.FieldVal {
			return sel.Obj().(*types.Var).Origin()
		}
		v, _ := f.Info.Uses[x.Sel].(*types.Var) // of another package
		return v
	}
	return nil
}
