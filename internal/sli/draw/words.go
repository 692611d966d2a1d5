package draw

import (
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// Words tells in a few sentences what the machine does. place names a point of the
// program, as a file and line do.
func Words(m *sli.Machine, place func(ir.Point) string) string {
	w := &phrasing{place: place, names: map[string]string{}, used: map[string]int{}}
	var lines []string
	for _, l := range loadsInOrder(m) {
		lines = append(lines, fmt.Sprintf("It reads %s at %s.", w.name(l), place(l.Label.Point)))
	}
	for _, o := range m.Start.Ops {
		if o.Addr != nil {
			lines = append(lines, fmt.Sprintf("It stores %s at %s.", w.expr(o.Value), place(o.At.Point)))
		}
	}
	for _, way := range waysToCrash(m) {
		var conds []string
		for _, c := range way {
			conds = append(conds, w.condition(c))
		}
		lines = append(lines, "It crashes if "+strings.Join(conds, " and ")+".")
	}
	return strings.Join(lines, "\n")
}

// loadsInOrder are the loads, those first that others are made of.
func loadsInOrder(m *sli.Machine) []*ir.Expr {
	var all []*ir.Expr
	have := map[string]bool{}
	var put func(e *ir.Expr)
	put = func(e *ir.Expr) {
		for _, a := range e.Args {
			put(a)
		}
		if e.Op == ir.OpLoad && !have[e.Key()] {
			have[e.Key()] = true
			all = append(all, e)
		}
	}
	m.Start.Exprs(put)
	return all
}

// A conditionOnWay is a predicate that must hold, or must not.
type conditionOnWay struct {
	pred  *ir.Expr
	holds bool
}

// maxWaysTold bounds the ways to a crash that are told.
const maxWaysTold = 4

// waysToCrash are the ways to a crash, each as the predicates on it.
func waysToCrash(m *sli.Machine) [][]conditionOnWay {
	var all [][]conditionOnWay
	var walk func(s *sli.State, way []conditionOnWay)
	walk = func(s *sli.State, way []conditionOnWay) {
		switch {
		case len(all) == maxWaysTold:
		case s.Predicate != nil:
			walk(s.Yes.To, append(way[:len(way):len(way)], conditionOnWay{s.Predicate, true}))
			walk(s.No.To, append(way[:len(way):len(way)], conditionOnWay{s.Predicate, false}))
		case s.Crash && len(way) > 0:
			all = append(all, way)
		}
	}
	walk(m.Start.To, nil)
	return all
}

type phrasing struct {
	place func(ir.Point) string
	names map[string]string // of loads, by their key
	used  map[string]int
}

// name is what a load is called: the data it reads, with a number if it is read more
// than once.
func (w *phrasing) name(l *ir.Expr) string {
	if n, ok := w.names[l.Key()]; ok {
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
	w.names[l.Key()] = n
	return n
}

func (w *phrasing) condition(g conditionOnWay) string {
	e, holds := g.pred, g.holds
	for e.Op == ir.OpNot {
		e, holds = e.Args[0], !holds
	}
	not := func(yes, no string) string {
		if holds {
			return yes
		}
		return no
	}
	switch e.Op {
	case ir.OpBadAddress:
		return w.expr(e.Args[0]) + not(" is nil", " is not nil")
	case ir.OpRaced:
		return "that was changed meanwhile"
	case ir.OpEq, ir.OpNe:
		holds = holds == (e.Op == ir.OpEq)
		if e.Args[1].Op == ir.OpConst && e.Args[1].Size == 8 && e.Args[1].Value.Uint() == 0 {
			return w.expr(e.Args[0]) + not(" is 0 or nil", " is not 0 or nil")
		}
		return w.expr(e.Args[0]) + not(" equals ", " differs from ") + w.expr(e.Args[1])
	case ir.OpLt:
		return w.expr(e.Args[0]) + not(" is less than ", " is not less than ") + w.expr(e.Args[1])
	case ir.OpLe:
		return w.expr(e.Args[0]) + not(" is at most ", " is more than ") + w.expr(e.Args[1])
	}
	return w.expr(e) + not(" is true", " is false")
}

func (w *phrasing) expr(e *ir.Expr) string {
	switch {
	case e.Op == ir.OpLoad:
		return w.name(e)
	case e.Op == ir.OpExtract && e.Offset == 8 && e.Size == 8 && e.Args[0].Op == ir.OpLoad && e.Args[0].Size >= 16:
		return "the length of " + w.name(e.Args[0])
	case e.Op == ir.OpExtract && e.Offset == 0 && e.Size == 8 && e.Args[0].Op == ir.OpLoad:
		return w.name(e.Args[0])
	case len(e.Args) == 2 && e.Op.Symbol() != "":
		return w.expr(e.Args[0]) + " " + e.Op.Symbol() + " " + w.expr(e.Args[1])
	}
	return e.String()
}
