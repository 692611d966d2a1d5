package cpu

import (
	"math/bits"

	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// The flags, by their places in the register.
const (
	CF = 1 << 0
	PF = 1 << 2
	AF = 1 << 4
	ZF = 1 << 6
	SF = 1 << 7
	TF = 1 << 8
	IF = 1 << 9
	DF = 1 << 10
	OF = 1 << 11
	AC = 1 << 18
	ID = 1 << 21

	arithmeticFlags = CF | PF | AF | ZF | SF | OF
)

// A source says what the flags follow from.
type source uint8

const (
	fromWord  source = iota // word
	fromAdd                 // a + b
	fromSub                 // a - b
	fromLogic               // a; no carry, no overflow
	fromInc                 // a, the result, and the carry of before
	fromDec
	fromShift // a, the result, and carry and overflow
)

// Lazy are the flags as they are kept: not themselves, but what they follow from. Most
// are never looked at. Operands are shifted to the upper end of 64 bits, so that sign,
// carry and overflow are the same for all sizes.
type lazy struct {
	from   source
	shift  uint8 // how far the operands are shifted up
	carry  bool
	over   bool
	a, b   uint64
	word   uint64 // the arithmetic flags, if from is fromWord
	system uint64 // flags that no arithmetic changes: ID, AC
}

func (l *lazy) add(a, b uint64, shift uint8) { l.from, l.a, l.b, l.shift = fromAdd, a, b, shift }
func (l *lazy) sub(a, b uint64, shift uint8) { l.from, l.a, l.b, l.shift = fromSub, a, b, shift }
func (l *lazy) logic(r uint64, shift uint8)  { l.from, l.a, l.shift = fromLogic, r, shift }

// set makes the flags those of a word.
func (l *lazy) set(word uint64) { l.from, l.word = fromWord, word&arithmeticFlags }

// result returns the number that zero, sign and parity are about, shifted up.
func (l *lazy) result() uint64 {
	switch l.from {
	case fromAdd:
		return l.a + l.b
	case fromSub:
		return l.a - l.b
	default:
		return l.a
	}
}

func (l *lazy) zf() bool {
	switch l.from {
	case fromSub:
		return l.a == l.b
	case fromWord:
		return l.word&ZF != 0
	case fromAdd:
		return l.a+l.b == 0
	default:
		return l.a == 0
	}
}

func (l *lazy) sf() bool {
	if l.from == fromWord {
		return l.word&SF != 0
	}
	return int64(l.result()) < 0
}

func (l *lazy) cf() bool {
	switch l.from {
	case fromSub:
		return l.a < l.b
	case fromAdd:
		return l.a+l.b < l.a
	case fromLogic:
		return false
	case fromWord:
		return l.word&CF != 0
	default:
		return l.carry
	}
}

func (l *lazy) of() bool {
	switch l.from {
	case fromSub:
		return int64((l.a^l.b)&(l.a^(l.a-l.b))) < 0
	case fromAdd:
		r := l.a + l.b
		return int64((l.a^r)&(l.b^r)) < 0
	case fromLogic:
		return false
	case fromInc:
		return l.a == 1<<63
	case fromDec:
		return l.a == 1<<63-1<<(l.shift&63)
	case fromShift:
		return l.over
	default:
		return l.word&OF != 0
	}
}

func (l *lazy) pf() bool {
	if l.from == fromWord {
		return l.word&PF != 0
	}
	return bits.OnesCount8(uint8(l.result()>>(l.shift&63)))&1 == 0
}

func (l *lazy) af() bool {
	switch l.from {
	case fromWord:
		return l.word&AF != 0
	case fromAdd, fromSub:
		return (l.a^l.b^l.result())>>(l.shift&63)&16 != 0
	case fromInc:
		return l.a>>(l.shift&63)&15 == 0
	case fromDec:
		return l.a>>(l.shift&63)&15 == 15
	default:
		return false
	}
}

// flags returns the arithmetic flags as a word.
func (l *lazy) flags() uint64 {
	if l.from == fromWord {
		return l.word
	}
	return bit(l.cf(), CF) | bit(l.pf(), PF) | bit(l.af(), AF) | bit(l.zf(), ZF) | bit(l.sf(), SF) | bit(l.of(), OF)
}

func bit(b bool, flag uint64) uint64 {
	if b {
		return flag
	}
	return 0
}

// cond reports whether a condition holds.
func (l *lazy) cond(c x86.Cond) bool {
	switch c {
	case x86.Overflow:
		return l.of()
	case x86.NotOverflow:
		return !l.of()
	case x86.Below:
		return l.cf()
	case x86.AboveEqual:
		return !l.cf()
	case x86.Equal:
		return l.zf()
	case x86.NotEqual:
		return !l.zf()
	case x86.BelowEqual:
		return l.belowEqual()
	case x86.Above:
		return !l.belowEqual()
	case x86.Sign:
		return l.sf()
	case x86.NotSign:
		return !l.sf()
	case x86.Parity:
		return l.pf()
	case x86.NotParity:
		return !l.pf()
	case x86.Less:
		return l.less()
	case x86.GreaterEqual:
		return !l.less()
	case x86.LessEqual:
		return l.lessEqual()
	default:
		return !l.lessEqual()
	}
}

func (l *lazy) belowEqual() bool {
	if l.from == fromSub {
		return l.a <= l.b
	}
	return l.cf() || l.zf()
}

func (l *lazy) less() bool {
	switch l.from {
	case fromSub:
		return int64(l.a) < int64(l.b)
	case fromLogic:
		return int64(l.a) < 0
	}
	return l.sf() != l.of()
}

func (l *lazy) lessEqual() bool {
	switch l.from {
	case fromSub:
		return int64(l.a) <= int64(l.b)
	case fromLogic:
		return int64(l.a) <= 0
	}
	return l.zf() || l.sf() != l.of()
}

// Flags returns the flags register.
func (c *CPU) Flags() uint64 {
	return c.lazy.flags() | c.lazy.system | bit(c.Backwards, DF) | IF | 2
}

// SetFlags sets the flags that a program may set.
func (c *CPU) SetFlags(v uint64) {
	c.lazy.set(v)
	c.lazy.system = v & (ID | AC | TF)
	c.Backwards = v&DF != 0
}
