package sched

// A Plan divides a search into units, for any number of processes to do.
//
// Units are handed out in waves. Those of a wave can be done side by side; what came of
// them is merged in their order, whatever the order in which they were done. So the
// search, and the first of the runs that fail, are the same for any number of processes.
//
// A search by chance begins with all schedules with few preemptions: many programs have no
// more than some hundred schedules, and a strategy that goes by chance would try each of
// them again and again. Where that is not the end of it, the two take turns of the same
// length, as far as some thousand runs go: of a larger program chance finds the bugs sooner,
// and how large one is can only be told when all was tried. Then chance goes on alone, and
// when it has nothing new to show any more, the search of all schedules where it was.
type Plan struct {
	o          PlanOptions
	tree       *tree
	sequential bool // there is one schedule

	wave   []Unit // handed out
	again  []Unit // by chance: not done
	next   uint64 // by chance: the number of the next run
	length uint64 // see Unit
	stalls uint64 // StallLength; see Unit
	chance tally
	trees  tally
	runs   int
	steps  uint64
	// treeSteps are those of them that were taken in the search of all schedules.
	treeSteps uint64
}

// PlanOptions say what to search.
type PlanOptions struct {
	Method      Method
	Seed        uint64
	Preemptions int // for MethodDFS; negative: any number
	// AtOnce has MethodDFS begin with all those preemptions, not with few. A search that will
	// come to its end is shorter so, because no round repeats another.
	AtOnce bool
	Runs   int // at most; 0: no limit
	// Endless has a search by chance go on though nothing new was seen for long.
	Endless bool
	// Paths is how much of the tree of all schedules is kept in mind; 0 for as much as fits into
	// some gigabytes. A round that has more is given up.
	Paths int
	// Single has every unit be one run, because each needs a process of its own.
	Single bool
}

// A tally is how many runs of a kind there were, and how many since one showed something
// new.
type tally struct {
	runs  int
	since int
}

func (t *tally) add(d *UnitDone) {
	t.runs += d.Runs
	if t.since += d.Runs; d.Fresh > 0 {
		t.since = 0
	}
}

// saturated: half of the runs, and many, have shown nothing new.
func (t *tally) saturated() bool { return t.since >= saturation && 2*t.since >= t.runs }

const (
	// waveUnits is how many units of the usual size a wave has: enough for the processes of
	// a large machine. It must not depend on their number.
	waveUnits = 64
	// firstRuns and firstSteps are how much of the search of all schedules there is before
	// the search by chance goes on alone; firstSingle if every run needs a process, which
	// costs as much as some hundred runs. In so many turns it is made.
	firstRuns   = 2000
	firstSteps  = 2_000_000
	firstSingle = 64
	firstTurns  = 10
	// saturation is how many runs that show nothing new make a search look further
	// elsewhere.
	saturation = 2000
	// unitRuns is how many runs by chance a unit has at most, smallRuns how many the
	// first ones have.
	unitRuns  = 1024
	smallRuns = 8
	// boundless is a number of runs for which there is no limit.
	boundless = int(^uint(0) >> 1)
)

// NewPlan returns the plan of a search.
func NewPlan(o PlanOptions) *Plan {
	p := &Plan{o: o}
	if o.Method == MethodDFS {
		p.tree = newTree(o.Preemptions)
		if o.AtOnce {
			p.tree.first = o.Preemptions
			p.tree.begin(p.tree.first)
		}
	} else {
		p.tree = newTree(-1)
		p.tree.limited, p.tree.sequences = true, 1
		p.tree.begin(0)
	}
	if o.Paths > 0 {
		p.tree.maxPaths = o.Paths
	}
	return p
}

// Limit changes the number of runs.
func (p *Plan) Limit(runs int) { p.o.Runs = runs }

// StepsChanged says, between waves, that runs take other steps from now on than they did: what
// is known of the tree of all schedules is void, and what is left of it begins anew.
func (p *Plan) StepsChanged() {
	t := p.tree
	begun := newTree(t.limit)
	begun.limited, begun.sequences, begun.abandoned, begun.maxPaths = t.limited, t.sequences, t.abandoned, t.maxPaths
	begun.begin(0)
	p.tree, p.trees.since, p.sequential = begun, 0, false
}

// Wave returns the next units to be done; none if there is nothing left to try. Merge is
// to be called before the next call.
func (p *Plan) Wave() []Unit {
	p.wave = nil
	rest := p.rest()
	switch {
	case p.Over():
	case p.o.Method == MethodDFS:
		p.wave = p.tree.wave(rest)
	case p.treeFirst() > 0:
		if ahead := p.trees.runs - p.chance.runs; ahead < p.turn() {
			p.wave = p.tree.wave(min(rest, p.treeFirst(), p.turn()-ahead))
		} else {
			p.wave = p.chanceWave(min(rest, ahead))
		}
	case p.treeAgain():
		p.wave = p.tree.wave(min(rest, max(p.runs, saturation)))
	default:
		p.wave = p.chanceWave(rest)
	}
	if p.o.Single {
		for i := range p.wave {
			p.wave[i].Runs = 1
		}
	}
	return p.wave
}

