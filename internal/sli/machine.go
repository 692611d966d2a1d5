package sli

import (
	"fmt"
	"strings"
)

// A Machine is a state machine: a small program that predicts, from the memory it
// starts in, whether the goroutine that is at the machine's point will crash if
// nobody disturbs it.
type Machine struct {
	At    Point
	Start Edge
	key   string
	index int // of At in the path it was derived from
}

// A State is internal, with a predicate and two edges, or terminal.
type State struct {
	Pred     *Expr // nil: terminal
	Yes, No  Edge
	Crash    bool
	key      string
	size     int
	loading  bool
	openRegs map[regKey]bool
}

type regKey struct {
	ctx *Context
	reg Reg
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
	Load  *Expr
	Addr  *Expr
	Key   *Expr
	Value *Expr
	At    *Label
	Size  int
}

func (o EdgeOp) exprs() []*Expr {
	var all []*Expr
	for _, e := range []*Expr{o.Load, o.Addr, o.Key, o.Value} {
		if e != nil {
			all = append(all, e)
		}
	}
	return all
}

// The terminal states.
var (
	crash   = seal(&State{Crash: true})
	noCrash = seal(&State{})
)

func seal(s *State) *State {
	s.openRegs = map[regKey]bool{}
	note := func(e *Expr) {
		s.loading = s.loading || e.loading
		if e.open {
			e.walk(map[*Expr]bool{}, func(x *Expr) {
				if x.Op == OpReg {
					s.openRegs[regKey{x.Ctx, x.Reg}] = true
				}
			})
		}
	}
	if s.Pred == nil {
		s.key = fmt.Sprint(s.Crash)
		s.size = 1
		return s
	}
	var b strings.Builder
	note(s.Pred)
	fmt.Fprintf(&b, "(%s?", s.Pred.key)
	seen := map[*State]bool{}
	for _, e := range []Edge{s.Yes, s.No} {
		b.WriteString(e.key())
		b.WriteByte(':')
		for _, o := range e.Ops {
			for _, x := range o.exprs() {
				note(x)
			}
		}
		s.loading = s.loading || e.To.loading
		for k := range e.To.openRegs {
			s.openRegs[k] = true
		}
		e.To.each(seen, func(*State) {})
	}
	b.WriteByte(')')
	s.key = digest(b.String())
	s.size = 1 + len(seen)
	return s
}

func (e Edge) key() string {
	var b strings.Builder
	for _, o := range e.Ops {
		b.WriteByte('[')
		for _, x := range o.exprs() {
			b.WriteString(x.key)
			b.WriteByte(';')
		}
		b.WriteByte(']')
	}
	b.WriteString(e.To.key)
	return b.String()
}

// each calls f for s and every state after it, once.
func (s *State) each(seen map[*State]bool, f func(*State)) {
	if seen[s] {
		return
	}
	seen[s] = true
	f(s)
	if s.Pred != nil {
		s.Yes.To.each(seen, f)
		s.No.To.each(seen, f)
	}
}

// States are the machine's states, from its start on.
func (m *Machine) States() []*State {
	var all []*State
	m.Start.To.each(map[*State]bool{}, func(s *State) { all = append(all, s) })
	return all
}

// exprs calls f for every expression of the part that e leads to.
func (e Edge) exprs(f func(*Expr)) {
	ops := func(e Edge) {
		for _, o := range e.Ops {
			for _, x := range o.exprs() {
				f(x)
			}
		}
	}
	ops(e)
	e.To.each(map[*State]bool{}, func(s *State) {
		if s.Pred != nil {
			f(s.Pred)
			ops(s.Yes)
			ops(s.No)
		}
	})
}

// Loads are the loads that the machine makes, each once.
func (m *Machine) Loads() []*Expr {
	var all []*Expr
	have := map[string]bool{}
	m.Start.exprs(func(x *Expr) {
		for _, l := range x.Loads() {
			if !have[l.key] {
				have[l.key] = true
				all = append(all, l)
			}
		}
	})
	return all
}

// Open are the registers that the machine needs to be given.
func (m *Machine) open() map[regKey]bool {
	all := map[regKey]bool{}
	for k := range m.Start.To.openRegs {
		all[k] = true
	}
	for _, o := range m.Start.Ops {
		for _, x := range o.exprs() {
			x.walk(map[*Expr]bool{}, func(x *Expr) {
				if x.Op == OpReg {
					all[regKey{x.Ctx, x.Reg}] = true
				}
			})
		}
	}
	return all
}

