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

// A Path is one path by which control may have come to a point. Two paths that hold different
// locks are kept apart, with the outcomes of the branches that separate them: after
// "if c { mu.Lock() }", a second "if c" finds the lock held, and its else does not.
type Path struct {
	Held  Set
	Facts []Fact
	// Deferred are the calls that run when the function ends, the last one first.
	Deferred []Node
	// Released are locks that were released here without having been taken here: the
	// caller's, if it had them.
	Released Set
}

// Known returns the outcome of a condition, if it is known.
func (p Path) Known(c Condition) (holds, known bool) {
	for _, f := range p.Facts {
		if f.Condition == c {
			return f.Holds, true
		}
	}
	return false, false
}

// Learn adds a fact. What is known already stays.
func (p Path) Learn(f Fact) Path {
	if _, known := p.Known(f.Condition); !known {
		p.Facts = append(slices.Clip(p.Facts), f)
	}
	return p
}

// Forget drops the facts that are about something.
func (p Path) Forget(about func(Node) bool) Path {
	stale := func(f Fact) bool { return about(f.Value) }
	if slices.ContainsFunc(p.Facts, stale) {
		p.Facts = slices.DeleteFunc(slices.Clone(p.Facts), stale)
	}
	return p
}

// Defer adds a call that runs when the function ends. A call that a loop defers many times
// counts once.
func (p Path) Defer(call Node) Path {
	if !slices.Contains(p.Deferred, call) {
		p.Deferred = append(slices.Clip(p.Deferred), call)
	}
	return p
}

func (p Path) sameLocks(x Path) bool {
	return slices.Equal(p.Held, x.Held) && slices.Equal(p.Deferred, x.Deferred) && slices.Equal(p.Released, x.Released)
}

// maxPaths bounds the paths that are kept apart. Beyond it they become one, in which a lock
// that only some of them hold is marked as such.
const maxPaths = 8

// Merge adds paths to those that are known to lead to a point, and reports whether that
// changed them. Paths that hold the same locks become one, which knows what both know.
func Merge(paths, more []Path) ([]Path, bool) {
	changed := false
next:
	for _, p := range more {
		for i, old := range paths {
			if !old.sameLocks(p) {
				continue
			}
			both := slices.DeleteFunc(slices.Clone(old.Facts), func(f Fact) bool { return !slices.Contains(p.Facts, f) })
			if len(both) != len(old.Facts) {
				paths = slices.Clone(paths)
				paths[i].Facts = both
				changed = true
			}
			continue next
		}
		paths = append(slices.Clip(paths), p)
		changed = true
	}
	if len(paths) > maxPaths {
		paths = []Path{Flatten(paths)}
	}
	return paths, changed
}

// Flatten makes one path of all.
func Flatten(paths []Path) Path {
	var out Path
	count := make(map[*Place]int)
	all := make(map[*Place]Held)
	for _, p := range paths {
		for _, h := range p.Held {
			old, ok := all[h.Lock]
			if ok && old.Mode < h.Mode {
				h.Mode = old.Mode
			}
			h.Maybe = h.Maybe || old.Maybe
			h.Lost = h.Lost || old.Lost
			all[h.Lock] = h
			count[h.Lock]++
		}
		for _, d := range p.Deferred {
			out = out.Defer(d)
		}
		for _, h := range p.Released {
			out.Released = out.Released.With(h)
		}
	}
	for p, h := range all {
		h.Maybe = h.Maybe || count[p] < len(paths)
		out.Held = out.Held.With(h)
	}
	return out
}

// Apply does to a path what an operation does. A Try has two outcomes: in one of them the
// lock is held, and the result, if it can be asked for, is true.
func (p Path) Apply(op Op, result Node) []Path {
	h := Held{Lock: op.Lock, Mode: op.Mode}.Side()
	switch op.Verb {
	case Release:
		p.Held = p.Held.Without(h.Lock)
		return []Path{p}
	case Acquire:
		p.Held = p.Held.With(h)
		return []Path{p}
	case Try:
		taken := p
		taken.Held = p.Held.With(h)
		if result == nil {
			return []Path{p, taken}
		}
		c := Condition{Value: result}
		return []Path{p.Learn(Fact{c, false}), taken.Learn(Fact{c, true})}
	}
	panic("locks: " + op.Verb.String())
}
