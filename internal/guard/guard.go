// Package guard says which lock guards which data, how sure that is, and which
// accesses deviate from it.
//
// # Terms
//
// A guard is a lock with the data that it protects. Nearly nobody writes guards
// down, so they are inferred: a field that is mostly touched while a lock of the
// same object is held is guarded by it. An access that does not hold the lock is a
// deviation, a candidate for an asymmetric race.
//
// # How
//
// path.go names places: s.mu is a root and a step. A lock and a field belong
// together if the way from the one to the other is always the same: a.mu guards
// a.x, and says nothing about b.x. The way may lead up, to the lock of the object
// that this one was reached from.
//
// lockset.go and flow.go find the locks that are held at each instruction, by data
// flow over go/ssa. Ways to a point that hold different locks are kept apart, with
// the branches that separate them. Each function is analysed once per context in
// which it is called: the locks that are held, in the function's own terms, what
// is not yet published (fresh.go), and which functions it is given (call.go).
//
// access.go records accesses, by variable and line. Those to objects that nobody
// else can reach yet, and those before any other goroutine runs, are
// initialisation: they count neither for nor against a lock.
//
// sign.go and prose.go read what people write: annotations, comments, names, the
// order of fields. choose.go weighs all that (confidence.go has the formula) and
// picks each variable's lock. annotate.go writes the result into the source.
//
// # What it cannot see
//
// Code outside the given packages is taken to hold no lock, to call its callbacks
// before it returns, and to publish nothing. Elements of a container are told
// apart by the key's value only. A function that is reached in more than a few
// dozen contexts, or with locks that it cannot name, is not held against anybody.
package guard

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	"github.com/cofferdam-go/cofferdam/internal/load"
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
	Way        string
	Confidence float64
	Evidence   Evidence
	Deviations []Deviation // by position

	sibling bool // the lock is reached by going down only, or is a global
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

	byPosition map[token.Pos]guarded
	signs      *signs
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

// analysis is the state of one inference.
type analysis struct {
	fset     *token.FileSet
	paths    *paths
	pathOf   map[ssa.Value]*path
	resultOf map[*ssa.Function]*path
	aliases  map[aliasKey]*path
	closures map[*ssa.Function][]*ssa.MakeClosure
	stored   map[types.Object][]target // functions that a field or variable is given
	methods  map[string][]*ssa.Function
	reached  map[methodKey][]target
	asValue  map[*ssa.Function]bool // functions that are used other than by calling them

	nodes    map[*ssa.Function]map[string]*node
	all      []*node
	queue    []*node
	runs     map[*node]int
	repeated map[*ssa.Function]map[condition]bool

	constructors map[resultKey]bool
	publishers   map[resultKey]bool
	writers      map[resultKey]bool
	publications map[publicationKey][]ssa.Instruction
	indexOf      map[ssa.Instruction]int
	spawns       map[*ssa.Function][]ssa.Instruction
	sharedLocals map[*ssa.Alloc]bool

	record    func(ssa.Instruction, []disjunct)
	analysed  map[string]bool // package paths
	variables map[types.Object]*variable
	order     []*variable
	sites     map[siteKey]*site
	signs     *signs
}

// Infer finds the guards of packages that load.Packages returned, with test variants
// or without. It builds their SSA form.
func Infer(pkgs []*packages.Package) *Guards {
	prog, _ := load.SSA(pkgs)
	a := &analysis{
		fset: prog.Fset, paths: newPaths(), pathOf: make(map[ssa.Value]*path), resultOf: make(map[*ssa.Function]*path),
		aliases: make(map[aliasKey]*path), closures: make(map[*ssa.Function][]*ssa.MakeClosure),
		stored: make(map[types.Object][]target), methods: make(map[string][]*ssa.Function), reached: make(map[methodKey][]target), asValue: make(map[*ssa.Function]bool),
		nodes: make(map[*ssa.Function]map[string]*node), runs: make(map[*node]int), repeated: make(map[*ssa.Function]map[condition]bool),
		constructors: make(map[resultKey]bool), publishers: make(map[resultKey]bool), writers: make(map[resultKey]bool),
		publications: make(map[publicationKey][]ssa.Instruction), indexOf: make(map[ssa.Instruction]int),
		spawns: make(map[*ssa.Function][]ssa.Instruction), analysed: make(map[string]bool), sharedLocals: make(map[*ssa.Alloc]bool),
		variables: make(map[types.Object]*variable), sites: make(map[siteKey]*site),
	}
	for _, p := range pkgs {
		a.analysed[p.Types.Path()] = true
		for _, o := range p.TypesInfo.Defs {
			if v, ok := o.(*types.Var); ok && !v.IsField() {
				a.paths.locals[v.Pos()] = a.paths.canonical(v)
			}
		}
	}
	a.signs = readSigns(a.paths, prog.Fset, pkgs)
	fns := functionsOf(prog, pkgs)
	a.prepare(fns)
	a.findAliases(fns)
	a.findStored(fns)
	a.flow(fns)
	for _, n := range a.all {
		r := &recorder{a, n, make(map[ssa.Value][]disjunct)}
		a.record = r.instruction
		for _, b := range n.fn.Blocks {
			state := n.in[b]
			for _, i := range b.Instrs {
				if len(state) == 0 {
					break
				}
				state = a.transfer(n, i, state)
			}
		}
	}
	guards := a.choose()
	guards.Program = prog
	return guards
}

