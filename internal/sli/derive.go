package sli

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// Limits on the way back from the crash. The first three are far beyond what the
// paper's examples need; they keep the analysis of a long path short.
const (
	maxPath     = 4096 // steps of the goroutine before the crash
	maxMachines = 64   // that are looked at further, the most promising
	maxStates   = 120
	// maxOperations bounds the stores, and the loads before them, that a machine makes before it
	// decides anything. A loop that stores to shared memory adds some in each round.
	maxOperations = 240
	// defaultRounds is how many rounds of a loop are moved back through with the sides of their
	// branches that were not taken. Of earlier rounds the machine has what the trace has: it says
	// what is read in them, and not what else might have been.
	defaultRounds = 8
)

// A deriver moves a machine back through the steps of a goroutine (section 3.2).
type deriver struct {
	replay *exec.Replay
	path   []exec.Step
	// derived are the machines found, each valid just before its point; the one
	// nearest to the start of the trace if there are several.
	derived      map[ir.Point]Edge
	passedBefore map[ir.Point]bool // what the goroutine passed on its way to the branch at hand
	rounds       map[ir.Point]int
	openCalls    map[*ir.Context]bool // calls that had not returned when the program crashed
	loadAddrs    map[string]uint64    // where the loads of the path went, by label
	loadTimes    map[string]uint64    // and when
	isPrivate    func(addr uint64, size int) bool
	position     int
	maxRounds    int
}

// newDeriver makes ready to derive machines from the last step of a path.
func (a *analyser) newDeriver(path []exec.Step) *deriver {
	derivation := &deriver{
		replay: a.replay, maxRounds: a.options.Rounds, path: path, derived: map[ir.Point]Edge{}, rounds: map[ir.Point]int{},
		openCalls: map[*ir.Context]bool{}, loadAddrs: map[string]uint64{}, loadTimes: map[string]uint64{}, isPrivate: a.isPrivate,
	}
	for context := path[len(path)-1].Context; context != nil; context = context.Parent {
		derivation.openCalls[context] = true
	}
	return derivation
}

// derive derives the machines from the crash at the end of the path, the nearest first.
// cause is the machine of the last step.
func (d *deriver) derive(cause Edge) []*Machine {
	var all []*Machine
	last := ""
	edge := cause
	add := func(p ir.Point) {
		machine := &Machine{At: p, Start: edge, key: edge.key(), index: d.position}
		if machine.key != last && edge.reads() {
			all = append(all, machine)
			last = machine.key
		}
	}
	d.position = len(d.path) - 1
	end := d.path[d.position].Point
	d.derived[end] = edge
	add(end)
	for d.position--; d.position >= 0 && !d.replay.Ended(); d.position-- {
		step := &d.path[d.position]
		// Deferred calls are made by one instruction, however many there are.
		if _, again := d.derived[step.Point]; again && step.Instr.Op != ir.RunDefers && !d.loopCarries(edge) {
			break
		}
		next, ok := d.moveBack(step, edge)
		if !ok || next.To.size > maxStates || len(next.Ops) > maxOperations {
			break
		}
		edge = next
		if step.Instr.Op != ir.Phi {
			d.derived[step.Point] = edge
		}
		if edge.To.Predicate == nil && len(all) > 0 {
			break // it always crashes, or never: nothing that is read decides
		}
		add(step.Point)
	}
	return d.promising(all)
}

// promising are the machines that are looked at further, the nearest to the crash first. A machine
// with more than the next has is promising if its own load is of memory that others use too; of
// those, the nearest half is taken, and from the rest as many again, from the first to the last.
func (d *deriver) promising(all []*Machine) []*Machine {
	if len(all) <= maxMachines {
		return all
	}
	shared := make([]*Machine, 0, len(all))
	for i, m := range all {
		step := &d.path[m.index]
		reads := step.Instr.Op == ir.Load || step.Instr.Op == ir.Update
		if i == 0 || reads && !d.isPrivate(step.Addr, step.Instr.Size) {
			shared = append(shared, m)
		}
	}
	if len(shared) <= maxMachines {
		return shared
	}
	kept := shared[: maxMachines/2 : maxMachines/2]
	rest := shared[maxMachines/2:]
	for i := range maxMachines / 2 {
		kept = append(kept, rest[(i+1)*len(rest)/(maxMachines/2)-1])
	}
	return kept
}

// pointsBefore are the points of the read operation before the step at hand: back to where
// the goroutine was at a point for the second time.
func (d *deriver) pointsBefore(branch ir.Point) map[ir.Point]bool {
	round := map[ir.Point]bool{}
	for i := d.position - 1; i >= 0; i-- {
		p := d.path[i].Point
		if _, again := d.derived[p]; again || p == branch {
			break
		}
		round[p] = true
	}
	return round
}

