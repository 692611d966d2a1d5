package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// A Subtree tries all schedules that begin with a path and have at most a number of
// preemptions, except those that cannot show anything new.
//
// What a run shows to be worth trying at a node depends on that run alone, on nothing that
// was tried before it. So the runs of a tree are the same whichever way it is divided into
// subtrees, and in whatever order these are searched. Only what is to be tried outside the
// subtree has to be handed on: Harvest tells.
type Subtree struct {
	root   Path
	bound  int    // preemptions
	chance uint64 // the sequence of random numbers

	runs     uint64
	cutOff   uint64
	diverged uint64
	done     bool
	held     bool // something was left out because of the bound
	// Some run drew random numbers of the sequence, could stall, or came upon a choice by
	// chance.
	drew, stalls, draws bool
	// Some goroutine was kept from going round a loop again; rounds: in which it might have done
	// something.
	keptBack, rounds bool

	// The path from the start to the present point. In a run, the first prefix nodes
	// repeat what earlier runs did, and the last of those does something new. The first
	// fixed nodes are those of the root, which others search.
	nodes  []node
	prefix int
	fixed  int
	depth  int
	turn   int  // in root.Turns, while the nodes of the root are made
	strays bool // this run did not repeat the prefix

	// maxNodes and maxChoices are how long runs may be, 0 for no limit; see Limit.
	maxNodes, maxChoices int
	choices              int // nodes of this run with more than one possibility
	kept                 int // what is kept of this run: the ready goroutines of all nodes
	maxKept              int // of that, and of the clocks of steps
	abandoned            bool

	races races
	fair  fairness
	// picks are the nodes of the run that are steps: a step's number is its index.
	picks []int
	// The goroutine that took the last step, the node at which it got its turn, and
	// whether it yielded where it did before; and whether time has moved since.
	last       uint32
	blockStart int
	insisted   insistence
	timeMoved  bool
}

// NewSubtree returns the search below a path.
func NewSubtree(root Path, preemptions int) *Subtree {
	return &Subtree{root: root, bound: preemptions, fixed: root.length(), maxKept: maxKept}
}

// maxKept is how many numbers of goroutines, and moments of them, are kept of a run, 4 bytes each.
// Both grow with the product of steps and goroutines: a search that comes to more is given up,
// and says so.
const maxKept = 1 << 26

// Limit has the search given up when a run has more nodes, or more of them with a choice,
// than given: the search keeps all nodes of a run in mind, and a tree of such runs is not
// searched to its end anyway.
func (d *Subtree) Limit(nodes, choices int) { d.maxNodes, d.maxChoices = nodes, choices }

// Abandoned reports whether the search was given up at a limit.
func (d *Subtree) Abandoned() bool { return d.abandoned }

// restart begins again with another bound.
func (d *Subtree) restart(bound int) {
	d.bound, d.nodes, d.prefix = bound, d.nodes[:0], 0
	d.runs, d.cutOff, d.diverged, d.done, d.held = 0, 0, 0, false, false
}

// Watches: races are between all steps.
func (d *Subtree) Watches() bool      { return true }
func (d *Subtree) Next(uint32) uint64 { return 0 }
func (d *Subtree) Exhausted() bool    { return d.done }

// Progress is that of the subtree alone.
func (d *Subtree) Progress() Progress {
	return Progress{
		Method: MethodDFS, Runs: d.runs, Bound: d.bound, Exhausted: d.done, CutOff: d.cutOff, Diverged: d.diverged,
		Stalls: d.stalls, Draws: d.draws, Held: Held{Chance: d.drew, Rounds: d.rounds},
	}
}

func (d *Subtree) Begin() {
	d.depth, d.turn, d.choices, d.kept = 0, 0, 0, 0
	d.strays, d.abandoned = false, false
	d.picks = d.picks[:0]
	d.last, d.timeMoved = 0, false
	d.races.begin()
	d.fair.begin()
}

func (d *Subtree) Chance() uint64 { return d.chance }

func (d *Subtree) Pick(p *Turn) int {
	if len(p.Ready) > 1 {
		d.choices++
	}
	d.kept += len(p.Ready)
	if d.strays || d.tooLong() {
		return p.Default()
	}
	if d.last != 0 && !d.timeMoved {
		d.fair.stepped(d.last, d.insisted, p)
	}
	d.races.arrive(p, d.reverse)
	if d.depth < d.prefix {
		if n := &d.nodes[d.depth]; !n.repeats(p) {
			d.strays = true
			return p.Default()
		}
	} else if d.add(p); !d.descend() {
		return p.Default()
	}
	n := &d.nodes[d.depth]
	if d.depth >= d.prefix-1 {
		n.site, n.kind = p.Ops[n.chosen].Site, p.Ops[n.chosen].Kind
		n.sum = n.hash(d.sumBefore(d.depth))
	}
	g := p.Ready[n.chosen]
	n.blockStart = d.depth
	if d.timeMoved = g == Time; !d.timeMoved {
		if d.last == g && n.current >= 0 {
			n.blockStart = d.blockStart
		}
		d.blockStart = n.blockStart
		d.last, d.insisted = g, d.fair.insistence(g, &p.Ops[n.chosen])
		d.fair.takes(g, &p.Ops[n.chosen])
	}
	d.picks = append(d.picks, d.depth)
	d.depth++
	d.races.take(n.chosen, d.reverse)
	return n.chosen
}

