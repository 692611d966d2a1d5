package facts

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A useOfAddress is what an instruction does with an address that it is given.
type useOfAddress uint8

const (
	// followed: it loads or stores there, makes the address of a part, or looks whether it is
	// nil.
	followed useOfAddress = iota
	// borrowed: a function is called with it that has forgotten it when it returns, and
	// only reads what is there; borrowedToWrite: one that may write.
	borrowed
	borrowedToWrite
	// kept: it goes where it is not followed, or is compared with another pointer. That has to be
	// one to the variable, which a copy and the holder's view on pages are not.
	//
	//	for e := l.root.next; e != &l.root; e = e.next {
	kept
)

// isAddress reports whether a value is computed as the address of a variable or of a part
// of something. A pointer to all of a new object is a value like others.
func (f *Facts) isAddress(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.FieldAddr, *ssa.IndexAddr:
		return true
	}
	return f.code.variable(v) != nil
}

// useOfAddress says what an instruction does with the address that is its operand of a
// number.
func (f *Facts) useOfAddress(i ssa.Instruction, operand int, address ssa.Value) useOfAddress {
	switch i := i.(type) {
	case *ssa.UnOp, *ssa.FieldAddr, *ssa.DebugRef:
		return followed
	case *ssa.Store:
		if operand == 0 && i.Val != address {
			return followed
		}
	case *ssa.IndexAddr:
		if operand == 0 {
			return followed
		}
	case *ssa.BinOp:
		if isNilCheck(i) {
			return followed
		}
	case *ssa.MakeClosure:
		if _, ok := address.(*ssa.FieldAddr); !ok && f.code.variable(address) != nil {
			return followed // the literal uses the variable by its name
		}
	case *ssa.Call:
		return f.useAsArgument(i.Common(), address)
	case ssa.CallInstruction: // that runs later
		if fn := calleeOf(i.Common()); fn != nil {
			if _, ok := mutexMethod(fn); ok {
				return followed
			}
		}
	}
	return kept
}

// isNilCheck reports whether a comparison is with nil.
func isNilCheck(i *ssa.BinOp) bool {
	isNil := func(v ssa.Value) bool {
		c, ok := v.(*ssa.Const)
		return ok && c.IsNil()
	}
	return isNil(i.X) || isNil(i.Y)
}

// useAsArgument says what a call does with an address.
func (f *Facts) useAsArgument(c *ssa.CallCommon, address ssa.Value) useOfAddress {
	if b, ok := c.Value.(*ssa.Builtin); ok {
		if b.Name() == "len" || b.Name() == "cap" {
			return followed
		}
		return kept
	}
	fn := calleeOf(c)
	if fn == nil {
		return kept
	}
	if _, ok := mutexMethod(fn); ok {
		return followed
	}
	use := followed
	for n, a := range c.Args {
		if a != address {
			continue
		}
		switch p := f.borrowers[parameter{FuncKeyOf(fn), n}]; {
		case p == nil || p.keeps:
			return kept
		case p.writes:
			use = borrowedToWrite
		default:
			use = max(use, borrowed)
		}
	}
	return use
}

// A parameter of a function, by its number; the receiver is one of them.
type parameter struct {
	of     FuncKey
	number int
}

// A borrower is a parameter that is a pointer, with what its function does with it. One that
// does not keep it only borrows it: the address is forgotten when the function returns.
//
//	func (c *counts) add(n int) { c.a += n }
//	x.counts.add(1)      the address of x.counts goes nowhere
type borrower struct {
	keeps, writes bool
	passed        []parameter // of functions that are called with it
}

// observeParameters notes what a function does with the pointers that it is given.
func (f *Facts) observeParameters(k FuncKey, fn *ssa.Function) {
	for n, p := range fn.Params {
		if _, ok := p.Type().Underlying().(*types.Pointer); !ok || locks.IsMutex(p.Type()) {
			continue
		}
		b := new(borrower)
		f.borrowers[parameter{k, n}] = b
		b.observe(f, p)
	}
}

// observe looks at the uses of a pointer, or of an address that is computed from it.
func (b *borrower) observe(f *Facts, v ssa.Value) {
	for _, i := range *v.Referrers() {
		switch i := i.(type) {
		case *ssa.DebugRef:
		case *ssa.BinOp:
			b.keeps = b.keeps || !isNilCheck(i) // a copy has another address
		case *ssa.UnOp:
			b.keeps = b.keeps || i.Op != token.MUL
		case *ssa.Store:
			b.keeps = b.keeps || i.Val == v
			b.writes = true
		case *ssa.FieldAddr:
			b.observe(f, i)
		case *ssa.IndexAddr:
			b.observe(f, i)
		case *ssa.Call:
			b.pass(i.Common(), v)
		case *ssa.Defer:
			// The call is over before the function is.
			b.pass(i.Common(), v)
		default:
			b.keeps = true
		}
	}
}

// pass notes that a function is called with the pointer.
func (b *borrower) pass(c *ssa.CallCommon, v ssa.Value) {
	fn := calleeOf(c)
	if fn == nil {
		b.keeps = true
		return
	}
	if _, ok := mutexMethod(fn); ok {
		return
	}
	for n, a := range c.Args {
		if a == v {
			b.passed = append(b.passed, parameter{FuncKeyOf(fn), n})
		}
	}
}

// propagateBorrowing follows pointers into the functions that they are passed to.
func (f *Facts) propagateBorrowing() {
	for changed := true; changed; {
		changed = false
		for _, b := range f.borrowers {
			for _, p := range b.passed {
				switch c := f.borrowers[p]; {
				case !b.keeps && (c == nil || c.keeps):
					b.keeps, changed = true, true
				case c != nil && c.writes && !b.writes:
					b.writes, changed = true, true
				}
			}
		}
	}
}
