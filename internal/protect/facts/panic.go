package facts

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// mayPanic reports whether an instruction by itself may panic. What a section has written
// must not be lost then: the panic may be recovered from.
func mayPanic(i ssa.Instruction) bool {
	switch i := i.(type) {
	case *ssa.Alloc, *ssa.ChangeInterface, *ssa.ChangeType, *ssa.DebugRef, *ssa.Extract, *ssa.Field, *ssa.If, *ssa.Jump,
		*ssa.MakeClosure, *ssa.MakeInterface, *ssa.MakeMap, *ssa.Next, *ssa.Phi, *ssa.Range, *ssa.Return, *ssa.Defer, *ssa.RunDefers, *ssa.Convert:
		return false
	case *ssa.UnOp:
		return i.Op == token.MUL && mayBeNil(i.X, i)
	case *ssa.Store:
		return mayBeNil(i.Addr, i)
	case *ssa.FieldAddr:
		return mayBeNil(i.X, i)
	case *ssa.IndexAddr:
		return mayBeOutside(i.X, i.Index, i) || IsPointer(i.X.Type()) && mayBeNil(i.X, i)
	case *ssa.Index:
		return mayBeOutside(i.X, i.Index, i)
	case *ssa.Lookup:
		return mapPanics(i.X.Type()) || !IsMap(i.X.Type())
	case *ssa.BinOp:
		return operationPanics(i)
	case *ssa.Slice:
		return i.Low != nil && !isConst(i.Low, 0) || i.High != nil && !isConst(i.High, 0) || i.Max != nil || IsPointer(i.X.Type()) && mayBeNil(i.X, i)
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

func isConst(v ssa.Value, n int64) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && c.Value.Kind() == constant.Int && c.Int64() == n
}

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil()
}

// mayBeNil reports whether a pointer may be nil at an instruction. It is not if it is an
// address that was computed, or if another instruction before has used it.
func mayBeNil(v ssa.Value, at ssa.Instruction) bool {
	switch v.(type) {
	case *ssa.Alloc, *ssa.Global, *ssa.FreeVar, *ssa.FieldAddr, *ssa.IndexAddr:
		return false
	}
	if v.Referrers() == nil {
		return true
	}
	for _, i := range *v.Referrers() {
		uses := false
		switch i := i.(type) {
		case *ssa.FieldAddr:
			uses = true
		case *ssa.UnOp:
			uses = i.Op == token.MUL
		case *ssa.Store:
			uses = i.Addr == v
		}
		if uses && comesBefore(i, at) {
			return false
		}
	}
	return true
}

// comesBefore reports whether an instruction has run whenever another one does.
func comesBefore(first, second ssa.Instruction) bool {
	if first.Block() != second.Block() {
		return first.Block().Dominates(second.Block())
	}
	for _, i := range first.Block().Instrs {
		switch i {
		case second:
			return false
		case first:
			return true
		}
	}
	return false
}

// mayBeOutside reports whether an index may be none of a slice, array or string.
func mayBeOutside(x, index ssa.Value, at ssa.Instruction) bool {
	if a, ok := Deref(x.Type()).Underlying().(*types.Array); ok {
		if c, ok := index.(*ssa.Const); ok && c.Value != nil {
			return c.Int64() < 0 || c.Int64() >= a.Len()
		}
	}
	next, ok := index.(*ssa.BinOp)
	return !ok || !countsUp(next) || !isChecked(next, x, at)
}

// countsUp reports whether a value is the index of a range loop: one more than itself, and
// -1 before the first round.
func countsUp(next *ssa.BinOp) bool {
	last, ok := next.X.(*ssa.Phi)
	if !ok || next.Op != token.ADD || !isConst(next.Y, 1) {
		return false
	}
	for _, e := range last.Edges {
		if e != next && !isConst(e, -1) {
			return false
		}
	}
	return true
}

// isChecked reports whether an instruction is only reached if an index is less than the
// length.
func isChecked(index *ssa.BinOp, x ssa.Value, at ssa.Instruction) bool {
	for _, i := range *index.Referrers() {
		c, ok := i.(*ssa.BinOp)
		if !ok || c.Op != token.LSS || c.X != index || !isLength(c.Y, x) {
			continue
		}
		for _, j := range *c.Referrers() {
			if branch, ok := j.(*ssa.If); ok && len(branch.Block().Succs[0].Preds) == 1 && branch.Block().Succs[0].Dominates(at.Block()) {
				return true
			}
		}
	}
	return false
}

// isLength reports whether a value is the length of another.
func isLength(v, x ssa.Value) bool {
	if a, ok := Deref(x.Type()).Underlying().(*types.Array); ok {
		return isConst(v, a.Len())
	}
	c, ok := v.(*ssa.Call)
	if !ok {
		return false
	}
	b, ok := c.Call.Value.(*ssa.Builtin)
	return ok && b.Name() == "len" && c.Call.Args[0] == x
}