// choose makes the state that goes to yes if pred holds, or to what that comes to
// when it is simplified (same sides, constant predicate).
func choose(pred *Expr, yes, no Edge) Edge {
	if pred.Op == OpConst {
		if pred.Val.Uint() != 0 {
			return yes
		}
		return no
	}
	if yes.key() == no.key() {
		return yes
	}
	if pred.Op == OpNot {
		return choose(pred.Args[0], no, yes)
	}
	// What both sides do first is done before.
	var shared []EdgeOp
	for len(yes.Ops) > 0 && len(no.Ops) > 0 && sameOp(yes.Ops[0], no.Ops[0]) && !usesLater(pred) {
		shared = append(shared, yes.Ops[0])
		yes.Ops, no.Ops = yes.Ops[1:], no.Ops[1:]
	}
	// A test of the same predicate below has been answered.
	yes, no = assume(pred, yes, true), assume(pred, no, false)
	if len(shared) == 0 && yes.key() == no.key() {
		return yes
	}
	return Edge{Ops: shared, To: seal(&State{Pred: pred, Yes: yes, No: no})}
}

func usesLater(pred *Expr) bool { return pred.loading }

func sameOp(a, b EdgeOp) bool {
	x, y := a.exprs(), b.exprs()
	if len(x) != len(y) || (a.Value == nil) != (b.Value == nil) {
		return false
	}
	for i := range x {
		if x[i].key != y[i].key {
			return false
		}
	}
	return true
}

// assume skips a state that tests what is already known to be so. Loads are labelled
// with their point, so the same expression has the same value in one evaluation.
func assume(pred *Expr, e Edge, holds bool) Edge {
	for e.To.Pred != nil && e.To.Pred.key == pred.key {
		next := e.To.No
		if holds {
			next = e.To.Yes
		}
		e = Edge{Ops: append(append([]EdgeOp(nil), e.Ops...), next.Ops...), To: next.To}
	}
	return e
}

// rewrite applies f (see Expr.rewrite) to all of what e leads to.
func (e Edge) rewrite(f func(*Expr) *Expr) Edge {
	exprs, states := map[*Expr]*Expr{}, map[*State]Edge{}
	return e.rewriteWith(f, exprs, states)
}

func (e Edge) rewriteWith(f func(*Expr) *Expr, exprs map[*Expr]*Expr, states map[*State]Edge) Edge {
	to, ok := states[e.To]
	if !ok {
		to = Edge{To: e.To}
		if s := e.To; s.Pred != nil {
			to = choose(s.Pred.rewrite(f, exprs), s.Yes.rewriteWith(f, exprs, states), s.No.rewriteWith(f, exprs, states))
		}
		states[e.To] = to
	}
	ops := make([]EdgeOp, 0, len(e.Ops)+len(to.Ops))
	each := func(x *Expr) *Expr {
		if x == nil {
			return nil
		}
		return x.rewrite(f, exprs)
	}
	for _, o := range e.Ops {
		o.Addr, o.Key, o.Value = each(o.Addr), each(o.Key), each(o.Value)
		if o.Load != nil {
			o.Load = each(o.Load)
			if o.Load.Op != OpLoad {
				continue // it was resolved
			}
		}
		ops = append(ops, o)
	}
	return Edge{Ops: append(ops, to.Ops...), To: to.To}
}

// addresses reports whether something is loaded or stored at an address that the
// register gives.
func (e Edge) addresses(r regKey) bool {
	found := false
	in := func(x *Expr) {
		x.walk(map[*Expr]bool{}, func(y *Expr) {
			found = found || y.Op == OpReg && y.Ctx == r.ctx && y.Reg == r.reg
		})
	}
	e.exprs(func(x *Expr) {
		x.walk(map[*Expr]bool{}, func(y *Expr) {
			if y.Op == OpLoad {
				in(y.Args[0])
			}
		})
	})
	return found
}

// stores reports whether the part that e leads to has stores.
func (e Edge) stores() bool {
	found := false
	ops := func(e Edge) {
		for _, o := range e.Ops {
			found = found || o.Addr != nil
		}
	}
	ops(e)
	e.To.each(map[*State]bool{}, func(s *State) {
		if s.Pred != nil {
			ops(s.Yes)
			ops(s.No)
		}
	})
	return found
}

// String is the machine as text, one line for each state.
func (m *Machine) String() string {
	var b strings.Builder
	names := map[*State]string{}
	for _, s := range m.States() {
		switch {
		case s.Pred != nil:
			names[s] = fmt.Sprintf("s%d", len(names))
		case s.Crash:
			names[s] = "crash"
		default:
			names[s] = "no-crash"
		}
	}
	fmt.Fprintf(&b, "at %s: %s\n", m.At, m.Start.text(names))
	for _, s := range m.States() {
		if s.Pred != nil {
			fmt.Fprintf(&b, "%s: if %s then %s else %s\n", names[s], s.Pred, s.Yes.text(names), s.No.text(names))
		}
	}
	return b.String()
}

func (e Edge) text(names map[*State]string) string {
	var b strings.Builder
	for _, o := range e.Ops {
		fmt.Fprintf(&b, "%s; ", o)
	}
	b.WriteString(names[e.To])
	return b.String()
}

func (o EdgeOp) String() string {
	if o.Load != nil {
		return "read " + o.Load.String()
	}
	return fmt.Sprintf("%s -> (%s)", o.Value, o.Addr)
}
