package gossa

import (
	"fmt"
	"go/constant"
	"go/types"
	"math"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/sli"
)

// A lifter lifts one function.
type lifter struct {
	p    *Program
	f    *ssa.Function
	out  *sli.Func
	regs map[ssa.Value]sli.Reg
	cur  *sli.Block
	at   ssa.Instruction // what is being lifted
}

func (l *lifter) function() {
	for _, v := range l.f.Params {
		l.out.Params = append(l.out.Params, l.reg(v))
	}
	for _, v := range l.f.FreeVars {
		l.out.Free = append(l.out.Free, l.reg(v))
	}
	l.out.Results = l.p.results(l.f.Signature)
	l.readRefs()
	heads, tails := map[*ssa.BasicBlock]*sli.Block{}, map[*ssa.BasicBlock]*sli.Block{}
	for _, b := range l.f.Blocks {
		heads[b] = l.out.NewBlock()
	}
	for _, b := range l.f.Blocks {
		l.cur = heads[b]
		for _, in := range b.Instrs {
			l.at = in
			l.instr(in)
		}
		if n := len(l.cur.Instrs); n == 0 || !last(l.cur.Instrs[n-1]) {
			l.emit(&sli.Instr{Op: sli.Stop})
		}
		tails[b] = l.cur
	}
	for _, b := range l.f.Blocks {
		if tail := tails[b]; tail.Instrs[len(tail.Instrs)-1].Op != sli.Stop {
			for _, s := range b.Succs {
				tail.Succs = append(tail.Succs, heads[s])
			}
		}
		for _, q := range b.Preds {
			heads[b].Preds = append(heads[b].Preds, tails[q])
		}
	}
	l.unreached()
}

// unreached takes the ways out that a Stop cut off away again.
func (l *lifter) unreached() {
	for _, b := range l.out.Blocks {
		for i := len(b.Preds) - 1; i >= 0; i-- {
			q := b.Preds[i]
			if q.Instrs[len(q.Instrs)-1].Op != sli.Stop {
				continue
			}
			b.Preds = append(b.Preds[:i:i], b.Preds[i+1:]...)
			for _, in := range b.Instrs {
				if in.Op == sli.Phi {
					in.Args = append(in.Args[:i:i], in.Args[i+1:]...)
				}
			}
		}
	}
}

func last(in *sli.Instr) bool {
	switch in.Op {
	case sli.Jump, sli.Branch, sli.Return, sli.Stop:
		return true
	}
	return false
}

func (l *lifter) reg(v ssa.Value) sli.Reg {
	r, ok := l.regs[v]
	if !ok {
		r = l.out.NewReg(v.Name(), l.p.size(v.Type()))
		l.regs[v] = r
	}
	return r
}

// temp is a register that go/ssa does not have.
func (l *lifter) temp(size int) sli.Reg { return l.out.NewReg("", size) }

func (l *lifter) emit(in *sli.Instr) *sli.Instr {
	if in.Pos == 0 {
		in.Pos = l.p.origin(Origin{Func: l.f, Instr: l.at})
	}
	return l.cur.Add(in)
}

func (l *lifter) assign(v ssa.Value, x *sli.Expr) {
	l.emit(&sli.Instr{Op: sli.Assign, Dst: l.reg(v), X: x})
}

func (l *lifter) test(why sli.Why, x *sli.Expr) {
	if x.Op == sli.OpConst && x.Val.Uint() == 0 {
		return
	}
	l.emit(&sli.Instr{Op: sli.Test, Why: why, X: x})
}

// block goes on in a new block.
func (l *lifter) block() *sli.Block {
	l.cur = l.out.NewBlock()
	return l.cur
}

// value is the expression for an operand.
func (l *lifter) value(v ssa.Value) *sli.Expr {
	switch v := v.(type) {
	case *ssa.Const:
		return l.p.constant(v)
	case *ssa.Global:
		return sli.Symbol(v.String())
	case *ssa.Function:
		if f := l.p.funcs[v]; f != nil {
			return sli.Closure(f.Name)
		}
		return sli.Symbol("func " + v.String())
	case *ssa.Builtin:
		return sli.Opaque(v.Name(), 8)
	}
	return sli.R(l.reg(v), l.p.size(v.Type()))
}

func (l *lifter) values(vs []ssa.Value) []*sli.Expr {
	all := make([]*sli.Expr, len(vs))
	for i, v := range vs {
		all[i] = l.value(v)
	}
	return all
}

func (p *Program) constant(c *ssa.Const) *sli.Expr {
	n := p.size(c.Type())
	if c.Value == nil {
		return sli.Const(sli.Bytes(make([]byte, n)))
	}
	switch {
	case isComplex(c.Type()):
		return sli.Opaque("complex number", n)
	case isString(c.Type()):
		return p.text(constant.StringVal(c.Value))
	case c.Value.Kind() == constant.Bool:
		if constant.BoolVal(c.Value) {
			return sli.Num(n, 1)
		}
		return sli.Num(n, 0)
	case class(c.Type()) == sli.Float:
		f, _ := constant.Float64Val(constant.ToFloat(c.Value))
		if n == 4 {
			return sli.Num(4, uint64(math.Float32bits(float32(f))))
		}
		return sli.Num(n, math.Float64bits(f))
	}
	v := constant.ToInt(c.Value)
	if i, ok := constant.Int64Val(v); ok {
		return sli.Num(n, uint64(i))
	}
	u, _ := constant.Uint64Val(v)
	return sli.Num(n, u)
}

// text is a constant string.
func (p *Program) text(s string) *sli.Expr {
	if s == "" {
		return sli.Const(sli.Bytes(make([]byte, 16)))
	}
	name, ok := p.texts[s]
	if !ok {
		name = fmt.Sprintf("text%d", len(p.texts))
		p.texts[s] = name
		p.Data[name] = []byte(s)
	}
	return sli.Concat(sli.Symbol(name), sli.Num(8, uint64(len(s))))
}

// word is an integer operand of any type as 8 bytes.
func (l *lifter) word(v ssa.Value) *sli.Expr {
	return sli.Convert(l.value(v), class(v.Type()), sli.Unsigned, 8)
}

func pointee(t types.Type) types.Type { return t.Underlying().(*types.Pointer).Elem() }
