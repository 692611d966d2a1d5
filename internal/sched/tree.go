package sched

// A tree is what is left of the search of all schedules with few preemptions: first
// without any, then with at most one, and so on.
type tree struct {
	limit   int  // preemptions; negative: none
	first   int  // the bound of the first round
	limited bool // see Unit

	chance    uint64 // the sequence of random numbers
	sequences uint64 // at most
	searched  searched
	// What units came upon; see Subtree.
	drew, stalls, draws bool
	rounds              bool // a goroutine was kept from going round a loop that may do something

	bound    int
	runs     uint64 // in the present round
	before   uint64 // in earlier rounds
	cutOff   uint64
	diverged uint64
	held     bool // something was left out because of the bound in this round
	// abandoned says that a unit, or the round, was given up, since there was too much to keep in
	// mind.
	abandoned bool
	done      bool
	complete  bool // the last round left out nothing because of its bound

	left  []Unit // a stack
	units int    // done in this round
	steps uint64 // of those
	// known are the choices that were tried or are left, by the path that they end.
	known map[pathKey]struct{}
	// maxPaths is how many of them there may be.
	maxPaths int
}

// maxPaths is how many paths are kept in mind, some gigabytes. A round that has more is given up.
const maxPaths = 1 << 26

// A pathKey stands for a path. With 128 bits, that two of a billion paths have the same is
// less likely than that the machine errs.
type pathKey [2]uint64

func (k pathKey) with(f Fork) pathKey {
	x := uint64(f.At)<<32 | uint64(f.To)
	return pathKey{mix(k[0]+x) + 1, mix(k[1]^mix(x+0x5851f42d4c957f2d)) + 3}
}

func newTree(limit int) *tree {
	t := &tree{limit: limit, sequences: maxSequences, maxPaths: maxPaths}
	t.begin(0)
	return t
}

// begin begins a round.
func (t *tree) begin(bound int) {
	t.bound, t.runs, t.units, t.steps, t.held = bound, 0, 0, 0, false
	t.left = append(t.left[:0], Unit{Method: MethodDFS, Bound: bound, Chance: t.chance, Limited: t.limited})
	t.known = map[pathKey]struct{}{}
}

// How much a unit is. A unit costs a message to and fro, some tenths of a millisecond; it
// is a small part of a second, or the processes would wait for the last one of a wave.
// While there are few units to go round, they are smaller, so that there are soon more.
// Units grow with their number, since what is known of each takes memory.
const (
	unitSteps    = 40_000
	smallSteps   = 4_000
	plentyOfWork = 16
	unitsToGrow  = 256
)

// wave takes units from what is left, with at most so many runs altogether.
func (t *tree) wave(runs int) []Unit {
	// Many subtrees are much smaller than a unit may be.
	n := waveUnits * int(min(max(unitSteps*uint64(t.units)/max(t.steps, 1), 1), waveUnits))
	n = min(n, len(t.left), runs)
	steps := uint64(unitSteps * (1 + t.units/unitsToGrow))
	if len(t.left) < plentyOfWork {
		steps = smallSteps
	}
	var wave []Unit
	for range n {
		u := t.left[len(t.left)-1]
		t.left = t.left[:len(t.left)-1]
		u.Steps, u.Runs = steps, runs/n
		wave = append(wave, u)
	}
	return wave
}

// putBack puts a unit back that was not done.
func (t *tree) putBack(u Unit) { t.left = append(t.left, u) }

// merge takes note of what came of a unit.
func (t *tree) merge(done *UnitDone) {
	t.units++
	t.steps += done.Steps
	t.runs += uint64(done.Runs)
	t.cutOff += uint64(done.CutOff)
	t.diverged += uint64(done.Diverged)
	t.held = t.held || done.Held
	t.abandoned = t.abandoned || done.Abandoned && !done.Sequential || len(t.known) >= t.maxPaths
	if len(t.known) >= t.maxPaths {
		t.left = nil
		return
	}
	t.drew, t.stalls, t.draws = t.drew || done.Drew, t.stalls || done.Stalls, t.draws || done.Draws
	t.rounds = t.rounds || done.Rounds
	var base pathKey
	turns := 0
	// upTo returns the key of the path before a node.
	upTo := func(at uint32) pathKey {
		for ; turns < len(done.Base) && done.Base[turns].At < at; turns++ {
			base = base.with(done.Base[turns])
		}
		return base
	}
	for _, f := range done.Tried {
		t.known[upTo(f.At).with(f)] = struct{}{}
	}
	base, turns = pathKey{}, 0
	for _, o := range done.Left {
		key := upTo(o.At).with(o.Fork)
		if _, ok := t.known[key]; ok {
			continue
		}
		t.known[key] = struct{}{}
		path := Path{Turns: append(append(make([]Fork, 0, turns+1), done.Base[:turns]...), o.Fork), Sum: o.Sum}
		t.left = append(t.left, Unit{Method: MethodDFS, Bound: t.bound, Chance: t.chance, Root: path, Limited: t.limited})
	}
}

// advance begins the next round, if the present one is over and there is one.
func (t *tree) advance() {
	if len(t.left) > 0 || t.done {
		return
	}
	if t.held && t.bound != t.limit {
		t.before += t.runs
		t.begin(t.bound + 1)
		return
	}
	t.searched.add(t.runs, t.bound, t.held)
	if t.drew && t.searched.sequences < t.sequences {
		t.chance++
		t.begin(t.first)
		return
	}
	t.done, t.complete = true, !t.searched.held
}

func (t *tree) progress() Progress {
	p := Progress{
		Method: MethodDFS, Runs: t.runs, Bound: t.bound, EarlierRuns: t.before,
		Exhausted: t.done && !t.abandoned, Unbounded: t.complete && !t.abandoned, CutOff: t.cutOff, Diverged: t.diverged, Abandoned: t.abandoned,
		Stalls: t.stalls, Draws: t.draws, Held: Held{Chance: t.drew, Rounds: t.rounds},
	}
	t.searched.progress(&p)
	return p
}
