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

// Shrink looks for the smallest schedule that fails like s: with the fewest
// preemptions, of those with the fewest switches, stalls and choices, of those with the latest
// preemptions, since the last moment at which the turn may be taken is the one that
// explains. run runs the program once under a strategy, with Begin and End, and reports
// whether it fails in the same way. It is called at most limit times. The result depends
// on nothing but s and what run does.
//
// First, switches are taken out in larger and smaller groups (the delta debugging of
// Zeller and Hildebrandt), which is quick but stops where no group can be spared. What
// is kept of each try is the schedule that really was run, since switches that no longer
// apply fall away and others turn out to be free. Then the depth-first search looks for
// schedules with fewer preemptions than are left, starting with none: these may be
// unlike s.
func Shrink(s Schedule, run func(Strategy) bool, limit int) Shrunk {
	k := &shrinker{run: run, limit: limit, best: s}
	ran, failed := k.try(s)
	if !failed {
		return Shrunk{Schedule: s, Runs: k.runs}
	}
	k.best = ran
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
	run   func(Strategy) bool
	limit int
	runs  int
	best  Schedule
}

func (k *shrinker) spent() bool { return k.runs >= k.limit }

// try runs s, and returns the schedule that was run and whether it failed.
func (k *shrinker) try(s Schedule) (Schedule, bool) {
	k.runs++
	r := NewRecorder(NewReplay(s), false)
	failed := k.run(r)
	return r.schedule, failed
}

// accept tries s and makes what was run the best if it is smaller and fails.
func (k *shrinker) accept(s Schedule) bool {
	if k.spent() {
		return false
	}
	ran, failed := k.try(s)
	if !failed || !smaller(ran, k.best) {
		return false
	}
	k.best = ran
	return true
}

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
		for j := items(); j > 0; j -= size {
			j = min(j, items())
			if k.accept(k.best.without(max(0, j-size), j)) {
				taken, any = true, true
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
	d := NewDFS(p - 1)
	d.chance, d.sequences = k.best.Chance, 1
	r := NewRecorder(d, false)
	// A part of the runs is kept for what comes after.
	for enough := k.limit - k.limit/4; !d.Exhausted(); {
		if k.runs >= enough {
			return false
		}
		k.runs++
		bound := d.bound
		if k.run(r) && smaller(r.schedule, k.best) {
			// The rounds with smaller bounds are done.
			k.best = r.Schedule()
			return d.exact() && !d.drew && k.best.Preemptions() == bound
		}
	}
	return d.exact() && !d.drew
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
// fails and gets no larger. It tries leaps of 1, 2, 4... steps.
func (k *shrinker) delay() {
	for i := 0; i < len(k.best.Switches); i++ {
		for leap := uint64(1); leap <= 64 && i < len(k.best.Switches) && k.best.Switches[i].Preempt; {
			if k.spent() {
				return
			}
			s := k.best.Clone()
			s.Switches[i].N += leap
			ran, failed := k.try(s)
			if failed && !smaller(k.best, ran) && len(ran.Switches) > i && ran.Switches[i].later(k.best.Switches[i]) {
				k.best = ran
				leap *= 2
			} else if leap == 1 {
				break
			} else {
				leap = 1
			}
		}
	}
}

// later reports whether w is the same preemption as v after more steps.
func (w Switch) later(v Switch) bool { return w.G == v.G && w.To == v.To && w.Preempt && w.N > v.N }
