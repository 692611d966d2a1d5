package sli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A Machine is a state machine: a small program that predicts, from the memory it
// starts in, whether the goroutine that is at the machine's point will crash if
// no other goroutine disturbs it.
type Machine struct {
	At    ir.Point
	Start Edge
	key   string
	index int        // of At in the path it was derived from
	loads []*ir.Expr // nil until they are asked for
}

// A State is internal, with a predicate and two edges, or terminal.
type State struct {
	Predicate *ir.Expr // nil: terminal
	Yes, No   Edge
	Crash     bool
	key       string
	size      int
	hasLoads  bool
	openRegs  map[regKey]bool
	registers ir.RegisterSet // those, and maybe others
}

// A regKey is a register of one call.
type regKey struct {
	ctx *ir.Context
	reg ir.Reg
}

// An Edge leads to a state; on the way operations are made.
type Edge struct {
	Ops []EdgeOp
	To  *State
}

// An EdgeOp is a store or, if Value is nil, the moment at which Load reads. A load
// needs a moment of its own only where a store of the machine comes between it and
// its use.
type EdgeOp struct {
	Load  *ir.Expr
	Addr  *ir.Expr
	Key   *ir.Expr
	Value *ir.Expr
	At    *ir.Label
	Size  int
}

func (o EdgeOp) exprs() []*ir.Expr {
	var all []*ir.Expr
	for _, e := range []*ir.Expr{o.Load, o.Addr, o.Key, o.Value} {
		if e != nil {
			all = append(all, e)
		}
	}
	return all
}

// registers are those of the operation's expressions, and maybe others.
func (o *EdgeOp) registers() ir.RegisterSet {
	var set ir.RegisterSet
	for _, e := range [...]*ir.Expr{o.Load, o.Addr, o.Key, o.Value} {
		if e != nil {
			set |= e.Registers()
		}
	}
	return set
}

// The terminal states.
var (
	crashState   = sealState(&State{Crash: true})
	noCrashState = sealState(&State{})
)

// sealState computes what is asked of a state again and again: its key, its size, and the
// registers and loads that it and the states after it depend on.
func sealState(state *State) *State {
	state.openRegs = map[regKey]bool{}
	note := func(e *ir.Expr) {
		state.hasLoads = state.hasLoads || e.HasLoads()
		if e.HasRegisters() {
			state.registers |= e.Registers()
			e.EachRegister(func(x *ir.Expr) { state.openRegs[regKey{x.Context, x.Reg}] = true })
		}
	}
	if state.Predicate == nil {
		state.key = fmt.Sprint(state.Crash)
		state.size = 1
		return state
	}
	var b strings.Builder
	note(state.Predicate)
	fmt.Fprintf(&b, "(%s?", state.Predicate.Key())
	seen := map[*State]bool{}
	for _, edge := range []Edge{state.Yes, state.No} {
		b.WriteString(edge.key())
		b.WriteByte(':')
		for _, o := range edge.Ops {
			for _, x := range o.exprs() {
				note(x)
			}
		}
		state.hasLoads = state.hasLoads || edge.To.hasLoads
		state.registers |= edge.To.registers
		for k := range edge.To.openRegs {
			state.openRegs[k] = true
		}
		edge.To.each(seen, func(*State) {})
	}
	b.WriteByte(')')
	state.key = ir.Digest(b.String())
	state.size = 1 + len(seen)
	return state
}

func (e Edge) key() string {
	var b strings.Builder
	for _, o := range e.Ops {
		b.WriteByte('[')
		for _, x := range o.exprs() {
			b.WriteString(x.Key())
			b.WriteByte(';')
		}
		b.WriteByte(']')
	}
	b.WriteString(e.To.key)
	return b.String()
}

// each calls f for the state and every state after it, once.
func (s *State) each(seen map[*State]bool, f func(*State)) {
	if seen[s] {
		return
	}
	seen[s] = true
	f(s)
	if s.Predicate != nil {
		s.Yes.To.each(seen, f)
		s.No.To.each(seen, f)
	}
}

// States are the machine's states, from its start on.
func (m *Machine) States() []*State {
	var all []*State
	m.Start.To.each(map[*State]bool{}, func(state *State) { all = append(all, state) })
	return all
}

