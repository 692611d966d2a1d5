package gossa

import (
	"fmt"
	"go/constant"
	"go/types"
	"math"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A lifter lifts one function.
type lifter struct {
	p    *Program
	f    *ssa.Function
	out  *ir.Func
	regs map[ssa.Value]ir.Reg
	cur  *ir.Block
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
	heads, tails := map[*ssa.BasicBlock]*ir.Block{}, map[*ssa.BasicBlock]*ir.Block{}
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
			l.emit(&ir.Instr{Op: ir.Stop})
		}
		tails[b] = l.cur
	}
	for _, b := range l.f.Blocks {
		if tail := tails[b]; tail.Instrs[len(tail.Instrs)-1].Op != ir.Stop {
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
			if q.Instrs[len(q.Instrs)-1].Op != ir.Stop {
				continue
			}
			b.Preds = append(b.Preds[:i:i], b.Preds[i+1:]...)
			for _, in := range b.Instrs {
				if in.Op == ir.Phi {
					in.Args = append(in.Args[:i:i], in.Args[i+1:]...)
				}
			}
		}
	}
}

func last(in *ir.Instr) bool {
	switch in.Op {
	case ir.Jump, ir.Branch, ir.Return, ir.Stop:
		return true
	}
	return false
}

func (l *lifter) reg(v ssa.Value) ir.Reg {
	r, ok := l.regs[v]
	if !ok {
		r = l.out.NewReg(v.Name(), l.p.size(v.Type()))
		l.regs[v] = r
	}
	return r
}

// temp is a register that go/ssa does not have.
func (l *lifter) temp(size int) ir.Reg { return l.out.NewReg("", size) }

func (l *lifter) emit(in *ir.Instr) *ir.Instr {
	if in.Pos == 0 {
		in.Pos = l.p.origin(Origin{Func: l.f, Instr: l.at})
	}
	return l.cur.Add(in)
}

func (l *lifter) assign(v ssa.Value, x *ir.Expr) {
	l.emit(&ir.Instr{Op: ir.Assign, Dst: l.reg(v), X: x})
}

func (l *lifter) test(why ir.Why, x *ir.Expr) {
	if x.Op == ir.OpConst && x.Val.Uint() == 0 {
		return
	}
	l.emit(&ir.Instr{Op: ir.Test, Why: why, X: x})
}

// block goes on in a new block.
func (l *lifter) block() *ir.Block {
	l.cur = l.out.NewBlock()
	return l.cur
}

// value is the expression for an operand.
func (l *lifter) value(v ssa.Value) *ir.Expr {
	switch v := v.(type) {
	case *ssa.Const:
		return l.p.constant(v)
	case *ssa.Global:
		return ir.Symbol(v.String())
	case *ssa.Function:
		if f := l.p.funcs[v]; f != nil {
			return ir.Closure(f.Name)
		}
		return ir.Symbol(ir.FuncSymbol(v.String()))
	case *ssa.Builtin:
		return ir.Opaque(v.Name(), 8)
	}
	return ir.R(l.reg(v), l.p.size(v.Type()))
}

func (l *lifter) values(vs []ssa.Value) []*ir.Expr {
	all := make([]*ir.Expr, len(vs))
	for i, v := range vs {
		all[i] = l.value(v)
	}
	return all
}

func (p *Program) constant(c *ssa.Const) *ir.Expr {
	n := p.size(c.Type())
	if c.Value == nil {
		return ir.Const(ir.Bytes(make([]byte, n)))
	}
	switch {
	case isComplex(c.Type()):
		return ir.Opaque("complex number", n)
	case isString(c.Type()):
		return p.text(constant.StringVal(c.Value))
	case c.Value.Kind() == constant.Bool:
		if constant.BoolVal(c.Value) {
			return ir.Num(n, 1)
		}
		return ir.Num(n, 0)
	case class(c.Type()) == ir.Float:
		f, _ := constant.Float64Val(constant.ToFloat(c.Value))
		if n == 4 {
			return ir.Num(4, uint64(math.Float32bits(float32(f))))
		}
		return ir.Num(n, math.Float64bits(f))
	}
	v := constant.ToInt(c.Value)
	if i, ok := constant.Int64Val(v); ok {
		return ir.Num(n, uint64(i))
	}
	u, _ := constant.Uint64Val(v)
	return ir.Num(n, u)
}

// text is a constant string.
func (p *Program) text(s string) *ir.Expr {
	if s == "" {
		return ir.Const(ir.Bytes(make([]byte, 16)))
	}
	name, ok := p.texts[s]
	if !ok {
		name = fmt.Sprintf("text%d", len(p.texts))
		p.texts[s] = name
		p.Data[name] = []byte(s)
	}
	return ir.Concat(ir.Symbol(name), ir.Num(8, uint64(len(s))))
}

// word is an integer operand of any type as 8 bytes.
func (l *lifter) word(v ssa.Value) *ir.Expr {
	return ir.Convert(l.value(v), class(v.Type()), ir.Unsigned, 8)
}

func pointee(t types.Type) types.Type { return t.Underlying().(*types.Pointer).Elem() }
