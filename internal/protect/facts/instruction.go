package facts

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/protect/alias"
	"github.com/cofferdam-go/cofferdam/internal/protect/library"
)

// addInstruction adds to a statement what one instruction does by itself. The switch has
// all instructions there are: one that is not known ends the analysis.
func (f *Facts) addInstruction(s *Statement, i ssa.Instruction) {
	e := &s.own
	e.Panics = e.Panics || mayPanic(i)
	for _, k := range f.slices.Changed(i) {
		e.entries = note(e.entries, Key(k))
	}
	f.addAddresses(s, i)
	switch i := i.(type) {
	case *ssa.UnOp:
		switch i.Op {
		case token.MUL:
			if !alias.IsNotEvaluated(i) {
				f.reach(s, i.X, i.Pos(), false)
			}
		case token.ARROW:
			e.wait("uses a channel")
		}
	case *ssa.Store:
		f.reach(s, i.Addr, i.Pos(), true)
		s.Touches[len(s.Touches)-1].Update = updateOf(i)
	case *ssa.Send, *ssa.Select:
		e.wait("uses a channel")
	case *ssa.Go:
		e.wait("starts a goroutine")
		f.addCall(s, i)
	case *ssa.Defer:
		e.block("defers a call")
		f.addCall(s, i)
	case *ssa.Panic:
		if isWritten(i) {
			e.block("panics")
		}
	case *ssa.Call:
		f.addCall(s, i)
		if b, ok := i.Call.Value.(*ssa.Builtin); ok && (b.Name() == "delete" || b.Name() == "clear") {
			f.addEntries(e, i.Call.Args[0])
		}
	case *ssa.MapUpdate:
		f.addEntries(e, i.Map)
	case *ssa.Convert:
		f.addConversion(s, i.X, i.Type())
	case *ssa.MultiConvert:
		f.addConversion(s, i.X, i.Type())
	case *ssa.DebugRef:
		if !i.IsAddr && f.code.variable(i.X) != nil {
			f.take(s, i.X, i.Pos()) // the value of an expression is the address of a variable
		}
	case *ssa.Alloc, *ssa.BinOp, *ssa.ChangeInterface, *ssa.ChangeType, *ssa.Extract, *ssa.Field, *ssa.FieldAddr,
		*ssa.If, *ssa.Index, *ssa.IndexAddr, *ssa.Jump, *ssa.Lookup, *ssa.MakeChan, *ssa.MakeClosure, *ssa.MakeInterface,
		*ssa.MakeMap, *ssa.MakeSlice, *ssa.Next, *ssa.Phi, *ssa.Range, *ssa.Return, *ssa.Slice,
		*ssa.SliceToArrayPointer, *ssa.TypeAssert:
		// They compute addresses and values, or use the entries of maps, of which there
		// is no copy but by way of package alias.
	case *ssa.RunDefers:
		// What is deferred while a lock is held finds all published; see package plan.
	default:
		panic(fmt.Sprintf("facts: an instruction %T", i))
	}
}

// reach adds the memory at an address.
func (f *Facts) reach(s *Statement, address ssa.Value, at token.Pos, write bool) {
	t := f.code.touch(address)
	t.at, t.Write = at, write
	s.Touches = append(s.Touches, t)
}

// reachThrough adds the memory that a value of a type leads to, by itself or by way of what
// it leads to.
func (f *Facts) reachThrough(s *Statement, t types.Type) {
	for _, p := range pointeesOf(t) {
		s.Touches = append(s.Touches, &Touch{Write: true, pointer: true, reached: p})
	}
}

// pointeesOf returns the types of memory that pointers and slices in a value of a type lead
// to.
func pointeesOf(t types.Type) []types.Type {
	var all []types.Type
	seen := make(map[types.Type]bool)
	var visit func(t types.Type)
	visit = func(t types.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			all = append(all, u.Elem())
			visit(u.Elem())
		case *types.Slice:
			all = append(all, u.Elem())
			visit(u.Elem())
		case *types.Array:
			visit(u.Elem())
		case *types.Map:
			visit(u.Key())
			visit(u.Elem())
		case *types.Struct:
			for f := range u.Fields() {
				visit(f.Type())
			}
		}
	}
	visit(t)
	return all
}

// addConversion adds what it takes to make a value of a type of another one: a string is
// made of the elements of a slice.
func (f *Facts) addConversion(s *Statement, from ssa.Value, to types.Type) {
	if isUnsafePointer(from.Type()) || isUnsafePointer(to) {
		s.own.block("uses unsafe")
		return
	}
	f.reachThrough(s, from.Type())
}

