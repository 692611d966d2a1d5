package isolate_test

import (
	"fmt"
	"slices"
	"strings"
)

// A modelHistory is a sequence of instructions executed, each in one byte: the
// thread and its program counter.
type modelHistory string

func (h modelHistory) then(t int, s *modelState) modelHistory {
	return h + modelHistory(rune(t<<4|int(s.threads[t].pc)))
}

func (h modelHistory) at(p *modelProgram, i int) (t int, in *modelInstruction) {
	t = int(h[i] >> 4)
	return t, &p.threads[t].code[h[i]&15]
}

func (h modelHistory) format(p *modelProgram) string {
	var parts []string
	for i := range len(h) {
		t, in := h.at(p, i)
		parts = append(parts, fmt.Sprintf("T%d %s", t+1, in.text))
	}
	return strings.Join(parts, " | ")
}

// isolated is section 2's definition to the letter: every sub-history from an
// Acquire to the same thread's next Release of that lock, or to the end, is
// free of other threads' accesses to what the lock guards. It looks at the
// sections of threads that are careful about the lock, or at all sections.
func (h modelHistory) isolated(p *modelProgram, all bool) bool {
	for i := range len(h) {
		owner, acquire := h.at(p, i)
		if acquire.op != modelAcquire || !all && !p.careful(owner, acquire.lock) {
			continue
		}
		for j := i + 1; j < len(h); j++ {
			t, in := h.at(p, j)
			if t == owner && in.op == modelRelease && in.lock == acquire.lock {
				break
			}
			if t != owner && in.accesses() && in.lock == acquire.lock {
				return false
			}
		}
	}
	return true
}

// A modelGraph holds all states of a program that a semantics can reach, and
// all steps between them. States are numbered by runes: a set of states, in
// order, can be made a string, and a key.
type modelGraph struct {
	p        *modelProgram
	states   []modelState
	standing []modelState // the standard states for which they stand
	edges    []modelEdge
	first    []int    // the steps from state i are edges[first[i]:first[i+1]]
	alive    []bool   // an instruction can be executed, after silent steps at most
	seen     []uint32 // for settle: the round in which a state was last seen
	round    uint32
}

type modelEdge struct {
	to      rune
	thread  int8
	shown   bool
	excused bool // an access to a section that has lost its isolation to a surrender
}

func modelExplore(p *modelProgram, sem modelSemantics) *modelGraph {
	g := &modelGraph{p: p}
	ids := make(map[modelState]rune)
	intern := func(s *modelState) rune {
		id, ok := ids[*s]
		if !ok {
			id = rune(len(g.states))
			ids[*s] = id
			g.states = append(g.states, *s)
			g.standing = append(g.standing, p.standing(sem, s))
		}
		return id
	}
	next := modelState{shared: p.initial} // one for all steps: it escapes
	intern(&next)
	background, _ := sem.(modelBackground)
	for id := 0; id < len(g.states); id++ {
		g.first = append(g.first, len(g.edges))
		for t := range p.threads {
			next = g.states[id]
			in := p.next(&next, t)
			excused := in != nil && in.accesses() && next.excused[in.lock]
			if move := sem.step(p, &next, t); move != modelWaits {
				g.edges = append(g.edges, modelEdge{intern(&next), int8(t), move == modelShown, excused})
			}
		}
		idle := g.first[id] == len(g.edges)
		for t := range p.threads {
			next = g.states[id]
			if background != nil && background.background(p, &next, t, idle) {
				g.edges = append(g.edges, modelEdge{to: intern(&next), thread: int8(t)})
			}
		}
	}
	g.first = append(g.first, len(g.edges))
	if len(g.states) > 0xd000 {
		panic("model: too many states to number them by runes")
	}
	g.seen = make([]uint32, len(g.states))
	g.alive = make([]bool, len(g.states))
	for changed := true; changed; {
		changed = false
		for id := len(g.states) - 1; id >= 0; id-- {
			if !g.alive[id] && slices.ContainsFunc(g.steps(rune(id)), func(e modelEdge) bool { return e.shown || g.alive[e.to] }) {
				g.alive[id], changed = true, true
			}
		}
	}
	return g
}

