// Package dataname names the data that a lock guards: a field or a variable, in every version of a
// program. Objects of go/types are those of one version, and a fix grows over several.
//
//	dataname.go  names, and the fields of structs by theirs
//	comment.go   the comment beside a new lock, which has the names of its data
package dataname

import (
	"go/types"
	"slices"
)

// A Name names a field or variable in every version of a program: a field of the struct
// type Owner, a local variable of Function, or else a variable of the package. The name of a field
// of a struct without a name begins with that of the field that the struct is the type of:
//
//	type Metrics struct {
//		HTTP struct{ Requests int }     HTTP.Requests of Metrics
//	}
type Name struct{ Package, Owner, Function, Name string }

// EachField calls visit for the fields of a struct, and for those of the structs without a name that
// these are, with their names.
func EachField(t types.Type, visit func(name string, v *types.Var)) {
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for v := range st.Fields() {
		visit(v.Name(), v)
		if inner, ok := types.Unalias(v.Type()).(*types.Struct); ok {
			EachField(inner, func(name string, w *types.Var) { visit(v.Name()+"."+name, w) })
		}
	}
}

// HasField reports whether a struct has a field, itself or in a struct without a name.
func HasField(n *types.Named, field *types.Var) bool {
	found := false
	EachField(n, func(_ string, v *types.Var) { found = found || v.Pos() == field.Pos() })
	return found
}

// FieldPath is the name of a field of a struct, or of a struct without a name in it.
func FieldPath(n *types.Named, field *types.Var) string {
	path := field.Name()
	EachField(n, func(name string, v *types.Var) {
		if v.Pos() == field.Pos() {
			path = name
		}
	})
	return path
}

// FieldsOf are the names of a struct's fields among some data, in the order of the struct.
func FieldsOf(n *types.Named, data []Name) []string {
	var names []string
	EachField(n, func(name string, _ *types.Var) {
		if slices.Contains(data, Name{Package: n.Obj().Pkg().Path(), Owner: n.Obj().Name(), Name: name}) {
			names = append(names, name)
		}
	})
	return names
}
