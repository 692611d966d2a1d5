// Package flow says which functions of a program a transaction can come to, and what they touch,
// by go/ssa.
//
// A call through a value or an interface calls what flows there (VTA). Where nothing seems to
// flow, it may be any function of the type that is used as a value at all.
//
//	flow.go      calls, and what transactions can come to
//	origins.go   where functions come from that are called through values
//	closed.go    functions that touch nothing but what they are given
package flow

import (
	"go/token"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/cha"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/library"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/listing"
)

// A Flow is where a program's values go, on go/ssa: which functions a call through a value or
// an interface can call, as far as the program can be seen. What it does not see, such as a
// function that comes back out of a library, is found when the program runs: the transaction
// works in place then (see compiled.Function).
type Flow struct {
	prog    *ssa.Program
	fset    *token.FileSet
	All     map[*ssa.Function]bool // functions that run
	precise *callgraph.Graph       // by the types that flow there
	rough   *callgraph.Graph       // by signatures and names, for calls that nothing seems to flow to
	values  map[*ssa.Function]bool // functions that are used as values, and not only called
	byPlace map[Place][]*ssa.Function
	boxed   map[types.Type]bool // see CalledBack
	// ofParams are the calls of methods of type parameters, by where they are. An instance calls
	// a function of its own there, but its source is that of all.
	ofParams map[token.Pos]bool

	callSites map[token.Pos][]ssa.CallInstruction // see sites
}

// A Place is where a function begins in the source. It is the same in all packages that a
// file is in, with tests and without.
type Place struct {
	file   string
	offset int
}

func PlaceOf(fset *token.FileSet, at token.Pos) Place {
	pos := fset.PositionFor(at, false)
	return Place{pos.Filename, pos.Offset}
}

func New(pkgs []*packages.Package) *Flow {
	prog, _ := load.SSA(pkgs)
	f := &Flow{prog: prog, fset: prog.Fset, All: ssautil.AllFunctions(prog), rough: cha.CallGraph(prog), byPlace: make(map[Place][]*ssa.Function)}
	f.ofParams = callsOfParams(f.All)
	maps.DeleteFunc(f.All, func(fn *ssa.Function, _ bool) bool { return isTemplate(fn) })
	f.precise = vta.CallGraph(f.All, f.rough)
	f.values = usedAsValues(f.All)
	for fn := range f.All {
		if syntax := fn.Syntax(); syntax != nil {
			at := PlaceOf(f.fset, syntax.Pos())
			f.byPlace[at] = append(f.byPlace[at], fn)
		}
	}
	return f
}

// callsOfParams returns where functions call methods of type parameters.
func callsOfParams(all map[*ssa.Function]bool) map[token.Pos]bool {
	places := make(map[token.Pos]bool)
	for fn := range all {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if call, ok := instr.(ssa.CallInstruction); ok && call.Common().IsInvoke() && library.IsTypeParam(call.Common().Value.Type()) {
					places[call.Pos()] = true
				}
			}
		}
	}
	return places
}

// isTemplate reports whether a function is generic, and not an instance that runs.
func isTemplate(fn *ssa.Function) bool {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	return fn.TypeParams().Len() > len(fn.TypeArgs()) || slices.ContainsFunc(fn.TypeArgs(), source.HasTypeParam)
}

// A Reach is what transactions can come to.
type Reach struct {
	*Flow
	seen map[*ssa.Function]bool
	// Declared functions that are called through values and interfaces, by their full names.
	Functions map[string]bool
	// Where functions begin that may run in a transaction, as they are: those that are seen,
	// and those that code which is not here may call back.
	MayRun map[Place]bool
	// Calls, by where they are, of functions that code which is not here has made, or for which
	// Go reads memory, and what they call.
	Elsewhere map[token.Pos]string
	// keeps says that transactions call code which is not here, and may have kept functions
	// that it was given before.
	keeps bool
}

// From follows calls from the functions that begin at some places, which are transactions,
// and from those that are given to stm.Atomic as values.
func (f *Flow) From(places []Place) *Reach {
	r := &Reach{Flow: f, seen: make(map[*ssa.Function]bool), Functions: make(map[string]bool), MayRun: make(map[Place]bool), Elsewhere: make(map[token.Pos]string)}
	literal := make(map[*ssa.Function]bool)
	for _, at := range places {
		for _, fn := range f.byPlace[at] {
			literal[fn] = true
			r.visit(fn)
		}
	}
	for fn := range f.All {
		for _, given := range f.functionsGivenToAtomic(fn) {
			if !literal[given] {
				r.indirect(given)
				r.visit(given)
			}
		}
	}
	r.callbacks()
	return r
}

