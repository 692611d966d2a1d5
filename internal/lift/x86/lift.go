package x86

import (
	"fmt"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A lifter lifts one function.
type lifter struct {
	program  *Program
	machine  *machineFunction
	fn       *ir.Func
	params   [variables]ir.Reg
	builders map[*ir.Block]*blockBuilder
	order    []*blockBuilder // in the order in which they were filled
	phis     map[*ir.Block][]*ir.Instr
	byPC     map[uint64]*blockBuilder
	current  *blockBuilder
	inst     *placedInst
	emitted  int // by the instruction at hand
	// testsStore: the next store is the one that the run failed at.
	testsStore bool
	tails      []tailCall
	// opaque are instructions that could not be lifted, lifted counts all.
	opaque []*placedInst
	lifted int
}

// declare makes the function of an entry, without its code.
func (p *Program) declare(entry uint64) *ir.Func {
	fn := &ir.Func{Name: p.image.FunctionName(entry), Site: FunctionSite(entry), ResultSize: ResultBytes, Origin: int(entry), Code: entry}
	for _, v := range parameters {
		fn.Params = append(fn.Params, fn.NewReg(v.name(), v.size()))
	}
	return fn
}

// lift fills a declared function.
func (p *Program) lift(fn *ir.Func, machine *machineFunction) *lifter {
	l := &lifter{
		program: p, machine: machine, fn: fn, builders: map[*ir.Block]*blockBuilder{}, phis: map[*ir.Block][]*ir.Instr{}, byPC: map[uint64]*blockBuilder{},
	}
	for i, v := range parameters {
		l.params[v] = fn.Params[i]
	}
	first := l.newBlock()
	ways := map[uint64]int{machine.entry: 1}
	for _, mb := range l.inOrder() {
		l.byPC[mb.start] = l.newBlock()
		for _, pc := range mb.follows {
			ways[pc]++
		}
	}
	for pc, b := range l.byPC {
		b.open = ways[pc] != 1
	}
	l.current = first
	l.inst = &placedInst{pc: machine.entry}
	if len(machine.blocks) == 0 {
		l.stop()
	} else {
		l.jump(l.byPC[machine.entry])
	}
	for _, mb := range l.inOrder() {
		l.current = l.byPC[mb.start]
		l.fill(mb)
	}
	for len(l.tails) > 0 {
		t := l.tails[0]
		l.tails = l.tails[1:]
		l.current, l.inst = t.block, &t.inst
		l.callAndReturn(t.target)
	}
	l.dropUnreached()
	l.completePhis()
	l.dropTrivialPhis()
	l.markPrivate()
	return l
}

// inOrder are the machine's blocks so that all but the ways back of loops lead forwards.
func (l *lifter) inOrder() []*machineBlock {
	var all []*machineBlock
	seen := map[uint64]bool{}
	var visit func(pc uint64)
	visit = func(pc uint64) {
		b := l.machine.byPC[pc]
		if b == nil || seen[pc] {
			return
		}
		seen[pc] = true
		for i := len(b.follows) - 1; i >= 0; i-- {
			visit(b.follows[i])
		}
		all = append(all, b)
	}
	visit(l.machine.entry)
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

func (l *lifter) newBlock() *blockBuilder {
	b := &blockBuilder{block: l.fn.NewBlock()}
	l.builders[b.block] = b
	l.order = append(l.order, b)
	return b
}

func (l *lifter) pc() int { return int(l.inst.pc) }

// emit adds an instruction at the place of the machine's instruction at hand.
func (l *lifter) emit(in *ir.Instr) *ir.Instr {
	in.Origin = l.pc()
	l.emitted++
	return l.current.block.Add(in)
}

// fill lifts the instructions of a block.
func (l *lifter) fill(mb *machineBlock) {
	for i := range mb.insts {
		l.inst, l.emitted = &mb.insts[i], 0
		l.testFailing()
		l.lifted++
		ended := l.instruction(mb, i == len(mb.insts)-1)
		if ended {
			return
		}
		if l.emitted == 0 {
			// Sections are made of the engine's instructions, so each of the machine's needs one.
			l.emit(&ir.Instr{Op: ir.Assign, Operand: ir.Number(1, 0)})
		}
	}
	if len(mb.follows) == 1 {
		if to := l.byPC[mb.follows[0]]; to != nil {
			l.jump(to)
			return
		}
	}
	l.stop()
}

// jump ends the block: another follows.
func (l *lifter) jump(to *blockBuilder) {
	l.emit(&ir.Instr{Op: ir.Jump})
	l.current.block.LinkTo(to.block)
}

// branch ends the block: one follows if the condition holds, else the other.
func (l *lifter) branch(cond *ir.Expr, yes, no *blockBuilder) {
	l.emit(&ir.Instr{Op: ir.Branch, Operand: cond})
	l.current.block.LinkTo(yes.block)
	l.current.block.LinkTo(no.block)
}

// stop ends the block and the thread.
func (l *lifter) stop() {
	l.emit(&ir.Instr{Op: ir.Stop})
}

// blockAt is the block of an address; where control leaves the function for another one, a
// block that calls it and returns.
func (l *lifter) blockAt(pc uint64) *blockBuilder {
	if b := l.byPC[pc]; b != nil && !l.program.leavesFunction(l.machine.entry, pc) {
		return b
	}
	// The way into the block is made by the caller, so the call is lifted later: what it
	// reads is known then.
	b := l.newBlock()
	l.tails = append(l.tails, tailCall{b, pc, *l.inst})
	return b
}

// A tailCall is a block that calls another function and returns.
type tailCall struct {
	block  *blockBuilder
	target uint64
	inst   placedInst
}

// dropUnreached removes blocks that nothing leads to: a side of a branch that is constant
// stays, what follows a call that never returns does not. It comes before phis are
// completed: a phi must not become what such a block defines.
func (l *lifter) dropUnreached() {
	reached := map[*ir.Block]bool{}
	var visit func(b *ir.Block)
	visit = func(b *ir.Block) {
		if !reached[b] {
			reached[b] = true
			for _, s := range b.Succs {
				visit(s)
			}
		}
	}
	visit(l.fn.Blocks[0])
	var kept []*ir.Block
	for _, b := range l.fn.Blocks {
		if !reached[b] {
			continue
		}
		var preds []*ir.Block
		for _, p := range b.Preds {
			if reached[p] {
				preds = append(preds, p)
			}
		}
		if len(preds) != len(b.Preds) {
			l.dropArgs(b, reached)
			b.Preds = preds
		}
		b.Index = len(kept)
		kept = append(kept, b)
	}
	l.fn.Blocks = kept
	l.order = slices.DeleteFunc(l.order, func(b *blockBuilder) bool { return !reached[b.block] })
}

// dropArgs drops the values that phis of a block have for ways that cannot be gone.
func (l *lifter) dropArgs(b *ir.Block, reached map[*ir.Block]bool) {
	for _, in := range l.phis[b] {
		if len(in.Args) != len(b.Preds) {
			continue // it waits to be completed
		}
		args := in.Args[:0]
		for i, p := range b.Preds {
			if reached[p] {
				args = append(args, in.Args[i])
			}
		}
		in.Args = args
	}
}

// markPrivate marks accesses to the thread's own stack: at the stack pointer of the function's
// entry, or at what was computed from it.
func (l *lifter) markPrivate() {
	stack := map[ir.Reg]bool{l.params[variable(x86.RSP)]: true}
	var based func(e *ir.Expr) bool
	based = func(e *ir.Expr) bool {
		switch e.Op {
		case ir.OpRegister:
			return stack[e.Reg]
		case ir.OpAdd, ir.OpSub, ir.OpAnd:
			return based(e.Args[0])
		}
		return false
	}
	for again := true; again; {
		again = false
		for _, b := range l.fn.Blocks {
			for _, in := range b.Instrs {
				if in.Op == ir.Assign && in.Dst != 0 && !stack[in.Dst] && based(in.Operand) {
					stack[in.Dst], again = true, true
				}
			}
		}
	}
	for _, b := range l.fn.Blocks {
		for _, in := range b.Instrs {
			if (in.Op == ir.Load || in.Op == ir.Store) && based(in.Operand) {
				in.Private = true
			}
		}
	}
}

// FunctionSite is the number of the event that a function is entered.
func FunctionSite(entry uint64) uint32 { return cpu.SiteOf(entry) | 1<<31 }

// site is the number of the events of the instruction at hand.
func (l *lifter) site() uint32 { return cpu.SiteOf(l.inst.pc) }

// giveUp makes what an instruction writes unknown, because it cannot be lifted.
func (l *lifter) giveUp() {
	l.opaque = append(l.opaque, l.inst)
	why := fmt.Sprint(l.inst.Op)
	for i, a := range l.inst.Args {
		switch a.Place {
		case x86.General, x86.HighByte:
			if i == 0 {
				l.set(variable(a.Reg), ir.Opaque(why, 8))
			}
		case x86.Vector:
			if i == 0 {
				l.set(vectorVar(a.Reg), ir.Opaque(why, 16))
			}
		}
	}
	reads, writes := cpu.Accesses(&l.inst.Inst)
	if i, ok := l.inst.HasMemory(); ok && (reads || writes) {
		size := int(l.inst.Args[i].Size)
		if size == 0 {
			size = 8
		}
		if reads {
			l.load(l.address(), size)
		}
		if writes {
			l.store(l.address(), ir.Opaque(why, size))
		}
	}
	for v := carry; v <= belowEqual; v++ {
		l.set(v, ir.Opaque(why, 1))
	}
}
