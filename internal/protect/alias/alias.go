package alias

import (
	"go/token"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A Program is what is looked at.
type Program struct {
	// Functions are all functions, with the literals in them.
	Functions []*ssa.Function
	// KeyOf returns what identifies a variable or field in all variants of its package.
	KeyOf func(*types.Var) string
	// IsStable reports whether the variable at an address is assigned to only where it is declared.
	IsStable func(address ssa.Value) bool
	// IsQuiet reports whether a call is of a function of the standard library that uses nothing but what it is given.
	IsQuiet func(call ssa.CallInstruction) bool
}

// Slices is what is known of all variables and fields that are slices, by their keys.
type Slices struct {
	escapes map[string]Escape
	names   map[string][]Name
	changes map[ssa.Instruction][]string
}

// An Escape is where the array of a slice gets another name for good.
type Escape struct {
	At  ssa.Instruction
	Why string
}

// A Name is a value that is the slice of a holder, or is derived from it.
type Name struct {
	// At is where the slice is loaded from its holder or stored there.
	At ssa.Instruction
	// Uses reach elements by way of the name, when At has been executed.
	Uses []ssa.Instruction
}

// Escape returns where the array of a slice gets another name for good; ok says that there is such a place.
func (s *Slices) Escape(holder string) (e Escape, ok bool) {
	e, ok = s.escapes[holder]
	return e, ok
}

// Names returns the names for a while of a slice.
func (s *Slices) Names(holder string) []Name { return s.names[holder] }

// Changed returns the holders of which an instruction may change elements.
func (s *Slices) Changed(i ssa.Instruction) []string { return s.changes[i] }

// Find looks at a program.
func Find(p *Program) *Slices {
	f := newFinder(p)
	for f.again = true; f.again; {
		f.again = false
		// What was taken for new may have depended on what was not known yet.
		maps.DeleteFunc(f.results, func(_ *ssa.Function, why string) bool { return why == "" })
		f.out.names, f.out.changes = make(map[string][]Name), make(map[ssa.Instruction][]string)
		for _, fn := range p.Functions {
			for _, b := range fn.Blocks {
				for _, i := range b.Instrs {
					f.observe(i)
				}
			}
		}
		f.summariseAll()
	}
	return f.out
}

func newFinder(p *Program) *finder {
	return &finder{
		Program:   p,
		out:       &Slices{escapes: make(map[string]Escape), names: make(map[string][]Name), changes: make(map[ssa.Instruction][]string)},
		summaries: make(map[*ssa.Parameter]*summary),
		results:   make(map[*ssa.Function]string),
	}
}

// A finder looks at one program. What it knows of parameters and results only grows, so it looks again until nothing is new.
type finder struct {
	*Program
	out       *Slices
	summaries map[*ssa.Parameter]*summary
	asked     []*ssa.Parameter         // those with summaries, in the order of the questions: reasons are the same each time
	results   map[*ssa.Function]string // functions whose result is not new, with the reason; "" while that is not known
	again     bool
}

// escape notes that an array gets a name for good.
func (f *finder) escape(holder string, at ssa.Instruction, why string) {
	if _, known := f.out.escapes[holder]; !known {
		f.out.escapes[holder] = Escape{at, why}
	}
}

// observe looks at an instruction that loads a slice from a holder, or stores one there. A struct that is copied as a
// whole takes its slices along.
func (f *finder) observe(i ssa.Instruction) {
	switch i := i.(type) {
	case *ssa.UnOp:
		if i.Op != token.MUL {
			return
		}
		if k := f.holderOfSlice(i.X); k != "" {
			f.follow(k, i, i, i.X)
		}
		if !IsNotEvaluated(i) {
			f.eachCopied(i.X, func(k string) { f.escape(k, i, "the struct that has it is copied") })
		}
	case *ssa.Store:
		if k := f.holderOfSlice(i.Addr); k != "" {
			f.checkStored(k, i)
		}
		if _, zero := i.Val.(*ssa.Const); !zero && !isMove(i) {
			f.eachCopied(i.Addr, func(k string) { f.escape(k, i, "the struct that has it is assigned to") })
		}
	}
}

// IsNotEvaluated reports whether a load is of an array of which only the length is needed, and that is known. The SSA form has
// it, the language has not.
//
//	for i := range x.shards { x.shards[i].reset() }
func IsNotEvaluated(load *ssa.UnOp) bool {
	_, isArray := load.Type().Underlying().(*types.Array)
	return isArray && !slices.ContainsFunc(*load.Referrers(), func(i ssa.Instruction) bool { _, note := i.(*ssa.DebugRef); return !note })
}

// holderOfSlice returns the key of the variable of a package, or of the field, that is at an address; "" if there is none or it
// holds no slice.
func (f *finder) holderOfSlice(address ssa.Value) string {
	if !isSlice(pointee(address)) {
		return ""
	}
	switch a := address.(type) {
	case *ssa.FieldAddr:
		return f.KeyOf(pointee(a.X).Underlying().(*types.Struct).Field(a.Field))
	case *ssa.Global:
		if v, ok := a.Object().(*types.Var); ok {
			return f.KeyOf(v)
		}
	}
	return ""
}

// eachCopied calls do with the holders inside a struct that is loaded or stored as a whole. What a function makes by
// itself, as a literal does, is its own until it is somewhere else.
func (f *finder) eachCopied(address ssa.Value, do func(holder string)) {
	if _, own := address.(*ssa.Alloc); own {
		return
	}
	f.eachFieldIn(pointee(address), do)
}

// eachFieldIn calls do with the fields of a struct that are slices, and with those of the structs and arrays in it.
func (f *finder) eachFieldIn(t types.Type, do func(holder string)) {
	switch u := t.Underlying().(type) {
	case *types.Array:
		f.eachFieldIn(u.Elem(), do)
	case *types.Struct:
		for v := range u.Fields() {
			if isSlice(v.Type()) {
				do(f.KeyOf(v))
			}
			f.eachFieldIn(v.Type(), do)
		}
	}
}

// pointee is the type at an address.
func pointee(address ssa.Value) types.Type {
	p, ok := address.Type().Underlying().(*types.Pointer)
	if !ok {
		return types.Typ[types.Invalid]
	}
	return p.Elem()
}

func isSlice(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// holdsSlice reports whether a value of a type has slices in it, be it as the type itself.
func holdsSlice(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return true
	case *types.Array:
		return holdsSlice(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if holdsSlice(f.Type()) {
				return true
			}
		}
	case *types.Tuple:
		for v := range u.Variables() {
			if holdsSlice(v.Type()) {
				return true
			}
		}
	}
	return false
}