func (g *modelGraph) steps(id rune) []modelEdge { return g.edges[g.first[id]:g.first[id+1]] }

// settle returns the states reachable from those given by silent steps, in
// order and each once.
func (g *modelGraph) settle(from ...rune) []rune {
	var set []rune
	g.round++
	push := func(id rune) {
		if g.seen[id] != g.round {
			g.seen[id] = g.round
			set = append(set, id)
		}
	}
	for _, id := range from {
		push(id)
	}
	for i := 0; i < len(set); i++ {
		for _, e := range g.steps(set[i]) {
			if !e.shown {
				push(e.to)
			}
		}
	}
	slices.Sort(set)
	return set
}

// after returns the states in which thread t has executed its next instruction,
// starting from those in set, and whether it could do so without a surrender.
func (g *modelGraph) after(set []rune, t int) (next []rune, unexcused bool) {
	for _, id := range set {
		for _, e := range g.steps(id) {
			if e.shown && int(e.thread) == t {
				next = append(next, e.to)
				unexcused = unexcused || !e.excused
			}
		}
	}
	if next == nil {
		return nil, false
	}
	return g.settle(next...), unexcused
}

// circular reports whether silent steps can go round in a circle.
func (g *modelGraph) circular() bool {
	const onPath, done = 1, 2
	colour := make([]uint8, len(g.states))
	var visit func(id rune) bool
	visit = func(id rune) bool {
		colour[id] = onPath
		for _, e := range g.steps(id) {
			if !e.shown && (colour[e.to] == onPath || colour[e.to] == 0 && visit(e.to)) {
				return true
			}
		}
		colour[id] = done
		return false
	}
	for id := range g.states {
		if colour[id] == 0 && visit(rune(id)) {
			return true
		}
	}
	return false
}

// finals returns the final values with which all threads can finish, as text
// without those that are zero: "x=1 T1.r0=1".
func (g *modelGraph) finals() map[string]modelState {
	finals := make(map[string]modelState)
	for id, s := range g.standing {
		var parts []string
		for v, name := range g.p.vars {
			parts = append(parts, fmt.Sprintf("%s=%d", name, s.shared[v]))
		}
		finished := len(g.steps(rune(id))) == 0
		for t := range g.p.threads {
			finished = finished && g.p.next(&s, t) == nil
			for r, v := range s.threads[t].regs {
				parts = append(parts, fmt.Sprintf("T%d.r%d=%d", t+1, r, v))
			}
		}
		if finished {
			parts = slices.DeleteFunc(parts, func(s string) bool { return strings.HasSuffix(s, "=0") })
			finals[strings.Join(parts, " ")] = g.states[id]
		}
	}
	return finals
}

// histories calls f with every history, one by one, and with the states that it
// may have led to.
func (g *modelGraph) histories(f func(h modelHistory, set []rune)) {
	var visit func(h modelHistory, set []rune)
	visit = func(h modelHistory, set []rune) {
		f(h, set)
		for t := range g.p.threads {
			if next, _ := g.after(set, t); next != nil {
				visit(h.then(t, &g.standing[set[0]]), next)
			}
		}
	}
	visit("", g.settle(0))
}

// A modelFault is a way in which a semantics can fail its specification.
type modelFault string

const (
	// Safety, isolation and permissiveness.
	modelUnsafe       modelFault = "a history is infeasible under the standard semantics, or leads to another state"
	modelInterference modelFault = "a careless access falls into a careful section"
	modelForbidden    modelFault = "an isolated history is infeasible"

	// Safety, where isolation is lost already.
	modelUnsafeLater modelFault = "after an interference, " + modelUnsafe

	// What sets of histories do not show.
	modelStuck    modelFault = "nobody moves on, although an isolated step is possible"
	modelDeadlock modelFault = "nobody moves on; the standard semantics could, but by interference alone"
	modelCircle   modelFault = "the protocol can run for ever and execute no instruction"

	// A mistake of the program, not of the semantics.
	modelDisobeys modelFault = "a careful thread disobeys the locking discipline"
)

// A modelReport tells what a comparison has seen.
type modelReport struct {
	programs, states int
	histories        uint64 // distinct ones that the semantics permits
	delays           int    // accesses, told apart by state, that had to wait for a section's end
	faults           map[modelFault]modelWitness
}

