package sched

// A Path is the beginning of a run, as the choices that led to a node of the tree of all
// schedules and one choice there.
//
// A node is a point at which a goroutine is chosen, or a choice in the middle of a step;
// nodes are counted from 0. At most of them the choice is the one that a run makes by
// itself, so a path names the others only.
type Path struct {
	// Turns are the choices that a run would not make by itself, by ascending node. The
	// path ends with the last of them. A path without any is the root of the tree.
	Turns []Fork `json:",omitempty"`
	// Sum is a hash of the nodes before the last: what was ready at each, and what was
	// done. A run with another one is not of the program that the path was found in.
	Sum uint64 `json:",omitempty"`
}

// A Fork is a choice at a node: of the goroutine with the number To, or of possibility To
// of a choice in the middle of a step.
type Fork struct {
	At uint32 `json:"a"`
	To uint32 `json:"t"`
}

// length returns how many nodes the path has.
func (p Path) length() int {
	if n := len(p.Turns); n > 0 {
		return int(p.Turns[n-1].At) + 1
	}
	return 0
}

// A Harvest is what the search of a subtree leaves to others, when it has come to its end
// or is given up between two runs.
type Harvest struct {
	// Base are the turns of the path that the other fields are about.
	Base []Fork `json:",omitempty"`
	// Left are the choices at nodes of that path that are to be tried, Tried those that
	// were tried. Both are by ascending node.
	Left  []Offshoot `json:",omitempty"`
	Tried []Fork     `json:",omitempty"`
	// Held says that something was left out because of the bound.
	Held bool `json:",omitempty"`
}

// An Offshoot is where a path leaves another one.
type Offshoot struct {
	Fork
	Sum uint64 `json:"s,omitempty"` // see Path
}

// Harvest returns, between runs, what is left of the subtree, and what is to be tried
// outside of it.
func (d *Subtree) Harvest() Harvest {
	var h Harvest
	nodes := d.nodes[:d.prefix]
	if d.done {
		nodes = d.nodes // those of the root
	}
	for at := range nodes {
		n := &d.nodes[at]
		// The choice that the next run was to make here is left, too; the path goes the
		// way that was tried.
		pending := !d.done && at == d.prefix-1
		if n.n != 0 {
			d.harvestBranch(&h, at, pending)
			continue
		}
		for i, g := range n.ready {
			fork := Fork{uint32(at), g}
			switch {
			case pending && i == n.chosen || d.open(n, i):
				h.Left = append(h.Left, Offshoot{fork, d.sumBefore(at)})
			case at >= d.fixed && len(n.ready) > 1 && n.state[i]&tried != 0:
				h.Tried = append(h.Tried, fork)
			}
		}
		if !pending && n.chosen != n.first {
			h.Base = append(h.Base, Fork{uint32(at), n.ready[n.chosen]})
		}
	}
	h.Held = d.held
	return h
}

func (d *Subtree) harvestBranch(h *Harvest, at int, pending bool) {
	n := &d.nodes[at]
	next := n.chosen + 1
	if pending {
		next--
	}
	if at >= d.fixed {
		for to := next; to < n.n && d.affordable(n, to); to++ {
			h.Left = append(h.Left, Offshoot{Fork{uint32(at), uint32(to)}, d.sumBefore(at)})
		}
	}
	if !pending && n.chosen != 0 {
		h.Base = append(h.Base, Fork{uint32(at), uint32(n.chosen)})
	}
}