// addCall adds the effect of a call.
func (f *Facts) addCall(s *Statement, i ssa.CallInstruction) {
	e := &s.own
	c := i.Common()
	if b, ok := c.Value.(*ssa.Builtin); ok {
		f.addBuiltin(s, b.Name(), c)
		return
	}
	if c.IsInvoke() {
		e.block("calls a method of an interface, " + c.Method.Name())
		e.callsUnknown(c.Method.Name())
		return
	}
	if l := literalOf(c); l != nil {
		e.block("calls a function literal")
		s.CallsValue = true
		e.literals = note(e.literals, l.Body)
		return
	}
	fn := calleeOf(c)
	at := f.code.calls[i.Pos()]
	if fn == nil || at == nil {
		e.block("calls a function value")
		s.CallsValue = true
		e.callsUnknown(anyValue)
		return
	}
	m, isMutex := mutexMethod(fn)
	switch {
	case isMutex && m.Verb == locks.Release:
		e.wait("releases a lock")
	case isMutex:
		e.Acquires = true
	case library.Harmless(at.info, fn, at.expr):
		for _, a := range c.Args {
			f.reachThrough(s, a.Type())
		}
	case len(library.GivenLiterals(i, calleeOf)) > 0:
		for _, t := range library.GivenTypes(c) {
			f.reachThrough(s, t)
		}
		for _, l := range library.GivenLiterals(i, calleeOf) {
			e.literals = note(e.literals, l.Syntax().(*ast.FuncLit).Body)
		}
	default:
		e.Calls = append(e.Calls, Call{fn, at.expr})
	}
}

// literalOf returns the function literal that a call is of, nil if that is not known.
func literalOf(c *ssa.CallCommon) *ast.FuncLit {
	if callee := c.StaticCallee(); callee != nil {
		l, _ := callee.Syntax().(*ast.FuncLit)
		return l
	}
	return nil
}

// calleeOf returns the declared function that a call is of, nil if it is a value.
func calleeOf(c *ssa.CallCommon) *types.Func {
	callee := c.StaticCallee()
	if callee == nil {
		return nil
	}
	if o := callee.Origin(); o != nil {
		callee = o
	}
	fn, ok := callee.Object().(*types.Func)
	if !ok || callee.Synthetic != "" && len(callee.Blocks) > 0 {
		return nil // a function that calls the declared one
	}
	return fn
}

// addBuiltin adds what a built-in function does to memory. Maps have no addresses.
func (f *Facts) addBuiltin(s *Statement, name string, c *ssa.CallCommon) {
	switch name {
	case "append", "copy", "clear":
		for _, a := range c.Args {
			if sl, ok := coreOf(a.Type()).(*types.Slice); ok {
				s.Touches = append(s.Touches, &Touch{Write: true, pointer: true, reached: sl.Elem()})
			} else if coreOf(a.Type()) == nil {
				s.own.block("calls " + name + " with a type parameter")
			}
		}
	case "len", "cap", "delete", "min", "max", "real", "imag", "complex", "new", "ssa:wrapnilchk":
	case "Slice", "SliceData", "String", "StringData", "Add", "Sizeof", "Alignof", "Offsetof":
		s.own.block("uses unsafe")
	default:
		s.own.block("calls " + name)
	}
}

// addAddresses adds the variables whose addresses an instruction takes along: into another
// variable, into a comparison, or into a call of a function that keeps it.
func (f *Facts) addAddresses(s *Statement, i ssa.Instruction) {
	var buffer [8]*ssa.Value
	for n, operand := range i.Operands(buffer[:0]) {
		if !f.isAddress(*operand) {
			continue
		}
		switch use := f.useOfAddress(i, n, *operand); use {
		case followed:
		case borrowed, borrowedToWrite:
			f.reach(s, *operand, i.Pos(), use == borrowedToWrite)
		case kept:
			f.take(s, *operand, i.Pos())
		}
	}
}

// take adds that an address is taken.
func (f *Facts) take(s *Statement, address ssa.Value, at token.Pos) {
	t := f.code.touch(address)
	t.at, t.Taken = at, true
	s.Touches = append(s.Touches, t)
}

// addUsedElsewhere adds the addresses that are computed by an instruction and used outside
// the statement. The variable that has the address between the two may have none in the SSA
// form:
//
//	p := &x.n
//	*p = 1
func (f *Facts) addUsedElsewhere(s *Statement, i ssa.Instruction, inside map[ssa.Instruction]bool) {
	var address ssa.Value
	switch i := i.(type) {
	case *ssa.FieldAddr:
		address = i
	case *ssa.IndexAddr:
		address = i
	default:
		return
	}
	for _, user := range *address.Referrers() {
		if _, note := user.(*ssa.DebugRef); !note && !inside[user] {
			f.take(s, address, i.Pos())
			return
		}
	}
}
