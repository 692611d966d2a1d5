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

// takeOut takes out groups of items as long as the rest fails. It reports whether it
// could.
func (k *shrinker) takeOut() bool {
	any := false
	items := func() int { return k.best.size() }
	for size := items(); size > 0; {
		taken := false
		// From the end: what comes last is most often beside the point, and leaves what
		// comes before as it was.
		for j := items(); j > 0; j = min(j, items()) {
			var less []Schedule
			for end := j; end > 0 && len(less) < k.atOnce(); end -= size {
				less = append(less, k.best.without(max(0, end-size), end))
			}
			if i := k.first(less, k.smaller); i >= 0 {
				taken, any = true, true
				j -= size * (i + 1)
			} else {
				j -= size * len(less)
			}
			if k.spent() {
				return any
			}
		}
		switch {
		case items() == 0:
			return any
		case size > 1:
			size = min(size/2, items())
		case !taken:
			return any
		}
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
// is tried together; one that can be moved goes on in leaps of 2, 4... steps.
func (k *shrinker) delay() {
	for i := 0; i < len(k.best.Switches) && !k.spent(); {
		var moved []Schedule
		var which []int
		for j := i; j < len(k.best.Switches) && len(moved) < k.atOnce(); j++ {
			if k.best.Switches[j].Preempt {
				moved, which = append(moved, k.delayed(j, 1)), append(which, j)
			}
			i = j + 1
		}
		at := k.first(moved, func(n int, ran Schedule) bool { return k.isLater(which[n], ran) })
		if at < 0 {
			continue
		}
		i = which[at]
		for leap := uint64(2); leap <= 64 && i < len(k.best.Switches); leap *= 2 {
			if k.first([]Schedule{k.delayed(i, leap)}, func(_ int, ran Schedule) bool { return k.isLater(i, ran) }) < 0 {
				break
			}
		}
	}
}

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
