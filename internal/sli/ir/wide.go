package ir

import (
	"math/big"
	"math/bits"
)

// toBig is a value of any size as a number.
func toBig(v Value, c Class) *big.Int {
	b := v.Append(nil)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	n := new(big.Int).SetBytes(b)
	if c == Signed && len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 8*uint(len(b))))
	}
	return n
}

// fromBig is the lowest size bytes of a number.
func fromBig(size int, n *big.Int) Value {
	bound := new(big.Int).Lsh(big.NewInt(1), 8*uint(size))
	n = new(big.Int).Mod(n, bound) // never negative
	b := make([]byte, size)
	n.FillBytes(b)
	for i, j := 0, size-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return Bytes(b)
}

// wideArithmetic is arithmetic on more than 8 bytes. It is rare, so it may be slow: the
// product of two words, what is shifted from one word into another.
func wideArithmetic(op Operator, c Class, x, y Value) Value {
	a, b := toBig(x, c), toBig(y, c)
	n := new(big.Int)
	switch op {
	case OpAdd:
		n.Add(a, b)
	case OpSub:
		n.Sub(a, b)
	case OpMul:
		n.Mul(a, b)
	case OpDiv, OpRem:
		if b.Sign() == 0 {
			return Unknown(x.Size) // a test before it has crashed
		}
		if op == OpDiv {
			n.Quo(a, b)
		} else {
			n.Rem(a, b)
		}
	case OpAnd, OpOr, OpXor, OpAndNot:
		return wideLogic(op, x, y)
	case OpShl, OpShr:
		by := toBig(y, Unsigned)
		if !by.IsUint64() || by.Uint64() > 8*uint64(x.Size) {
			by.SetInt64(8 * int64(x.Size))
		}
		if op == OpShl {
			n.Lsh(a, uint(by.Uint64()))
		} else {
			n.Rsh(a, uint(by.Uint64()))
		}
	case OpLt:
		return boolValue(a.Cmp(b) < 0)
	case OpLe:
		return boolValue(a.Cmp(b) <= 0)
	default:
		return Unknown(x.Size)
	}
	return fromBig(x.Size, n)
}

// wideLogic works byte by byte.
func wideLogic(op Operator, x, y Value) Value {
	a, b := x.Append(nil), y.Append(nil)
	for i := range a {
		switch op {
		case OpAnd:
			a[i] &= b[i]
		case OpOr:
			a[i] |= b[i]
		case OpXor:
			a[i] ^= b[i]
		case OpAndNot:
			a[i] &^= b[i]
		}
	}
	return Bytes(a)
}

func wideInvert(x Value) Value {
	b := x.Append(nil)
	for i := range b {
		b[i] = ^b[i]
	}
	return Bytes(b)
}

// countBits counts bits of a value of up to 8 bytes. The result has the value's size.
func countBits(op Operator, x Value) Value {
	if x.Size > 8 {
		return Unknown(x.Size)
	}
	n := 8 * x.Size
	switch {
	case op == OpOnesCount:
		n = bits.OnesCount64(x.word)
	case x.word == 0:
	case op == OpTrailingZeros:
		n = bits.TrailingZeros64(x.word)
	default:
		n = bits.LeadingZeros64(x.word) - (64 - n)
	}
	return Word(x.Size, uint64(n))
}

// Select is yes if the condition holds, else no.
func Select(cond, yes, no *Expr) *Expr {
	if cond.Op == OpConst {
		if cond.Value.Uint() != 0 {
			return yes
		}
		return no
	}
	if yes.key == no.key {
		return yes
	}
	return sealExpr(&Expr{Op: OpSelect, Size: yes.Size, Args: []*Expr{cond, yes, no}})
}
