// Package further says whether a struct of a program can have one field more, and under which name.
//
// further.go is all of it.
package further

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// FieldIn says why a struct cannot have one more field that is a lock; nil if it can.
func FieldIn(files []*source.File, n *types.Named) error {
	switch {
	case compared(files, n):
		return fmt.Errorf("values of %s are compared: with a mutex in them, two that were equal may differ", n.Obj().Name())
	case positional(files, n):
		return fmt.Errorf("%s is written without the names of its fields, and takes no further one", n.Obj().Name())
	}
	return nil
}

// compared reports whether values of a struct type are compared, as they are or as keys of
// a map: with a mutex in it, two that were equal may differ.
func compared(files []*source.File, n *types.Named) bool {
	for _, f := range files {
		for e, tv := range f.Info.Types {
			switch e := e.(type) {
			case *ast.BinaryExpr:
				if (e.Op == token.EQL || e.Op == token.NEQ) && contains(f.Info.TypeOf(e.X), n) {
					return true
				}
			default:
				if m, ok := tv.Type.(*types.Map); ok && contains(m.Key(), n) {
					return true
				}
			}
		}
	}
	return false
}

// positional reports whether the program writes values of a struct type without the names
// of its fields.
func positional(files []*source.File, n *types.Named) bool {
	for _, f := range files {
		found := false
		ast.Inspect(f.Syntax, func(m ast.Node) bool {
			if c, ok := m.(*ast.CompositeLit); ok && len(c.Elts) > 0 && origin(f.Info.TypeOf(c)) == n {
				if _, keyed := c.Elts[0].(*ast.KeyValueExpr); !keyed {
					found = true
				}
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// contains reports whether values of a type have ones of a struct type in them.
func contains(t types.Type, n *types.Named) bool {
	if _, pointer := t.Underlying().(*types.Pointer); pointer {
		return false
	}
	if origin(t) == n {
		return true
	}
	switch t := t.Underlying().(type) {
	case *types.Struct:
		for i := range t.NumFields() {
			if contains(t.Field(i).Type(), n) {
				return true
			}
		}
	case *types.Array:
		return contains(t.Elem(), n)
	}
	return false
}

// NameIn returns the first of some names, or else a made-up one, that neither a field nor a method of a struct has.
func NameIn(n *types.Named, names ...string) string {
	for i := 2; ; i++ {
		for _, name := range names {
			if o, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, n.Obj().Pkg(), name); o == nil {
				return name
			}
		}
		names = []string{fmt.Sprintf("mu%d", i)}
	}
}

// origin is the named type that a type is, or points to, without its type arguments; nil if it is none.
func origin(t types.Type) *types.Named {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Origin()
	}
	return nil
}
