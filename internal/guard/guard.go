package guard

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/load"
)

// A Kind says what an access does.
type Kind = lockset.Kind

const (
	Read  = lockset.Read
	Write = lockset.Write
)

// A Guard is a lock and the data that it protects.
type Guard struct {
	Lock Lock
	Data []*Datum // by position
}

// A Lock is a field or variable that is a mutex.
type Lock struct {
	Object types.Object // the field or variable
	Name   string       // with its owner: Server.mu, or the package's: http.mu
	Type   string       // sync.RWMutex
	At     token.Position
}

// A Datum is a field or variable that a lock protects.
type Datum struct {
	Object types.Object
	Name   string // with its owner
	At     token.Position
	// Way leads from the object that has the field to the lock: mu, or parent.mu,
	// or ^child.mu for the mu of the object whose field child this is. For a lock
	// that is a variable it is the variable's name.
	Way string
	// By is the same for people: "mu of what has it as child".
	By         string
	Confidence float64
	Evidence   Evidence
	Deviations []Deviation // by position

	canBeNamed bool // an annotation of the data can name the lock
}

// Evidence is what a guard is inferred from. Sites are lines.
type Evidence struct {
	ReadsWith, WritesWith       int // sites that hold the lock
	ReadsWithout, WritesWithout int // sites that deviate
	Unknown                     int // sites of which it cannot be told
	Early                       int // initialising accesses
	Distance                    int // how far the lock stands from the data; 0 is next to it
	Signs                       []Sign
}

// A Deviation is an access that does not hold the guard.
type Deviation struct {
	Kind Kind
	At   token.Position
	Func string
	// Why says what is wrong, when that is not just that the lock is not held:
	// it is held for reading only, or is not held on some ways.
	Why string
	// From are the calls that lead there without the lock, innermost first, if
	// the function is also called with it.
	From []Call
	// Doubt is why it may be meant to be so. What is in doubt counts against the guard, but is
	// not reported as a mistake.
	Doubt Doubt
	// Instr is the access.
	Instr ssa.Instruction

	// Witness is the other access that it can happen beside, and what shows that goroutines share the object.
	Witness Witness
}

// Firm returns the deviations that are not in doubt.
func (d *Datum) Firm() []Deviation {
	return slices.DeleteFunc(slices.Clone(d.Deviations), func(v Deviation) bool { return v.Doubt != NoDoubt })
}

// MayBeMeant reports whether a discipline of the program may make a deviation right. What is in doubt only
// because nothing is known of when it happens is as wrong as what is reported.
func (v *Deviation) MayBeMeant() bool {
	return v.Doubt != NoDoubt && v.Doubt != OutsideAPI && v.Doubt != Unwitnessed && v.Doubt != NotShown
}

// A Call is a place that calls.
type Call struct {
	Func string
	At   token.Position
}

// Guards are what Infer found.
type Guards struct {
	List []*Guard // by the lock's position
	Fset *token.FileSet
	// Program is the SSA form that they were inferred from.
	Program *ssa.Program
	// Analysis has the accesses, and what is held at each.
	Analysis *lockset.Analysis

	byPosition   map[token.Pos]guarded
	declarations *declarations
}

type guarded struct {
	*Guard
	*Datum
}

// Of returns the guard of a field or variable, nil if none is known. The object may
// be that of an instance of a generic type, or of a package's test variant.
func (g *Guards) Of(o types.Object) (*Guard, *Datum) {
	if v, ok := o.(*types.Var); ok {
		o = v.Origin()
	}
	found := g.byPosition[o.Pos()]
	return found.Guard, found.Datum
}

// IsRemarked reports whether a comment of a function says, ahead of a place in it, that a lock is not needed,
// or on it, when it may be called.
func (g *Guards) IsRemarked(fn *ssa.Function, at token.Pos) bool {
	return g.declarations.isRemarked(fn, at)
}

// AtLeast returns the guards with the data of which the confidence is at least min.
func (g *Guards) AtLeast(confidence float64) []*Guard {
	var out []*Guard
	for _, x := range g.List {
		y := &Guard{Lock: x.Lock}
		for _, d := range x.Data {
			if d.Confidence >= confidence {
				y.Data = append(y.Data, d)
			}
		}
		if len(y.Data) > 0 {
			out = append(out, y)
		}
	}
	return out
}

// Infer finds the guards of packages that load.Packages returned, with test variants or
// without. It builds their SSA form.
func Infer(pkgs []*packages.Package) *Guards {
	prog, _ := load.SSA(pkgs)
	return InferIn(prog, pkgs)
}

// InferIn finds the guards of packages whose SSA form load.SSA has built.
func InferIn(prog *ssa.Program, pkgs []*packages.Package) *Guards {
	return InferBeyond(prog, pkgs, nil)
}

// Known is what was inferred of a field before, where the package was analysed that declares it.
type Known struct {
	Owner    string     // the struct
	Lock     *types.Var // another field of it
	Evidence Evidence
}

// InferBeyond finds the guards of packages that access fields of others, of which it is known
// what guards them: their deviations are those of the packages at hand.
func InferBeyond(prog *ssa.Program, pkgs []*packages.Package, known map[*types.Var]Known) *Guards {
	places := lockset.Places(pkgs)
	declared := readDeclarations(places, prog.Fset, pkgs)
	c := &chooser{
		places:       places,
		fset:         prog.Fset,
		declarations: declared,
		known:        known,
		roots:        make(map[*lockset.Context][]lockset.Root),
		releases:     make(map[releaseKey]bool),
		habits:       make(map[habitKey]*habit),
		guards:       &Guards{Fset: prog.Fset, Program: prog, byPosition: make(map[token.Pos]guarded), declarations: declared},
	}
	var further []string
	for v := range known {
		further = append(further, v.Pkg().Path())
	}
	c.analysis = lockset.AnalyseBeyond(prog, pkgs, places, declared.expected, further)
	c.guards.Analysis = c.analysis
	c.choose(c.analysis.Variables)
	return c.guards
}
