package ir

import (
	"errors"
	"fmt"
)

// Check reports what is wrong with a program that a front end made: what the engine
// relies on and does not test again.
func (p *Program) Check() error {
	var errs []error
	for _, f := range p.Funcs {
		c := &checker{f: f, defined: map[Reg]*Instr{}}
		c.check()
		errs = append(errs, c.errs...)
	}
	return errors.Join(errs...)
}

type checker struct {
	f       *Func
	defined map[Reg]*Instr
	errs    []error
}

func (c *checker) bad(in *Instr, format string, args ...any) {
	where := c.f.Name
	if in != nil {
		where += ":" + in.Name() + " (" + in.Op.String() + ")"
	}
	c.errs = append(c.errs, fmt.Errorf("lifted code of %s: %s", where, fmt.Sprintf(format, args...)))
}

func (c *checker) check() {
	given := map[Reg]bool{}
	for _, r := range append(append([]Reg(nil), c.f.Params...), c.f.Free...) {
		given[r] = true
	}
	for i, b := range c.f.Blocks {
		if b.Index != i || b.Func != c.f {
			c.bad(nil, "block %d is numbered %d", i, b.Index)
		}
		if len(b.Instrs) == 0 {
			c.bad(nil, "block %d is empty", i)
			continue
		}
		for j, in := range b.Instrs {
			if in.Block != b {
				c.bad(in, "it is in two blocks")
			}
			if in.EndsBlock() != (j == len(b.Instrs)-1) {
				c.bad(in, "it must be the last of its block, or must not be")
			}
			if in.Dst != 0 {
				if c.defined[in.Dst] != nil || given[in.Dst] {
					c.bad(in, "register %d is defined twice", in.Dst)
				}
				c.defined[in.Dst] = in
			}
		}
		c.edges(b)
	}
	if len(c.errs) > 0 {
		return
	}
	dom := Dominators(c.f)
	for _, b := range c.f.Blocks {
		for j, in := range b.Instrs {
			c.instr(in)
			if dom[b.Index] == nil {
				continue // cannot be reached
			}
			c.uses(in, func(r Reg, from *Block) {
				d := c.defined[r]
				switch {
				case given[r]:
				case d == nil:
					c.bad(in, "register %d is not defined", r)
				case from == b && d.Block == b && in.Op != Phi:
					if d.Index() >= j {
						c.bad(in, "register %d is used before it is defined", r)
					}
				case dom[from.Index] != nil && !dom[from.Index][d.Block.Index]:
					c.bad(in, "register %d is not defined on every way here", r)
				}
			})
		}
	}
}

func (c *checker) edges(b *Block) {
	want := 0
	switch b.Instrs[len(b.Instrs)-1].Op {
	case Jump:
		want = 1
	case Branch:
		want = 2
	}
	if len(b.Succs) != want {
		c.bad(b.Instrs[len(b.Instrs)-1], "it has %d successors, not %d", len(b.Succs), want)
	}
	for _, s := range b.Succs {
		n, m := 0, 0
		for _, p := range s.Preds {
			if p == b {
				n++
			}
		}
		for _, x := range b.Succs {
			if x == s {
				m++
			}
		}
		if n != m {
			c.bad(nil, "blocks %d and %d do not agree that one follows the other", b.Index, s.Index)
		}
	}
}

// uses calls f with every register that in reads, and the block at whose end it is
// read.
func (c *checker) uses(in *Instr, f func(Reg, *Block)) {
	each := func(e *Expr, b *Block) {
		if e == nil {
			return
		}
		e.Walk(map[*Expr]bool{}, func(x *Expr) {
			if x.Op != OpReg {
				return
			}
			if int(x.Reg) >= len(c.f.Sizes) || x.Reg == 0 {
				c.bad(in, "there is no register %d", x.Reg)
				return
			}
			if x.Size != c.f.Sizes[x.Reg] {
				c.bad(in, "register %d has %d bytes, used are %d", x.Reg, c.f.Sizes[x.Reg], x.Size)
			}
			f(x.Reg, b)
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
	for _, e := range append([]*Expr{in.X, in.Val, in.Key, in.Fn}, in.Args...) {
		each(e, in.Block)
	}
}

func (c *checker) instr(in *Instr) {
	needX := false
	switch in.Op {
	case Phi:
		if len(in.Args) != len(in.Block.Preds) {
			c.bad(in, "it has %d values for %d ways here", len(in.Args), len(in.Block.Preds))
		}
		if i := in.Index(); i > 0 && in.Block.Instrs[i-1].Op != Phi {
			c.bad(in, "it does not stand first in its block")
		}
	case Assign:
		needX = true
		if in.X != nil && in.Dst != 0 && in.X.Size != c.f.Sizes[in.Dst] {
			c.bad(in, "%d bytes are assigned to a register of %d", in.X.Size, c.f.Sizes[in.Dst])
		}
	case Load:
		needX = true
		if in.Dst != 0 && in.Size != c.f.Sizes[in.Dst] {
			c.bad(in, "%d bytes are loaded into a register of %d", in.Size, c.f.Sizes[in.Dst])
		}
	case Store:
		needX = true
		if in.Val == nil && in.Key == nil {
			c.bad(in, "it stores nothing")
		} else if in.Val != nil && in.Key == nil && in.Val.Size != in.Size {
			c.bad(in, "it stores %d bytes of %d", in.Size, in.Val.Size)
		}
	case Alloc, Test, Branch:
		needX = true
		if in.Op == Test && in.Why == 0 {
			c.bad(in, "it does not say why it fails")
		}
	case Call, Spawn, Defer:
		if in.Callee != nil && len(in.Args) != len(in.Callee.Params) {
			c.bad(in, "%s has %d parameters, given are %d", in.Callee.Name, len(in.Callee.Params), len(in.Args))
		}
		if in.Callee == nil && in.Fn == nil && in.Extern == "" && in.Sync == SyncNone {
			c.bad(in, "it does not say what it calls")
		}
		if in.Op == Call && in.Callee != nil && in.Dst != 0 && in.Callee.Results != c.f.Sizes[in.Dst] {
			c.bad(in, "%s returns %d bytes, the register has %d", in.Callee.Name, in.Callee.Results, c.f.Sizes[in.Dst])
		}
	case Return:
		n := 0
		if in.X != nil {
			n = in.X.Size
		}
		if n != c.f.Results {
			c.bad(in, "it returns %d bytes of %d", n, c.f.Results)
		}
	case Sync:
		if in.Sync == SyncNone || in.Sync >= syncKinds {
			c.bad(in, "there is no such operation: %v", in.Sync)
		}
	case RunDefers, Jump, Stop:
	default:
		c.bad(in, "there is no such instruction: %d", in.Op)
	}
	if needX && in.X == nil {
		c.bad(in, "it has no operand")
	}
}
