package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// A node is a choice on the path: which goroutine goes next, or which possibility is
// taken in the middle of a step.
type node struct {
	site uint32
	// n is the number of possibilities of the latter kind, 0 for the former. unlikely says
	// that all but the first of them cost a preemption.
	n        int
	unlikely bool
	chosen   int
	first    int    // what was chosen when the node was made
	sum      uint64 // of this node and those before it; see Path

	kind        event.Kind
	ready       []uint32
	state       []uint8 // by index in ready
	current     int     // index in ready of the one that would not be a preemption, -1 if each would
	preemptions int     // on the path before the node
	blockStart  int     // the node at which the chosen one got its turn
	stalled     bool    // a stall comes before the node, and can go on for nothing
	afterStall  int     // the last node at which that was so, up to and with this; -1 for none
}

const (
	allowed uint8 = 1 << iota // by fairness
	wanted                    // to be tried
	tried
)

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

// cost returns how many preemptions the choice of i is.
func (n *node) cost(i int) int {
	switch {
	case n.n != 0 && (i == 0 || !n.unlikely):
		return 0
	case n.n != 0:
		return 1
	case n.ready[i] == Time && (n.stalled || len(n.ready) == 1):
		return 0
	case n.ready[i] == Time:
		return 1
	}
	if n.current >= 0 && n.current != i {
		return 1
	}
	return 0
}

// wants reports whether g is to be tried at n.
func (n *node) wants(g uint32) bool {
	for i, r := range n.ready {
		if r == g {
			return n.state[i]&wanted != 0
		}
	}
	return false
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

// hash returns the sum of a node, given that of those before it.
func (n *node) hash(before uint64) uint64 {
	h := mix(before + uint64(n.site)<<8 + uint64(n.kind))
	if n.n != 0 {
		return mix(h + uint64(n.n)<<32 + uint64(n.chosen))
	}
	for _, g := range n.ready {
		h = mix(h + uint64(g))
	}
	return mix(h + uint64(n.ready[n.chosen])<<32)
}
