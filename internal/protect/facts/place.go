package facts

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A Place is memory that can be named for a whole section by one expression: a
// variable, or a field that is reached from a variable by at most one pointer, the
// variable itself.
//
//	x          a variable
//	x.f        a field of what x points to, or of x
//	x.f.g      a field of a struct in it
//
// There is no place for x.p.f, where p is a pointer that the section may change, nor
// for the elements of slices, arrays and maps. The zero Place stands for those.
type Place struct {
	Root   *types.Var
	Fields []*types.Var
}

// Known reports whether there is a place at all.
func (p Place) Known() bool { return p.Root != nil }

func (p Place) String() string { return p.Root.Name() + p.Selectors() }

// Selectors is the text that leads from the root to the place: .f.g
func (p Place) Selectors() string {
	text := ""
	for _, f := range p.Fields {
		text += "." + f.Name()
	}
	return text
}

// Last is the variable or field itself.
func (p Place) Last() *types.Var {
	if len(p.Fields) == 0 {
		return p.Root
	}
	return p.Fields[len(p.Fields)-1]
}

// Chain is the root and the fields that lead to the place.
func (p Place) Chain() []*types.Var { return append([]*types.Var{p.Root}, p.Fields...) }

// Parent is the place of the struct that the field belongs to.
func (p Place) Parent() Place {
	return Place{p.Root, slices.Clone(p.Fields[:len(p.Fields)-1])}
}

// Equal reports whether two places are the same.
func (p Place) Equal(q Place) bool { return p.Within(q) && len(p.Fields) == len(q.Fields) }

// Within reports whether p is known, and is q or a part of it.
func (p Place) Within(q Place) bool {
	return p.Known() && p.Root == q.Root && HasPrefix(p.Fields, q.Fields)
}

// Beyond is the rest of a place that is within another.
func (p Place) Beyond(q Place) Place { return Place{Fields: p.Fields[len(q.Fields):]} }

// HasPrefix reports whether a chain of fields begins with another.
func HasPrefix(fields, beginning []*types.Var) bool {
	return len(fields) >= len(beginning) && slices.Equal(fields[:len(beginning)], beginning)
}

// ThroughPointer reports whether the root is a pointer to the object with the fields.
func (p Place) ThroughPointer() bool { return len(p.Fields) > 0 && IsPointer(p.Root.Type()) }

// IsGlobal reports whether the root is a package-level variable.
func (p Place) IsGlobal() bool { return IsGlobal(p.Root) }

// Structs returns the structs that have a place's fields, from the outside in.
func (p Place) Structs() []types.Type {
	var all []types.Type
	t := Deref(p.Root.Type())
	for _, f := range p.Fields {
		all = append(all, t)
		t = f.Type()
	}
	return all
}

// PlaceOf returns the place that an expression denotes.
func PlaceOf(info *types.Info, e ast.Expr) (Place, bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := info.ObjectOf(e).(*types.Var)
		if !ok || v.IsField() || v.Name() == "_" {
			return Place{}, false
		}
		return Place{Root: v}, true
	case *ast.SelectorExpr:
		sel := info.Selections[e]
		if sel == nil || sel.Kind() != types.FieldVal {
			return Place{}, false
		}
		p, ok := PlaceOf(info, e.X)
		if !ok {
			return Place{}, false
		}
		return p.Extend(sel.Index())
	}
	return Place{}, false
}

// Extend follows the fields with the indices, as a selection has them.
func (p Place) Extend(indices []int) (Place, bool) {
	q := Place{p.Root, slices.Clone(p.Fields)}
	for _, i := range indices {
		t := q.Last().Type()
		if IsPointer(t) {
			if len(q.Fields) > 0 {
				return Place{}, false
			}
			t = Deref(t)
		}
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			return Place{}, false
		}
		q.Fields = append(q.Fields, s.Field(i).Origin())
	}
	return q, true
}

// A Key identifies a variable or field in all packages of a build, whether its object
// comes from source, from export data, from an instance of a generic type, or from the
// variant of a package that has its tests.
type Key string

// KeyOf returns the key of a variable or field.
func (f *Facts) KeyOf(v *types.Var) Key {
	v = v.Origin()
	k, ok := f.keys[v]
	if !ok {
		at := f.Fset.PositionFor(v.Pos(), false)
		k = Key(fmt.Sprintf("%s:%d:%s", at.Filename, at.Line, v.Name()))
		f.keys[v] = k
	}
	return k
}

// typeKey identifies a named type as a Key identifies a variable.
func (f *Facts) typeKey(n *types.TypeName) Key {
	return Key(f.Fset.PositionFor(n.Pos(), false).Filename + ":" + n.Name())
}

// A FuncKey identifies a function in all packages of a build.
type FuncKey string

// FuncKeyOf returns the key of a function; the instances of a generic one share it.
func FuncKeyOf(f *types.Func) FuncKey { return FuncKey(f.Origin().FullName()) }

// Line returns the line of a position.
func (f *Facts) Line(p token.Pos) int { return f.Fset.PositionFor(p, false).Line }
