package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// DFS tries all schedules with at most a number of preemptions, except those that
// cannot show anything new; the package comment says which. It does so first for no
// preemption, then for one, and so on: each round is a Subtree, of the whole tree. If the
// program draws random numbers, it does all that for several sequences of them.
type DFS struct {
	*Subtree         // the present round
	limit     int    // preemptions; negative: none
	sequences uint64 // of random numbers, at most
	searched  searched
	before    uint64 // runs of earlier rounds
	cutOff    uint64 // of earlier rounds
	diverged  uint64 // of earlier rounds
	done      bool
	complete  bool // the last round left out nothing because of its bound
}

// NewDFS returns the depth-first search with at most the given number of preemptions,
// or with any number if it is negative.
func NewDFS(preemptions int) *DFS {
	return &DFS{limit: preemptions, sequences: maxSequences, Subtree: NewSubtree(Path{}, 0)}
}

// maxSequences is with how many sequences of random numbers a program is searched that
// draws any.
const maxSequences = 8

// searched is what was tried with the sequences of random numbers that are done with.
type searched struct {
	sequences uint64
	runs      uint64 // in their last rounds
	bound     int    // that these came to
	held      bool   // something was left out because of the limit
}

// add adds a sequence.
func (b *searched) add(runs uint64, bound int, held bool) {
	b.sequences, b.runs, b.bound, b.held = b.sequences+1, b.runs+runs, max(b.bound, bound), b.held || held
}

// progress puts into p what was tried, if there are several sequences.
func (b *searched) progress(p *Progress) {
	if p.Held.Chance && b.sequences > 0 {
		p.Sequences, p.Runs, p.Bound, p.Unbounded = b.sequences, b.runs, b.bound, !b.held
	}
}

func (d *DFS) Exhausted() bool { return d.done }

func (d *DFS) End(how event.Ending, used Used) {
	if d.done {
		return
	}
	d.Subtree.End(how, used)
	if !d.Subtree.Exhausted() {
		return
	}
	if d.held && d.bound != d.limit {
		d.before += d.runs
		d.again(d.bound + 1)
		return
	}
	d.searched.add(d.runs, d.bound, d.held)
	if d.drew && d.searched.sequences < d.sequences {
		d.chance++
		d.again(0)
		return
	}
	d.done, d.complete = true, !d.searched.held
}

// again begins another round.
func (d *DFS) again(bound int) {
	d.cutOff += d.Subtree.cutOff
	d.diverged += d.Subtree.diverged
	d.Subtree.restart(bound)
}

func (d *DFS) Progress() Progress {
	p := d.Subtree.Progress()
	p.EarlierRuns, p.Exhausted, p.Unbounded = d.before, d.done, d.complete
	p.CutOff += d.cutOff
	p.Diverged += d.diverged
	d.searched.progress(&p)
	return p
}
