package sched

// A PlanState is all that a Plan knows between two waves, so that a search can be left by one
// process and taken up by another. What is in it is for NewPlan's options alone.
type PlanState struct {
	Tree       TreeState
	Sequential bool   `json:",omitempty"`
	Again      []Unit `json:",omitempty"`
	Next       uint64 `json:",omitempty"`
	Length     uint64 `json:",omitempty"`
	Stalls     uint64 `json:",omitempty"`
	// ChanceRuns and those after it are the tallies of runs by chance, and of the tree.
	ChanceRuns, ChanceSince, TreeRuns, TreeSince int    `json:",omitempty"`
	Runs                                         int    `json:",omitempty"`
	Steps, TreeSteps                             uint64 `json:",omitempty"`
}

// A TreeState is what is left of the search of all schedules, and what of it is known.
type TreeState struct {
	Chance    uint64 `json:",omitempty"`
	Sequences uint64 `json:",omitempty"`
	// Searched and those after it are of the sequences of random numbers that are done with.
	Searched, SearchedRuns uint64 `json:",omitempty"`
	SearchedBound          int    `json:",omitempty"`
	SearchedHeld           bool   `json:",omitempty"`

	Drew, Stalls, Draws, Rounds bool   `json:",omitempty"`
	Bound                       int    `json:",omitempty"`
	Runs, Before                uint64 `json:",omitempty"`
	CutOff, Diverged            uint64 `json:",omitempty"`
	Held, Abandoned             bool   `json:",omitempty"`
	Done, Complete              bool   `json:",omitempty"`
	Left                        []Unit `json:",omitempty"`
	Units                       int    `json:",omitempty"`
	Steps                       uint64 `json:",omitempty"`
	// Known are the keys of paths, two numbers each.
	Known []uint64 `json:",omitempty"`
}

// State returns what the plan knows. It is to be called between Merge and Wave.
func (p *Plan) State() PlanState {
	t := p.tree
	tree := TreeState{
		Chance: t.chance, Sequences: t.sequences,
		Searched: t.searched.sequences, SearchedRuns: t.searched.runs, SearchedBound: t.searched.bound, SearchedHeld: t.searched.held,
		Drew: t.drew, Stalls: t.stalls, Draws: t.draws, Rounds: t.rounds,
		Bound: t.bound, Runs: t.runs, Before: t.before, CutOff: t.cutOff, Diverged: t.diverged,
		Held: t.held, Abandoned: t.abandoned, Done: t.done, Complete: t.complete,
		Left: append([]Unit(nil), t.left...), Units: t.units, Steps: t.steps,
	}
	for key := range t.known {
		tree.Known = append(tree.Known, key[0], key[1])
	}
	return PlanState{
		Tree: tree, Sequential: p.sequential, Again: append([]Unit(nil), p.again...), Next: p.next, Length: p.length, Stalls: p.stalls,
		ChanceRuns: p.chance.runs, ChanceSince: p.chance.since, TreeRuns: p.trees.runs, TreeSince: p.trees.since,
		Runs: p.runs, Steps: p.steps, TreeSteps: p.treeSteps,
	}
}

// Renumbered is what is left of the state where the sites of the program have other numbers: the
// runs by chance that were made, whose schedules are known by their own numbers. The tree of all
// schedules begins anew.
func (s *PlanState) Renumbered() PlanState {
	return PlanState{Again: s.Again, Next: s.Next, Length: s.Length, Stalls: s.Stalls, ChanceRuns: s.ChanceRuns, ChanceSince: s.ChanceSince, Runs: s.ChanceRuns, Steps: s.Steps - s.TreeSteps}
}

// Restore has a new plan go on where another one with the same options was left.
func (p *Plan) Restore(s *PlanState) {
	p.sequential, p.again, p.next, p.length, p.stalls = s.Sequential, s.Again, s.Next, s.Length, s.Stalls
	p.chance, p.trees = tally{s.ChanceRuns, s.ChanceSince}, tally{s.TreeRuns, s.TreeSince}
	p.runs, p.steps, p.treeSteps = s.Runs, s.Steps, s.TreeSteps
	if s.Tree.Sequences > 0 { // there is always one to be tried, unless nothing is known of the tree
		p.tree.restore(&s.Tree)
	}
}

func (t *tree) restore(is *TreeState) {
	t.chance, t.sequences = is.Chance, is.Sequences
	t.searched = searched{sequences: is.Searched, runs: is.SearchedRuns, bound: is.SearchedBound, held: is.SearchedHeld}
	t.drew, t.stalls, t.draws, t.rounds = is.Drew, is.Stalls, is.Draws, is.Rounds
	t.bound, t.runs, t.before, t.cutOff, t.diverged = is.Bound, is.Runs, is.Before, is.CutOff, is.Diverged
	t.held, t.abandoned, t.done, t.complete = is.Held, is.Abandoned, is.Done, is.Complete
	t.left, t.units, t.steps = is.Left, is.Units, is.Steps
	t.known = make(map[pathKey]struct{}, len(is.Known)/2)
	for i := 0; i+1 < len(is.Known); i += 2 {
		t.known[pathKey{is.Known[i], is.Known[i+1]}] = struct{}{}
	}
}
