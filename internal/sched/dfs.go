package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// DFS tries all schedules with at most a number of preemptions, except those that
// cannot show anything new; the package comment says which. It does so first for no
// preemption, then for one, and so on.
type DFS struct {
	limit int // preemptions; negative: none

	bound    int    // preemptions in the present round
	runs     uint64 // in the present round
	before   uint64 // in earlier rounds
	cutOff   uint64
	diverged uint64
	done     bool
	complete bool // the last round left out nothing because of its bound
	held     bool // something was left out because of the bound in this round

	// The path from the start to the present point. In a run, the first prefix nodes
	// repeat what earlier runs did, and the last of those does something new.
	nodes  []node
	prefix int
	depth  int
	strays bool // this run did not repeat the prefix

	races races
	fair  fairness
	// picks are the nodes of the run that are steps: a step's number is its index.
	picks []int
	// What the last step was.
	last     uint32
	insisted bool
}

// A node is a choice on the path: which goroutine goes next, or which possibility is
// taken in the middle of a step.
type node struct {
	site uint32
	// n is the number of possibilities of the latter kind, 0 for the former.
	n      int
	chosen int

	kind        event.Kind
	ready       []uint32
	state       []uint8 // by index in ready
	current     int     // index in ready of the one that would not be a preemption, -1 if each would
	preemptions int     // on the path before the node
	blockStart  int     // the node at which the chosen one got its turn
}

const (
	allowed uint8 = 1 << iota // by fairness
	wanted                    // to be tried
	tried
)

// NewDFS returns the depth-first search with at most the given number of preemptions,
// or with any number if it is negative.
func NewDFS(preemptions int) *DFS { return &DFS{limit: preemptions} }

// Watches: races are between all steps.
func (d *DFS) Watches() bool      { return true }
func (d *DFS) Next(uint32) uint64 { return 0 }
func (d *DFS) Exhausted() bool    { return d.done }

// exact reports whether nothing was missed because of a run that could not be judged.
func (d *DFS) exact() bool { return d.cutOff == 0 && d.diverged == 0 }

func (d *DFS) Begin() {
	d.depth = 0
	d.strays = false
	d.picks = d.picks[:0]
	d.last = 0
	d.races.begin()
	d.fair.begin()
}

func (d *DFS) Pick(p *Turn) int {
	if d.strays {
		return p.Default()
	}
	if d.last != 0 {
		d.fair.stepped(d.last, d.insisted, p)
	}
	d.races.arrive(p, d.reverse)
	if d.depth < d.prefix {
		if n := &d.nodes[d.depth]; !n.repeats(p) {
			d.strays = true
			return p.Default()
		}
	} else {
		d.add(p)
	}
	n := &d.nodes[d.depth]
	if d.depth >= d.prefix-1 {
		n.site, n.kind = p.Ops[n.chosen].Site, p.Ops[n.chosen].Kind
	}
	g := p.Ready[n.chosen]
	n.blockStart = d.depth
	if len(d.picks) > 0 && d.last == g && n.current >= 0 {
		n.blockStart = d.nodes[d.picks[len(d.picks)-1]].blockStart
	}
	d.last, d.insisted = g, d.fair.insists(g, &p.Ops[n.chosen])
	d.fair.takes(g, &p.Ops[n.chosen])
	d.picks = append(d.picks, d.depth)
	d.depth++
	d.races.take(n.chosen, d.reverse)
	return n.chosen
}

// repeats reports whether p is the point at which n was made, as far as can be seen. What
// will be done is compared for the goroutine that goes next only: a program that does
// something else is found out at one of the next points.
func (n *node) repeats(p *Turn) bool {
	if n.n != 0 || len(n.ready) != len(p.Ready) {
		return false
	}
	for i, g := range p.Ready {
		if n.ready[i] != g {
			return false
		}
	}
	op := &p.Ops[n.chosen]
	return n.site == 0 || n.site == op.Site && n.kind == op.Kind
}

// extend adds a node to the path, with the memory of an earlier one.
func (d *DFS) extend() *node {
	if d.depth < cap(d.nodes) {
		d.nodes = d.nodes[:d.depth+1]
	} else {
		d.nodes = append(d.nodes[:d.depth], node{})
	}
	n := &d.nodes[d.depth]
	*n = node{ready: n.ready[:0], state: n.state[:0]}
	return n
}

