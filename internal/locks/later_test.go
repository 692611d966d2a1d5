package locks

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// judged are functions that give a callback to what keeps it, and are done with it all the same.
var judged = map[string]string{"io.CopyN": "the reader that it makes is gone when it returns"}

// TestSettersAreThoseOfTheStandardLibrary: of the packages that are taken to call callbacks at
// once, each function whose body stores one, by the SSA form of these packages, keeps it.
func TestSettersAreThoseOfTheStandardLibrary(t *testing.T) {
	roots, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax},
		"bufio", "compress/gzip", "crypto", "io", "log", "log/slog", "sort", "strings", "text/tabwriter")
	if err != nil {
		t.Fatal(err)
	}
	prog, built := ssautil.Packages(roots, 0)
	prog.Build()
	found, unused := 0, maps.Clone(judged)
	escapes := escapesOf(prog)
	for _, p := range built {
		for _, fn := range functionsOf(prog, p) {
			o := fn.Object().(*types.Func)
			why := ""
			for _, param := range fn.Params[len(fn.Params)-o.Signature().Params().Len():] {
				if escapes[param] != "" && holdsCallback(param.Type(), make(map[types.Type]bool)) {
					why = escapes[param]
				}
			}
			if why == "" {
				continue
			}
			switch {
			case judged[o.FullName()] != "":
				delete(unused, o.FullName())
			case !KeepsCallbacks(o):
				t.Errorf("%s keeps a callback (%s), and is taken to call it at once", o.FullName(), why)
			}
			found++
		}
	}
	if found < 20 {
		t.Errorf("%d functions are found that keep callbacks, want more than 20", found)
	}
	if len(unused) > 0 {
		t.Errorf("judged without need: %v", unused)
	}
}

// functionsOf returns the exported functions of a package, and the exported methods of its
// exported types.
func functionsOf(prog *ssa.Program, p *ssa.Package) []*ssa.Function {
	var all []*ssa.Function
	for _, name := range p.Pkg.Scope().Names() {
		o := p.Pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Func:
			all = append(all, prog.FuncValue(o))
		case *types.TypeName:
			if named, ok := o.Type().(*types.Named); ok {
				for m := range named.Methods() {
					if fn := prog.FuncValue(m); m.Exported() && fn != nil {
						all = append(all, fn)
					}
				}
			}
		}
	}
	return all
}

// escapesOf returns the parameters that are stored where they outlive a call, with how.
func escapesOf(prog *ssa.Program) map[*ssa.Parameter]string {
	escapes := make(map[*ssa.Parameter]string)
	for changed := true; changed; {
		changed = false
		for fn := range ssautil.AllFunctions(prog) {
			for _, p := range fn.Params {
				if escapes[p] == "" {
					escapes[p] = escape(p, escapes)
					changed = changed || escapes[p] != ""
				}
			}
		}
	}
	return escapes
}

// escape follows what a parameter flows to: how it escapes, "" if it does not.
func escape(p *ssa.Parameter, escapes map[*ssa.Parameter]string) string {
	flows := []ssa.Value{p}
	for i := 0; i < len(flows); i++ {
		v := flows[i]
		if v.Referrers() == nil {
			continue
		}
		for _, user := range *v.Referrers() {
			var to ssa.Value
			switch user := user.(type) {
			case *ssa.Store:
				if user.Val != v {
					continue
				}
				to = origin(user.Addr)
				switch to.(type) {
				case *ssa.Alloc, *ssa.Call:
				default:
					return fmt.Sprintf("it is stored by way of a %T", to)
				}
			case *ssa.Call:
				callee := user.Call.StaticCallee()
				for i, arg := range user.Call.Args {
					if callee != nil && arg == v && i < len(callee.Params) && escapes[callee.Params[i]] != "" {
						return "it is given to " + callee.Name()
					}
				}
				continue
			case *ssa.Return:
				return "it is returned"
			case *ssa.MakeClosure, *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.ChangeType, *ssa.TypeAssert, *ssa.Extract, *ssa.Phi, *ssa.FieldAddr, *ssa.Field:
				to = user.(ssa.Value)
			default:
				continue
			}
			if _, isError := to.Type().(*types.Named); isError && to.Type().String() == "error" {
				continue
			}
			if !slices.Contains(flows, to) && holdsCallback(to.Type(), make(map[types.Type]bool)) {
				flows = append(flows, to)
			}
		}
	}
	return ""
}

// origin returns the value that an address is a part of.
func origin(v ssa.Value) ssa.Value {
	for {
		switch x := v.(type) {
		case *ssa.FieldAddr:
			v = x.X
		case *ssa.IndexAddr:
			v = x.X
		default:
			return v
		}
	}
}
