// Package reflected knows which structs reflection may look into: those that can be reached from what becomes an interface
// value, if that, or what is made of it, is of a kind that is printed, encoded or compared.
//
//	json.Marshal(x)      would not find the fields of x that are elsewhere
//
// Of what only goes into containers of the standard library nothing is looked at.
//
//	heap.Push(&q.jobs, j)
//
//	reflected.go  values that become those of interfaces
//	container.go  what is an interface value only to be in a container
package reflected

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// A Program is what is looked at.
type Program struct {
	SSA *ssa.Program
	// Known reports whether a package, by its path, is looked at.
	Known func(path string) bool
	// Name returns what identifies a type.
	Name func(types.Type) string
	// Callee returns the function that a call names, nil if it names none.
	Callee func(*ssa.CallCommon) *types.Func

	// Inspected is called with the named types that reflection may look into, and Moved with the types of elements that
	// are moved.
	Inspected, Moved func(types.Type)
}

// Find looks at all functions.
func Find(p Program) {
	r := &reflection{
		Program: p, becoming: make(map[string][]types.Type), looked: make(map[string][]types.Type),
		comingFrom: make(map[string][]types.Type), seen: make(map[string]bool),
	}
	for f := range ssautil.AllFunctions(p.SSA) {
		for _, p := range f.Params {
			r.examine(p, f)
		}
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				r.instruction(i)
				if v, ok := i.(ssa.Value); ok {
					r.examine(v, f)
				}
			}
		}
	}
	r.handsOn = r.handsOn || len(r.comingFrom[heapInterface]) > 0
	for _, t := range r.becoming[heapInterface] {
		r.handsOn = r.handsOn || !r.isOurs(deref(t)) // its Push has what goes into the heap
	}
	for _, t := range r.interfaces {
		if r.maybeInspected(t) {
			r.pinValuesOf(t, false)
		}
	}
	if r.handsOn {
		for _, t := range r.contained {
			r.pinReachable(t)
		}
	}
}

// reflection follows values through interfaces. Types are known by their names.
type reflection struct {
	Program
	becoming   map[string][]types.Type // what becomes a value of an interface
	looked     map[string][]types.Type // what of that might be looked at without being found in something else
	comingFrom map[string][]types.Type // the interfaces whose values become those of another one
	interfaces []types.Type
	contained  []types.Type // what becomes a value of an interface only to be in a container
	// handsOn says that the program may hand what is in a container to code that looks at it.
	handsOn bool
	seen    map[string]bool
}

func (r *reflection) instruction(i ssa.Instruction) {
	switch i := i.(type) {
	case *ssa.MakeInterface:
		name := r.Name(i.Type())
		r.becoming[name] = append(r.becoming[name], i.X.Type())
		if name != heapInterface && asksFor(i.Type(), "Pop") && !r.isOurs(i.Type()) {
			r.handsOn = true // what Pop returns is for code that is not known
		}
		if isEmptyInterface(i.Type()) && (isPointer(i.X.Type()) || isSlice(i.X.Type())) && r.onlyContained(i, i.Parent()) {
			if s, ok := i.X.Type().Underlying().(*types.Slice); ok {
				r.Moved(s.Elem())
			}
			r.contained = append(r.contained, i.X.Type())
			return
		}
		r.looked[name] = append(r.looked[name], i.X.Type())
		r.interfaces = append(r.interfaces, i.Type())
	case *ssa.Call:
		if f := i.Call.StaticCallee(); r.Name(i.Type()) == heapInterface && (f == nil || len(f.Blocks) == 0) {
			r.handsOn = true
		}
		if f := r.Callee(i.Common()); f != nil && f.FullName() == ringDo {
			r.handsOn = r.handsOn || !r.doneWithAll(i.Common())
		}
	case *ssa.ChangeInterface:
		r.convert(i.X.Type(), i.Type())
	case *ssa.TypeAssert:
		if types.IsInterface(i.AssertedType) {
			r.convert(i.X.Type(), i.AssertedType)
		}
	}
}

// examine notes whether a value that may have come out of a container goes elsewhere.
func (r *reflection) examine(v ssa.Value, in *ssa.Function) {
	r.handsOn = r.handsOn || r.comesOut(v, in) && !r.onlyContained(v, in)
}

// isOurs reports whether a type is declared in a package that is known.
func (r *reflection) isOurs(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && r.Known(n.Obj().Pkg().Path())
}

// asksFor reports whether an interface has a method.
func asksFor(t types.Type, name string) bool {
	i, ok := t.Underlying().(*types.Interface)
	if !ok {
		return false
	}
	for m := range i.Methods() {
		if m.Name() == name {
			return true
		}
	}
	return false
}

func (r *reflection) convert(from, to types.Type) {
	name := r.Name(to)
	r.comingFrom[name] = append(r.comingFrom[name], from)
	r.interfaces = append(r.interfaces, to)
}

// maybeInspected reports whether code that has a value of an interface might look into
// it by reflection: the interface has no methods, is error or one for printing, or
// belongs to a package that is not known, and is not of the standard library.
func (r *reflection) maybeInspected(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 {
		return true
	}
	n, ok := types.Unalias(t).(*types.Named)
	switch {
	case !ok:
		return false // written out, in a package that is known
	case n.Obj().Pkg() == nil, n.Obj().Pkg().Path() == "fmt", strings.HasPrefix(n.Obj().Pkg().Path(), "encoding"):
		return true
	case r.Known(n.Obj().Pkg().Path()):
		return false
	}
	first, _, _ := strings.Cut(n.Obj().Pkg().Path(), "/")
	return strings.Contains(first, ".")
}

// pinValuesOf pins the structs in the values of an interface, with what is in containers or without, and in the values of the
// interfaces that are converted to it.
func (r *reflection) pinValuesOf(t types.Type, contained bool) {
	name, list := r.Name(t), r.looked
	if contained {
		list = r.becoming
	}
	seen := fmt.Sprintf("values of %s, %t", name, contained)
	if r.seen[seen] {
		return
	}
	r.seen[seen] = true
	for _, v := range list[name] {
		r.pinReachable(v)
	}
	for _, from := range r.comingFrom[name] {
		r.pinValuesOf(from, contained)
	}
}

// pinReachable pins the structs that can be reached from a value.
func (r *reflection) pinReachable(t types.Type) {
	name := r.Name(t)
	if r.seen[name] {
		return
	}
	r.seen[name] = true
	if n, ok := types.Unalias(t).(*types.Named); ok {
		if !r.isOurs(t) {
			r.handsOn = r.handsOn || isContainer(t)
			if args := n.TypeArgs(); args != nil {
				r.pinAllReachable(slices.Collect(args.Types()))
			}
			return
		}
		r.Inspected(t)
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			r.pinReachable(f.Type())
		}
	case *types.Pointer:
		r.pinReachable(u.Elem())
	case *types.Slice:
		r.pinReachable(u.Elem())
	case *types.Array:
		r.pinReachable(u.Elem())
	case *types.Chan:
		r.pinReachable(u.Elem())
	case *types.Map:
		r.pinAllReachable([]types.Type{u.Key(), u.Elem()})
	case *types.Interface:
		r.pinValuesOf(t, true)
	}
}

func (r *reflection) pinAllReachable(all []types.Type) {
	for _, t := range all {
		r.pinReachable(t)
	}
}