// add adds a node for p, and chooses the one that would go by default, if that is allowed.
func (d *DFS) add(p *Turn) {
	n := d.extend()
	n.ready = append(n.ready, p.Ready...)
	for _, g := range p.Ready {
		var s uint8
		if d.fair.allows(g, p) {
			s = allowed
		}
		n.state = append(n.state, s)
	}
	if len(d.picks) > 0 {
		before := &d.nodes[d.picks[len(d.picks)-1]]
		n.preemptions = before.preemptions + before.cost(before.chosen)
	}
	n.current = -1
	if c := p.current(); c >= 0 && n.state[c]&allowed != 0 && !yields(&p.Ops[c]) {
		n.current = c
	}
	n.chosen = p.Default()
	for n.state[n.chosen]&allowed == 0 {
		n.chosen = (n.chosen + 1) % len(n.ready)
	}
	n.state[n.chosen] |= wanted | tried
}

// cost returns how many preemptions the choice of i is.
func (n *node) cost(i int) int {
	if n.current >= 0 && n.current != i {
		return 1
	}
	return 0
}

// reverse asks for g to be tried before a step. The place right before the step can be
// out of bounds, since the switch to g may be a preemption there. So g is tried where
// the step's goroutine got its turn, too: there the switch costs no more than the one
// that was made.
func (d *DFS) reverse(step int, g uint32) {
	at := d.picks[step]
	n := &d.nodes[at]
	n.want(g)
	if n.blockStart != at {
		d.nodes[n.blockStart].want(g)
	}
}

// want asks for g to be tried at n, or for all if g cannot go there: one of them
// leads to where it can.
func (n *node) want(g uint32) {
	for i, r := range n.ready {
		if r == g && n.state[i]&allowed != 0 {
			n.state[i] |= wanted
			return
		}
	}
	for i := range n.state {
		if n.state[i]&allowed != 0 {
			n.state[i] |= wanted
		}
	}
}

func (d *DFS) Branch(g, site uint32, n int) int {
	if d.strays {
		return 0
	}
	if d.depth < d.prefix {
		it := &d.nodes[d.depth]
		if it.n != n || it.site != site {
			d.strays = true
			return 0
		}
		d.depth++
		return it.chosen
	}
	it := d.extend()
	it.n, it.site = n, site
	d.depth++
	return 0
}

func (d *DFS) End(how event.Ending) {
	if d.done {
		return
	}
	d.runs++
	switch {
	case d.strays || d.depth < d.prefix:
		d.diverged++
		d.nodes = d.nodes[:d.prefix]
	default:
		d.nodes = d.nodes[:d.depth]
		if how == event.CutOff {
			d.cutOff++
		}
		if how == event.Failed && len(d.picks) > 0 {
			// The step that ended the run kept all others from going on.
			n := &d.nodes[d.picks[len(d.picks)-1]]
			for _, g := range n.ready {
				d.reverse(len(d.picks)-1, g)
			}
		}
	}
	d.next()
}

// next chooses what the next run does: the last choice of the path that has another
// possibility left is made another way.
func (d *DFS) next() {
	for at := len(d.nodes) - 1; at >= 0; at-- {
		n := &d.nodes[at]
		if n.n != 0 {
			if n.chosen+1 < n.n {
				n.chosen++
				d.prefix = at + 1
				return
			}
			continue
		}
		for i := range n.ready {
			if n.state[i]&(wanted|tried) != wanted {
				continue
			}
			if n.preemptions+n.cost(i) > d.bound {
				d.held = true
				continue
			}
			n.state[i] |= tried
			n.chosen, n.site = i, 0
			d.prefix = at + 1
			return
		}
	}
	d.nodes, d.prefix = d.nodes[:0], 0
	switch {
	case !d.held:
		d.done, d.complete = true, true
	case d.bound == d.limit:
		d.done = true
	default:
		d.bound++
		d.before += d.runs
		d.runs, d.held = 0, false
	}
}

func (d *DFS) Progress() Progress {
	return Progress{
		Method: MethodDFS, Runs: d.runs, Bound: d.bound, EarlierRuns: d.before,
		Exhausted: d.done, Unbounded: d.complete, CutOff: d.cutOff, Diverged: d.diverged,
	}
}
