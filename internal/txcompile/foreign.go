package txcompile

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/txcompile/library"
)

// A leak is what becomes of types whose values are given to code that is not here: that code
// may assign to their fields, by reflection for example.
type leak struct {
	p    *program
	seen map[types.Type]bool
	// Types that became values of an interface of the program, which leak if that does.
	within map[types.Type][]types.Type
}

// gatherForeign notes the fields that code may assign to that is not here.
func (p *program) gatherForeign() {
	l := &leak{p: p, seen: make(map[types.Type]bool), within: make(map[types.Type][]types.Type)}
	for fn := range p.flow.All {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if v, ok := instr.(*ssa.MakeInterface); ok && l.isOwn(v.Type()) {
					l.within[v.Type()] = append(l.within[v.Type()], v.X.Type())
				}
			}
		}
	}
	for fn := range p.flow.All {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				l.instruction(fn, instr)
			}
		}
	}
}

func (l *leak) instruction(fn *ssa.Function, instr ssa.Instruction) {
	switch instr := instr.(type) {
	case *ssa.MakeInterface:
		if !l.isOwn(instr.Type()) && !library.OnlyRead(instr) {
			l.value(instr.X.Type())
		}
	case *ssa.ChangeInterface:
		l.value(instr.X.Type())
	case *ssa.TypeAssert:
		if types.IsInterface(instr.AssertedType) {
			l.value(instr.X.Type())
		}
	case *ssa.ChangeType:
		l.converted(instr.X.Type(), instr.Type())
	case *ssa.Convert:
		l.converted(instr.X.Type(), instr.Type())
	case ssa.CallInstruction:
		if callee := instr.Common().StaticCallee(); library.IsOf(callee, stmPath) {
			l.transaction(callee.Object().Name(), instr.Common().Args)
		} else if l.p.flow.Leaves(fn, instr) {
			for _, arg := range instr.Common().Args {
				l.value(arg.Type())
			}
		}
	}
}

// transaction notes what a function of package stm assigns to.
func (l *leak) transaction(name string, args []ssa.Value) {
	switch name {
	case "Load", "MapLoad", "MapStore", "MapDelete", "Atomic", "Atomically":
		return
	case "Store":
		args = args[1:2]
	case "Copy":
		args = args[:1]
	}
	for _, arg := range args {
		switch t := arg.Type().Underlying().(type) {
		case *types.Pointer:
			l.p.eachField(t.Elem(), func(known *field) { known.foreign = true })
		case *types.Slice:
			l.p.element(t.Elem()).foreign = true
			l.p.eachField(t.Elem(), func(known *field) { known.foreign = true })
		}
	}
}

// isOwn reports whether a type is an interface that the program declares, and that has
// methods: values of it stay here, unless they are converted.
func (l *leak) isOwn(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false
	}
	i, ok := named.Underlying().(*types.Interface)
	return ok && i.NumMethods() > 0 && l.p.own[named.Obj().Pkg().Path()]
}

// converted notes a conversion after which the same memory has two types.
func (l *leak) converted(from, to types.Type) {
	switch from.Underlying().(type) {
	case *types.Basic:
		if from.Underlying() == types.Typ[types.UnsafePointer] {
			l.value(to)
		}
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan:
		if !types.Identical(from.Underlying(), to.Underlying()) {
			l.value(from)
			l.value(to)
		}
	}
}

// value notes what code that has a value of a type can assign to: structs that it leads to, as
// a whole, and what these lead to through exported fields.
func (l *leak) value(t types.Type) {
	if l.seen[t] {
		return
	}
	l.seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		l.target(u.Elem())
	case *types.Slice:
		l.p.element(u.Elem()).foreign = true
		l.target(u.Elem())
	case *types.Map:
		l.value(u.Key())
		l.value(u.Elem())
	case *types.Chan:
		l.value(u.Elem())
	case *types.Array:
		l.p.element(u.Elem()).foreign = true // it may be behind a pointer
		l.value(u.Elem())
	case *types.Interface:
		for _, inside := range l.within[t] {
			l.value(inside)
		}
	case *types.Struct:
		for v := range u.Fields() {
			if v.Exported() || v.Embedded() {
				l.value(v.Type())
			}
		}
	}
}

func (l *leak) target(t types.Type) {
	l.p.eachField(t, func(known *field) { known.foreign = true })
	l.value(t)
}
