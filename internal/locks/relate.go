package locks

// A relation is a place without a root: the way from one place to another. The lock of an
// object is held at an access if the way from the object to a lock that is held is the way
// from the object to its lock; that is how a.mu is told from b.mu where a.x is used.
//
//	from a.x's object a to a.mu:       mu
//	from child a.c to a.mu:            ^c.mu
//	from a to b.mu:                    none

// Relate says how to get from one place to another: up to what both have in common, then
// down. It returns nil if they have nothing in common.
func (t *Places) Relate(from, to *Place) *Place {
	if from == nil || to == nil || from.root != to.root {
		return nil
	}
	relation := t.relations
	var down []Step
	for from != to {
		if from.depth < to.depth {
			down = append(down, to.step)
			to = to.parent
			continue
		}
		s := from.step
		s.Up = !s.Up
		if s.Up {
			s.Key = nil
		}
		if relation = t.Extend(relation, s); relation == nil {
			return nil
		}
		from = from.parent
	}
	for i := len(down) - 1; i >= 0; i-- {
		if down[i].Field == Element && relation.parent != nil && relation.step.Field == Element && relation.step.Up {
			return nil // another element than the one that from is in
		}
		if relation = t.Extend(relation, down[i]); relation == nil {
			return nil
		}
	}
	return relation
}

// Apply takes the steps of a relation.
func (t *Places) Apply(p, relation *Place) *Place {
	if relation.parent == nil {
		return p
	}
	return t.Extend(t.Apply(p, relation.parent), relation.step)
}

// A Pair says that two places, of a called function and of its caller, are the same memory.
type Pair struct{ Callee, Caller *Place }

// Down translates a place of the caller into the terms of the callee, by the pair that
// needs the fewest steps up. It returns nil if no pair reaches it.
func (t *Places) Down(p *Place, pairs []Pair) *Place {
	var best *Place
	for _, pair := range pairs {
		best = t.translate(best, p, pair.Caller, pair.Callee)
	}
	return best
}

// Up translates a place of the callee into the terms of the caller.
func (t *Places) Up(p *Place, pairs []Pair) *Place {
	var best *Place
	for _, pair := range pairs {
		best = t.translate(best, p, pair.Callee, pair.Caller)
	}
	return best
}

func (t *Places) translate(best, p, from, to *Place) *Place {
	relation := t.Relate(from, p)
	if relation == nil {
		return best
	}
	q := t.Apply(to, relation)
	if q != nil && (best == nil || q.ups < best.ups || q.ups == best.ups && q.depth < best.depth) {
		return q
	}
	return best
}
