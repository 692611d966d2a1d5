package sched

// Shrunk is what Shrink made of a schedule.
type Shrunk struct {
	Schedule Schedule
	// Runs is how many times the program was run.
	Runs int
	// Minimal says that every schedule with fewer preemptions was tried, up to those
	// that cannot show anything new, and passes.
	Minimal bool
	// Reproduced says that the schedule given to Shrink did fail. If not, it is
	// returned as it was.
	Reproduced bool
}

// Runs make the runs that Shrink asks for, in one process or in several.
type Runs interface {
	// Replay runs schedules in their order, until one fails in the same way as the one that is
	// shrunk. It returns which that is, and the schedule that really was run; the number of
	// schedules if none fails.
	Replay(all []Schedule) (failing int, ran Schedule)
	// Search does units in their order, until a run fails in the same way. It returns what came
	// of the units that were done, and the schedule of the run that failed; nil if none did.
	Search(units []Unit) (done []UnitDone, failing *Schedule)
	// Over reports whether no run is to be made any more.
	Over() bool
}

// Shrink looks for the smallest schedule that fails like s: with the fewest
// preemptions, of those with the fewest switches, stalls and choices, of those with the latest
// preemptions, since the last moment at which the turn may be taken is the one that
// explains. There are at most limit runs. The result depends on nothing but s and the
// program, however many of the runs are made side by side: what is asked for together is
// what would be tried one after the other if nothing of it failed, and of several that
// fail the first counts.
//
// First, switches are taken out in larger and smaller groups (the delta debugging of
// Zeller and Hildebrandt), which is quick but stops where no group can be spared. What
// is kept of each try is the schedule that really was run, since switches that no longer
// apply fall away and others turn out to be free. Then the depth-first search looks for
// schedules with fewer preemptions than are left, starting with none: these may be
// unlike s.
func Shrink(s Schedule, by Runs, limit int) Shrunk {
	k := &shrinker{by: by, limit: limit, best: s}
	if k.first([]Schedule{s}, func(int, Schedule) bool { return true }) < 0 {
		return Shrunk{Schedule: s, Runs: k.runs}
	}
	k.takeOut()
	minimal := k.search()
	k.takeOut()
	k.shorten()
	// A preemption that came later may have made others needless.
	for k.delay(); k.takeOut(); k.delay() {
	}
	return Shrunk{Schedule: k.best.Clone(), Runs: k.runs, Minimal: minimal, Reproduced: true}
}

type shrinker struct {
	by    Runs
	limit int
	runs  int
	best  Schedule
}

func (k *shrinker) spent() bool { return k.runs >= k.limit || k.by.Over() }

// together is how many schedules are tried together at most, and togetherItems how many items
// these have in all: they are sent to other processes.
const (
	together      = 64
	togetherItems = 1 << 14
)

// atOnce is how many schedules of the size of the best are tried together.
func (k *shrinker) atOnce() int { return min(together, max(1, togetherItems/max(1, k.best.size()))) }

// first makes the first schedule the best that fails and is better, by what was run. It returns
// which, -1 if there is none.
func (k *shrinker) first(all []Schedule, better func(i int, ran Schedule) bool) int {
	for at := 0; at < len(all) && !k.spent(); {
		some := all[at:min(len(all), at+k.limit-k.runs)]
		n, ran := k.by.Replay(some)
		if n == len(some) {
			k.runs += n
			return -1
		}
		k.runs += n + 1
		at += n + 1
		if better(at-1, ran) {
			k.best = ran
			return at - 1
		}
	}
	return -1
}

// accept tries s and makes what was run the best if it is smaller and fails.
func (k *shrinker) accept(s Schedule) bool { return k.first([]Schedule{s}, k.smaller) >= 0 }

func (k *shrinker) smaller(_ int, ran Schedule) bool { return smaller(ran, k.best) }

// smaller reports whether s has fewer preemptions than t, or as many and fewer switches
// and choices, or as many of those and stalls over fewer moments.
func smaller(s, t Schedule) bool {
	if p, q := s.Preemptions(), t.Preemptions(); p != q {
		return p < q
	}
	if n, m := s.size(), t.size(); n != m {
		return n < m
	}
	return s.moments() < t.moments()
}

// moments returns how many moments the stalls go over.
func (s Schedule) moments() (n uint32) {
	for _, l := range s.Stalls {
		n += l.Moments
	}
	return n
}

// without returns s without the items from i up to j, counted through switches, stalls,
// branches and the sequence of random numbers.
func (s Schedule) without(i, j int) Schedule {
	t := Schedule{
		Switches: leaveOut(s.Switches, i, j),
		Stalls:   leaveOut(s.Stalls, i-len(s.Switches), j-len(s.Switches)),
		Branches: leaveOut(s.Branches, i-len(s.Switches)-len(s.Stalls), j-len(s.Switches)-len(s.Stalls)),
	}
	if last := s.size() - 1; last < i || last >= j {
		t.Chance = s.Chance
	}
	return t
}

