package sli

import (
	"fmt"
	"strings"
)

// Words tells in a few sentences what the machine does. place names a point of the
// program, as a file and line do.
func (m *Machine) Words(place func(Point) string) string {
	w := &words{place: place, names: map[string]string{}, used: map[string]int{}}
	var lines []string
	for _, l := range m.ordered() {
		lines = append(lines, fmt.Sprintf("It reads %s at %s.", w.name(l), place(l.Label.Point)))
	}
	for _, o := range m.Start.Ops {
		if o.Addr != nil {
			lines = append(lines, fmt.Sprintf("It stores %s at %s.", w.expr(o.Value), place(o.At.Point)))
		}
	}
	for _, way := range m.crashes() {
		var conds []string
		for _, c := range way {
			conds = append(conds, w.condition(c))
		}
		lines = append(lines, "It crashes if "+strings.Join(conds, " and ")+".")
	}
	return strings.Join(lines, "\n")
}

// ordered are the loads, those first that others are made of.
func (m *Machine) ordered() []*Expr {
	var all []*Expr
	have := map[string]bool{}
	var put func(e *Expr)
	put = func(e *Expr) {
		for _, a := range e.Args {
			put(a)
		}
		if e.Op == OpLoad && !have[e.key] {
			have[e.key] = true
			all = append(all, e)
		}
	}
	m.Start.exprs(put)
	return all
}

// A guard is a predicate that must hold, or must not.
type guard struct {
	pred  *Expr
	holds bool
}

// maxWays bounds the ways to a crash that are told.
const maxWays = 4

// crashes are the ways to a crash, each as the predicates on it.
func (m *Machine) crashes() [][]guard {
	var all [][]guard
	var walk func(s *State, way []guard)
	walk = func(s *State, way []guard) {
		switch {
		case len(all) == maxWays:
		case s.Pred != nil:
			walk(s.Yes.To, append(way[:len(way):len(way)], guard{s.Pred, true}))
			walk(s.No.To, append(way[:len(way):len(way)], guard{s.Pred, false}))
		case s.Crash && len(way) > 0:
			all = append(all, way)
		}
	}
	walk(m.Start.To, nil)
	return all
}

type words struct {
	place func(Point) string
	names map[string]string // of loads, by their key
	used  map[string]int
}

// name is what a load is called: the data it reads, with a number if it is read more
// than once.
func (w *words) name(l *Expr) string {
	if n, ok := w.names[l.key]; ok {
		return n
	}
	n := l.Label.Instr.Data
	if n == "" {
		n = "memory"
	}
	w.used[n]++
	switch k := w.used[n]; k {
	case 1:
	case 2:
		n += " again"
	default:
		n = fmt.Sprintf("%s for the %d. time", n, k)
	}
	w.names[l.key] = n
	return n
}

func (w *words) condition(g guard) string {
	e, holds := g.pred, g.holds
	for e.Op == OpNot {
		e, holds = e.Args[0], !holds
	}
	not := func(yes, no string) string {
		if holds {
			return yes
		}
		return no
	}
	switch e.Op {
	case OpBadAddr:
		return w.expr(e.Args[0]) + not(" is nil", " is not nil")
	case OpRaced:
		return "that was changed meanwhile"
	case OpEq, OpNe:
		holds = holds == (e.Op == OpEq)
		if e.Args[1].Op == OpConst && e.Args[1].Size == 8 && e.Args[1].Val.Uint() == 0 {
			return w.expr(e.Args[0]) + not(" is 0 or nil", " is not 0 or nil")
		}
		return w.expr(e.Args[0]) + not(" equals ", " differs from ") + w.expr(e.Args[1])
	case OpLt:
		return w.expr(e.Args[0]) + not(" is less than ", " is not less than ") + w.expr(e.Args[1])
	case OpLe:
		return w.expr(e.Args[0]) + not(" is at most ", " is more than ") + w.expr(e.Args[1])
	}
	return w.expr(e) + not(" is true", " is false")
}

func (w *words) expr(e *Expr) string {
	switch {
	case e.Op == OpLoad:
		return w.name(e)
	case e.Op == OpExtract && e.Off == 8 && e.Size == 8 && e.Args[0].Op == OpLoad && e.Args[0].Size >= 16:
		return "the length of " + w.name(e.Args[0])
	case e.Op == OpExtract && e.Off == 0 && e.Size == 8 && e.Args[0].Op == OpLoad:
		return w.name(e.Args[0])
	case len(e.Args) == 2 && operators[e.Op] != "":
		return w.expr(e.Args[0]) + " " + operators[e.Op] + " " + w.expr(e.Args[1])
	}
	return e.String()
}