// Exprs calls f for every expression of the part that the edge leads to.
func (e Edge) Exprs(f func(*ir.Expr)) {
	ops := func(edge Edge) {
		for _, o := range edge.Ops {
			for _, x := range o.exprs() {
				f(x)
			}
		}
	}
	ops(e)
	e.To.each(map[*State]bool{}, func(state *State) {
		if state.Predicate != nil {
			f(state.Predicate)
			ops(state.Yes)
			ops(state.No)
		}
	})
}

// Loads are the loads that the machine makes, each once.
func (m *Machine) Loads() []*ir.Expr {
	if m.loads != nil {
		return slices.Clone(m.loads)
	}
	m.loads = []*ir.Expr{}
	have := map[string]bool{}
	seen := map[*ir.Expr]bool{}
	m.Start.Exprs(func(x *ir.Expr) {
		for _, l := range x.LoadsBeside(seen) {
			if !have[l.Key()] {
				have[l.Key()] = true
				m.loads = append(m.loads, l)
			}
		}
	})
	return slices.Clone(m.loads)
}

// reads reports whether the part that the edge leads to has loads.
func (e Edge) reads() bool {
	if e.To.hasLoads {
		return true
	}
	for i := range e.Ops {
		for _, x := range [...]*ir.Expr{e.Ops[i].Load, e.Ops[i].Addr, e.Ops[i].Key, e.Ops[i].Value} {
			if x != nil && x.HasLoads() {
				return true
			}
		}
	}
	return false
}

// needs reports whether the edge, or what it leads to, depends on a register.
func (e Edge) needs(r regKey) bool {
	if e.To.openRegs[r] {
		return true
	}
	set := ir.RegistersOf(r.ctx, r.reg)
	found := false
	for i := range e.Ops {
		if e.Ops[i].registers()&set == 0 {
			continue
		}
		for _, x := range e.Ops[i].exprs() {
			x.Walk(map[*ir.Expr]bool{}, func(y *ir.Expr) {
				found = found || y.Op == ir.OpRegister && y.Context == r.ctx && y.Reg == r.reg
			})
		}
		if found {
			return true
		}
	}
	return false
}

// open are the registers that the machine needs to be given.
func (m *Machine) open() map[regKey]bool {
	all := map[regKey]bool{}
	for k := range m.Start.To.openRegs {
		all[k] = true
	}
	for _, o := range m.Start.Ops {
		for _, x := range o.exprs() {
			if !x.HasRegisters() {
				continue
			}
			x.Walk(map[*ir.Expr]bool{}, func(x *ir.Expr) {
				if x.Op == ir.OpRegister {
					all[regKey{x.Context, x.Reg}] = true
				}
			})
		}
	}
	return all
}

// branchOn makes the state that goes to yes if pred holds, or to what that comes to
// when it is simplified (same sides, constant predicate).
func branchOn(pred *ir.Expr, yes, no Edge) Edge {
	if pred.Op == ir.OpConst {
		if pred.Value.Uint() != 0 {
			return yes
		}
		return no
	}
	if yes.key() == no.key() {
		return yes
	}
	if pred.Op == ir.OpNot {
		return branchOn(pred.Args[0], no, yes)
	}
	// What both sides do first is done before.
	var shared []EdgeOp
	for len(yes.Ops) > 0 && len(no.Ops) > 0 && sameOp(yes.Ops[0], no.Ops[0]) && !readsMemory(pred) {
		shared = append(shared, yes.Ops[0])
		yes.Ops, no.Ops = yes.Ops[1:], no.Ops[1:]
	}
	// A test of the same predicate below has been answered.
	yes, no = skipAnswered(pred, yes, true), skipAnswered(pred, no, false)
	if len(shared) == 0 && yes.key() == no.key() {
		return yes
	}
	return Edge{Ops: shared, To: sealState(&State{Predicate: pred, Yes: yes, No: no})}
}

// readsMemory reports whether a predicate reads memory, so that a store before it matters.
func readsMemory(pred *ir.Expr) bool { return pred.HasLoads() }

// sameOp reports whether two operations do the same.
func sameOp(a, b EdgeOp) bool {
	x, y := a.exprs(), b.exprs()
	if len(x) != len(y) || (a.Value == nil) != (b.Value == nil) {
		return false
	}
	for i := range x {
		if x[i].Key() != y[i].Key() {
			return false
		}
	}
	return true
}

