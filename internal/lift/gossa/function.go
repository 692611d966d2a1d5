package gossa

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"math"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A lifter lifts one function.
type lifter struct {
	program *Program
	source  *ssa.Function
	lifted  *ir.Func
	regs    map[ssa.Value]ir.Reg
	block   *ir.Block
	current ssa.Instruction // what is being lifted
	// defersInRanges says that go/ssa has left out where deferred calls are made.
	defersInRanges bool
}

// liftFunction lifts all blocks of the function. An instruction of go/ssa may take several
// blocks here (a type assertion with two results does), so that a block of go/ssa begins in
// one block and ends in another.
func (l *lifter) liftFunction() {
	for _, v := range l.source.Params {
		l.lifted.Params = append(l.lifted.Params, l.registerOf(v))
	}
	for _, v := range l.source.FreeVars {
		l.lifted.Captured = append(l.lifted.Captured, l.registerOf(v))
	}
	l.lifted.ResultSize = l.program.resultSize(l.source.Signature)
	l.defersInRanges = defersInRanges(l.source)
	l.noteExprs()
	heads, tails := map[*ssa.BasicBlock]*ir.Block{}, map[*ssa.BasicBlock]*ir.Block{}
	for _, b := range l.source.Blocks {
		heads[b] = l.lifted.NewBlock()
	}
	for _, b := range l.source.Blocks {
		l.block = heads[b]
		instrs := l.program.evaluated(b)
		runDefers := l.lostRunDefers(instrs)
		for i, in := range instrs {
			l.current = in
			if i == runDefers {
				l.emit(&ir.Instr{Op: ir.RunDefers})
			}
			l.liftInstr(in)
		}
		if n := len(l.block.Instrs); n == 0 || !endsBlock(l.block.Instrs[n-1]) {
			l.emit(&ir.Instr{Op: ir.Stop})
		}
		tails[b] = l.block
	}
	for _, b := range l.source.Blocks {
		if tail := tails[b]; tail.Instrs[len(tail.Instrs)-1].Op != ir.Stop {
			for _, s := range b.Succs {
				tail.Succs = append(tail.Succs, heads[s])
			}
		}
		for _, q := range b.Preds {
			heads[b].Preds = append(heads[b].Preds, tails[q])
		}
	}
	l.dropUnreached()
}

// lostRunDefers is where a block of a function should make deferred calls, and go/ssa says nothing of
// it because only the bodies of ranges over functions defer some; -1 if there is no such place. It is
// before the loads that give a Return its results, which deferred calls may change.
func (l *lifter) lostRunDefers(instrs []ssa.Instruction) int {
	at := len(instrs) - 1
	if _, returns := instrs[at].(*ssa.Return); !returns || !l.defersInRanges || instrs[at].Block() == l.source.Recover {
		return -1
	}
	for ; at > 0; at-- {
		if load, ok := instrs[at-1].(*ssa.UnOp); !ok || load.Op != token.MUL {
			break
		}
	}
	return at
}

// defersInRanges reports whether the bodies of ranges over functions alone defer calls for fn.
func defersInRanges(fn *ssa.Function) bool {
	hasStack := false
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			switch in := in.(type) {
			case *ssa.RunDefers:
				return false
			case *ssa.Call:
				if f, ok := in.Call.Value.(*ssa.Builtin); ok && f.Name() == "ssa:deferstack" {
					hasStack = true
				}
			}
		}
	}
	return hasStack
}

// dropUnreached takes the ways out that a Stop cut off away again.
func (l *lifter) dropUnreached() {
	for _, block := range l.lifted.Blocks {
		for i := len(block.Preds) - 1; i >= 0; i-- {
			q := block.Preds[i]
			if q.Instrs[len(q.Instrs)-1].Op != ir.Stop {
				continue
			}
			block.Preds = append(block.Preds[:i:i], block.Preds[i+1:]...)
			for _, in := range block.Instrs {
				if in.Op == ir.Phi {
					in.Args = append(in.Args[:i:i], in.Args[i+1:]...)
				}
			}
		}
	}
}

func endsBlock(in *ir.Instr) bool {
	switch in.Op {
	case ir.Jump, ir.Branch, ir.Return, ir.Stop:
		return true
	}
	return false
}