// A modelWitness is a history that shows a fault.
type modelWitness struct {
	p *modelProgram
	h modelHistory
}

func (w modelWitness) String() string {
	return fmt.Sprintf("%s\n\tafter %s", w.p, w.h.format(w.p))
}

func (r *modelReport) add(other modelReport) {
	r.programs += other.programs
	r.states += other.states
	r.histories += other.histories
	r.delays += other.delays
	for fault, witness := range other.faults {
		r.fault(fault, witness.p, witness.h)
	}
}

// fault notes the first witness of a fault.
func (r *modelReport) fault(fault modelFault, p *modelProgram, h modelHistory) {
	if r.faults == nil {
		r.faults = make(map[modelFault]modelWitness)
	}
	if !r.has(fault) {
		r.faults[fault] = modelWitness{p, h}
	}
}

func (r modelReport) has(fault modelFault) bool { return r.faults[fault].p != nil }

func (r modelReport) String() string {
	return fmt.Sprintf("%d programs, %d histories, %d states, %d delays", r.programs, r.histories, r.states, r.delays)
}

// modelCompare compares the histories of p under sem, and the states they lead
// to, with those that are feasible under the standard semantics and isolated.
//
// It follows the standard semantics, in which a history leads to one state, in
// step with the set of all states in which sem may be after the same history.
// Histories that lead to the same pair have the same continuations, and only
// the first is followed: nothing is lost by that.
func modelCompare(p *modelProgram, sem modelSemantics) modelReport {
	c := modelComparison{p: p, g: modelExplore(p, sem), done: make(map[modelPair]uint64)}
	c.report = modelReport{programs: 1, states: len(c.g.states)}
	if c.g.circular() {
		c.report.fault(modelCircle, p, "")
	}
	c.report.histories = c.visit("", modelState{shared: p.initial}, c.g.settle(0), true)
	return c.report
}

type modelComparison struct {
	p      *modelProgram
	g      *modelGraph
	done   map[modelPair]uint64 // the number of continuations, with the empty one
	report modelReport
}

type modelPair struct {
	std      modelState
	set      string
	isolated bool
}

// visit compares all continuations of history h, isolated or not, which has led
// the standard semantics to std and the other one into some state of set, and
// returns their number.
func (c *modelComparison) visit(h modelHistory, std modelState, set []rune, isolated bool) uint64 {
	pair := modelPair{std, string(set), isolated}
	if n, ok := c.done[pair]; ok {
		return n
	}
	n := uint64(1)
	unsafe := modelUnsafe
	if !isolated {
		unsafe = modelUnsafeLater
	}
	for _, id := range set {
		if c.g.standing[id] != std {
			c.report.fault(unsafe, c.p, h)
			return n
		}
	}
	rest := modelDeadlock // what it is if nobody moves on from here
	moves := false
	for t := range c.p.threads {
		next := std
		move := modelStandard{}.step(c.p, &next, t) == modelShown
		interferes := false
		if in := c.p.next(&std, t); in != nil && in.accesses() {
			owner := int(std.owner[in.lock])
			interferes = owner != 0 && owner != t+1 && c.p.careful(owner-1, in.lock)
			if c.p.careful(t, in.lock) && owner != t+1 {
				c.report.fault(modelDisobeys, c.p, h)
			}
		}
		moves = moves || move
		if move && !interferes {
			rest = modelStuck
		}
		then, unexcused := c.g.after(set, t)
		longer := h.then(t, &std)
		switch {
		case then == nil && move && interferes:
			c.report.delays++
		case then == nil && move && isolated:
			c.report.fault(modelForbidden, c.p, longer)
		case then != nil && !move:
			c.report.fault(unsafe, c.p, longer)
		case then != nil:
			if interferes && unexcused {
				c.report.fault(modelInterference, c.p, longer)
			}
			n += c.visit(longer, next, then, isolated && !interferes)
		}
	}
	for _, id := range set {
		if moves && !c.g.alive[id] {
			c.report.fault(rest, c.p, h)
		}
	}
	c.done[pair] = n
	return n
}