// loopCarries reports whether the round of the loop that ends here defines something the
// machine needs. If it does not, an earlier round is another read operation.
func (d *deriver) loopCarries(edge Edge) bool {
	p := d.path[d.position].Point
	if d.rounds[p]++; d.maxRounds < 0 {
		return false
	}
	registers := edge.registers()
	defines := func(context *ir.Context, r ir.Reg) bool {
		return r != 0 && registers&ir.RegistersOf(context, r) != 0 && edge.needs(regKey{context, r})
	}
	for i := d.position; i >= 0; i-- {
		step := &d.path[i]
		if i < d.position && step.Point == p {
			break
		}
		switch {
		case step.Instr.Op == ir.Phi:
			for _, in := range step.Instr.Block.Instrs {
				if in.Op == ir.Phi && defines(step.Context, in.Dst) {
					return true
				}
			}
		case step.Instr.Op == ir.Return:
			if step.Context.Parent != nil && step.Context.Call != nil && defines(step.Context.Parent, step.Context.Call.Dst) {
				return true
			}
		case defines(step.Context, step.Instr.Dst):
			return true
		}
	}
	return false
}

// moveBack is the edge moved from just after a step to just before it. It reports false
// where the read operation begins: nothing before the step belongs to it.
func (d *deriver) moveBack(step *exec.Step, edge Edge) (Edge, bool) {
	in := step.Instr
	switch in.Op {
	case ir.Branch:
		taken := 0
		if next := d.path[d.position+1]; next.Context == step.Context && len(in.Block.Succs) == 2 && !leadsTo(in.Block, 0, &next) {
			taken = 1
		}
		if d.rounds[step.Point] > d.maxRounds && d.maxRounds >= 0 {
			return edge, true
		}
		d.passedBefore = d.pointsBefore(step.Point)
		other, ok := d.untakenSide(step.Context, in.Block, 1-taken)
		if !ok {
			return edge, true
		}
		branch := branchOn(in.Operand.InContext(step.Context), edge, other)
		if taken == 1 {
			branch = branchOn(in.Operand.InContext(step.Context), other, edge)
		}
		if branch.To.size > maxStates && d.rounds[step.Point] > 0 {
			return edge, true // an earlier round of a loop is followed as the trace has it
		}
		return branch, true
	case ir.Call, ir.RunDefers:
		if next := &d.path[d.position+1]; next.Context.Parent == step.Context && next.Context.Call == in {
			return enterBack(edge, next.Context, in), true
		}
		return substitute(edge, step.Context, in.Dst, ir.Opaque("call of "+in.Extern, in.Size)), true
	case ir.Return:
		return returnBack(edge, step.Context, in), true
	case ir.Sync:
		if in.Sync.NeedsOthers() {
			return edge, false // a read operation does not wait for others
		}
		return substitute(edge, step.Context, in.Dst, ir.Opaque(in.Sync.String(), in.Size)), true
	case ir.Spawn:
		return edge, false // what came before it, the new goroutine cannot disturb
	case ir.Alloc:
		if memory := (regKey{step.Context, in.Dst}); edge.addresses(memory) {
			if !in.Private {
				return edge, false // before it, what is read is not there
			}
			edge = edge.withoutMemory(memory)
		}
		return substitute(edge, step.Context, in.Dst, ir.Symbol("new "+step.Point.String())), true
	case ir.Load:
		label := d.label(step.Point)
		d.loadAddrs[label.Key()], d.loadTimes[label.Key()] = step.Addr, step.Time
		return loadBack(edge, step.Context, in, label), true
	case ir.Store:
		return d.storeBack(edge, step.Context, in, step.Addr), true
	case ir.Update:
		label := d.label(step.Point)
		d.loadAddrs[label.Key()], d.loadTimes[label.Key()] = step.Addr, step.Time
		return loadBack(d.storeBack(edge, step.Context, in, step.Addr), step.Context, in, label), true
	case ir.Phi:
		return phiBack(edge, step.Context, in.Block, step.Pred), true
	}
	return assignBack(edge, step.Context, in), true
}

// leadsTo reports whether the next step is where a block goes by its successor number succ.
func leadsTo(block *ir.Block, succ int, next *exec.Step) bool {
	to := block.Succs[succ]
	return to == next.Instr.Block && (next.Instr != to.Instrs[0] || next.Pred == ir.PredIndex(block, succ) || to.Instrs[0].Op != ir.Phi)
}

// label names the load at a point, apart from the same load in later rounds of a loop.
func (d *deriver) label(p ir.Point) *ir.Label {
	turns := 0
	if _, again := d.derived[p]; again {
		turns = d.rounds[p]
	}
	return &ir.Label{Point: p, Rounds: turns}
}

// substitute replaces a register by what it is defined as.
func substitute(edge Edge, context *ir.Context, r ir.Reg, x *ir.Expr) Edge {
	if r == 0 {
		return edge
	}
	return edge.replaceRegisters(ir.RegistersOf(context, r), func(y *ir.Expr) *ir.Expr {
		if y.Context == context && y.Reg == r {
			return x
		}
		return nil
	})
}

