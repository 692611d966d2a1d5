package facts

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// pinReflected pins the structs that reflection might look into: those that can be
// reached from what becomes an interface value, if that, or what is made of it, is of a
// kind that is printed, encoded or compared.
//
//	json.Marshal(x)      would not find the fields of x that are on pages
func (s *pins) pinReflected(pkgs []*packages.Package, prog *ssa.Program) {
	r := &reflection{
		pins: s, ours: make(map[string]bool), becoming: make(map[string][]types.Type),
		comingFrom: make(map[string][]types.Type), seen: make(map[string]bool),
	}
	for _, p := range pkgs {
		r.ours[p.PkgPath] = true
	}
	for f := range ssautil.AllFunctions(prog) {
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				r.instruction(i)
			}
		}
	}
	for _, t := range r.interfaces {
		if r.maybeInspected(t) {
			r.pinValuesOf(t)
		}
	}
}

// reflection follows values through interfaces. Types are known by their names.
type reflection struct {
	*pins
	ours       map[string]bool         // packages that are known
	becoming   map[string][]types.Type // what becomes a value of an interface
	comingFrom map[string][]types.Type // the interfaces whose values become those of another one
	interfaces []types.Type
	seen       map[string]bool
}

func (r *reflection) instruction(i ssa.Instruction) {
	switch i := i.(type) {
	case *ssa.MakeInterface:
		name := TypeName(i.Type())
		r.becoming[name] = append(r.becoming[name], i.X.Type())
		r.interfaces = append(r.interfaces, i.Type())
	case *ssa.ChangeInterface:
		r.convert(i.X.Type(), i.Type())
	case *ssa.TypeAssert:
		if types.IsInterface(i.AssertedType) {
			r.convert(i.X.Type(), i.AssertedType)
		}
	}
}

func (r *reflection) convert(from, to types.Type) {
	name := TypeName(to)
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
	case r.ours[n.Obj().Pkg().Path()]:
		return false
	}
	first, _, _ := strings.Cut(n.Obj().Pkg().Path(), "/")
	return strings.Contains(first, ".")
}

// pinValuesOf pins the structs in the values of an interface, and in the values of the
// interfaces that are converted to it.
func (r *reflection) pinValuesOf(t types.Type) {
	name := TypeName(t)
	if r.seen["interface "+name] {
		return
	}
	r.seen["interface "+name] = true
	for _, v := range r.becoming[name] {
		r.pinReachable(v)
	}
	for _, from := range r.comingFrom[name] {
		r.pinValuesOf(from)
	}
}

// pinReachable pins the structs that can be reached from a value.
func (r *reflection) pinReachable(t types.Type) {
	name := TypeName(t)
	if r.seen[name] {
		return
	}
	r.seen[name] = true
	if n, ok := types.Unalias(t).(*types.Named); ok {
		if n.Obj().Pkg() == nil || !r.ours[n.Obj().Pkg().Path()] {
			if args := n.TypeArgs(); args != nil {
				r.pinAllReachable(slices.Collect(args.Types()))
			}
			return
		}
		r.pinType(t, "reflection might look at its struct")
		r.facts.exposeReflected(t)
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
		r.pinValuesOf(t)
	}
}

func (r *reflection) pinAllReachable(all []types.Type) {
	for _, t := range all {
		r.pinReachable(t)
	}
}
