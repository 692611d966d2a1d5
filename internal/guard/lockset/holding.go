package lockset

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A Holding is what one observation says about a lock.
type Holding int

const (
	CannotTell Holding = iota
	NotHeld
	HeldForReading
	Held
)

// HoldingOf says whether an observation has the lock that a way leads to.
func HoldingOf(places *locks.Places, o Observation, way *locks.Place) Holding {
	for _, r := range o.Held {
		if r.Lock == way {
			switch {
			case r.Maybe:
				return CannotTell
			case r.Mode == locks.Write:
				return Held
			default:
				return HeldForReading
			}
		}
	}
	class := places.Variable(way)
	straight := way.Depth() == 1 // the lock is a field of the object itself
	for _, r := range o.Held {
		// The same lock of another object. Of the owner of this one, or if the way is not
		// straight, it may be this one by another name.
		ofOwner := r.Lock.Ups() > 0 && r.Lock.Depth() == r.Lock.Ups()+1
		if places.Variable(r.Lock) == class && (!straight || ofOwner) {
			return CannotTell
		}
	}
	// For the lock of an owner, that of an owner that this object was not reached from may
	// be the right one too.
	if !straight && slices.Contains(o.OfUnrelatedObject, class) {
		return CannotTell
	}
	if o.Unnamed || slices.Contains(o.OfUnknownObject, class) || o.FromOutside && isOutOfReach(places, o.Base, way) {
		return CannotTell
	}
	return NotHeld
}

// isOutOfReach reports whether a lock belongs to an object that the function cannot reach:
// only its callers know whether they hold it.
func isOutOfReach(places *locks.Places, base, way *locks.Place) bool {
	if way.Ups() == 0 || base == nil {
		return false
	}
	p := places.Apply(base, way)
	return p == nil || p.Ups() > 0
}

// Excludes reports whether two observations cannot happen at once: they hold a common lock,
// at least one of them exclusively.
func (o Observation) Excludes(p Observation) bool {
	for _, r := range o.Held {
		for _, s := range p.Held {
			if r.Lock == s.Lock && (r.Mode == locks.Write || s.Mode == locks.Write) {
				return true
			}
		}
	}
	return false
}

// Conflicts reports whether an observation can happen together with another one of the
// variable, one of them a write. Two locks that are both held for every write make each of
// them enough for a read.
func (v *Variable) Conflicts(o Observation) bool {
	for _, s := range v.Sites {
		for _, p := range s.Observations {
			if (o.Kind == Write || p.Kind == Write) && !o.Excludes(p) {
				return true
			}
		}
	}
	return false
}
