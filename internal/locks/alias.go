package locks

import "go/types"

// aliases are the fields that are other names of locks: the L of a sync.Cond, and every
// field that only ever holds a pointer to a lock that stands nearby.
//
//	q.cond = sync.NewCond(&q.mu)
//	q.cond.L.Lock()               locks q.mu
type aliases struct {
	places   *Places
	found    map[aliasKey]*Place // the relation from the alias to the lock
	conflict map[aliasKey]bool
	finished bool
}

// An aliasKey is the end of a place: a field, and the one before it if the field is the L
// that every sync.Cond has.
type aliasKey struct{ outer, field *types.Var }

func newAliases(places *Places) *aliases {
	return &aliases{places: places, found: make(map[aliasKey]*Place), conflict: make(map[aliasKey]bool)}
}

func (a *aliases) key(p *Place) aliasKey {
	k := aliasKey{field: p.step.Field}
	if isCondL(p.step.Field) {
		k.outer = a.places.Variable(p.parent)
	}
	return k
}

func isCondL(f *types.Var) bool {
	return f.Name() == "L" && f.Pkg() != nil && f.Pkg().Path() == "sync"
}

// note says that a place is given the address of a lock. A field that is given two
// different locks is no alias; neither is one that is given a lock of its own, which has
// no other name.
func (a *aliases) note(at, lock *Place) {
	if at == nil || lock == nil || at.parent == nil {
		return
	}
	relation := a.places.Relate(at, lock)
	if relation == nil && lock.parent == nil {
		return
	}
	k := a.key(at)
	if old, ok := a.found[k]; ok && old != relation {
		a.conflict[k] = true
	}
	a.found[k] = relation
}

// finish ends the noting, and reports whether there are aliases. Until then nothing is
// resolved: the places that are noted must be those that the source has.
func (a *aliases) finish() bool {
	for k, relation := range a.found {
		if relation == nil || a.conflict[k] || relation.parent == nil {
			delete(a.found, k)
		}
	}
	a.finished = true
	return len(a.found) > 0
}

// resolve returns the lock that a place is another name of, nil if it is none.
func (a *aliases) resolve(p *Place) *Place {
	if !a.finished || p.parent == nil {
		return nil
	}
	relation := a.found[a.key(p)]
	if relation == nil {
		return nil
	}
	return a.places.Apply(p, relation)
}

// condLocker returns the place of the L of a sync.Cond.
func (t *Places) condLocker(cond *Place, typ types.Type) *Place {
	s, ok := underlyingStruct(typ)
	if !ok || cond == nil {
		return nil
	}
	for f := range s.Fields() {
		if isCondL(f) {
			return t.Field(cond, f)
		}
	}
	return nil
}
