package plan

import (
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/nodes"
	"github.com/cofferdam-go/cofferdam/internal/protect/outline"
)

// A companion is a field of nodes that data of a guard leads to, which the guard was not inferred for.
type companion struct {
	guard *guard.Guard
	datum *guard.Datum
}

// withCompanions adds the fields of nodes to the guards by whose data sections find the nodes. How a node was found is not known by the
// time it is used, so what guards it is not inferred, or only for nodes at the beginning. But a stamp is right whatever lock it is of: it
// is only left by sections that use the node, and accesses that are ordered by other means find it gone. So it is enough that
// sections of the lock use the field, and that something writes it. The same holds for copies, which are published before anything
// that could order accesses.
//
//	type list struct { mu sync.Mutex; head *node }
//	type node struct { next *node; val int }      next and val, because mu guards head
func (p *planner) withCompanions(guards []*guard.Guard) []*guard.Guard {
	if p.Mode != Isolate && !p.hasBatches() {
		return guards
	}
	var all []*guard.Guard
	for _, g := range guards {
		lock := p.facts.KeyOf(g.Lock.Object.(*types.Var))
		extended, added := nodes.Behind(g, p.facts.Fset, func(f *types.Var) bool { return p.isCompanion(f, lock) })
		for _, d := range added {
			p.companions[p.facts.KeyOf(d.Object.(*types.Var))] = companion{extended, d}
		}
		all = append(all, extended)
	}
	return all
}

// isCompanion reports whether sections of a lock use a field that something writes, and that nothing is known to guard.
func (p *planner) isCompanion(f *types.Var, lock facts.Key) bool {
	gd, _ := p.guardOf(f)
	at, declared := p.facts.Declaration(f)
	k := p.facts.KeyOf(f)
	return gd == nil && declared && at.Type != nil && p.sectionsUse(lock, k) && p.isWritten(k)
}

// sectionsUse reports whether a section of a lock uses a field, by itself or by a function that it calls by name.
func (p *planner) sectionsUse(lock, field facts.Key) bool {
	return slices.ContainsFunc(p.units, func(u *unit) bool {
		return slices.ContainsFunc(u.all, func(b *body) bool {
			return slices.ContainsFunc(b.outlines, func(o *outline.Outline) bool {
				return p.facts.KeyOf(o.Lock.Last()) == lock && slices.ContainsFunc(o.Inside, func(s *outline.Step) bool { return s.Does.NamesKey(field) })
			})
		})
	})
}

// isWritten reports whether a function writes a field, other than by a literal that makes the object.
func (p *planner) isWritten(field facts.Key) bool {
	return slices.ContainsFunc(p.units, func(u *unit) bool {
		for _, d := range u.functions {
			if u.statement(d).WritesKey(field) {
				return true
			}
		}
		return false
	})
}

// guardOf returns the guard of a variable or field.
func (p *planner) guardOf(v *types.Var) (*guard.Guard, *guard.Datum) {
	if g, d := p.guards.Of(v); g != nil && d.Confidence >= p.Least {
		return g, d
	}
	c := p.companions[p.facts.KeyOf(v)]
	return c.guard, c.datum
}