// rest is how many runs may be made still.
func (p *Plan) rest() int {
	if p.o.Runs > 0 {
		return p.o.Runs - p.runs
	}
	return boundless
}

// Over reports whether there is nothing left to try, or no more runs to try it with.
func (p *Plan) Over() bool { return p.rest() <= 0 || p.Exhausted() || p.Saturated() }

// treeFirst returns how many runs the search of all schedules may still take before the
// search by chance goes on alone.
func (p *Plan) treeFirst() int {
	switch {
	case p.tree.abandoned || p.tree.done:
		return 0
	case p.o.Single:
		return firstSingle - p.trees.runs
	case p.treeSteps >= firstSteps:
		return 0
	}
	return firstRuns - p.trees.runs
}

// turn is how many runs the search of all schedules may be ahead of the search by chance.
func (p *Plan) turn() int {
	if p.o.Single {
		return firstSingle / firstTurns
	}
	return firstRuns / firstTurns
}

// treeAgain reports whether the search of all schedules goes on, because chance shows
// nothing new.
func (p *Plan) treeAgain() bool { return !p.tree.abandoned && p.chance.saturated() && !p.tree.done }

// chanceWave returns units by chance.
func (p *Plan) chanceWave(rest int) []Unit {
	size := 1
	if !p.o.Single && p.runs > 0 {
		size = int(min(max(unitSteps*uint64(p.runs)/max(p.steps, 1), 1), unitRuns))
		// Not much more than there was, or saturation would be seen late.
		size = min(size, max(p.runs/waveUnits, smallRuns))
	}
	wave := p.again
	p.again = nil
	for _, u := range wave {
		rest -= u.Runs
	}
	for len(wave) < waveUnits && rest > 0 {
		n := min(size, rest)
		wave = append(wave, Unit{Method: p.o.Method, Seed: p.o.Seed, From: p.next, Runs: n, Length: p.length, StallLength: p.stalls})
		p.next += uint64(n)
		rest -= n
	}
	return wave
}

// Merge takes note of what came of the first units of the wave. Those that were not done, because
// they are not among these or had no run, come again.
func (p *Plan) Merge(done []UnitDone) {
	length, stalls := uint64(0), uint64(0)
	for i := range done {
		u, d := &p.wave[i], &done[i]
		p.runs += d.Runs
		p.steps += d.Steps
		if u.Method == MethodDFS {
			if d.Runs == 0 {
				p.tree.putBack(*u)
				continue
			}
			p.trees.add(d)
			p.treeSteps += d.Steps
			p.tree.merge(d)
			p.sequential = p.sequential || d.Sequential
			continue
		}
		p.chance.add(d)
		length, stalls = max(length, d.Length), max(stalls, d.StallLength)
		if d.Runs < u.Runs {
			rest := *u
			rest.From, rest.Runs = u.From+uint64(d.Runs), u.Runs-d.Runs
			p.again = append(p.again, rest)
		}
	}
	for i := len(p.wave) - 1; i >= len(done); i-- {
		if u := p.wave[i]; u.Method == MethodDFS {
			p.tree.putBack(u)
		} else {
			p.again = append(p.again, u)
		}
	}
	if len(p.wave) == 0 {
		return
	}
	if p.wave[0].Method == MethodDFS {
		if !p.tree.abandoned {
			p.tree.advance()
		}
	} else {
		p.length, p.stalls = max(length, p.length/2), max(stalls, p.stalls/2)
	}
	p.wave = nil
}

// Exhausted reports whether there is nothing left to try, because all was.
func (p *Plan) Exhausted() bool {
	return p.tree.done && (p.o.Method == MethodDFS || p.sequential || p.tree.progress().Complete())
}

// Saturated reports whether a search by chance is given up because nothing new was seen for
// long, neither by chance nor in the search of all schedules. That says nothing of a program
// that draws random numbers, which are others in each run.
func (p *Plan) Saturated() bool {
	return p.o.Method != MethodDFS && !p.o.Endless && !p.tree.drew && p.chance.saturated() && (p.tree.abandoned || p.tree.done || p.trees.since >= saturation)
}

// Progress returns what was tried.
func (p *Plan) Progress() Progress {
	all := p.tree.progress()
	if p.o.Method == MethodDFS || p.chance.runs == 0 && !p.tree.abandoned || p.Exhausted() {
		return all
	}
	all.Method, all.Runs, all.Exhausted, all.Unbounded = p.o.Method, uint64(p.chance.runs), false, false
	if p.tree.abandoned {
		all.Bound, all.EarlierRuns, all.CutOff, all.Diverged, all.Abandoned = 0, 0, 0, 0, false
	}
	if p.Saturated() {
		all.Saturated = uint64(p.chance.since + p.trees.since)
	}
	return all
}