// extend adds a node to the path, with the memory of an earlier one.
func (d *Subtree) extend() *node {
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
func (d *Subtree) add(p *Turn) {
	n := d.extend()
	d.stalls = d.stalls || p.mayStall()
	n.ready = append(n.ready, p.Ready...)
	for _, g := range p.Ready {
		var s uint8
		if d.fair.allows(g, p) {
			s = allowed
		} else {
			d.keptBack, d.rounds = true, d.rounds || d.fair.keepsBack(g)
		}
		n.state = append(n.state, s)
	}
	n.preemptions, n.afterStall = d.spent(), -1
	if n.stalled = p.Stalled > 0; n.stalled {
		n.afterStall = d.depth
	} else if len(d.picks) > 0 {
		n.afterStall = d.nodes[d.picks[len(d.picks)-1]].afterStall
	}
	n.current = -1
	if c := p.current(); c >= 0 && n.state[c]&allowed != 0 && !yields(&p.Ops[c]) {
		n.current = c
	}
	n.chosen = p.Default()
	for n.state[n.chosen]&allowed == 0 {
		n.chosen = (n.chosen + 1) % p.goroutines() // one of them always is
	}
	n.first = n.chosen
	n.state[n.chosen] |= wanted | tried
}

// spent returns how many preemptions the path has up to the present depth.
func (d *Subtree) spent() int {
	if d.depth == 0 {
		return 0
	}
	before := &d.nodes[d.depth-1]
	return before.preemptions + before.cost(before.chosen)
}

// reverse asks for g to be tried before a step. The place right before the step can be
// out of bounds, since the switch to g may be a preemption there. So g is tried where
// the step's goroutine got its turn, too: there the switch costs no more than the one
// that was made. Likewise, where time may have to move on, it does so for nothing after
// the stall before.
func (d *Subtree) reverse(step int, g uint32) {
	at := d.picks[step]
	n := &d.nodes[at]
	n.want(g)
	if n.blockStart != at {
		d.nodes[n.blockStart].want(g)
	}
	if n.afterStall >= 0 && n.wants(Time) {
		d.nodes[n.afterStall].want(Time)
	}
}

func (d *Subtree) Branch(c Choice) int {
	d.choices++
	if d.strays || d.tooLong() {
		return 0
	}
	if d.depth < d.prefix {
		if it := &d.nodes[d.depth]; it.n != c.N || it.site != c.Site {
			d.strays = true
			return 0
		}
	} else {
		spent := d.spent()
		it := d.extend()
		it.n, it.site, it.unlikely, it.preemptions = c.N, c.Site, c.unlikely(), spent
		d.draws = d.draws || c.Kind == event.Random
		if !d.descend() {
			return 0
		}
	}
	it := &d.nodes[d.depth]
	if d.depth >= d.prefix-1 {
		it.sum = it.hash(d.sumBefore(d.depth))
	}
	d.depth++
	return it.chosen
}

// tooLong reports whether the search was given up in this run.
func (d *Subtree) tooLong() bool {
	if d.maxNodes > 0 && (d.depth >= d.maxNodes || d.choices > d.maxChoices) || d.kept+len(d.races.clocks) > d.maxKept {
		d.abandoned = true
	}
	return d.abandoned
}

// descend makes the choice of the root at the node that was just made, if it is one of the
// root's. It reports whether the run is still on the way to the root.
func (d *Subtree) descend() bool {
	if d.depth >= d.fixed || d.root.Turns[d.turn].At != uint32(d.depth) {
		return true
	}
	n, to := &d.nodes[d.depth], d.root.Turns[d.turn].To
	d.turn++
	if d.depth == d.fixed-1 && d.sumBefore(d.depth) != d.root.Sum {
		d.strays = true
		return false
	}
	if n.n != 0 {
		n.chosen = int(to)
		d.strays = n.chosen >= n.n
		return !d.strays
	}
	for i, g := range n.ready {
		if g == to && n.state[i]&allowed != 0 {
			n.chosen = i
			n.state[i] |= wanted | tried
			return true
		}
	}
	d.strays = true
	return false
}

// sumBefore returns the sum of the nodes before one.
func (d *Subtree) sumBefore(at int) uint64 {
	if at == 0 {
		return 0
	}
	return d.nodes[at-1].sum
}

func (d *Subtree) End(how event.Ending, used Used) {
	if d.done {
		return
	}
	d.runs++
	d.drew = d.drew || used.Draws
	switch {
	case d.abandoned:
		d.nodes, d.done = d.nodes[:0], true
		return
	case d.strays || d.depth < max(d.prefix, d.fixed):
		d.diverged++
		if d.prefix == 0 {
			d.nodes, d.done = d.nodes[:0], true // the root was not found
			return
		}
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
func (d *Subtree) next() {
	for at := len(d.nodes) - 1; at >= d.fixed; at-- {
		n := &d.nodes[at]
		if n.n != 0 {
			if n.chosen+1 < n.n && d.affordable(n, n.chosen+1) {
				n.chosen++
				d.prefix = at + 1
				return
			}
			continue
		}
		for i := range n.ready {
			if !d.open(n, i) {
				continue
			}
			n.state[i] |= tried
			n.chosen, n.site = i, 0
			d.prefix = at + 1
			return
		}
	}
	d.nodes, d.prefix, d.done = d.nodes[:min(d.fixed, len(d.nodes))], 0, true
}

// open reports whether the i-th of the ready is to be tried at n and was not yet.
func (d *Subtree) open(n *node, i int) bool {
	return n.state[i]&(wanted|tried) == wanted && d.affordable(n, i)
}

// affordable reports whether the choice of i at n is within the bound.
func (d *Subtree) affordable(n *node, i int) bool {
	if n.preemptions+n.cost(i) > d.bound {
		d.held = true
		return false
	}
	return true
}
