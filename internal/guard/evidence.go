package guard

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A weighing is what speaks for a lock of a variable, and the sites that are without it.
type weighing struct {
	datum    *Datum
	way      *locks.Place
	without  []deviatingSite
	named    bool // by a comment, or by what is known
	demanded bool // an annotation, or what another package has found out, needs no witness
}

// A deviatingSite is a site with observations that are without the lock. It has the lock elsewhere if other
// observations, on other ways to the site or in other contexts, are with it.
type deviatingSite struct {
	*lockset.Site
	observations     []lockset.Observation
	hasLockElsewhere bool
}

// weigh gathers what speaks for a lock. It returns nil if nothing does. What may be meant of the sites
// without it is another question, which takes far longer to answer, and does not count: describeDeviations
// asks it of the lock that is chosen.
func (c *chooser) weigh(v *subject, way *locks.Place) *weighing {
	e := Evidence{Early: v.Early, Distance: distance(way), Signs: c.declarations.signsBetween(v.Object, c.places.Variable(way), way)}
	prior, isKnown := c.known[v.Object]
	if isKnown {
		e = prior.Evidence
	}
	stated := isKnown || slices.ContainsFunc(e.Signs, Sign.states)
	written := slices.ContainsFunc(v.sites, func(s *lockset.Site) bool { return s.Kind == Write })
	if !written && !stated {
		return nil
	}
	w := &weighing{way: way, named: isKnown || slices.ContainsFunc(e.Signs, Sign.names), demanded: isKnown || slices.Contains(e.Signs, Annotated)}
	inHelper := false
	for _, s := range v.sites {
		has, without := c.sortObservations(v, s, way, w.demanded)
		if shared := slices.DeleteFunc(slices.Clone(without), makesObject); len(shared) > 0 {
			without = shared // the line uses an object that the function makes as well
		}
		inHelper = inHelper || has && isLockedName(lockset.Outermost(s.Func).Name())
		switch {
		case len(without) > 0:
			e.count(worst(without).Kind, false)
			w.without = append(w.without, deviatingSite{s, without, has})
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
	w.datum = &Datum{Object: v.Object, Name: c.name(v.Object), At: c.fset.Position(v.Object.Pos()), Way: way.String(), By: way.Words(), canBeNamed: canBeNamed(way)}
	w.datum.Evidence = e
	w.datum.Confidence = e.Confidence()
	return w
}

// describeDeviations completes what was weighed with the sites that are without the lock, and with what may
// be meant of each.
func (c *chooser) describeDeviations(v *subject, w *weighing) *Datum {
	d := w.datum
	for _, s := range w.without {
		dev := c.describeSite(s, w.way)
		dev.Doubt = c.doubt(v, s.observations, w.way, w.named)
		if w.demanded {
			dev.Witness.Sharing = Demanded
		} else if dev.Doubt == NoDoubt {
			dev.Witness = c.witness(v, s.Site, s.observations, w.way, dev.isLeft())
		}
		d.Deviations = append(d.Deviations, dev)
	}
	slices.SortFunc(d.Deviations, func(x, y Deviation) int { return comparePositions(x.At, y.At) })
	d.doubtMajority(w.named)
	d.doubtUncovered(w.named)
	d.doubtUnwitnessed(w.named)
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
func (c *chooser) sortObservations(v *subject, s *lockset.Site, way *locks.Place, annotated bool) (has bool, without []lockset.Observation) {
	for _, o := range s.Observations {
		switch lockset.HoldingOf(c.places, o, way) {
		case lockset.Held:
			has = true
		case lockset.HeldForReading:
			if o.Kind == Read {
				has = true
			} else if annotated || v.conflicts(o) {
				without = append(without, o)
			}
		case lockset.NotHeld:
			if annotated || v.conflicts(o) {
				without = append(without, o)
			}
		case lockset.CannotTell:
		}
	}
	return has, without
}

// isLeft reports whether the function is also called with the lock, so that the access may be left to its
// callers, or takes the lock on some ways, by what it knows of the object.
func (v *Deviation) isLeft() bool { return v.Why == notByEveryCaller || v.Why == notOnEveryWay }

const (
	notByEveryCaller = "not held by every caller"
	notOnEveryWay    = "not held on every way"
)

// maxCallers is how many calls a deviation tells of.
const maxCallers = 4

// describeSite returns a site without the lock as it is reported.
func (c *chooser) describeSite(s deviatingSite, way *locks.Place) Deviation {
	worst := worst(s.observations)
	d := Deviation{Kind: worst.Kind, At: s.At, Func: functionName(s.Func), Instr: worst.Instr}
	switch {
	case lockset.HoldingOf(c.places, worst, way) == lockset.HeldForReading:
		d.Why = "held for reading only"
	case s.hasLockElsewhere && c.heldInContext(s.Site, worst.Context, way):
		d.Why = notOnEveryWay
	case s.hasLockElsewhere:
		d.Why = notByEveryCaller
		for _, caller := range worst.Context.Callers(maxCallers) {
			d.From = append(d.From, Call{functionName(caller.Func), c.fset.Position(caller.At)})
		}
	}
	return d
}

// worst is the first of some observations that writes; the first of all if none does.
func worst(all []lockset.Observation) lockset.Observation {
	return all[max(0, slices.IndexFunc(all, func(o lockset.Observation) bool { return o.Kind == Write }))]
}

// isHeldOnOtherWay reports whether an access has the lock when control has come to it on another way.
func (c *chooser) isHeldOnOtherWay(v *subject, o lockset.Observation, way *locks.Place) bool {
	return slices.ContainsFunc(v.sites, func(s *lockset.Site) bool {
		return slices.ContainsFunc(s.Observations, func(p lockset.Observation) bool {
			return p.Instr == o.Instr && p.Context == o.Context && lockset.HoldingOf(c.places, p, way) >= lockset.HeldForReading
		})
	})
}

// heldInContext reports whether a lock is held at a site, on some way, in a context.
func (c *chooser) heldInContext(s *lockset.Site, ctx *lockset.Context, way *locks.Place) bool {
	return slices.ContainsFunc(s.Observations, func(o lockset.Observation) bool {
		return o.Context == ctx && lockset.HoldingOf(c.places, o, way) >= lockset.HeldForReading
	})
}
