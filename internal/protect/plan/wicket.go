package plan

import (
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// fieldsOfWicket is how many fields one guard in an object can be for: see package wicket.
const fieldsOfWicket = 8

// unfitForWicket returns why a field cannot stay in its object, behind a guard that every use of it
// asks, "" if it can: it stands beside its lock, and each of its uses can be written as a call.
func (p *planner) unfitForWicket(v *types.Var, at facts.Declaration, lock *types.Var) string {
	switch {
	case at.Type == nil || isNode(at, lock):
		return "its lock is not beside it in an object"
	case source.HasTypeParam(v.Type()):
		return "its type depends on a type parameter"
	case p.leadsToLock(v):
		return "a lock is reached by way of it"
	}
	return p.facts.PinnedWord(v)
}

// putBehindWicket has a datum share a guard with the fields of its type that have the same lock.
func (all *pageData) putBehindWicket(d *PageDatum, lock facts.Key) {
	d.Wicket = d.Number
	for _, other := range all.byLock[lock] {
		if other.Wicket == 0 || other.Owner != d.Owner || other.Home != d.Home {
			continue
		}
		if other.Bit+1 < fieldsOfWicket {
			d.Wicket, d.Bit = other.Wicket, other.Bit+1
		} else {
			d.Wicket, d.Bit = d.Number, 0
		}
	}
}

// Mask is the bit of a datum behind a wicket.
func (d *PageDatum) Mask() uint64 { return 1 << d.Bit }