// registerOf is the register that holds a value of go/ssa.
func (l *lifter) registerOf(v ssa.Value) ir.Reg {
	r, ok := l.regs[v]
	if !ok {
		r = l.lifted.NewReg(v.Name(), l.program.size(v.Type()))
		l.regs[v] = r
	}
	return r
}

// newTemp is a register that go/ssa does not have.
func (l *lifter) newTemp(size int) ir.Reg { return l.lifted.NewReg("", size) }

// emit appends an instruction to the current block. Without an origin of its own it has that
// of what is being lifted.
func (l *lifter) emit(in *ir.Instr) *ir.Instr {
	if in.Origin == 0 {
		in.Origin = l.program.addOrigin(Origin{Func: l.source, Instr: l.current})
	}
	if d, ok := l.current.(*ssa.Defer); ok && in.Op == ir.Defer && d.DeferStack != nil {
		in.DeferIn = l.program.lifted[rangesIn(l.source)]
	}
	return l.block.Add(in)
}

func (l *lifter) assign(v ssa.Value, x *ir.Expr) {
	l.emit(&ir.Instr{Op: ir.Assign, Dst: l.registerOf(v), Operand: x})
}

// test fails if x holds; a test that cannot fail is left out.
func (l *lifter) test(why ir.Cause, x *ir.Expr) {
	if x.Op == ir.OpConst && x.Value.Uint() == 0 {
		return
	}
	l.emit(&ir.Instr{Op: ir.Test, Cause: why, Operand: x})
}

// startBlock goes on in a new block.
func (l *lifter) startBlock() *ir.Block {
	l.block = l.lifted.NewBlock()
	return l.block
}

// value is the expression for an operand.
func (l *lifter) value(v ssa.Value) *ir.Expr {
	switch v := v.(type) {
	case *ssa.Const:
		return l.program.constant(v)
	case *ssa.Global:
		return ir.Symbol(v.String())
	case *ssa.Function:
		if fn := l.program.lifted[v]; fn != nil {
			return ir.Closure(fn.Name)
		}
		return ir.Symbol(ir.FuncSymbol(v.String()))
	case *ssa.Builtin:
		return ir.Opaque(v.Name(), 8)
	}
	return ir.Register(l.registerOf(v), l.program.size(v.Type()))
}

func (l *lifter) values(vs []ssa.Value) []*ir.Expr {
	all := make([]*ir.Expr, len(vs))
	for i, v := range vs {
		all[i] = l.value(v)
	}
	return all
}

// constant is a constant of Go as the bytes that it has in memory.
func (p *Program) constant(c *ssa.Const) *ir.Expr {
	n := p.size(c.Type())
	if c.Value == nil {
		return ir.Const(ir.Zero(n))
	}
	switch {
	case isComplex(c.Type()):
		return ir.Opaque("complex number", n)
	case isString(c.Type()):
		return p.text(constant.StringVal(c.Value))
	case c.Value.Kind() == constant.Bool:
		if constant.BoolVal(c.Value) {
			return ir.Number(n, 1)
		}
		return ir.Number(n, 0)
	case classOf(c.Type()) == ir.Float:
		f, _ := constant.Float64Val(constant.ToFloat(c.Value))
		if n == 4 {
			return ir.Number(4, uint64(math.Float32bits(float32(f))))
		}
		return ir.Number(n, math.Float64bits(f))
	}
	v := constant.ToInt(c.Value)
	if i, ok := constant.Int64Val(v); ok {
		return ir.Number(n, uint64(i))
	}
	u, _ := constant.Uint64Val(v)
	return ir.Number(n, u)
}

// text is a constant string.
func (p *Program) text(s string) *ir.Expr {
	if s == "" {
		return ir.Const(ir.Zero(16))
	}
	name, ok := p.textNames[s]
	if !ok {
		name = fmt.Sprintf("text%d", len(p.textNames))
		p.textNames[s] = name
		p.Constants[name] = []byte(s)
	}
	return ir.Concat(ir.Symbol(name), ir.Number(8, uint64(len(s))))
}

// word64 is an integer operand of any type as 8 bytes.
func (l *lifter) word64(v ssa.Value) *ir.Expr {
	return ir.Convert(l.value(v), classOf(v.Type()), ir.Unsigned, 8)
}

func pointee(t types.Type) types.Type { return t.Underlying().(*types.Pointer).Elem() }
