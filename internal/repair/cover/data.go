package cover

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/repair/dataname"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// Data is what regions are to guard.
type Data struct {
	owners  []*types.Named // the structs that have the fields
	fields  map[*types.Named][]*types.Var
	globals []*types.Var
	locals  []*types.Var
	held    []*types.Var // locks that some accesses hold already
}

// AddField adds a field of a struct, or of a struct without a name in that. With no owner that has a
// name, it is not added.
func (d *Data) AddField(owner types.Type, field *types.Var) {
	n := named(owner)
	if n == nil {
		return
	}
	if d.fields == nil {
		d.fields = map[*types.Named][]*types.Var{}
	}
	add(&d.owners, n)
	list := d.fields[n]
	add(&list, field.Origin())
	d.fields[n] = list
}

// AddGlobal adds a variable of a package.
func (d *Data) AddGlobal(v *types.Var) { add(&d.globals, v) }

// Owners returns the structs that have fields among the data.
func (d *Data) Owners() []*types.Named { return slices.Clone(d.owners) }

// HasGlobals reports whether variables of packages are among the data.
func (d *Data) HasGlobals() bool { return len(d.globals) > 0 }

// IsNamedIn reports whether what a region accesses is the data by name, and not what a function has
// handed to it.
func (d *Data) IsNamedIn(r *Region) bool {
	named := false
	for _, n := range r.Data {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if v, ok := r.info().ObjectOf(id).(*types.Var); ok {
					named = named || slices.Contains(d.globals, v) || slices.Contains(d.locals, v)
					for _, fields := range d.fields {
						named = named || slices.Contains(fields, v.Origin())
					}
				}
			}
			return !named
		})
	}
	return named
}

// AddLocal adds a variable that closures share.
func (d *Data) AddLocal(v *types.Var) { add(&d.locals, v) }

// AddHeld adds a lock that an access holds: the field or variable that declares it.
func (d *Data) AddHeld(lock *types.Var) { add(&d.held, lock) }

func add[T comparable](list *[]T, x T) {
	if !slices.Contains(*list, x) {
		*list = append(*list, x)
	}
}

// Names returns the names of the fields and variables.
func (d *Data) Names(code *Code) []dataname.Name {
	var all []dataname.Name
	for _, n := range d.owners {
		for _, field := range d.fields[n] {
			all = append(all, dataname.Name{Package: n.Obj().Pkg().Path(), Owner: n.Obj().Name(), Name: dataname.FieldPath(n, field)})
		}
	}
	for _, v := range d.globals {
		all = append(all, dataname.Name{Package: v.Pkg().Path(), Name: v.Name()})
	}
	for _, v := range d.locals {
		if f := code.fileAt(v.Pos()); f != nil {
			if fn, ok := enclosing(f, v.Pos()).(*ast.FuncDecl); ok {
				all = append(all, dataname.Name{Package: v.Pkg().Path(), Function: fn.Name.Name, Name: v.Name()})
			}
		}
	}
	return all
}

// Variables returns the fields and variables with names, as this version of the program has
// them. Of local variables all with the name are among them.
func (code *Code) Variables(names []dataname.Name) []*types.Var {
	var all []*types.Var
	for _, n := range names {
		switch {
		case n.Owner != "":
			if v := code.fieldNamed(n.Package, n.Owner, n.Name); v != nil {
				all = append(all, v)
			}
		case n.Function != "":
			all = append(all, code.localsIn(n.Package, n.Function, n.Name)...)
		default:
			if v, ok := code.objectNamed(n.Package, n.Name).(*types.Var); ok {
				all = append(all, v)
			}
		}
	}
	return all
}

// LockOf returns the field or variable of a lock as this version of the program has it, nil
// if it does not.
func (code *Code) LockOf(l *Lock) *types.Var {
	switch {
	case l.owner != nil && l.field != "":
		return code.fieldNamed(l.pkg.Path(), l.owner.Obj().Name(), l.field)
	case l.owner != nil: // embedded
		return code.fieldNamed(l.pkg.Path(), l.owner.Obj().Name(), l.object.Name())
	case l.scope == nil:
		v, _ := code.objectNamed(l.pkg.Path(), l.variable).(*types.Var)
		return v
	}
	if fn, ok := l.scope.(*ast.FuncDecl); ok {
		for _, v := range code.localsIn(l.pkg.Path(), fn.Name.Name, l.variable) {
			return v
		}
	}
	return nil
}

// objectNamed is what a package declares by a name, nil if nothing.
func (code *Code) objectNamed(path, name string) types.Object {
	for _, f := range code.Files() {
		if f.Types.Path() == path {
			if o := f.Types.Scope().Lookup(name); o != nil {
				return o
			}
		}
	}
	return nil
}

// fieldNamed is a field of the struct type by a name, nil if there is none.
func (code *Code) fieldNamed(path, owner, field string) *types.Var {
	o := code.objectNamed(path, owner)
	if o == nil {
		return nil
	}
	var found *types.Var
	dataname.EachField(o.Type(), func(name string, v *types.Var) {
		if name == field {
			found = v
		}
	})
	return found
}

// OwnerOf returns the struct type that has a field, itself or in a struct without a name; nil if the
// program has none by a name.
func (code *Code) OwnerOf(field *types.Var) *types.Named {
	var owner *types.Named
	for _, f := range code.Files() {
		for _, n := range structTypes(f) {
			dataname.EachField(n, func(_ string, v *types.Var) {
				if v.Pos() == field.Pos() {
					owner = n
				}
			})
			if owner != nil {
				return owner
			}
		}
	}
	return nil
}

// localsIn are the local variables by a name in the functions of a package by a name.
func (code *Code) localsIn(path, function, name string) []*types.Var {
	var all []*types.Var
	for _, f := range code.Files() {
		if f.Types.Path() != path {
			continue
		}
		for _, decl := range f.Syntax.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok || d.Name.Name != function {
				continue
			}
			all = append(all, localsOf(f, d, name)...)
		}
	}
	return all
}

// localsOf are the variables by a name that a function declares, in the order of the source.
func localsOf(f *source.File, d *ast.FuncDecl, name string) []*types.Var {
	var all []*types.Var
	ast.Inspect(d, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			if v, ok := f.Info.Defs[id].(*types.Var); ok && !v.IsField() {
				all = append(all, v)
			}
		}
		return true
	})
	return all
}
