package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// DFS tries all schedules with at most a number of preemptions, except those that
// cannot show anything new; the package comment says which. It does so first for no
// preemption, then for one, and so on: each round is a Subtree, of the whole tree.
type DFS struct {
	*Subtree        // the present round
	limit    int    // preemptions; negative: none
	before   uint64 // runs of earlier rounds
	cutOff   uint64 // of earlier rounds
	diverged uint64 // of earlier rounds
	done     bool
	complete bool // the last round left out nothing because of its bound
}

// NewDFS returns the depth-first search with at most the given number of preemptions,
// or with any number if it is negative.
func NewDFS(preemptions int) *DFS {
	return &DFS{limit: preemptions, Subtree: NewSubtree(Path{}, 0)}
}

func (d *DFS) Exhausted() bool { return d.done }

func (d *DFS) End(how event.Ending) {
	if d.done {
		return
	}
	d.Subtree.End(how)
	switch {
	case !d.Subtree.Exhausted():
	case !d.held:
		d.done, d.complete = true, true
	case d.bound == d.limit:
		d.done = true
	default:
		d.before += d.runs
		d.cutOff += d.Subtree.cutOff
		d.diverged += d.Subtree.diverged
		d.Subtree.restart(d.bound + 1)
	}
}

func (d *DFS) Progress() Progress {
	return Progress{
		Method: MethodDFS, Runs: d.runs, Bound: d.bound, EarlierRuns: d.before,
		Exhausted: d.done, Unbounded: d.complete, CutOff: d.cutOff + d.Subtree.cutOff, Diverged: d.diverged + d.Subtree.diverged,
	}
}

// exact reports whether nothing was missed because of a run that could not be judged.
func (d *DFS) exact() bool { p := d.Progress(); return p.CutOff == 0 && p.Diverged == 0 }
