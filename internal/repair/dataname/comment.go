package dataname

import (
	"go/types"
	"path"
	"slices"
	"strings"
)

// The comment beside a new lock says what the lock guards: the next person who adds a method reads it.

// FieldComment is the comment beside a mutex of a struct: its fields, and then those of other objects.
// What takes care of itself in single steps is guarded only while it is changed: a load by itself needs
// no lock. It is empty if there is nothing to name.
func FieldComment(n *types.Named, guarded []Name) string {
	var all, steps []string
	names := FieldsOf(n, guarded)
	EachField(n, func(name string, f *types.Var) {
		switch {
		case isPartOf(f.Type(), guarded):
			all = append(all, name)
		case !slices.Contains(names, name):
		case isStepwise(f.Type()):
			steps = append(steps, name)
		default:
			all = append(all, name)
		}
	})
	own := Name{Package: n.Obj().Pkg().Path(), Owner: n.Obj().Name()}
	for _, d := range guarded {
		if d.Owner == "" || d.Package == own.Package && (d.Owner == own.Owner || hasInside(n, d)) {
			continue
		}
		name := d.Owner + "." + d.Name
		if d.Package != own.Package {
			name = path.Base(d.Package) + "." + name
		}
		all = append(all, name)
	}
	if len(steps) > 0 {
		all = append(all, "changes of "+strings.Join(steps, " and "))
	}
	if len(all) == 0 {
		return ""
	}
	return "// guards " + strings.Join(all, ", ")
}

// isPartOf reports whether a type is a struct with a name that has some of the guarded data.
func isPartOf(t types.Type, guarded []Name) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return false
	}
	return slices.ContainsFunc(guarded, func(d Name) bool { return d.Package == n.Obj().Pkg().Path() && d.Owner == n.Obj().Name() })
}

// hasInside reports whether a struct has, as a field, the struct that some data is of.
func hasInside(n *types.Named, d Name) bool {
	found := false
	EachField(n, func(_ string, f *types.Var) { found = found || isPartOf(f.Type(), []Name{d}) })
	return found
}

// isStepwise reports whether a type is a sync.Map, or one of package sync/atomic.
func isStepwise(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false
	}
	path := named.Obj().Pkg().Path()
	return path == "sync/atomic" || path == "sync" && named.Obj().Name() == "Map"
}

// PackageComment is the comment beside a mutex of a package: the variables and the fields of structs
// that it guards. It is empty if there are none.
func PackageComment(path string, guarded []Name) string {
	var names []string
	for _, n := range guarded {
		switch {
		case n.Package != path || n.Function != "":
		case n.Owner != "":
			names = append(names, n.Owner+"."+n.Name)
		default:
			names = append(names, n.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " // guards " + strings.Join(names, ", ")
}
