package lockset

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	"github.com/cofferdam-go/cofferdam/internal/guard/inplace"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// An Expected function says which locks a function asks its caller to hold, in a comment or
// by its name, and whether it asks for any. It may ask for some without naming them.
type Expected func(fn *ssa.Function) (held []*locks.Place, asks bool)

// An Analysis is a program with the accesses that it makes and the locks that it holds.
type Analysis struct {
	Program *ssa.Program
	Places  *locks.Places
	// Functions are those with bodies, in the order of the source.
	Functions []*ssa.Function
	// Variables are the fields, package-level variables and shared local variables that
	// are accessed, in the order in which they were met.
	Variables []*Variable

	values   *locks.Values
	expected Expected
	own      map[string]bool // paths of the packages that are analysed

	callGraph
	freshness

	contexts   map[*ssa.Function]map[string]*Context
	all        []*Context // in the order in which they were made
	pending    []*Context
	runs       map[*Context]int
	visiting   *visit // that is being made
	steps      int    // instructions that contexts were followed over
	remembered map[*ssa.Function]map[locks.Condition]bool

	observe    func(ssa.Instruction, []locks.Path) // set when accesses are recorded
	variableOf map[types.Object]*Variable
	sites      map[siteKey]*Site
	writers    map[parameterKey]bool
	inPlace    *inplace.Functions
	byOnce     []*accessFound // those that a sync.Once makes, until they are judged
	operators  *operators     // once they are asked for
}

// Places returns a table of places that knows the variables of packages.
func Places(pkgs []*packages.Package) *locks.Places {
	places := locks.NewPlaces()
	for _, p := range pkgs {
		for _, o := range p.TypesInfo.Defs {
			if v, ok := o.(*types.Var); ok && !v.IsField() {
				places.Declare(v)
			}
		}
	}
	return places
}

// Analyse finds the accesses of packages, which the program was built from, with the locks
// that are held at each.
func Analyse(prog *ssa.Program, pkgs []*packages.Package, places *locks.Places, expected Expected) *Analysis {
	return AnalyseBeyond(prog, pkgs, places, expected, nil)
}

// AnalyseBeyond does the same, and finds their accesses to data of further packages too, whose
// own code is not at hand.
func AnalyseBeyond(prog *ssa.Program, pkgs []*packages.Package, places *locks.Places, expected Expected, further []string) *Analysis {
	fns := functionsOf(prog, pkgs)
	a := &Analysis{
		Program: prog, Places: places, Functions: fns, values: locks.NewValues(places, fns), expected: expected, own: make(map[string]bool),
		contexts: make(map[*ssa.Function]map[string]*Context), runs: make(map[*Context]int),
		remembered: make(map[*ssa.Function]map[locks.Condition]bool),
		variableOf: make(map[types.Object]*Variable), sites: make(map[siteKey]*Site), writers: make(map[parameterKey]bool),
		inPlace: inplace.New(),
	}
	for _, p := range pkgs {
		a.own[p.Types.Path()] = true
	}
	for _, path := range further {
		a.own[path] = true
	}
	a.callGraph = newCallGraph(a.values, fns)
	a.freshness = newFreshness()
	a.follow(fns)
	for _, ctx := range a.all {
		ctx.visits = nil // none is analysed again
		a.record(ctx)
	}
	a.judgeOnce()
	return a
}

// functionsOf returns the functions with bodies, in the order of the source. Methods of
// generic types are among them although nothing may instantiate them.
func functionsOf(prog *ssa.Program, pkgs []*packages.Package) []*ssa.Function {
	all := ssautil.AllFunctions(prog)
	var add func(fn *ssa.Function)
	add = func(fn *ssa.Function) {
		all[fn] = true
		for _, inner := range fn.AnonFuncs {
			add(inner)
		}
	}
	for _, p := range pkgs {
		for _, o := range p.TypesInfo.Defs {
			if f, ok := o.(*types.Func); ok {
				if fn := prog.FuncValue(f); fn != nil {
					add(fn)
				}
			}
		}
	}
	var fns []*ssa.Function
	for fn := range all {
		if len(fn.Blocks) > 0 {
			fns = append(fns, fn)
		}
	}
	sortFunctions(prog.Fset, pkgs, fns)
	return fns
}

// sortFunctions puts functions into an order that is the same in every run. The order of
// token.Pos is none: files are parsed at the same time. A package and its variants for tests
// have the same functions at the same positions.
func sortFunctions(fset *token.FileSet, pkgs []*packages.Package, fns []*ssa.Function) {
	variant := make(map[*types.Package]int)
	for i, p := range pkgs {
		variant[p.Types] = i
	}
	at := make(map[*ssa.Function]token.Position)
	for _, fn := range fns {
		at[fn] = fset.Position(fn.Pos())
	}
	slices.SortFunc(fns, func(f, g *ssa.Function) int {
		return cmp.Or(strings.Compare(at[f].Filename, at[g].Filename), cmp.Compare(at[f].Offset, at[g].Offset),
			strings.Compare(f.String(), g.String()), variant[packageOf(f)]-variant[packageOf(g)])
	})
}

func packageOf(fn *ssa.Function) *types.Package {
	if fn = Outermost(fn); fn.Pkg != nil {
		return fn.Pkg.Pkg
	}
	return nil
}

// Outermost returns the function that a literal stands in, of a generic function the one
// that it is an instance of.
func Outermost(fn *ssa.Function) *ssa.Function {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	if o := fn.Origin(); o != nil {
		return o
	}
	return fn
}

// PlaceOf returns the place that a value points to, nil if it cannot be named.
func (a *Analysis) PlaceOf(v ssa.Value) *locks.Place { return a.values.Place(v) }

// position is where a function, an instruction or a variable stands.
func (a *Analysis) position(at token.Pos) token.Position { return a.Program.Fset.Position(at) }
