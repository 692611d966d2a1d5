package draw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// Words tells in a few sentences what the machine does. place names a point of the
// program, as a file and line do.
//
//	It reads Meter.count at meter.go:17.
//	It reads Meter.count again at meter.go:18.
//	It fails if the second reading of Meter.count differs from the first.
func Words(machine *sli.Machine, place func(ir.Point) string) string {
	loads := loadsInOrder(machine)
	w := newPhrasing(loads)
	var lines []string
	for _, l := range loads {
		r := w.readings[l.Key()]
		lines = append(lines, fmt.Sprintf("It reads %s%s at %s.", r.data, again(r.nth), place(l.Label.Point)))
	}
	for _, o := range machine.Start.Ops {
		if o.Addr != nil {
			lines = append(lines, fmt.Sprintf("It stores %s at %s.", w.expr(o.Value), place(o.At.Point)))
		}
	}
	for _, way := range waysToCrash(machine) {
		var conditions []string
		for _, c := range way {
			conditions = append(conditions, w.condition(c))
		}
		lines = append(lines, "It fails if "+strings.Join(conditions, " and ")+".")
	}
	return strings.Join(lines, "\n")
}

// loadsInOrder are the loads as the goroutine makes them: each after those that its address
// is computed from, otherwise as the code has them.
func loadsInOrder(machine *sli.Machine) []*ir.Expr {
	left := machine.Loads()
	slices.SortStableFunc(left, func(x, y *ir.Expr) int { return inCode(&x.Label.Point, &y.Label.Point) })
	var all []*ir.Expr
	placed := map[string]bool{}
	ready := func(l *ir.Expr) bool {
		for _, inner := range l.Loads() {
			if inner.Key() != l.Key() && !placed[inner.Key()] {
				return false
			}
		}
		return true
	}
	for len(left) > 0 {
		i := max(0, slices.IndexFunc(left, ready))
		all = append(all, left[i])
		placed[left[i].Key()] = true
		left = slices.Delete(left, i, i+1)
	}
	return all
}

// inCode compares two points by where the code has them, in the call that both are made
// from.
func inCode(p, q *ir.Point) int {
	context := ir.CommonContext(p.Context, q.Context)
	if context == nil {
		return 0
	}
	first, second := p.Context.InstrIn(context, p.Instr), q.Context.InstrIn(context, q.Instr)
	if first == nil || second == nil {
		return 0 // code outside the program made one of the calls
	}
	return first.ID - second.ID
}

// A conditionOnWay is a predicate that must hold, or must not.
type conditionOnWay struct {
	predicate *ir.Expr
	holds     bool
}

// maxWaysTold bounds the ways to a crash that are told.
const maxWaysTold = 4

// waysToCrash are the ways to a crash, each as the predicates on it.
func waysToCrash(machine *sli.Machine) [][]conditionOnWay {
	var all [][]conditionOnWay
	var walk func(state *sli.State, way []conditionOnWay)
	walk = func(state *sli.State, way []conditionOnWay) {
		switch {
		case len(all) == maxWaysTold:
		case state.Predicate != nil:
			walk(state.Yes.To, append(way[:len(way):len(way)], conditionOnWay{state.Predicate, true}))
			walk(state.No.To, append(way[:len(way):len(way)], conditionOnWay{state.Predicate, false}))
		case state.Crash && len(way) > 0:
			all = append(all, way)
		}
	}
	walk(machine.Start.To, nil)
	return all
}

// A reading is a load as people are told of it: the n-th of some data.
type reading struct {
	data string
	nth  int
}

// A phrasing says expressions in words.
type phrasing struct {
	readings map[string]reading // of loads, by their key
	total    map[string]int     // readings of each data
}

func newPhrasing(loads []*ir.Expr) *phrasing {
	w := &phrasing{readings: map[string]reading{}, total: map[string]int{}}
	for _, l := range loads {
		data := l.Label.Instr.Data
		if data == "" {
			data = "memory"
		}
		w.total[data]++
		w.readings[l.Key()] = reading{data, w.total[data]}
	}
	return w
}

// again says that data was read before.
func again(nth int) string {
	switch nth {
	case 1:
		return ""
	case 2:
		return " again"
	}
	return " for the " + ordinal(nth) + " time"
}

func ordinal(n int) string {
	words := [...]string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprintf("%dth", n)
}

// name is what a load is called: the data it reads and, if that is read more than once,
// which reading.
func (w *phrasing) name(l *ir.Expr) string {
	r := w.readings[l.Key()]
	if w.total[r.data] > 1 {
		return fmt.Sprintf("the %s reading of %s", ordinal(r.nth), r.data)
	}
	return r.data
}

// pair names the two sides of a comparison. Of two readings of the same data the second is
// named by its number alone.
func (w *phrasing) pair(x, y *ir.Expr) (string, string) {
	if x.Op == ir.OpLoad && y.Op == ir.OpLoad {
		if a, b := w.readings[x.Key()], w.readings[y.Key()]; a.data == b.data {
			return w.name(x), "the " + ordinal(b.nth)
		}
	}
	return w.expr(x), w.expr(y)
}

// later puts the later of two readings of the same data first, where both orders mean the
// same.
func (w *phrasing) later(x, y *ir.Expr) (*ir.Expr, *ir.Expr) {
	if x.Op == ir.OpLoad && y.Op == ir.OpLoad {
		if a, b := w.readings[x.Key()], w.readings[y.Key()]; a.data == b.data && a.nth < b.nth {
			return y, x
		}
	}
	return x, y
}

func (w *phrasing) condition(c conditionOnWay) string {
	e, holds := c.predicate, c.holds
	for e.Op == ir.OpNot {
		e, holds = e.Args[0], !holds
	}
	either := func(yes, no string) string {
		if holds {
			return yes
		}
		return no
	}
	switch e.Op {
	case ir.OpBadAddress:
		return w.expr(e.Args[0]) + either(" is nil", " is not nil")
	case ir.OpRaced:
		return "another goroutine changed " + w.dataIn(e) + " meanwhile"
	case ir.OpEq, ir.OpNe:
		holds = holds == (e.Op == ir.OpEq)
		if e.Args[1].Op == ir.OpConst && e.Args[1].Size == 8 && e.Args[1].Value.Uint() == 0 {
			return w.expr(e.Args[0]) + either(" is 0 or nil", " is neither 0 nor nil")
		}
		x, y := w.pair(w.later(e.Args[0], e.Args[1]))
		return x + either(" equals ", " differs from ") + y
	case ir.OpLt:
		x, y := w.pair(e.Args[0], e.Args[1])
		return x + either(" is less than ", " is not less than ") + y
	case ir.OpLe:
		x, y := w.pair(e.Args[0], e.Args[1])
		return x + either(" is at most ", " is more than ") + y
	}
	return w.expr(e) + either(" is true", " is false")
}

// dataIn lists the data that an expression was computed from, each once.
func (w *phrasing) dataIn(e *ir.Expr) string {
	var all []string
	for _, l := range e.Loads() {
		if data := w.readings[l.Key()].data; !slices.Contains(all, data) {
			all = append(all, data)
		}
	}
	return strings.Join(all, " or ")
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
