package guard

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A held is a lock that is held at some point.
type held struct {
	lock  *path
	write bool // held exclusively
	may   bool // only on some of the ways that lead here
}

// A lockset is sorted by lock, and never changed once it is made.
type lockset []held

func (l lockset) find(p *path) int {
	return slices.IndexFunc(l, func(h held) bool { return h.lock == p })
}

func (l lockset) with(h held) lockset {
	out := make(lockset, 0, len(l)+1)
	for _, x := range l {
		if x.lock != h.lock {
			out = append(out, x)
		}
	}
	out = append(out, h)
	slices.SortFunc(out, func(a, b held) int { return a.lock.id - b.lock.id })
	return out
}

func (l lockset) without(p *path) lockset {
	i := l.find(p)
	if i < 0 {
		return l
	}
	return slices.Delete(slices.Clone(l), i, i+1)
}

// A condition is what a branch tests, in a form that two tests of the same thing
// share: a value, or its comparison with a constant.
type condition struct {
	value    ssa.Value
	constant string // "" for the value itself, a boolean
}

// A fact is a condition whose outcome is known.
type fact struct {
	condition
	holds bool
}

// A disjunct is one way in which control may have come to a point. Two ways that
// hold different locks are kept apart, with the outcomes of the branches that
// separate them: after "if c { mu.Lock() }", a second "if c" finds the lock held,
// and its else does not.
type disjunct struct {
	locks  lockset
	facts  []fact
	defers []*ssa.Defer
}

func (d disjunct) known(c condition) (holds, known bool) {
	for _, f := range d.facts {
		if f.condition == c {
			return f.holds, true
		}
	}
	return false, false
}

func (d disjunct) learn(f fact) disjunct {
	if _, known := d.known(f.condition); !known {
		d.facts = append(slices.Clip(d.facts), f)
	}
	return d
}

// forget drops what is known about a value that is computed again. The parts of a
// tuple are computed with it: what a call returns is known before it is extracted.
func (d disjunct) forget(v ssa.Value) disjunct {
	if _, ok := v.(*ssa.Extract); ok {
		return d
	}
	about := func(f fact) bool {
		e, ok := f.value.(*ssa.Extract)
		return f.value == v || ok && e.Tuple == v
	}
	if slices.ContainsFunc(d.facts, about) {
		d.facts = slices.DeleteFunc(slices.Clone(d.facts), about)
	}
	return d
}

// maxDisjuncts bounds the ways that are kept apart. Beyond it they are merged, and
// a lock that only some of them hold is marked as such.
const maxDisjuncts = 8

// merge adds ways to a state and reports whether that changed it.
func merge(state, more []disjunct) ([]disjunct, bool) {
	changed := false
next:
	for _, d := range more {
		for i, old := range state {
			if !slices.Equal(old.locks, d.locks) || !slices.Equal(old.defers, d.defers) {
				continue
			}
			both := slices.DeleteFunc(slices.Clone(old.facts), func(f fact) bool { return !slices.Contains(d.facts, f) })
			if len(both) != len(old.facts) {
				state = slices.Clone(state)
				state[i].facts = both
				changed = true
			}
			continue next
		}
		state = append(slices.Clip(state), d)
		changed = true
	}
	if len(state) > maxDisjuncts {
		state = []disjunct{flatten(state)}
	}
	return state, changed
}

// flatten merges all ways into one.
func flatten(state []disjunct) disjunct {
	var out disjunct
	count := make(map[*path]int)
	all := make(map[*path]held)
	for _, d := range state {
		for _, h := range d.locks {
			old, ok := all[h.lock]
			h.write = h.write && (!ok || old.write)
			h.may = h.may || old.may
			all[h.lock] = h
			count[h.lock]++
		}
		for _, f := range d.defers {
			if !slices.Contains(out.defers, f) {
				out.defers = append(out.defers, f)
			}
		}
	}
	for p, h := range all {
		h.may = h.may || count[p] < len(state)
		out.locks = out.locks.with(h)
	}
	return out
}

// conditionOf puts what a branch tests into its common form. The second result
// says that the branch is taken when the condition does not hold.
func conditionOf(v ssa.Value) (c condition, negated bool) {
	for {
		switch x := v.(type) {
		case *ssa.UnOp:
			if x.Op == token.NOT {
				v, negated = x.X, !negated
				continue
			}
		case *ssa.BinOp:
			if k, ok := x.Y.(*ssa.Const); ok && (x.Op == token.EQL || x.Op == token.NEQ) {
				return condition{x.X, "=" + k.String()}, negated != (x.Op == token.NEQ)
			}
		}
		return condition{value: v}, negated
	}
}
