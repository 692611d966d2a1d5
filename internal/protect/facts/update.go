package facts

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// An Update is how a store makes the new value of the old one. What is known of it says how a
// section's change can be merged with a careless one.
type Update uint8

const (
	// Assigns is any other way, or one in which the old value has no part.
	Assigns Update = iota
	// Adds something to the old value, or subtracts it.
	Adds
	// Raises the old value to another one, if that is greater; Lowers, if it is less.
	Raises
	Lowers
	// Appends to the old slice or string.
	Appends
)

// updateOf says how a store makes its value.
func updateOf(s *ssa.Store) Update {
	switch v := s.Val.(type) {
	case *ssa.BinOp:
		x, y := loadsFrom(v.X, s.Addr), loadsFrom(v.Y, s.Addr)
		switch {
		case v.Op == token.ADD && isText(v.Type()):
			if x && !y {
				return Appends
			}
		case v.Op == token.ADD && x != y, v.Op == token.SUB && x && !y:
			return Adds
		}
	case *ssa.Call:
		b, ok := v.Call.Value.(*ssa.Builtin)
		if !ok {
			break
		}
		old := 0
		for _, a := range v.Call.Args {
			if loadsFrom(a, s.Addr) {
				old++
			}
		}
		switch {
		case old != 1:
		case b.Name() == "max":
			return Raises
		case b.Name() == "min":
			return Lowers
		case b.Name() == "append" && loadsFrom(v.Call.Args[0], s.Addr):
			return Appends
		}
	}
	return updateIfGreater(s)
}

// updateIfGreater recognises a store that is only reached if the value is greater than the old
// one, or less.
func updateIfGreater(s *ssa.Store) Update {
	if len(s.Block().Preds) != 1 {
		return Assigns
	}
	before := s.Block().Preds[0]
	branch, ok := before.Instrs[len(before.Instrs)-1].(*ssa.If)
	if !ok || before.Succs[0] != s.Block() {
		return Assigns
	}
	c, ok := branch.Cond.(*ssa.BinOp)
	if !ok {
		return Assigns
	}
	op := c.Op
	switch {
	case sameValue(c.X, s.Val) && loadsFrom(c.Y, s.Addr):
	case sameValue(c.Y, s.Val) && loadsFrom(c.X, s.Addr):
		op = map[token.Token]token.Token{token.LSS: token.GTR, token.LEQ: token.GEQ, token.GTR: token.LSS, token.GEQ: token.LEQ}[op]
	default:
		return Assigns
	}
	switch op {
	case token.GTR, token.GEQ:
		return Raises
	case token.LSS, token.LEQ:
		return Lowers
	}
	return Assigns
}

func isText(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// loadsFrom reports whether a value is what was at an address.
func loadsFrom(v, address ssa.Value) bool {
	load, ok := v.(*ssa.UnOp)
	return ok && load.Op == token.MUL && sameAddress(load.X, address)
}

// sameAddress reports whether two addresses are computed in the same way.
func sameAddress(a, b ssa.Value) bool {
	if a == b {
		return true
	}
	switch a := a.(type) {
	case *ssa.FieldAddr:
		b, ok := b.(*ssa.FieldAddr)
		return ok && a.Field == b.Field && sameAddress(a.X, b.X)
	case *ssa.IndexAddr:
		b, ok := b.(*ssa.IndexAddr)
		return ok && sameValue(a.Index, b.Index) && sameAddress(a.X, b.X)
	}
	return false
}

// sameValue reports whether two values are one, or loads of one local variable or constants
// that are the same.
func sameValue(a, b ssa.Value) bool {
	if a == b {
		return true
	}
	if x, ok := a.(*ssa.Const); ok {
		y, ok := b.(*ssa.Const)
		return ok && x.Value != nil && y.Value != nil && x.Value.ExactString() == y.Value.ExactString()
	}
	return false
}
