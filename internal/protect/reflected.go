package protect

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// keepReflected keeps the structs that reflection might look into: those that can be
// reached from what becomes an interface value, if that, or what is made of it, is of a
// kind that is printed, encoded or compared.
func (s *stays) keepReflected(pkgs []*packages.Package, prog *ssa.Program) {
	r := &reflecting{stays: s, ours: make(map[string]bool), into: make(map[string][]types.Type), next: make(map[string][]types.Type), seen: make(map[string]bool)}
	for _, p := range pkgs {
		r.ours[p.PkgPath] = true
	}
	for f := range ssautil.AllFunctions(prog) {
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				switch i := i.(type) {
				case *ssa.MakeInterface:
					name := typeName(i.Type())
					r.into[name] = append(r.into[name], i.X.Type())
					r.interfaces = append(r.interfaces, i.Type())
				case *ssa.ChangeInterface:
					r.edge(i.X.Type(), i.Type())
				case *ssa.TypeAssert:
					if types.IsInterface(i.AssertedType) {
						r.edge(i.X.Type(), i.AssertedType)
					}
				}
			}
		}
	}
	for _, t := range r.interfaces {
		if r.looks(t) {
			r.look(t)
		}
	}
}

// reflecting follows values through interfaces.
type reflecting struct {
	*stays
	ours       map[string]bool         // packages that are known
	into       map[string][]types.Type // what becomes a value of an interface
	next       map[string][]types.Type // the interfaces that become another one
	interfaces []types.Type
	seen       map[string]bool
}

func (r *reflecting) edge(from, to types.Type) {
	name := typeName(to)
	r.next[name] = append(r.next[name], from)
	r.interfaces = append(r.interfaces, to)
}

// looks reports whether whoever has a value of an interface might look into it by
// reflection: it has no methods, is an error or something to print, or belongs to a
// package that is not known, and is not of the standard library.
func (r *reflecting) looks(t types.Type) bool {
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
	case r.ours[n.Obj().Pkg().Path()]:
		return false
	}
	first, _, _ := strings.Cut(n.Obj().Pkg().Path(), "/")
	return strings.Contains(first, ".")
}

// look keeps what is in the values of an interface, and of those that become it.
func (r *reflecting) look(t types.Type) {
	name := typeName(t)
	if r.seen["interface "+name] {
		return
	}
	r.seen["interface "+name] = true
	for _, v := range r.into[name] {
		r.reach(v)
	}
	for _, from := range r.next[name] {
		r.look(from)
	}
}

// reach keeps the structs that can be reached from a value.
func (r *reflecting) reach(t types.Type) {
	name := typeName(t)
	if r.seen[name] {
		return
	}
	r.seen[name] = true
	if n, ok := types.Unalias(t).(*types.Named); ok {
		if n.Obj().Pkg() == nil || !r.ours[n.Obj().Pkg().Path()] {
			if args := n.TypeArgs(); args != nil {
				r.reachAll(slices.Collect(args.Types()))
			}
			return
		}
		r.keepType(t, "reflection might look at its struct")
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			r.reach(f.Type())
		}
	case *types.Pointer:
		r.reach(u.Elem())
	case *types.Slice:
		r.reach(u.Elem())
	case *types.Array:
		r.reach(u.Elem())
	case *types.Chan:
		r.reach(u.Elem())
	case *types.Map:
		r.reachAll([]types.Type{u.Key(), u.Elem()})
	case *types.Interface:
		r.look(t)
	}
}

func (r *reflecting) reachAll(all []types.Type) {
	for _, t := range all {
		r.reach(t)
	}
}
