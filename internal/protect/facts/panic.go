package facts

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/protect/bounds"
)

// mayPanic reports whether an instruction by itself may panic. What a section has written
// must not be lost then: the panic may be recovered from.
func mayPanic(i ssa.Instruction) bool {
	switch i := i.(type) {
	case *ssa.Alloc, *ssa.ChangeInterface, *ssa.ChangeType, *ssa.DebugRef, *ssa.Extract, *ssa.Field, *ssa.If, *ssa.Jump,
		*ssa.MakeClosure, *ssa.MakeInterface, *ssa.MakeMap, *ssa.Next, *ssa.Phi, *ssa.Range, *ssa.Return, *ssa.Defer, *ssa.RunDefers, *ssa.Convert:
		return false
	case *ssa.UnOp:
		return i.Op == token.MUL && bounds.MayBeNil(i.X, i)
	case *ssa.Store:
		return bounds.MayBeNil(i.Addr, i)
	case *ssa.FieldAddr:
		return bounds.MayBeNil(i.X, i)
	case *ssa.IndexAddr:
		return bounds.MayBeOutside(i.X, i.Index, i) || IsPointer(i.X.Type()) && bounds.MayBeNil(i.X, i)
	case *ssa.Index:
		return bounds.MayBeOutside(i.X, i.Index, i)
	case *ssa.Lookup:
		return mapPanics(i.X.Type()) || !IsMap(i.X.Type())
	case *ssa.BinOp:
		return operationPanics(i)
	case *ssa.Slice:
		return i.Low != nil && !bounds.IsConst(i.Low, 0) || i.High != nil && !bounds.IsConst(i.High, 0) || i.Max != nil || IsPointer(i.X.Type()) && bounds.MayBeNil(i.X, i)
	case *ssa.TypeAssert:
		return !i.CommaOk
	case *ssa.MakeSlice:
		return !isConstant(i.Len) || !isConstant(i.Cap)
	case *ssa.Call:
		return callPanics(i.Common())
	case *ssa.Panic:
		return isWritten(i)
	}
	return true
}

// isWritten reports whether a panic stands in the source. SSA form has others, for a select
// that matches no case and for an iterator that goes on after its end: the first cannot be, and
// the second comes after a call of a function that is not known. They have no position, so that
// they would count for all of their function.
func isWritten(i *ssa.Panic) bool { return i.Pos().IsValid() }

// callPanics reports whether a call may panic, apart from what a function of the program
// does that is called.
func callPanics(c *ssa.CallCommon) bool {
	b, ok := c.Value.(*ssa.Builtin)
	if !ok {
		fn := calleeOf(c)
		if fn == nil {
			return true
		}
		_, isMutex := mutexMethod(fn)
		return !isMutex && len(c.StaticCallee().Blocks) == 0
	}
	switch b.Name() {
	case "len", "cap", "append", "copy", "min", "max", "real", "imag", "complex", "new":
		return false
	case "clear", "delete":
		return IsMap(c.Args[0].Type()) && mapPanics(c.Args[0].Type())
	}
	return true
}

// mapPanics reports whether to look for a key in a map may panic: the key has a value that
// cannot be compared.
func mapPanics(t types.Type) bool {
	m, ok := coreOf(t).(*types.Map)
	return !ok || comparisonPanics(m.Key())
}

// comparisonPanics reports whether to compare values of a type may panic.
func comparisonPanics(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if comparisonPanics(f.Type()) {
				return true
			}
		}
	case *types.Array:
		return comparisonPanics(u.Elem())
	}
	return false
}

func operationPanics(b *ssa.BinOp) bool {
	switch b.Op {
	case token.QUO, token.REM:
		basic, ok := b.X.Type().Underlying().(*types.Basic)
		return (!ok || basic.Info()&types.IsInteger != 0) && !isConstant(b.Y)
	case token.SHL, token.SHR:
		basic, ok := b.Y.Type().Underlying().(*types.Basic)
		return (!ok || basic.Info()&types.IsUnsigned == 0) && !isConstant(b.Y)
	case token.EQL, token.NEQ:
		return comparisonPanics(b.X.Type()) && !isNil(b.X) && !isNil(b.Y)
	}
	return false
}

func isConstant(v ssa.Value) bool {
	if v == nil {
		return true
	}
	_, ok := v.(*ssa.Const)
	return ok
}

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil()
}