// leaveOut returns a copy of a list without what is from i up to j.
func leaveOut[T any](list []T, i, j int) []T {
	rest := make([]T, 0, len(list))
	for k, x := range list {
		if k < i || k >= j {
			rest = append(rest, x)
		}
	}
	return rest
}

// A cut is a group of items to be taken out: so many before an end. taken says that one of this
// size has been.
type cut struct {
	size, end int
	taken     bool
}

// next returns the cut that is tried when this one cannot be made, in a schedule with so many items.
// It is from the end of the schedule to its start: what comes last is most often beside the point,
// and leaves what comes before as it was. Then the groups are half as large.
func (c cut) next(items int) (_ cut, ok bool) {
	if c.end > c.size {
		return cut{c.size, c.end - c.size, c.taken}, true
	}
	switch {
	case c.size > 1:
		return cut{min(c.size/2, items), items, false}, items > 0
	case c.taken:
		return cut{1, items, false}, items > 0
	}
	return cut{}, false
}

// takeOut takes out groups of items as long as the rest fails. It reports whether it
// could. What is tried together goes on with smaller groups, so that processes that work side by
// side have enough to do.
func (k *shrinker) takeOut() bool {
	any := false
	items := k.best.size()
	first, ok := cut{items, items, false}, items > 0
	for ok && !k.spent() {
		var cuts []cut
		var less []Schedule
		for c := first; ok && len(less) < k.atOnce(); c, ok = c.next(items) {
			cuts, less = append(cuts, c), append(less, k.best.without(max(0, c.end-c.size), c.end))
		}
		last := cuts[len(cuts)-1]
		if i := k.first(less, k.smaller); i >= 0 {
			any = true
			items = k.best.size()
			last = cuts[i]
			last.end, last.taken = min(last.end, items+last.size), true
		}
		first, ok = last.next(items)
	}
	return any
}

// search looks for failing schedules with fewer preemptions, and reports whether it
// saw all of those with fewer than the best has.
func (k *shrinker) search() bool {
	p := k.best.Preemptions()
	if p == 0 {
		return true
	}
	t := newTree(p - 1)
	t.chance, t.sequences = k.best.Chance, 1
	t.begin(0)
	exact := func() bool { return t.cutOff == 0 && t.diverged == 0 && !t.drew && !t.abandoned }
	// A part of the runs is kept for what comes after.
	for enough := k.limit - k.limit/4; !t.done; t.advance() {
		if k.runs >= enough || k.by.Over() {
			return false
		}
		units := t.wave(enough - k.runs)
		done, failing := k.by.Search(units)
		for i := range done {
			k.runs += done[i].Runs
			t.merge(&done[i])
		}
		for i := len(units) - 1; i >= len(done); i-- {
			t.putBack(units[i])
		}
		if failing != nil && smaller(*failing, k.best) {
			// The rounds with smaller bounds are done.
			k.best = *failing
			return exact() && k.best.Preemptions() == t.bound
		}
	}
	return exact()
}

// shorten lets stalls go over fewer moments as long as the run fails.
func (k *shrinker) shorten() {
	for i := 0; i < len(k.best.Stalls); i++ {
		for i < len(k.best.Stalls) && k.best.Stalls[i].Moments > 1 {
			s := k.best.Clone()
			s.Stalls[i].Moments--
			if !k.accept(s) {
				break
			}
		}
	}
}

// delay moves preemptions to later steps of the same goroutine as long as the run
// fails and gets no larger. Most of them cannot be moved at all, so the first step of several
// is tried together; one that can be moved goes on in leaps of 2, 4... steps, and what is tried if
// it cannot leap is tried together with that.
func (k *shrinker) delay() {
	leap := uint64(0) // of the next preemption, 0 if it has not been moved
	for i := 0; i < len(k.best.Switches) && !k.spent(); {
		var moved []Schedule
		var which []int
		if leap > 0 {
			moved, which = append(moved, k.delayed(i, leap)), append(which, i)
		}
		next := i
		for ; next < len(k.best.Switches) && len(moved) < k.atOnce(); next++ {
			if k.best.Switches[next].Preempt {
				moved, which = append(moved, k.delayed(next, 1)), append(which, next)
			}
		}
		switch at := k.first(moved, func(n int, ran Schedule) bool { return k.isLater(which[n], ran) }); {
		case at < 0:
			i, leap = next, 0
		case at == 0 && leap > 0:
			if leap *= 2; leap > maxLeap {
				leap = 0
			}
		default:
			i, leap = which[at], 2
		}
	}
}

// maxLeap is how many steps a preemption is moved at once at most.
const maxLeap = 64

// delayed is the best with a switch some steps later.
func (k *shrinker) delayed(i int, steps uint64) Schedule {
	s := k.best.Clone()
	s.Switches[i].N += steps
	return s
}

// isLater reports whether what was run is the best with its i-th preemption later, and no larger.
func (k *shrinker) isLater(i int, ran Schedule) bool {
	return !smaller(k.best, ran) && len(ran.Switches) > i && ran.Switches[i].later(k.best.Switches[i])
}

// later reports whether w is the same preemption as v after more steps.
func (w Switch) later(v Switch) bool { return w.G == v.G && w.To == v.To && w.Preempt && w.N > v.N }
