// Package bounds knows of instructions in SSA form what has been checked when they run: that a pointer is not nil, or that an
// index is less than a length.
//
//	x.n++; x.m++                  x is not nil for the second
//	for i := range list { list[i] }   i is inside
package bounds

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// MayBeNil reports whether a pointer may be nil at an instruction. It is not if it is an
// address that was computed, or if another instruction before has used it.
func MayBeNil(v ssa.Value, at ssa.Instruction) bool {
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
		if uses && ComesBefore(i, at) {
			return false
		}
	}
	return true
}

// ComesBefore reports whether an instruction has run whenever another one does.
func ComesBefore(first, second ssa.Instruction) bool {
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

// MayBeOutside reports whether an index may be none of a slice, array or string.
func MayBeOutside(x, index ssa.Value, at ssa.Instruction) bool {
	if a, ok := deref(x.Type()).Underlying().(*types.Array); ok {
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
	if !ok || next.Op != token.ADD || !IsConst(next.Y, 1) {
		return false
	}
	for _, e := range last.Edges {
		if e != next && !IsConst(e, -1) {
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
	if a, ok := deref(x.Type()).Underlying().(*types.Array); ok {
		return IsConst(v, a.Len())
	}
	c, ok := v.(*ssa.Call)
	if !ok {
		return false
	}
	b, ok := c.Call.Value.(*ssa.Builtin)
	return ok && b.Name() == "len" && c.Call.Args[0] == x
}

// IsConst reports whether a value is a constant number.
func IsConst(v ssa.Value, n int64) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && c.Value.Kind() == constant.Int && c.Int64() == n
}

// deref returns what a pointer leads to, and other types as they are.
func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
