package locks

import (
	"slices"
	"strings"
)

// A Held is a lock that is held at some point.
type Held struct {
	Lock *Place
	Mode Mode
	// Maybe says that the lock is held only on some of the paths that lead here.
	Maybe bool
	// Lost says that a variable that the place leads through was assigned after the lock
	// was taken: some lock of this class is held, and the place no longer says which.
	Lost bool
}

// Side returns a lock that is named through its RLocker as the lock itself, for reading.
func (h Held) Side() Held {
	if p := h.Lock; p.parent != nil && p.step.Field == readSide && !p.step.Up {
		h.Lock, h.Mode = p.parent, Read
	}
	return h
}

// A Set is the locks that are held on one path. It is sorted by lock, and never changed
// once it is made.
type Set []Held

// Find returns the index of a lock, -1 if it is not held.
func (s Set) Find(p *Place) int {
	return slices.IndexFunc(s, func(h Held) bool { return h.Lock == p })
}

// With returns the set with one more lock, which replaces what was known of it.
func (s Set) With(h Held) Set {
	out := make(Set, 0, len(s)+1)
	for _, x := range s {
		if x.Lock != h.Lock {
			out = append(out, x)
		}
	}
	out = append(out, h)
	slices.SortFunc(out, func(a, b Held) int { return a.Lock.id - b.Lock.id })
	return out
}

// Without returns the set without a lock.
func (s Set) Without(p *Place) Set {
	i := s.Find(p)
	if i < 0 {
		return s
	}
	return slices.Delete(slices.Clone(s), i, i+1)
}

// String lists the locks: "s.mu", "s.rw for reading", "maybe s.mu"; "nothing" if there are
// none.
func (s Set) String() string {
	if len(s) == 0 {
		return "nothing"
	}
	var parts []string
	for _, h := range s {
		text := h.Lock.String()
		if h.Mode == Read {
			text += " for reading"
		}
		if h.Maybe {
			text = "maybe " + text
		}
		parts = append(parts, text)
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