// followForeignCall follows a call of code that is not here: it may call what it is given.
func (r *Reach) followForeignCall(call ssa.CallInstruction, callee *ssa.Function) {
	r.keeps = r.keeps || callee == nil || !library.KeepsNothing(callee) && !library.IsOf(callee, listing.STM)
	for _, method := range r.CalledBack(call, callee) {
		r.indirect(method)
		r.visit(method)
	}
	for _, arg := range call.Common().Args {
		switch arg := arg.(type) {
		case *ssa.Function:
			r.visit(arg)
		case *ssa.MakeClosure:
			r.visit(arg.Fn.(*ssa.Function))
		default:
			sig, ok := arg.Type().Underlying().(*types.Signature)
			if ok && callee != nil && library.IsTranslated(callee) {
				r.visitAll(sig)
				continue
			}
			r.keeps = r.keeps || ok
		}
	}
}

// visitAll follows a call of a function of which nothing but its type is known.
func (r *Reach) visitAll(sig *types.Signature) {
	for fn := range r.values {
		if fn.Signature.Recv() == nil && types.Identical(fn.Signature, sig) {
			r.indirect(fn)
			r.visit(fn)
		}
	}
}

// CalledBack are the methods that a call of the library calls of what it is given: of types whose
// values become those of interfaces.
func (f *Flow) CalledBack(call ssa.CallInstruction, callee *ssa.Function) (all []*ssa.Function) {
	for _, called := range library.Calls(call, callee) {
		if called.Of != nil {
			all = append(all, f.method(called.Of, called.Name)...)
			continue
		}
		if f.boxed == nil {
			f.boxed = boxedIn(f.All)
		}
		for t := range f.boxed {
			all = append(all, f.method(t, called.Name)...)
		}
	}
	return all
}

// method is the method of a type that has a name, if it is here.
func (f *Flow) method(t types.Type, name string) []*ssa.Function {
	method := f.prog.MethodSets.MethodSet(t).Lookup(nil, name)
	if method == nil {
		return nil
	}
	fn := f.prog.MethodValue(method)
	if fn == nil || fn.Blocks == nil {
		return nil
	}
	return []*ssa.Function{fn}
}

// boxedIn returns the types whose values some functions make those of an interface.
func boxedIn(all map[*ssa.Function]bool) map[types.Type]bool {
	boxed := make(map[types.Type]bool)
	for fn := range all {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if v, ok := instr.(*ssa.MakeInterface); ok {
					boxed[v.X.Type()] = true
				}
			}
		}
	}
	return boxed
}

// usedAsValues returns the functions that are named where they are not called.
func usedAsValues(all map[*ssa.Function]bool) map[*ssa.Function]bool {
	values := make(map[*ssa.Function]bool)
	for fn := range all {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if closure, ok := instr.(*ssa.MakeClosure); ok && onlyCalled(closure) {
					continue
				}
				for _, operand := range instr.Operands(nil) {
					if value, ok := (*operand).(*ssa.Function); ok && !isCallOf(instr, value) {
						values[value] = true
					}
				}
			}
		}
	}
	return values
}

// onlyCalled reports whether a closure is called, deferred or started where it is made, and
// nothing else.
func onlyCalled(closure *ssa.MakeClosure) bool {
	return !slices.ContainsFunc(*closure.Referrers(), func(use ssa.Instruction) bool { return !isCallOf(use, closure) })
}

// isCallOf reports whether an instruction uses a function by calling it, at most.
func isCallOf(instr ssa.Instruction, fn ssa.Value) bool {
	switch instr := instr.(type) {
	case *ssa.DebugRef:
		return true
	case ssa.CallInstruction:
		return instr.Common().Value == fn && !slices.Contains(instr.Common().Args, fn)
	}
	return false
}

// callbacks notes the functions that code which is not here may call: methods of what becomes
// a value of an interface, and all functions that are used as values if it can have kept them.
func (r *Reach) callbacks() {
	if r.keeps {
		for fn := range r.values {
			r.run(fn)
		}
	}
	for _, t := range r.prog.RuntimeTypes() {
		for method := range r.prog.MethodSets.MethodSet(t).Methods() {
			if fn := r.prog.MethodValue(method); fn != nil {
				r.run(fn)
			}
		}
	}
}

// run notes that a function may run in a transaction, or the one that it calls if it was made
// by go/ssa.
func (r *Reach) run(fn *ssa.Function) {
	if syntax := fn.Syntax(); syntax != nil {
		r.MayRun[PlaceOf(r.fset, syntax.Pos())] = true
		return
	}
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			if call, ok := instr.(ssa.CallInstruction); ok {
				if callee := call.Common().StaticCallee(); callee != nil && callee.Syntax() != nil {
					r.MayRun[PlaceOf(r.fset, callee.Syntax().Pos())] = true
				}
			}
		}
	}
}

