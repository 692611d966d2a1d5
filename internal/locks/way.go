package locks

import (
	"go/token"
	"slices"
)

// A Node is a part of a program, in syntax (ast.Node, *types.Var) or in SSA form.
type Node interface{ Pos() token.Pos }

// A Condition is what a branch tests, in a form that two tests of the same thing share: a
// value, or its comparison with a constant.
type Condition struct {
	Value    Node
	Constant string // "" for the value itself, a boolean
}

// A Fact is a condition whose outcome is known.
type Fact struct {
	Condition
	Holds bool
}

// A Way is one way in which control may have come to a point. Two ways that hold different
// locks are kept apart, with the outcomes of the branches that separate them: after
// "if c { mu.Lock() }", a second "if c" finds the lock held, and its else does not.
type Way struct {
	Held  Set
	Facts []Fact
	// Deferred are the calls that run when the function ends, the last one first.
	Deferred []Node
	// Released are locks that were released here without having been taken here: the
	// caller's, if it had them.
	Released Set
}

// Known returns the outcome of a condition, if it is known.
func (w Way) Known(c Condition) (holds, known bool) {
	for _, f := range w.Facts {
		if f.Condition == c {
			return f.Holds, true
		}
	}
	return false, false
}

// Learn adds a fact. What is known already stays.
func (w Way) Learn(f Fact) Way {
	if _, known := w.Known(f.Condition); !known {
		w.Facts = append(slices.Clip(w.Facts), f)
	}
	return w
}

// Forget drops the facts that are about something.
func (w Way) Forget(about func(Node) bool) Way {
	stale := func(f Fact) bool { return about(f.Value) }
	if slices.ContainsFunc(w.Facts, stale) {
		w.Facts = slices.DeleteFunc(slices.Clone(w.Facts), stale)
	}
	return w
}

// Defer adds a call that runs when the function ends. A call that a loop defers many times
// counts once.
func (w Way) Defer(call Node) Way {
	if !slices.Contains(w.Deferred, call) {
		w.Deferred = append(slices.Clip(w.Deferred), call)
	}
	return w
}

func (w Way) sameLocks(x Way) bool {
	return slices.Equal(w.Held, x.Held) && slices.Equal(w.Deferred, x.Deferred) && slices.Equal(w.Released, x.Released)
}

// maxWays bounds the ways that are kept apart. Beyond it they become one, in which a lock
// that only some of them hold is marked as such.
const maxWays = 8

// Merge adds ways to those that are known to lead to a point, and reports whether that
// changed them. Ways that hold the same locks become one, which knows what both know.
func Merge(ways, more []Way) ([]Way, bool) {
	changed := false
next:
	for _, w := range more {
		for i, old := range ways {
			if !old.sameLocks(w) {
				continue
			}
			both := slices.DeleteFunc(slices.Clone(old.Facts), func(f Fact) bool { return !slices.Contains(w.Facts, f) })
			if len(both) != len(old.Facts) {
				ways = slices.Clone(ways)
				ways[i].Facts = both
				changed = true
			}
			continue next
		}
		ways = append(slices.Clip(ways), w)
		changed = true
	}
	if len(ways) > maxWays {
		ways = []Way{Flatten(ways)}
	}
	return ways, changed
}

// Flatten makes one way of all.
func Flatten(ways []Way) Way {
	var out Way
	count := make(map[*Place]int)
	all := make(map[*Place]Held)
	for _, w := range ways {
		for _, h := range w.Held {
			old, ok := all[h.Lock]
			if ok && old.Mode < h.Mode {
				h.Mode = old.Mode
			}
			h.Maybe = h.Maybe || old.Maybe
			h.Lost = h.Lost || old.Lost
			all[h.Lock] = h
			count[h.Lock]++
		}
		for _, d := range w.Deferred {
			out = out.Defer(d)
		}
		for _, h := range w.Released {
			out.Released = out.Released.With(h)
		}
	}
	for p, h := range all {
		h.Maybe = h.Maybe || count[p] < len(ways)
		out.Held = out.Held.With(h)
	}
	return out
}

// Apply does to a way what an operation does. A Try has two outcomes: in one of them the
// lock is held, and the result, if it can be asked for, is true.
func (w Way) Apply(op Op, result Node) []Way {
	h := Held{Lock: op.Lock, Mode: op.Mode}.Side()
	switch op.Verb {
	case Release:
		w.Held = w.Held.Without(h.Lock)
		return []Way{w}
	case Acquire:
		w.Held = w.Held.With(h)
		return []Way{w}
	case Try:
		taken := w
		taken.Held = w.Held.With(h)
		if result == nil {
			return []Way{w, taken}
		}
		c := Condition{Value: result}
		return []Way{w.Learn(Fact{c, false}), taken.Learn(Fact{c, true})}
	}
	panic("locks: " + op.Verb.String())
}
