// Package gossa lifts Go programs, in the form that go/ssa gives them, into the
// instruction set of the engine (internal/sli/ir), and reads recorded runs as the engine's
// traces.
//
// # An example
//
//	func steady() {
//		first := count
//		if first != count {
//			panic("count changed")
//		}
//	}
//
// becomes
//
//	func example.steady()
//	b0:
//		r1:8 = load example.count
//		r2:8 = load example.count
//		r3:1 = r1 != r2
//		branch r3 b1 b2
//	b1:
//		r4:8 = private alloc 16
//		private store r4 := {text0, 13}
//		r5:16 = {type string, r4}
//		test "panic" if 1
//		stop
//	b2:
//		return
//
// Registers are bytes, laid out as the compiler lays out memory: a string is its
// address and length, a slice has its capacity after them, an interface is a word
// for the type and one for the data (above, the argument of panic). Panics of the
// run-time system become tests in front of what would panic. What the standard library
// does is not lifted: its locks, wait groups, channels and atomic operations become the
// engine's operations of synchronisation, the failing methods of testing.T become
// assertions, and every other call is opaque.
//
// # Sites
//
// An instruction knows the sites of the events that it makes. A site is an
// expression of the source with a kind; the expression of an instruction is found by
// its position, or by the reference that go/ssa keeps from expressions to values. An
// access that the run made and that no instruction has is reported (Program.Bind), because no
// section can hold it.
//
// # What is not known
//
// Elements of an array value by an index that varies, iteration over strings and maps,
// conversions between texts and slices, complex numbers, ordering of texts, min and max,
// and whether a type implements an interface are opaque: their value is unknown. Whether such a
// value makes the program panic, and recover, is told by what the run did next (package exec). A
// goroutine that calls runtime.Goexit is followed to there, and not through its deferred calls.
//
// # Files
//
//	gossa.go     the program and what can be asked about its instructions
//	function.go  functions, blocks, registers, constants
//	order.go     the order of evaluation within a statement
//	instr.go     instructions that compute
//	memory.go    loads, stores, allocations, maps
//	call.go      calls, by what they call
//	builtin.go   built-in functions
//	iface.go     interfaces, type assertions, method tables
//	generic.go   which functions are generic code, of which only instances run
//	layout.go    sizes and offsets
//	source.go    the expression behind an instruction
//	data.go      the variable or field behind an access
//	part.go      the field, length or presence behind some bytes of a value
//	sites.go     instructions to events, and events without instructions
//	trace.go     a trace as the engine reads it
//	failure.go   the failures of a trace in the engine's terms
//
// # Invariants
//
//   - Lifted code computes what the Go code computes, or unknown; never something else.
//   - What Lift returns has passed ir.Program.Check.
package gossa

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A Program is a lifted program.
type Program struct {
	*ir.Program
	Fset *token.FileSet

	sizes       types.Sizes
	lifted      map[*ssa.Function]*ir.Func
	sourceOf    map[*ir.Func]*ssa.Function
	origins     []Origin
	syntax      map[token.Pos]ast.Node // by the position that go/ssa gives their instructions
	exprOf      map[ssa.Instruction]ast.Expr
	rangedOver  map[token.Pos]ast.Expr // what a loop goes over, by its variable
	typeNames   typeutil.Map           // of symbols, by type
	typesNamed  map[string]int         // how many types are written so
	spans       []span                 // by their positions
	textNames   map[string]string
	ownPackages map[*ssa.Package]bool
	files       map[string]bool // that were lifted, by name
}

// An Origin is where an instruction comes from.
type Origin struct {
	Func  *ssa.Function
	Instr ssa.Instruction
	// Node is the expression or statement, nil if go/ssa made the instruction up.
	Node ast.Node
	// Kind is that of the event it makes, None if it makes none.
	Kind event.Kind
	Data Data
}

