package ir

import (
	"errors"
	"fmt"
)

// Check reports what is wrong with a program that a front end made: what the engine
// relies on and does not test again.
func (p *Program) Check() error {
	var errs []error
	for _, fn := range p.Funcs {
		c := &checker{fn: fn, defined: map[Reg]*Instr{}}
		c.check()
		errs = append(errs, c.errs...)
	}
	return errors.Join(errs...)
}

// A checker checks one function.
type checker struct {
	fn      *Func
	defined map[Reg]*Instr
	errs    []error
}

func (c *checker) reject(in *Instr, format string, args ...any) {
	where := c.fn.Name
	if in != nil {
		where += ":" + in.Name() + " (" + in.Op.String() + ")"
	}
	c.errs = append(c.errs, fmt.Errorf("lifted code of %s: %s", where, fmt.Sprintf(format, args...)))
}

func (c *checker) check() {
	given := map[Reg]bool{}
	for _, r := range append(append([]Reg(nil), c.fn.Params...), c.fn.Captured...) {
		given[r] = true
	}
	for i, block := range c.fn.Blocks {
		if block.Index != i || block.Func != c.fn {
			c.reject(nil, "block %d is numbered %d", i, block.Index)
		}
		if len(block.Instrs) == 0 {
			c.reject(nil, "block %d is empty", i)
			continue
		}
		for j, in := range block.Instrs {
			if in.Block != block {
				c.reject(in, "it is in two blocks")
			}
			if in.EndsBlock() != (j == len(block.Instrs)-1) {
				c.reject(in, "it must be the last of its block, or must not be")
			}
			if in.Dst != 0 {
				if c.defined[in.Dst] != nil || given[in.Dst] {
					c.reject(in, "register %d is defined twice", in.Dst)
				}
				c.defined[in.Dst] = in
			}
		}
		c.edges(block)
	}
	if len(c.errs) > 0 {
		return
	}
	dom := Dominators(c.fn)
	for _, block := range c.fn.Blocks {
		for j, in := range block.Instrs {
			c.instr(in)
			if !dom.Reached(block.Index) {
				continue // cannot be reached
			}
			c.eachUse(in, func(r Reg, from *Block) {
				d := c.defined[r]
				switch {
				case given[r]:
				case d == nil:
					c.reject(in, "register %d is not defined", r)
				case from == block && d.Block == block && in.Op != Phi:
					if d.Index() >= j {
						c.reject(in, "register %d is used before it is defined", r)
					}
				case dom.Reached(from.Index) && !dom.Dominates(d.Block.Index, from.Index):
					c.reject(in, "register %d is not defined on every way here", r)
				}
			})
		}
	}
}

// edges checks that a block has the successors its last instruction needs, and that they know
// of it.
func (c *checker) edges(block *Block) {
	want := 0
	switch block.Instrs[len(block.Instrs)-1].Op {
	case Jump:
		want = 1
	case Branch:
		want = 2
	}
	if len(block.Succs) != want {
		c.reject(block.Instrs[len(block.Instrs)-1], "it has %d successors, not %d", len(block.Succs), want)
	}
	for _, s := range block.Succs {
		n, m := 0, 0
		for _, p := range s.Preds {
			if p == block {
				n++
			}
		}
		for _, x := range block.Succs {
			if x == s {
				m++
			}
		}
		if n != m {
			c.reject(nil, "blocks %d and %d do not agree that one follows the other", block.Index, s.Index)
		}
	}
}