// functionsOf returns the functions with bodies, in the order of the source. Methods
// of generic types are among them although nothing may instantiate them.
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
	slices.SortFunc(fns, func(f, g *ssa.Function) int {
		return cmp.Or(cmp.Compare(f.Pos(), g.Pos()), strings.Compare(f.String(), g.String()))
	})
	return fns
}

func (a *analysis) prepare(fns []*ssa.Function) {
	for _, fn := range fns {
		if fn.Signature.Recv() != nil && fn.Synthetic == "" {
			a.methods[fn.Name()] = append(a.methods[fn.Name()], fn)
		}
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				if m, ok := i.(*ssa.MakeClosure); ok {
					c := m.Fn.(*ssa.Function)
					a.closures[c] = append(a.closures[c], m)
				}
				a.noteValues(fn, i)
			}
		}
	}
}

// noteValues notes the functions that an instruction uses other than by calling them.
// The wrapper of a method value calls the method: it counts as such a use.
func (a *analysis) noteValues(in *ssa.Function, i ssa.Instruction) {
	call, isCall := i.(ssa.CallInstruction)
	bound := strings.HasPrefix(in.Synthetic, "bound method")
	for _, op := range i.Operands(nil) {
		fn, ok := (*op).(*ssa.Function)
		if ok && (bound || !isCall || call.Common().Value != ssa.Value(fn)) {
			a.asValue[outermost(fn)] = true
		}
	}
}

// findStored notes the functions that fields and variables are given.
func (a *analysis) findStored(fns []*ssa.Function) {
	for _, fn := range fns {
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				s, ok := i.(*ssa.Store)
				if !ok {
					continue
				}
				var t target
				switch v := s.Val.(type) {
				case *ssa.MakeClosure:
					t = target{fn: v.Fn.(*ssa.Function), vague: true}
				case *ssa.Function:
					t = target{fn: v, vague: true}
				default:
					continue
				}
				var o types.Object
				switch at := s.Addr.(type) {
				case *ssa.FieldAddr:
					o = a.field(at.X.Type(), at.Field)
				case *ssa.Global:
					o = at.Object()
				}
				if o != nil && len(a.stored[o]) < maxTargets {
					a.stored[o] = append(a.stored[o], t)
				}
			}
		}
	}
}

// flow analyses from the functions where execution comes in, then those that
// nothing was seen to reach: stored closures, methods that only unknown code calls.
func (a *analysis) flow(fns []*ssa.Function) {
	for _, fn := range fns {
		if c, ok := a.entry(fn); ok {
			a.node(fn, c)
		}
	}
	a.settle()
	for {
		var found *ssa.Function
		for _, fn := range fns {
			// Those around a closure come first: they may call it.
			if a.nodes[fn] == nil && fn.Synthetic == "" && (found == nil || depth(fn) < depth(found)) {
				found = fn
				if depth(fn) == 0 {
					a.node(fn, a.unreached(fn))
				}
			}
		}
		if found == nil {
			return
		}
		if a.nodes[found] == nil {
			a.node(found, a.unreached(found))
		}
		a.settle()
	}
}

func depth(fn *ssa.Function) int {
	n := 0
	for ; fn.Parent() != nil; fn = fn.Parent() {
		n++
	}
	return n
}

// entry says how a function is entered from outside the program's own calls.
func (a *analysis) entry(fn *ssa.Function) (context, bool) {
	if fn.Parent() != nil || fn.Synthetic != "" && fn.Synthetic != "package initializer" || fn.Pkg == nil {
		return context{}, false
	}
	test := strings.HasSuffix(a.fset.Position(fn.Pos()).Filename, "_test.go")
	switch {
	case fn.Signature.Recv() == nil && (fn.Name() == "init" || strings.HasPrefix(fn.Name(), "init#") || fn.Name() == "main" && fn.Pkg.Pkg.Name() == "main"):
		return context{quiet: true}, true
	case test && fn.Signature.Recv() == nil && isTestName(fn.Name()):
		return context{quiet: true}, true
	case test || fn.Pkg.Pkg.Name() == "main" || isInternal(fn.Pkg.Pkg.Path()):
		return context{}, false
	case !token.IsExported(fn.Name()) || !exportedReceiver(fn):
		return context{}, false
	}
	return a.unreached(fn), true
}

// unreached is the context of a function whose callers are unknown. A function
// that says that its caller holds a lock is believed.
func (a *analysis) unreached(fn *ssa.Function) context {
	c := context{external: true}
	if fn.Parent() != nil {
		return c
	}
	if !token.IsExported(fn.Name()) && a.asValue[outermost(fn)] {
		// Only ever handed out: whoever calls it may hold anything.
		c.assumed = true
	}
	for p := range a.expected(fn) {
		c.assumed = true
		if p != nil {
			c.locks = c.locks.with(held{lock: p, write: true})
		}
	}
	return c
}

func isTestName(name string) bool {
	for _, prefix := range []string{"Test", "Benchmark", "Example", "Fuzz"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			r, _ := utf8.DecodeRuneInString(rest)
			return rest == "" || !unicode.IsLower(r)
		}
	}
	return false
}

func isInternal(path string) bool {
	return slices.Contains(strings.Split(path, "/"), "internal")
}

func exportedReceiver(fn *ssa.Function) bool {
	r := fn.Signature.Recv()
	if r == nil {
		return true
	}
	n, ok := types.Unalias(deref(r.Type())).(*types.Named)
	return !ok || n.Obj().Exported()
}

// declarationOf returns a function's declaration.
func declarationOf(fn *ssa.Function) *ast.FuncDecl {
	d, _ := fn.Syntax().(*ast.FuncDecl)
	return d
}
