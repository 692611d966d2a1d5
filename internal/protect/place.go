package protect

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// A place is memory that can be named for a whole section by one expression: a
// variable, or a field that is reached from a variable by at most one pointer, the
// variable itself.
//
//	x          a variable
//	x.f        a field of what x points to, or of x
//	x.f.g      a field of a struct in it
//
// There is no place for x.p.f, where p is a pointer that the section may change, nor
// for the elements of slices, arrays and maps.
type place struct {
	root   *types.Var
	fields []*types.Var
}

func (p place) String() string {
	s := p.root.Name()
	for _, f := range p.fields {
		s += "." + f.Name()
	}
	return s
}

// last is the variable or field itself.
func (p place) last() *types.Var {
	if len(p.fields) == 0 {
		return p.root
	}
	return p.fields[len(p.fields)-1]
}

func (p place) equal(q place) bool { return p.within(q) && len(p.fields) == len(q.fields) }

// within reports whether p is q or a part of it.
func (p place) within(q place) bool {
	if p.root != q.root || len(p.fields) < len(q.fields) {
		return false
	}
	for i, f := range q.fields {
		if p.fields[i] != f {
			return false
		}
	}
	return true
}

// throughPointer reports whether the root is a pointer to what has the fields.
func (p place) throughPointer() bool { return len(p.fields) > 0 && isPointer(p.root.Type()) }

// isGlobal reports whether the root is a package-level variable.
func (p place) isGlobal() bool { return isGlobal(p.root) }

func isGlobal(v *types.Var) bool {
	return !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// placeOf returns the place that an expression denotes.
func placeOf(info *types.Info, e ast.Expr) (place, bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := info.ObjectOf(e).(*types.Var)
		if !ok || v.IsField() || v.Name() == "_" {
			return place{}, false
		}
		return place{root: v}, true
	case *ast.SelectorExpr:
		sel := info.Selections[e]
		if sel == nil || sel.Kind() != types.FieldVal {
			return place{}, false
		}
		p, ok := placeOf(info, e.X)
		if !ok {
			return place{}, false
		}
		return p.extend(sel.Index())
	}
	return place{}, false
}

// extend follows the fields with the indices, as a selection has them.
func (p place) extend(indices []int) (place, bool) {
	q := place{p.root, append([]*types.Var(nil), p.fields...)}
	for _, i := range indices {
		t := q.last().Type()
		if isPointer(t) {
			if len(q.fields) > 0 {
				return place{}, false
			}
			t = deref(t)
		}
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			return place{}, false
		}
		q.fields = append(q.fields, s.Field(i).Origin())
	}
	return q, true
}

// A key identifies a variable or field in all packages of a build, whether it comes
// from source or from export data.
type key string

func keyOf(fset *token.FileSet, v *types.Var) key {
	v = v.Origin()
	at := fset.PositionFor(v.Pos(), false)
	return key(fmt.Sprintf("%s:%d:%s", at.Filename, at.Line, v.Name()))
}

// structsOf returns the structs that have a place's fields, from the outside in.
func (p place) structsOf() []types.Type {
	var all []types.Type
	t := deref(p.root.Type())
	for _, f := range p.fields {
		all = append(all, t)
		t = f.Type()
	}
	return all
}

// holds reports whether values of type t have one of the structs in them.
func holds(t types.Type, structs []types.Type) bool {
	for _, s := range structs {
		if types.Identical(origin(t), origin(s)) {
			return true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if holds(f.Type(), structs) {
				return true
			}
		}
	case *types.Array:
		return holds(u.Elem(), structs)
	}
	return false
}

// origin returns the generic type that t is an instance of, or t.
func origin(t types.Type) types.Type {
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Origin()
	}
	return t
}

// isSync reports whether a type is declared in package sync under one of the names.
func isSync(t types.Type, names ...string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "sync" {
		return false
	}
	for _, name := range names {
		if n.Obj().Name() == name {
			return true
		}
	}
	return false
}

// uncopyable returns what in a type must not be copied: a lock, an atomic, or what
// has noCopy. It returns "" if there is nothing of the kind.
func uncopyable(t types.Type) string {
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil {
		switch path := n.Obj().Pkg().Path(); {
		case path == "sync" && !types.IsInterface(t), path == "sync/atomic", strings.HasSuffix(path, "/atomic"):
			return "a " + n.Obj().Pkg().Name() + "." + n.Obj().Name()
		case strings.EqualFold(n.Obj().Name(), "nocopy"):
			return "a " + n.Obj().Name()
		}
		for _, m := range []string{"Lock", "Unlock"} {
			if o, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, nil, m); o == nil || types.IsInterface(t) {
				break
			} else if _, ok := o.(*types.Func); ok && m == "Unlock" {
				return "the lock " + n.Obj().Name()
			}
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if what := uncopyable(f.Type()); what != "" {
				return what
			}
		}
	case *types.Array:
		return uncopyable(u.Elem())
	}
	return ""
}