// eachUse calls f with every register that in reads, and the block at whose end it is
// read.
func (c *checker) eachUse(in *Instr, f func(Reg, *Block)) {
	// An update may use the value that it finds.
	own := Reg(0)
	if in.Op == Update {
		own = in.Dst
	}
	each := func(e *Expr, block *Block) {
		if e == nil {
			return
		}
		e.Walk(map[*Expr]bool{}, func(x *Expr) {
			if x.Op != OpRegister {
				return
			}
			if int(x.Reg) >= len(c.fn.RegSizes) || x.Reg == 0 {
				c.reject(in, "there is no register %d", x.Reg)
				return
			}
			if x.Size != c.fn.RegSizes[x.Reg] {
				c.reject(in, "register %d has %d bytes, used are %d", x.Reg, c.fn.RegSizes[x.Reg], x.Size)
			}
			if x.Reg != own || e != in.Value {
				f(x.Reg, block)
			}
		})
	}
	if in.Op == Phi {
		for i, a := range in.Args {
			if i < len(in.Block.Preds) {
				each(a, in.Block.Preds[i])
			}
		}
		return
	}
	for _, e := range append([]*Expr{in.Operand, in.Value, in.Key, in.Target}, in.Args...) {
		each(e, in.Block)
	}
}

// instr checks what an instruction of its kind must have.
func (c *checker) instr(in *Instr) {
	needX := false
	switch in.Op {
	case Phi:
		if len(in.Args) != len(in.Block.Preds) {
			c.reject(in, "it has %d values for %d ways here", len(in.Args), len(in.Block.Preds))
		}
		if i := in.Index(); i > 0 && in.Block.Instrs[i-1].Op != Phi {
			c.reject(in, "it does not stand first in its block")
		}
	case Assign:
		needX = true
		if in.Operand != nil && in.Dst != 0 && in.Operand.Size != c.fn.RegSizes[in.Dst] {
			c.reject(in, "%d bytes are assigned to a register of %d", in.Operand.Size, c.fn.RegSizes[in.Dst])
		}
	case Load:
		needX = true
		if in.Dst != 0 && in.Size != c.fn.RegSizes[in.Dst] {
			c.reject(in, "%d bytes are loaded into a register of %d", in.Size, c.fn.RegSizes[in.Dst])
		}
	case Store:
		needX = true
		if in.Value == nil && in.Key == nil {
			c.reject(in, "it stores nothing")
		} else if in.Value != nil && in.Key == nil && in.Value.Size != in.Size {
			c.reject(in, "it stores %d bytes of %d", in.Size, in.Value.Size)
		}
	case Update:
		needX = true
		if in.Value == nil || in.Value.Size != in.Size || in.Dst != 0 && in.Size != c.fn.RegSizes[in.Dst] {
			c.reject(in, "what it finds and what it leaves must both have %d bytes", in.Size)
		}
	case Alloc, Test, Branch:
		needX = true
		if in.Op == Test && in.Cause == 0 {
			c.reject(in, "it does not say why it fails")
		}
	case Call, Spawn, Defer:
		if in.Callee != nil && len(in.Args) != len(in.Callee.Params) {
			c.reject(in, "%s has %d parameters, given are %d", in.Callee.Name, len(in.Callee.Params), len(in.Args))
		}
		if in.Callee == nil && in.Target == nil && in.Extern == "" && in.Sync == SyncNone {
			c.reject(in, "it does not say what it calls")
		}
		if in.Op == Call && in.Callee != nil && in.Dst != 0 && in.Callee.ResultSize != c.fn.RegSizes[in.Dst] {
			c.reject(in, "%s returns %d bytes, the register has %d", in.Callee.Name, in.Callee.ResultSize, c.fn.RegSizes[in.Dst])
		}
	case Return:
		n := 0
		if in.Operand != nil {
			n = in.Operand.Size
		}
		if n != c.fn.ResultSize {
			c.reject(in, "it returns %d bytes of %d", n, c.fn.ResultSize)
		}
	case Sync:
		if in.Sync == SyncNone || in.Sync >= syncKinds {
			c.reject(in, "there is no such operation: %v", in.Sync)
		}
	case RunDefers, Jump, Stop:
	default:
		c.reject(in, "there is no such instruction: %d", in.Op)
	}
	if needX && in.Operand == nil {
		c.reject(in, "it has no operand")
	}
}