// functionsGivenToAtomic returns the functions that a function gives to stm.Atomic: if it cannot be seen which,
// all that could be.
func (f *Flow) functionsGivenToAtomic(fn *ssa.Function) []*ssa.Function {
	var all []*ssa.Function
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(ssa.CallInstruction)
			if !ok {
				continue
			}
			if callee := call.Common().StaticCallee(); !library.IsOf(callee, listing.STM) || callee.Name() != "Atomic" {
				continue
			}
			given := call.Common().Args[len(call.Common().Args)-1]
			origins := &origins{Flow: f, seen: make(map[ssa.Value]bool)}
			if origins.follow(given); !origins.unknown {
				all = append(all, origins.functions...)
				continue
			}
			for other := range f.values {
				if types.Identical(other.Signature, given.Type().Underlying()) && other.Signature.Recv() == nil {
					all = append(all, other)
				}
			}
		}
	}
	return all
}

func (r *Reach) visit(fn *ssa.Function) {
	if r.seen[fn] {
		return
	}
	r.seen[fn] = true
	r.run(fn)
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(ssa.CallInstruction)
			if _, starts := instr.(*ssa.Go); !ok || starts {
				continue
			}
			if _, ok := call.Common().Value.(*ssa.Builtin); ok {
				continue
			}
			callees := r.Callees(fn, call)
			switch {
			case !call.Pos().IsValid(): // in a function that go/ssa has made
			case r.isElsewhere(fn, call):
				r.Elsewhere[call.Pos()] = describe(call.Common())
			case call.Common().StaticCallee() == nil && slices.ContainsFunc(r.called(r.precise, fn, call), isReading):
				r.Elsewhere[call.Pos()] = describeReading(call.Common())
			case r.ofParams[call.Pos()] && slices.ContainsFunc(callees, isReading):
				r.Elsewhere[call.Pos()] = describeReading(call.Common())
			case r.ofParams[call.Pos()] && slices.ContainsFunc(callees, func(callee *ssa.Function) bool { return callee.Blocks == nil }):
				r.Elsewhere[call.Pos()] = describe(call.Common())
			}
			if len(callees) == 0 {
				r.followForeignCall(call, nil)
			}
			for _, callee := range callees {
				if call.Common().StaticCallee() == nil || r.ofParams[call.Pos()] {
					r.indirect(callee)
				}
				if callee.Blocks == nil {
					r.followForeignCall(call, callee)
				}
				r.visit(callee)
			}
		}
	}
}

// Callees are the functions that a call can call.
func (f *Flow) Callees(caller *ssa.Function, call ssa.CallInstruction) []*ssa.Function {
	if callee := call.Common().StaticCallee(); callee != nil {
		return []*ssa.Function{callee}
	}
	if all := f.called(f.precise, caller, call); len(all) > 0 {
		return all
	}
	return f.called(f.rough, caller, call)
}

// called are the functions that a call through a value or an interface can call, by a graph.
func (f *Flow) called(g *callgraph.Graph, caller *ssa.Function, call ssa.CallInstruction) []*ssa.Function {
	var all []*ssa.Function
	if node := g.Nodes[caller]; node != nil {
		for _, e := range node.Out {
			if e.Site == call && (call.Common().IsInvoke() || f.values[e.Callee.Func]) {
				all = append(all, e.Callee.Func)
			}
		}
	}
	return all
}

// indirect notes that a function is called through a value or an interface. If it is one
// that go/ssa made, of a method for example, it is the one behind it that is.
func (r *Reach) indirect(fn *ssa.Function) {
	if obj, ok := fn.Object().(*types.Func); ok {
		r.Functions[obj.Origin().FullName()] = true
	}
}

// Calls reports whether transactions call functions of packages that are not here.
func (r *Reach) Calls(others map[string]*packages.Package) bool {
	for fn := range r.seen {
		if obj := fn.Object(); fn.Blocks == nil && obj != nil && obj.Pkg() != nil && others[obj.Pkg().Path()] != nil {
			return true
		}
	}
	return false
}

// CallsAt reports whether transactions call the function that begins at a place, in whatever
// way.
func (r *Reach) CallsAt(at Place) bool {
	return slices.ContainsFunc(r.byPlace[at], func(fn *ssa.Function) bool { return r.seen[fn] })
}

// Sites are the calls of the program, by where they are; a generic function has one in each
// instance.
func (f *Flow) Sites() map[token.Pos][]ssa.CallInstruction {
	if f.callSites == nil {
		f.callSites = make(map[token.Pos][]ssa.CallInstruction)
		for fn := range f.All {
			for _, b := range fn.Blocks {
				for _, instr := range b.Instrs {
					if call, ok := instr.(ssa.CallInstruction); ok {
						f.callSites[call.Pos()] = append(f.callSites[call.Pos()], call)
					}
				}
			}
		}
	}
	return f.callSites
}

// Leaves reports whether a call may call code that is not here, and that may change what it
// is given.
func (f *Flow) Leaves(caller *ssa.Function, call ssa.CallInstruction) bool {
	if _, ok := call.Common().Value.(*ssa.Builtin); ok {
		return false
	}
	callees := f.Callees(caller, call)
	return len(callees) == 0 || slices.ContainsFunc(callees, func(fn *ssa.Function) bool { return fn.Blocks == nil && !library.OnlyReads(fn) })
}
