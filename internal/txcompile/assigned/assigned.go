// Package assigned says which variables a call may assign to, in the function that it calls and
// in those that this calls, by go/ssa.
//
// Variables are told apart by where they are declared: a field of a struct is one place in all
// structs of the type, and so is a variable of a package or of a function. Elements of slices
// and arrays, entries of maps, and what pointers point to, are told apart by their type. So an answer is never
// too few, and may be too many.
//
// place.go is about places, in source and in go/ssa.
package assigned

import (
	"go/token"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/txcompile/library"
)

// Places are what calls may assign to.
type Places struct {
	anything bool              // it cannot be told
	declared map[position]bool // fields, and variables with a name
	elements map[string]bool   // of slices and arrays, by their type, and entries of maps, by that of the map
	pointed  map[string]bool   // what pointers point to, likewise
	structs  map[string]bool   // types one of whose fields is assigned to
}

func newPlaces() *Places {
	return &Places{declared: make(map[position]bool), elements: make(map[string]bool), pointed: make(map[string]bool), structs: make(map[string]bool)}
}

// May reports whether a place is among them. A pointer may point to any variable of its type.
func (s *Places) May(p Place) bool {
	return s.anything || s.pointed[p.kind] || s.structs[p.kind] || s.declared[p.declared] || p.declared == position{} && s.elements[p.kind]
}

func (s *Places) add(more *Places) {
	maps.Copy(s.declared, more.declared)
	maps.Copy(s.elements, more.elements)
	maps.Copy(s.pointed, more.pointed)
	maps.Copy(s.structs, more.structs)
}

// A Finder finds out what calls assign to.
type Finder struct {
	Fset *token.FileSet
	// Callees are the functions that a call can call.
	Callees func(ssa.CallInstruction) []*ssa.Function
	// CalledBack are methods that a function of the library calls of what it is given.
	CalledBack func(call ssa.CallInstruction, callee *ssa.Function) []*ssa.Function

	own map[*ssa.Function]*Places // what a function assigns to itself
}

// Of returns what calls may assign to.
func (f *Finder) Of(calls []ssa.CallInstruction) *Places {
	union := newPlaces()
	seen := make(map[*ssa.Function]bool)
	if len(calls) == 0 {
		union.anything = true // made up by go/ssa in another way
	}
	for _, call := range calls {
		f.follow(call, union, seen)
	}
	return union
}

func (f *Finder) follow(call ssa.CallInstruction, union *Places, seen map[*ssa.Function]bool) {
	if _, ok := call.Common().Value.(*ssa.Builtin); ok {
		return
	}
	callees := f.Callees(call)
	if len(callees) == 0 {
		union.anything = true
	}
	for _, fn := range callees {
		if fn.Blocks == nil && !union.anything {
			f.elsewhere(call, fn, union)
			for _, method := range f.CalledBack(call, fn) {
				f.enter(method, union, seen)
			}
			continue
		}
		f.enter(fn, union, seen)
	}
}

// enter adds what a function assigns to, and those that it calls.
func (f *Finder) enter(fn *ssa.Function, union *Places, seen map[*ssa.Function]bool) {
	if seen[fn] || union.anything {
		return
	}
	seen[fn] = true
	union.add(f.assignments(fn))
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			if inner, ok := instr.(ssa.CallInstruction); ok {
				f.follow(inner, union, seen)
			}
		}
	}
}

// elsewhere adds what a function that is not here could assign to: what its arguments lead to,
// if it is known to call nothing but what it is given.
func (f *Finder) elsewhere(call ssa.CallInstruction, fn *ssa.Function, union *Places) {
	switch {
	case library.OnlyReads(fn):
	case library.KeepsNothing(fn):
		for _, arg := range call.Common().Args {
			f.leads(arg.Type(), union, make(map[types.Type]bool))
		}
	default:
		union.anything = true
	}
}

// leads adds what a value of a type leads to.
func (f *Finder) leads(t types.Type, s *Places, seen map[types.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch t := t.Underlying().(type) {
	case *types.Pointer:
		s.pointed[kindOf(t.Elem())] = true
		f.parts(t.Elem(), s)
		f.leads(t.Elem(), s, seen)
	case *types.Slice:
		s.elements[kindOf(t.Elem())] = true
		f.parts(t.Elem(), s)
		f.leads(t.Elem(), s, seen)
	case *types.Map:
		s.elements[kindOf(t)] = true
		f.leads(t.Elem(), s, seen)
	case *types.Array:
		f.leads(t.Elem(), s, seen)
	case *types.Struct:
		for field := range t.Fields() {
			f.leads(field.Type(), s, seen)
		}
	case *types.Basic:
		s.anything = s.anything || t.Kind() == types.UnsafePointer
	default: // an interface, a function or a channel may lead anywhere
		s.anything = true
	}
}

// parts adds the fields and elements of a variable of a type.
func (f *Finder) parts(t types.Type, s *Places) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		s.structs[kindOf(t)] = true
		for field := range u.Fields() {
			s.declared[positionOf(f.Fset, field.Pos())] = true
			f.parts(field.Type(), s)
		}
	case *types.Array:
		s.elements[kindOf(u.Elem())] = true
		f.parts(u.Elem(), s)
	}
}

// assignments are what the instructions of a function assign to.
func (f *Finder) assignments(fn *ssa.Function) *Places {
	if known := f.own[fn]; known != nil {
		return known
	}
	if f.own == nil {
		f.own = make(map[*ssa.Function]*Places)
	}
	s := newPlaces()
	f.own[fn] = s
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			switch instr := instr.(type) {
			case *ssa.Store:
				f.through(instr.Addr, s)
			case *ssa.MapUpdate:
				s.elements[kindOf(instr.Map.Type().Underlying())] = true
			case ssa.CallInstruction:
				if b, ok := instr.Common().Value.(*ssa.Builtin); ok && slices.Contains(assigning, b.Name()) {
					s.changed(instr.Common().Args[0].Type())
				}
			}
		}
	}
	return s
}

// assigning are functions of the language that assign to elements, or entries, of their first
// argument.
var assigning = []string{"append", "clear", "copy", "delete"}

func (s *Places) changed(container types.Type) {
	switch t := container.Underlying().(type) {
	case *types.Slice:
		s.elements[kindOf(t.Elem())] = true
	case *types.Map:
		s.elements[kindOf(t)] = true
	}
}

// through adds the places that a store through an address assigns to: the variable, and those
// that it is a part of.
func (f *Finder) through(address ssa.Value, s *Places) {
	switch address := address.(type) {
	case *ssa.FieldAddr:
		pointed := address.X.Type().Underlying().(*types.Pointer).Elem()
		field := pointed.Underlying().(*types.Struct).Field(address.Field)
		s.declared[positionOf(f.Fset, field.Pos())] = true
		s.structs[kindOf(pointed)] = true
		f.through(address.X, s)
	case *ssa.IndexAddr:
		switch t := address.X.Type().Underlying().(type) {
		case *types.Slice:
			s.elements[kindOf(t.Elem())] = true
		case *types.Pointer:
			s.elements[kindOf(t.Elem().Underlying().(*types.Array).Elem())] = true
			f.through(address.X, s)
		}
	case *ssa.Global, *ssa.Alloc, *ssa.FreeVar:
		s.declared[positionOf(f.Fset, address.Pos())] = true
	default:
		s.pointed[kindOf(address.Type().Underlying().(*types.Pointer).Elem())] = true
	}
}