// skipAnswered skips a state that tests what is already known to be so. Loads are labelled
// with their point, so the same expression has the same value in one evaluation.
func skipAnswered(pred *ir.Expr, edge Edge, holds bool) Edge {
	for edge.To.Predicate != nil && edge.To.Predicate.Key() == pred.Key() {
		next := edge.To.No
		if holds {
			next = edge.To.Yes
		}
		edge = Edge{Ops: append(append([]EdgeOp(nil), edge.Ops...), next.Ops...), To: next.To}
	}
	return edge
}

// rewriteAll applies f to all expressions of what the edge leads to, see ir.Expr.Rewrite.
func (e Edge) rewriteAll(f func(*ir.Expr) *ir.Expr) Edge {
	done := map[*ir.Expr]*ir.Expr{}
	all := func(*State) bool { return true }
	return e.rewriteWith(func(x *ir.Expr) *ir.Expr { return x.Rewrite(f, done) }, all, map[*State]Edge{})
}

// replaceRegisters applies f to the registers of a set, see ir.Expr.ReplaceRegisters. It costs
// nothing where the machine has none of them, which most instructions on the way back meet.
func (e Edge) replaceRegisters(set ir.RegisterSet, f func(*ir.Expr) *ir.Expr) Edge {
	if e.registers()&set == 0 {
		return e
	}
	done := map[*ir.Expr]*ir.Expr{}
	has := func(state *State) bool { return state.registers&set != 0 }
	return e.rewriteWith(func(x *ir.Expr) *ir.Expr { return x.ReplaceRegisters(set, f, done) }, has, map[*State]Edge{})
}

// registers are those that the edge and what it leads to depend on, and maybe others.
func (e Edge) registers() ir.RegisterSet {
	set := e.To.registers
	for i := range e.Ops {
		set |= e.Ops[i].registers()
	}
	return set
}

// rewriteWith puts what each makes of it in the place of every expression, in the states that
// are to be changed.
func (e Edge) rewriteWith(each func(*ir.Expr) *ir.Expr, changes func(*State) bool, states map[*State]Edge) Edge {
	to, ok := states[e.To]
	if !ok {
		to = Edge{To: e.To}
		if state := e.To; state.Predicate != nil && changes(state) {
			to = branchOn(each(state.Predicate), state.Yes.rewriteWith(each, changes, states), state.No.rewriteWith(each, changes, states))
		}
		states[e.To] = to
	}
	ops := make([]EdgeOp, 0, len(e.Ops)+len(to.Ops))
	for _, o := range e.Ops {
		for _, x := range []**ir.Expr{&o.Addr, &o.Key, &o.Value, &o.Load} {
			if *x != nil {
				*x = each(*x)
			}
		}
		if o.Load != nil && o.Load.Op != ir.OpLoad {
			continue // it was resolved
		}
		ops = append(ops, o)
	}
	return Edge{Ops: append(ops, to.Ops...), To: to.To}
}

// addresses reports whether something is loaded at an address that the register gives.
func (e Edge) addresses(r regKey) bool {
	found := false
	e.Exprs(func(x *ir.Expr) {
		x.Walk(map[*ir.Expr]bool{}, func(y *ir.Expr) { found = found || r.givesAddress(y) })
	})
	return found
}

// withoutMemory is the edge without what is loaded at addresses that the register gives: that is
// unknown. It is for memory which is not there yet, and which no other goroutine can disturb.
func (e Edge) withoutMemory(r regKey) Edge {
	return e.rewriteAll(func(x *ir.Expr) *ir.Expr {
		if r.givesAddress(x) {
			return ir.Opaque("memory of its own", x.Size)
		}
		return nil
	})
}

// givesAddress reports whether an expression is a load at an address that the register gives.
func (r regKey) givesAddress(x *ir.Expr) bool {
	found := false
	if x.Op == ir.OpLoad {
		x.Args[0].Walk(map[*ir.Expr]bool{}, func(y *ir.Expr) {
			found = found || y.Op == ir.OpRegister && y.Context == r.ctx && y.Reg == r.reg
		})
	}
	return found
}

// stores reports whether the part that the edge leads to has stores.
func (e Edge) stores() bool {
	found := false
	ops := func(edge Edge) {
		for _, o := range edge.Ops {
			found = found || o.Addr != nil
		}
	}
	ops(e)
	e.To.each(map[*State]bool{}, func(state *State) {
		if state.Predicate != nil {
			ops(state.Yes)
			ops(state.No)
		}
	})
	return found
}
