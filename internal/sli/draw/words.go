package draw

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// Names are what a front end calls the things of its program. Nothing else of the program gets
// into sentences: what has no name here is described, never written in the engine's notation.
type Names struct {
	// Place names a point of the program, as a file and line do.
	Place func(ir.Point) string
	// Part says what some bytes of what an instruction loads are; it may be nil.
	Part func(in *ir.Instr, offset, size int) ir.Part
	// Text is the text that a symbol stands for; it may be nil.
	Text func(symbol string) (string, bool)
	// Actor is what runs beside others: "goroutine" if it is empty.
	Actor string
	// Frees says that the program frees memory by itself, so that an address may be of no use
	// although it is not nil.
	Frees bool
}

func (n *Names) actor() string { return cmp.Or(n.Actor, "goroutine") }

// Limits on what is said: a reader wants to know what goes wrong, and a machine that reads the
// same list twenty times says no more by it.
const (
	maxReadsTold      = 8
	maxStoresTold     = 4
	maxWaysTold       = 3
	maxConditionsTold = 5
)

// Words tells in a few sentences what the machine does.
//
//	It reads Meter.count at meter.go:17.
//	It reads Meter.count again at meter.go:18.
//	It fails if the second reading of Meter.count differs from the first.
func Words(machine *sli.Machine, names Names) string {
	loads := loadsInOrder(machine)
	w := newPhrasing(loads, names)
	var lines []string
	for i, l := range loads {
		if i == maxReadsTold && len(loads) > maxReadsTold+1 {
			lines = append(lines, fmt.Sprintf("It reads %d more times, the last time at %s.", len(loads)-i, names.Place(loads[len(loads)-1].Label.Point)))
			break
		}
		r := w.readings[l.Key()]
		lines = append(lines, fmt.Sprintf("It reads %s%s at %s.", r.data, again(r.nth), names.Place(l.Label.Point)))
	}
	stores := 0
	for i := range machine.Start.Ops {
		if o := &machine.Start.Ops[i]; o.Addr != nil {
			if stores++; stores <= maxStoresTold {
				lines = append(lines, w.store(o))
			}
		}
	}
	if more := stores - maxStoresTold; more > 0 {
		lines = append(lines, fmt.Sprintf("It writes %d more times.", more))
	}
	return strings.Join(append(lines, w.failures(machine)...), "\n")
}

// store tells what is written.
func (w *phrasing) store(o *sli.EdgeOp) string {
	data, place := dataOf(o.At.Instr), w.names.Place(o.At.Point)
	if value, ok := w.simple(o.Value); ok {
		return fmt.Sprintf("It sets %s to %s at %s.", data, value, place)
	}
	return fmt.Sprintf("It writes %s at %s.", data, place)
}

// failures tell when the machine fails, each way once.
func (w *phrasing) failures(machine *sli.Machine) []string {
	var lines []string
	for _, way := range waysToCrash(machine) {
		line := "It fails if " + strings.Join(w.conditions(way), " and ") + "."
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) > maxWaysTold {
		lines = append(lines[:maxWaysTold], "It also fails in other ways.")
	}
	return lines
}

// conditions are what must hold on a way, each once. What memory has no part in, the goroutine
// brings with it: it is left out if there is something else to say.
func (w *phrasing) conditions(way []conditionOnWay) []string {
	var told, brought []string
	for _, c := range way {
		list := &told
		if !c.predicate.HasLoads() {
			list = &brought
		}
		if text := w.condition(c); !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	if len(told) == 0 {
		told = brought
	}
	if len(told) > maxConditionsTold {
		// What comes last is nearest to the failure.
		told = append([]string{"it comes this way"}, told[len(told)-maxConditionsTold:]...)
	}
	return told
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

// waysToCrash are ways to a crash, each as the predicates on it: some more than are said. A way on
// which a value would have to be two numbers is none.
func waysToCrash(machine *sli.Machine) [][]conditionOnWay {
	var all [][]conditionOnWay
	var walk func(state *sli.State, way []conditionOnWay)
	walk = func(state *sli.State, way []conditionOnWay) {
		switch {
		case len(all) > 4*maxWaysTold:
		case state.Predicate != nil:
			for _, holds := range []bool{true, false} {
				next, c := state.No, conditionOnWay{state.Predicate, holds}
				if holds {
					next = state.Yes
				}
				if !slices.ContainsFunc(way, c.contradicts) {
					walk(next.To, append(way[:len(way):len(way)], c))
				}
			}
		case state.Crash && len(way) > 0:
			all = append(all, way)
		}
	}
	walk(machine.Start.To, nil)
	return all
}

// contradicts reports whether two conditions ask for different numbers in one place, or for a
// number there and for another than that.
func (c conditionOnWay) contradicts(other conditionOnWay) bool {
	one, ok := c.comparison()
	two, okToo := other.comparison()
	if !ok || !okToo || one.value.Key() != two.value.Key() {
		return false
	}
	sameNumber := one.constant.Key() == two.constant.Key()
	return one.equal && two.equal && !sameNumber || one.equal != two.equal && sameNumber
}

// A comparison says that a value is equal to a constant, or that it is not.
type comparison struct {
	value, constant *ir.Expr
	equal           bool
}

// comparison is what the condition says of a number; ok is false if it says anything else.
func (c conditionOnWay) comparison() (said comparison, ok bool) {
	e := c.predicate
	if e.Op != ir.OpEq && e.Op != ir.OpNe || e.Args[1].Op != ir.OpConst {
		return comparison{}, false
	}
	return comparison{e.Args[0], e.Args[1], c.holds == (e.Op == ir.OpEq)}, true
}

// A reading is a load as a report names it: the n-th of some data.
type reading struct {
	data string
	nth  int
}

// A phrasing says expressions in words.
type phrasing struct {
	names    Names
	readings map[string]reading // of loads, by their key
	total    map[string]int     // readings of each data
}

func newPhrasing(loads []*ir.Expr, names Names) *phrasing {
	w := &phrasing{names: names, readings: map[string]reading{}, total: map[string]int{}}
	for _, l := range loads {
		data := dataOf(l.Label.Instr)
		w.total[data]++
		w.readings[l.Key()] = reading{data, w.total[data]}
	}
	return w
}

// dataOf is what an instruction accesses.
func dataOf(in *ir.Instr) string {
	if in.Data == "" {
		return "memory"
	}
	return in.Data
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
	suffix := "th"
	if tens := n / 10 % 10; tens != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}

// name is what a load is called: the data it reads and, if that is read more than once,
// which reading.
func (w *phrasing) name(l *ir.Expr) string {
	r, ok := w.readings[l.Key()]
	if !ok {
		return dataOf(l.Label.Instr)
	}
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
	return w.value(x), w.value(y)
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