// assignBack moves over an instruction that computes: its register becomes its expression.
func assignBack(edge Edge, context *ir.Context, in *ir.Instr) Edge {
	if in.Op == ir.Assign {
		return substitute(edge, context, in.Dst, in.Operand.InContext(context))
	}
	return edge
}

// phiBack moves over the phis of a block that was entered from its predecessor number pred.
func phiBack(edge Edge, context *ir.Context, block *ir.Block, pred int) Edge {
	with := map[ir.Reg]*ir.Expr{}
	for _, in := range block.Instrs {
		if in.Op == ir.Phi {
			with[in.Dst] = in.Args[pred].InContext(context)
		}
	}
	return edge.replaceAll(context, with)
}

// enterBack moves over the entry of a call: parameters become arguments.
func enterBack(edge Edge, context *ir.Context, call *ir.Instr) Edge {
	from := call
	if call.Op == ir.RunDefers {
		from = nil
		for _, block := range call.Block.Func.Blocks {
			for _, in := range block.Instrs {
				if in.Op == ir.Defer && in.Callee == context.Func {
					from = in
				}
			}
		}
	}
	with := map[ir.Reg]*ir.Expr{}
	for i, r := range context.Func.Params {
		with[r] = ir.Opaque("argument", context.Func.RegSizes[r])
		if from != nil && i < len(from.Args) {
			with[r] = from.Args[i].InContext(context.Parent)
		}
	}
	for i, r := range context.Func.Captured {
		with[r] = ir.Opaque("captured", context.Func.RegSizes[r])
		if from != nil && from.Target != nil {
			with[r] = ir.CapturedValue(from.Target.InContext(context.Parent), i, context.Func.RegSizes[r])
		}
	}
	return edge.replaceAll(context, with)
}

// replaceAll replaces registers of a call by what they are defined as, all at once.
func (e Edge) replaceAll(context *ir.Context, with map[ir.Reg]*ir.Expr) Edge {
	var set ir.RegisterSet
	for r := range with {
		set |= ir.RegistersOf(context, r)
	}
	return e.replaceRegisters(set, func(y *ir.Expr) *ir.Expr {
		if y.Context == context {
			return with[y.Reg]
		}
		return nil
	})
}

// returnBack moves over a return: the register of the call's result becomes what is returned.
func returnBack(edge Edge, context *ir.Context, in *ir.Instr) Edge {
	if context.Parent == nil || context.Call == nil || context.Call.Op != ir.Call {
		return edge
	}
	x := ir.Opaque("result", context.Call.Size)
	if in.Operand != nil {
		x = in.Operand.InContext(context)
	}
	return substitute(edge, context.Parent, context.Call.Dst, x)
}

// loadBack moves over a load: its register becomes what memory holds at the label. If the
// machine stores something later, the load keeps its place before the store.
func loadBack(edge Edge, context *ir.Context, in *ir.Instr, label *ir.Label) Edge {
	args := []*ir.Expr{in.Operand.InContext(context)}
	if in.Key != nil {
		args = append(args, in.Key.InContext(context))
	}
	x := ir.LoadExpr(label, in.Size, args...)
	if !edge.needs(regKey{context, in.Dst}) {
		return edge
	}
	moved := substitute(edge, context, in.Dst, x)
	if moved.stores() {
		moved.Ops = append([]EdgeOp{{Load: x, At: label}}, moved.Ops...)
	}
	return moved
}

// storeBack puts a store in front of the machine. If it is to memory of the
// goroutine alone, the loads that read it back are replaced by what was stored: the
// paper's heuristic for the stack. addr is where the store went, if it was executed.
func (d *deriver) storeBack(edge Edge, context *ir.Context, in *ir.Instr, addr uint64) Edge {
	if in.Value == nil || !edge.To.hasLoads {
		return edge
	}
	at := in.Operand.InContext(context)
	val := in.Value.InContext(context)
	alone := in.Private || addr != 0 && in.Key == nil && d.isPrivate(addr, in.Size)
	if alone && in.Key == nil {
		return edge.rewriteAll(func(y *ir.Expr) *ir.Expr {
			if y.Op != ir.OpLoad || len(y.Args) > 1 || y.Size > in.Size {
				return nil
			}
			if y.Args[0].Key() == at.Key() {
				return ir.Extract(val, 0, y.Size)
			}
			if a := d.loadAddrs[y.Label.Key()]; addr != 0 && a >= addr && a+uint64(y.Size) <= addr+uint64(in.Size) {
				return ir.Extract(val, int(a-addr), y.Size)
			}
			return nil
		})
	}
	o := EdgeOp{Addr: at, Value: val, At: d.label(ir.Point{Context: context, Instr: in}), Size: in.Size}
	if in.Key != nil {
		o.Key = in.Key.InContext(context)
	}
	edge.Ops = append([]EdgeOp{o}, edge.Ops...)
	return edge
}