// Lift lifts the functions of packages. prog must have been built with
// ssa.GlobalDebug and ssa.InstantiateGenerics; files is the syntax of the packages.
func Lift(prog *ssa.Program, pkgs []*ssa.Package, files []*ast.File) (*Program, error) {
	p := &Program{
		Program:     &ir.Program{Constants: map[string][]byte{}, Methods: map[string]map[string]*ir.Func{}},
		Fset:        prog.Fset,
		sizes:       types.SizesFor("gc", "amd64"),
		lifted:      map[*ssa.Function]*ir.Func{},
		sourceOf:    map[*ir.Func]*ssa.Function{},
		origins:     []Origin{{}},
		syntax:      map[token.Pos]ast.Node{},
		exprOf:      map[ssa.Instruction]ast.Expr{},
		rangedOver:  map[token.Pos]ast.Expr{},
		typesNamed:  map[string]int{},
		textNames:   map[string]string{},
		ownPackages: map[*ssa.Package]bool{},
		files:       map[string]bool{},
	}
	for _, f := range files {
		p.indexSyntax(f)
		p.files[p.Fset.PositionFor(f.FileStart, false).Filename] = true
		p.indexSpans(f)
	}
	for _, k := range pkgs {
		if k != nil {
			p.ownPackages[k] = true
		}
	}
	var all []*ssa.Function
	generic := make(typeParameters)
	for fn := range ssautil.AllFunctions(prog) {
		if len(fn.Blocks) > 0 && p.ownPackages[packageOf(fn)] && !generic.inFunction(fn) {
			all = append(all, fn)
		}
	}
	sort.Slice(all, func(i, j int) bool {
		if a, b := all[i].String(), all[j].String(); a != b {
			return a < b
		}
		return all[i].Pos() < all[j].Pos()
	})
	names := map[string]int{}
	for _, fn := range all {
		lf := &ir.Func{Name: fn.String(), Origin: p.addOrigin(Origin{Func: fn, Node: p.nameNode(fn), Kind: event.Call})}
		if names[lf.Name]++; names[lf.Name] > 1 {
			lf.Name += "#" + string(rune('0'+names[lf.Name]))
		}
		lf.TestCode = isTest(p.Fset, fn)
		p.lifted[fn], p.sourceOf[lf] = lf, fn
		p.Funcs = append(p.Funcs, lf)
	}
	for _, fn := range all {
		lf := p.lifted[fn]
		l := &lifter{program: p, source: fn, lifted: lf, regs: map[ssa.Value]ir.Reg{}}
		l.liftFunction()
	}
	p.fillMethodTables(prog)
	p.Number()
	return p, p.Check()
}

// packageOf is the package whose source a function comes from.
func packageOf(fn *ssa.Function) *ssa.Package {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	if o := fn.Origin(); o != nil {
		fn = o
	}
	if fn.Pkg != nil {
		return fn.Pkg
	}
	// A wrapper belongs to where the method was declared.
	if o := fn.Object(); o != nil && o.Pkg() != nil {
		return fn.Prog.Package(o.Pkg())
	}
	return nil
}

// isTest reports whether a function is in a file of tests.
func isTest(fset *token.FileSet, fn *ssa.Function) bool {
	name := fset.PositionFor(fn.Pos(), false).Filename
	return len(name) > 8 && name[len(name)-8:] == "_test.go"
}

// addOrigin numbers an origin: instructions carry the number, because the engine does not
// know what an origin is.
func (p *Program) addOrigin(o Origin) int {
	p.origins = append(p.origins, o)
	return len(p.origins) - 1
}

// Origin tells where an instruction comes from.
func (p *Program) Origin(in *ir.Instr) Origin { return p.origins[in.Origin] }

// Function is the source's function for a lifted one.
func (p *Program) Function(fn *ir.Func) *ssa.Function { return p.sourceOf[fn] }

// Position is where an instruction is in the source: of its expression if it has
// one, else of something near it.
func (p *Program) Position(in *ir.Instr) token.Position {
	o := p.origins[in.Origin]
	pos := token.NoPos
	switch {
	case o.Node != nil:
		pos = o.Node.Pos()
	case o.Instr != nil:
		pos = o.Instr.Pos()
	}
	if !pos.IsValid() && o.Func != nil {
		pos = o.Func.Pos()
	}
	return p.Fset.PositionFor(pos, false)
}
