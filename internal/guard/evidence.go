package guard

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A holding is what one observation says about a lock.
type holding int

const (
	cannotTell holding = iota
	notHeld
	heldForReading
	held
)

// holdingOf says whether an observation has a lock.
func (c *chooser) holdingOf(o lockset.Observation, way *locks.Place) holding {
	for _, r := range o.Held {
		if r.Lock == way {
			switch {
			case r.Maybe:
				return cannotTell
			case r.Mode == locks.Write:
				return held
			default:
				return heldForReading
			}
		}
	}
	class := c.places.Variable(way)
	straight := way.Depth() == 1 // the lock is a field of the object itself
	for _, r := range o.Held {
		// The same lock of another object. Of the owner of this one, or if the way is not
		// straight, it may be this one by another name.
		ofOwner := r.Lock.Ups() > 0 && r.Lock.Depth() == r.Lock.Ups()+1
		if c.places.Variable(r.Lock) == class && (!straight || ofOwner) {
			return cannotTell
		}
	}
	// For the lock of an owner, that of an owner that this object was not reached from may
	// be the right one too.
	if !straight && slices.Contains(o.OfUnrelatedObject, class) {
		return cannotTell
	}
	if o.Unnamed || slices.Contains(o.OfUnknownObject, class) || o.FromOutside && c.isOutOfReach(o.Base, way) {
		return cannotTell
	}
	return notHeld
}

// isOutOfReach reports whether a lock belongs to an object that the function cannot reach:
// only its callers know whether they hold it.
func (c *chooser) isOutOfReach(base, way *locks.Place) bool {
	if way.Ups() == 0 || base == nil {
		return false
	}
	p := c.places.Apply(base, way)
	return p == nil || p.Ups() > 0
}

// exclude reports whether two observations cannot happen at once: they hold a common lock,
// at least one of them exclusively.
func exclude(o, p lockset.Observation) bool {
	for _, r := range o.Held {
		for _, s := range p.Held {
			if r.Lock == s.Lock && (r.Mode == locks.Write || s.Mode == locks.Write) {
				return true
			}
		}
	}
	return false
}

// conflicts reports whether an observation can happen together with another one of the same
// variable, one of them a write. Two locks that are both held for every write make each of
// them enough for a read.
func conflicts(v *lockset.Variable, o lockset.Observation) bool {
	for _, s := range v.Sites {
		for _, p := range s.Observations {
			if (o.Kind == Write || p.Kind == Write) && !exclude(o, p) {
				return true
			}
		}
	}
	return false
}

// weigh gathers what speaks for a lock. It returns nil if nothing does.
func (c *chooser) weigh(v *lockset.Variable, way *locks.Place) *Datum {
	e := Evidence{Early: v.Early, Distance: distance(way), Signs: c.declarations.signsBetween(v.Object, c.places.Variable(way), way)}
	stated := slices.ContainsFunc(e.Signs, Sign.states)
	written := slices.ContainsFunc(v.Sites, func(s *lockset.Site) bool { return s.Kind == Write })
	if !written && !stated {
		return nil
	}
	d := &Datum{Object: v.Object, Name: c.name(v.Object), At: c.fset.Position(v.Object.Pos()), Way: way.String(), canBeNamed: canBeNamed(way)}
	inHelper := false
	for _, s := range v.Sites {
		has, without := c.sortObservations(v, s, way, slices.Contains(e.Signs, Annotated))
		inHelper = inHelper || has && isLockedName(lockset.Outermost(s.Func).Name())
		switch {
		case len(without) > 0:
			dev := c.deviation(s, without, way, has)
			e.count(dev.Kind, false)
			d.Deviations = append(d.Deviations, dev)
		case has:
			e.count(s.Kind, true)
		default:
			e.Unknown++
		}
	}
	if inHelper {
		e.Signs = append(e.Signs, Helper)
	}
	// A lock that does not stand with the data is often held by chance.
	least := 1
	if way.Ups() > 0 && len(e.Signs) == 0 {
		least = 2
	}
	if e.ReadsWith+e.WritesWith < least && !stated {
		return nil
	}
	slices.SortFunc(d.Deviations, func(x, y Deviation) int { return comparePositions(x.At, y.At) })
	d.Evidence = e
	d.Confidence = e.Confidence()
	return d
}

// count adds a site with the lock or without.
func (e *Evidence) count(k Kind, with bool) {
	switch {
	case k == Write && with:
		e.WritesWith++
	case k == Write:
		e.WritesWithout++
	case with:
		e.ReadsWith++
	default:
		e.ReadsWithout++
	}
}

// sortObservations says whether a site has the lock in some of its observations, and
// returns those that are without it though they should have it. What cannot happen together
// with another access needs no lock, unless an annotation asks for it.
func (c *chooser) sortObservations(v *lockset.Variable, s *lockset.Site, way *locks.Place, annotated bool) (has bool, without []lockset.Observation) {
	for _, o := range s.Observations {
		switch c.holdingOf(o, way) {
		case held:
			has = true
		case heldForReading:
			if o.Kind == Read {
				has = true
			} else if annotated || conflicts(v, o) {
				without = append(without, o)
			}
		case notHeld:
			if annotated || conflicts(v, o) {
				without = append(without, o)
			}
		case cannotTell:
		}
	}
	return has, without
}

// maxCallers is how many calls a deviation tells of.
const maxCallers = 4

// deviation describes a site that is without the lock; has says that it has the lock on
// other ways or in other contexts.
func (c *chooser) deviation(s *lockset.Site, without []lockset.Observation, way *locks.Place, has bool) Deviation {
	worst := without[0]
	for _, o := range without {
		if o.Kind > worst.Kind {
			worst = o
		}
	}
	d := Deviation{Kind: worst.Kind, At: s.At, Func: functionName(s.Func)}
	switch {
	case c.holdingOf(worst, way) == heldForReading:
		d.Why = "held for reading only"
	case has && c.heldInContext(s, worst.Context, way):
		d.Why = "not held on every way"
	case has:
		d.Why = "not held by every caller"
		for _, caller := range worst.Context.Callers(maxCallers) {
			d.From = append(d.From, Call{functionName(caller.Func), c.fset.Position(caller.At)})
		}
	}
	return d
}

// heldInContext reports whether a lock is held at a site, on some way, in a context.
func (c *chooser) heldInContext(s *lockset.Site, ctx *lockset.Context, way *locks.Place) bool {
	return slices.ContainsFunc(s.Observations, func(o lockset.Observation) bool {
		return o.Context == ctx && c.holdingOf(o, way) >= heldForReading
	})
}
