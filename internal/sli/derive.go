package sli

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// Limits on the way back from the crash. The first three are far beyond what the
// paper's examples need; they keep the analysis of a long path short.
const (
	maxPath     = 4096 // steps of the goroutine before the crash
	maxMachines = 64
	maxStates   = 120
	maxRounds   = 8 // rounds of a loop that carries what the machine needs
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
}

// newDeriver makes ready to derive machines from the last step of a path. isPrivate says
// whether one goroutine alone uses some memory.
func newDeriver(r *exec.Replay, path []exec.Step, private func(uint64, int) bool) *deriver {
	d := &deriver{
		replay: r, path: path, derived: map[ir.Point]Edge{}, rounds: map[ir.Point]int{},
		openCalls: map[*ir.Context]bool{}, loadAddrs: map[string]uint64{}, loadTimes: map[string]uint64{}, isPrivate: private,
	}
	for c := path[len(path)-1].Context; c != nil; c = c.Parent {
		d.openCalls[c] = true
	}
	return d
}

// derive derives the machines from the crash at the end of the path, the nearest first.
// cause is the machine of the last step.
func (d *deriver) derive(cause Edge) []*Machine {
	var all []*Machine
	last := ""
	e := cause
	add := func(p ir.Point) {
		m := &Machine{At: p, Start: e, key: e.key(), index: d.position}
		if m.key != last && len(m.Loads()) > 0 {
			all = append(all, m)
			last = m.key
		}
	}
	d.position = len(d.path) - 1
	end := d.path[d.position].Point
	d.derived[end] = e
	add(end)
	for d.position--; d.position >= 0 && len(all) < maxMachines; d.position-- {
		s := &d.path[d.position]
		// Deferred calls are made by one instruction, however many there are.
		if _, again := d.derived[s.Point]; again && s.Instr.Op != ir.RunDefers && !d.loopCarries(e) {
			break
		}
		next, ok := d.moveBack(s, e)
		if !ok || next.To.size > maxStates {
			break
		}
		e = next
		if s.Instr.Op != ir.Phi {
			d.derived[s.Point] = e
		}
		if e.To.Predicate == nil && len(all) > 0 {
			break // it always crashes, or never: nothing that is read decides
		}
		add(s.Point)
	}
	return all
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
func (d *deriver) loopCarries(e Edge) bool {
	p := d.path[d.position].Point
	if d.rounds[p]++; d.rounds[p] > maxRounds {
		return false
	}
	m := Machine{Start: e}
	open := m.open()
	for i := d.position; i >= 0; i-- {
		s := &d.path[i]
		if i < d.position && s.Point == p {
			break
		}
		defines := func(c *ir.Context, r ir.Reg) bool { return r != 0 && open[regKey{c, r}] }
		switch {
		case s.Instr.Op == ir.Phi:
			for _, in := range s.Instr.Block.Instrs {
				if in.Op == ir.Phi && defines(s.Context, in.Dst) {
					return true
				}
			}
		case s.Instr.Op == ir.Return:
			if s.Context.Parent != nil && s.Context.Call != nil && defines(s.Context.Parent, s.Context.Call.Dst) {
				return true
			}
		case defines(s.Context, s.Instr.Dst):
			return true
		}
	}
	return false
}

// moveBack is e moved from just after step s to just before it.
func (d *deriver) moveBack(s *exec.Step, e Edge) (Edge, bool) {
	in := s.Instr
	switch in.Op {
	case ir.Branch:
		taken := 0
		if next := d.path[d.position+1]; next.Context == s.Context && len(in.Block.Succs) == 2 && !leadsTo(in.Block, 0, &next) {
			taken = 1
		}
		d.passedBefore = d.pointsBefore(s.Point)
		other, ok := d.untakenSide(s.Context, in.Block, 1-taken)
		if !ok {
			return e, true
		}
		if taken == 0 {
			return branchOn(in.Operand.InContext(s.Context), e, other), true
		}
		return branchOn(in.Operand.InContext(s.Context), other, e), true
	case ir.Call, ir.RunDefers:
		if next := &d.path[d.position+1]; next.Context.Parent == s.Context && next.Context.Call == in {
			return enterBack(e, next.Context, in), true
		}
		return substitute(e, s.Context, in.Dst, ir.Opaque("call of "+in.Extern, in.Size)), true
	case ir.Return:
		return returnBack(e, s.Context, in), true
	case ir.Sync:
		if in.Sync.NeedsOthers() {
			return e, false // a read operation does not wait for others
		}
		return substitute(e, s.Context, in.Dst, ir.Opaque(in.Sync.String(), in.Size)), true
	case ir.Spawn:
		return e, false // what came before it, the new goroutine cannot disturb
	case ir.Alloc:
		if e.addresses(regKey{s.Context, in.Dst}) {
			return e, false // before it, what is read is not there
		}
		return substitute(e, s.Context, in.Dst, ir.Symbol("new "+s.Point.String())), true
	case ir.Load:
		l := d.label(s.Point)
		d.loadAddrs[l.Key()], d.loadTimes[l.Key()] = s.Addr, s.Time
		return loadBack(e, s.Context, in, l), true
	case ir.Store:
		return d.storeBack(e, s.Context, in, s.Addr), true
	case ir.Phi:
		return phiBack(e, s.Context, in.Block, s.Pred), true
	}
	return assignBack(e, s.Context, in), true
}

// leadsTo reports whether next is where block b goes by its successor number succ.
func leadsTo(b *ir.Block, succ int, next *exec.Step) bool {
	to := b.Succs[succ]
	return to == next.Instr.Block && (next.Instr != to.Instrs[0] || next.Pred == ir.PredIndex(b, succ) || to.Instrs[0].Op != ir.Phi)
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
func substitute(e Edge, c *ir.Context, r ir.Reg, x *ir.Expr) Edge {
	if r == 0 {
		return e
	}
	return e.rewriteAll(func(y *ir.Expr) *ir.Expr {
		if y.Op == ir.OpRegister && y.Context == c && y.Reg == r {
			return x
		}
		return nil
	})
}

// assignBack moves over an instruction that computes: its register becomes its expression.
func assignBack(e Edge, c *ir.Context, in *ir.Instr) Edge {
	if in.Op == ir.Assign {
		return substitute(e, c, in.Dst, in.Operand.InContext(c))
	}
	return e
}

// phiBack moves over the phis of a block that was entered from its predecessor number pred.
func phiBack(e Edge, c *ir.Context, b *ir.Block, pred int) Edge {
	with := map[ir.Reg]*ir.Expr{}
	for _, in := range b.Instrs {
		if in.Op == ir.Phi {
			with[in.Dst] = in.Args[pred].InContext(c)
		}
	}
	return e.rewriteAll(func(y *ir.Expr) *ir.Expr {
		if y.Op == ir.OpRegister && y.Context == c {
			return with[y.Reg]
		}
		return nil
	})
}

// enterBack moves over the entry of the call that c is: parameters become arguments.
func enterBack(e Edge, c *ir.Context, call *ir.Instr) Edge {
	from := call
	if call.Op == ir.RunDefers {
		from = nil
		for _, b := range call.Block.Func.Blocks {
			for _, in := range b.Instrs {
				if in.Op == ir.Defer && in.Callee == c.Func {
					from = in
				}
			}
		}
	}
	with := map[ir.Reg]*ir.Expr{}
	for i, r := range c.Func.Params {
		with[r] = ir.Opaque("argument", c.Func.RegSizes[r])
		if from != nil && i < len(from.Args) {
			with[r] = from.Args[i].InContext(c.Parent)
		}
	}
	for i, r := range c.Func.Captured {
		with[r] = ir.Opaque("captured", c.Func.RegSizes[r])
		if from != nil && from.Target != nil {
			with[r] = ir.CapturedValue(from.Target.InContext(c.Parent), i, c.Func.RegSizes[r])
		}
	}
	return e.rewriteAll(func(y *ir.Expr) *ir.Expr {
		if y.Op == ir.OpRegister && y.Context == c {
			return with[y.Reg]
		}
		return nil
	})
}

// returnBack moves over a return: the register of the call's result becomes what is returned.
func returnBack(e Edge, c *ir.Context, in *ir.Instr) Edge {
	if c.Parent == nil || c.Call == nil || c.Call.Op != ir.Call {
		return e
	}
	x := ir.Opaque("result", c.Call.Size)
	if in.Operand != nil {
		x = in.Operand.InContext(c)
	}
	return substitute(e, c.Parent, c.Call.Dst, x)
}

// loadBack moves over a load: its register becomes what memory holds at the label. If the
// machine stores something later, the load keeps its place before the store.
func loadBack(e Edge, c *ir.Context, in *ir.Instr, l *ir.Label) Edge {
	args := []*ir.Expr{in.Operand.InContext(c)}
	if in.Key != nil {
		args = append(args, in.Key.InContext(c))
	}
	x := ir.LoadExpr(l, in.Size, args...)
	n := substitute(e, c, in.Dst, x)
	if n.key() != e.key() && n.stores() {
		n.Ops = append([]EdgeOp{{Load: x, At: l}}, n.Ops...)
	}
	return n
}

// storeBack puts a store in front of the machine. If it is to memory of the
// goroutine alone, the loads that read it back are replaced by what was stored: the
// paper's heuristic for the stack. addr is where the store went, if it was executed.
func (d *deriver) storeBack(e Edge, c *ir.Context, in *ir.Instr, addr uint64) Edge {
	if in.Value == nil || !e.To.hasLoads {
		return e
	}
	at := in.Operand.InContext(c)
	val := in.Value.InContext(c)
	alone := in.Private || addr != 0 && in.Key == nil && d.isPrivate(addr, in.Size)
	if alone && in.Key == nil {
		return e.rewriteAll(func(y *ir.Expr) *ir.Expr {
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
	o := EdgeOp{Addr: at, Value: val, At: d.label(ir.Point{Context: c, Instr: in}), Size: in.Size}
	if in.Key != nil {
		o.Key = in.Key.InContext(c)
	}
	e.Ops = append([]EdgeOp{o}, e.Ops...)
	return e
}
