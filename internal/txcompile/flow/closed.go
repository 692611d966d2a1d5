package flow

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Closed is what is known of a closed function, which touches nothing but its own variables and what its
// parameters point to, keeps no pointer, and ends: all of its loops are over what is there. A transaction
// that gives it nothing but its own memory calls it as it is.
//
//	func (c *choice) consider(price int) { if price > c.price { c.price = price } }
//
//	var best choice                         var best choice
//	best.consider(x.price)                  best.consider(stm.Load(tx, &x.price))
type Closed struct {
	Pure bool // its parameters point to nothing
}

// Closed decides which functions are closed, by where they begin. A function that
// calls others is, if they are; one that calls itself is not. Nor is one that finds its
// transaction by itself and leads anywhere, which dual says of those that begin at a place: called
// as it is, it would go on in the transaction, and what it stores would be in the log alone.
//
//	f := best.consider; f(2)                consider is dual
//	best.consider(1)                        so this has to be best.consider_stm(tx, 1)
func (f *Flow) Closed(dual func(Place) bool) map[Place]Closed {
	known := make(map[*ssa.Function]bool)
	inTransactions := make(map[*ssa.Function]bool)
	for at, functions := range f.byPlace {
		if dual(at) {
			for _, fn := range functions {
				inTransactions[fn] = takesPointers(fn)
			}
		}
	}
	for more := true; more; {
		more = false
		for fn := range f.All {
			if !known[fn] && !inTransactions[fn] && fn.Syntax() != nil && fn.Blocks != nil && len(fn.FreeVars) == 0 && !returnsPointers(fn) && staysInside(fn, known) {
				known[fn], more = true, true
			}
		}
	}
	all := make(map[Place]Closed)
	for at, functions := range f.byPlace {
		if slices.ContainsFunc(functions, func(fn *ssa.Function) bool { return !known[fn] }) {
			continue // one of its instances
		}
		all[at] = Closed{Pure: !slices.ContainsFunc(functions, takesPointers)}
	}
	return all
}

func takesPointers(fn *ssa.Function) bool {
	return slices.ContainsFunc(fn.Params, func(v *ssa.Parameter) bool { return Leads(v.Type()) })
}

// Leads reports whether a value of a type leads to memory that can change.
func Leads(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Kind() == types.UnsafePointer
	case *types.Array:
		return Leads(t.Elem())
	case *types.Struct:
		for v := range t.Fields() {
			if Leads(v.Type()) {
				return true
			}
		}
		return false
	}
	return true
}

func returnsPointers(fn *ssa.Function) bool {
	for v := range fn.Signature.Results().Variables() {
		if Leads(v.Type()) {
			return true
		}
	}
	return false
}

// staysInside reports whether all instructions of a function are harmless. An instruction
// that is not known to be is not.
func staysInside(fn *ssa.Function, closed map[*ssa.Function]bool) bool {
	for _, b := range fn.Blocks {
		if strings.HasPrefix(b.Comment, "for.") || strings.HasPrefix(b.Comment, "rangeint.loop") && !boundedByLength(b) || strings.HasPrefix(b.Comment, "label") {
			return false
		}
		for _, instr := range b.Instrs {
			if !isInside(instr, closed) {
				return false
			}
		}
	}
	return true
}

// boundedByLength reports whether a loop over a number counts to a constant, or to the length
// of something that is there.
func boundedByLength(loop *ssa.BasicBlock) bool {
	for _, instr := range loop.Instrs {
		if compare, ok := instr.(*ssa.BinOp); ok && compare.Op == token.LSS {
			if _, ok := compare.Y.(*ssa.Const); ok {
				return true
			}
			call, ok := compare.Y.(*ssa.Call)
			if !ok {
				return false
			}
			b, ok := call.Call.Value.(*ssa.Builtin)
			return ok && b.Name() == "len"
		}
	}
	return false
}

func isInside(instr ssa.Instruction, closed map[*ssa.Function]bool) bool {
	switch instr := instr.(type) {
	case *ssa.BinOp, *ssa.If, *ssa.Jump, *ssa.Return, *ssa.DebugRef, *ssa.Field, *ssa.Index, *ssa.Extract, *ssa.Alloc, *ssa.Lookup:
		return true
	case *ssa.Phi:
		return !Leads(instr.Type())
	case *ssa.Convert:
		return !Leads(instr.Type()) && !Leads(instr.X.Type())
	case *ssa.UnOp:
		return instr.Op != token.ARROW && (instr.Op != token.MUL || isOwnMemory(instr.X) && !Leads(instr.Type()))
	case *ssa.FieldAddr:
		return isOwnMemory(instr)
	case *ssa.IndexAddr:
		return isOwnMemory(instr)
	case *ssa.Store:
		return isOwnMemory(instr.Addr) && !Leads(instr.Val.Type())
	case *ssa.Range:
		b, ok := instr.X.Type().Underlying().(*types.Basic)
		return ok && b.Info()&types.IsString != 0
	case *ssa.Next:
		return instr.IsString
	case *ssa.Call:
		if b, ok := instr.Call.Value.(*ssa.Builtin); ok {
			return slices.Contains([]string{"len", "cap", "min", "max", "real", "imag", "complex"}, b.Name())
		}
		callee := instr.Call.StaticCallee()
		return callee != nil && closed[callee] && !slices.ContainsFunc(instr.Call.Args, func(v ssa.Value) bool { return Leads(v.Type()) && !isOwnMemory(v) })
	}
	return false
}

// isOwnMemory reports whether an address is that of a variable of the function, or is what a
// parameter points to, or a part of it.
func isOwnMemory(addr ssa.Value) bool {
	switch v := addr.(type) {
	case *ssa.Alloc:
		return true
	case *ssa.Parameter:
		_, ok := v.Type().Underlying().(*types.Pointer)
		return ok
	case *ssa.FieldAddr:
		return isOwnMemory(v.X)
	case *ssa.IndexAddr:
		_, ok := v.X.Type().Underlying().(*types.Pointer)
		return ok && isOwnMemory(v.X)
	}
	return false
}
