package plan

import (
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/protect/copying"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// A Variable is one that the sections of a group have a copy of, or use on pages.
type Variable struct {
	facts.Place
	Footprint facts.Footprint
	// Datum is how the guard calls it, and Suspects where it is written without the
	// lock.
	Datum, Suspects string
	// Written says that a section may write it, Blind that no section reads it.
	Written, Blind bool
	// Merge is what becomes of what both a section and careless code have changed.
	Merge copying.Merge
	// Resolver is the function of the package that decides it; "" if Merge does.
	Resolver string
	// CopiesEntries says that it is a map of which the entries are copied too.
	CopiesEntries bool
	// Exact says that uses without the lock tell what they do.
	Exact bool
	// ByPointer says that its name means something else somewhere in the section, so
	// that a pointer to it has to be kept.
	ByPointer bool
	// Spelling is its type, as the file can write it, in a slot and in a clone.
	Spelling string

	// OnPages is where it lives, if it has no copy. Passive says that the sections
	// need not enter its guard: only steps use it that must find the guard left.
	OnPages *PageDatum
	Passive bool
}

// isCell reports whether the variable is a pointer on pages.
func (v *Variable) isCell() bool { return v.OnPages != nil && v.OnPages.Cell }

// newVariable describes a variable that has copies.
func (u *unit) newVariable(g *Group, p facts.Place, datum string) *Variable {
	v := &Variable{Place: p, Datum: datum, Footprint: u.facts.FootprintIn(u.functionOf(g), p.Last())}
	v.Suspects = u.suspects(v)
	return v
}

// maxSuspects is how many places a finding names.
const maxSuspects = 3

// suspects lists the places where a variable is written without the lock.
func (u *unit) suspects(v *Variable) string {
	var list []string
	for _, dev := range u.deviations(v) {
		if dev.Kind == guard.Write && len(list) < maxSuspects {
			list = append(list, short(dev.At)+" in "+dev.Func)
		}
	}
	return strings.Join(list, ", ")
}

// deviations are the accesses to a variable that do not hold its lock.
func (p *planner) deviations(v *Variable) []guard.Deviation {
	var list []guard.Deviation
	for _, f := range v.Chain() {
		if _, d := p.guards.Of(f); d != nil && p.names.OfDatum(d) == v.Datum {
			list = append(list, d.Deviations...)
		}
	}
	return list
}

// guardedBy returns the name of a variable or field if the group's lock guards it.
func (u *unit) guardedBy(g *Group, v *types.Var) string {
	gd, d := u.guardOf(v)
	if gd == nil || u.facts.KeyOf(gd.Lock.Object.(*types.Var)) != u.facts.KeyOf(g.Lock.Last()) {
		return ""
	}
	return u.names.OfDatum(d)
}

// guardedIn returns the names of the fields of a struct that the group's lock guards.
func (u *unit) guardedIn(g *Group, t types.Type) []string {
	var list []string
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if d := u.guardedBy(g, f); d != "" {
				list = append(list, d)
			}
			list = append(list, u.guardedIn(g, f.Type())...)
		}
	}
	return list
}

// datum returns the name of what a place is, or is a part of, if the group's lock guards
// it.
func (u *unit) datum(g *Group, p facts.Place) string {
	name := ""
	for _, v := range p.Chain() {
		if d := u.guardedBy(g, v); d != "" {
			name = d
		}
	}
	return name
}

// exclusive reports whether nothing can have used a variable since the group's lock was
// taken, by what is known of all accesses to it.
func (u *unit) exclusive(g *Group, v *Variable) bool {
	if v.Root != g.Lock.Root && !(v.IsGlobal() && g.Lock.IsGlobal()) {
		return false // it may be another object's lock
	}
	if v.Footprint.Exposure != facts.Hidden {
		return false // accesses by way of pointers are not known
	}
	for _, f := range v.Chain() {
		if gd, d := u.guards.Of(f); gd != nil && u.names.OfDatum(d) == v.Datum {
			e := d.Evidence
			return e.ReadsWithout+e.WritesWithout+e.Unknown == 0
		}
	}
	return false
}
