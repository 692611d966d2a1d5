package plan

import (
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/batch"
	"github.com/cofferdam-go/cofferdam/internal/protect/copying"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/rule"
)

// A Slot is the copy of some fields of one object at a time, which a section finds on its
// way: an entry of a guarded map, a node of a list, a parameter.
type Slot struct {
	// Spelling is the type of pointers to the object.
	Spelling string
	Fields   []*Variable

	object types.Type
}

// A SlotUse says what a step has to do with a slot: nothing, or one of two things.
type SlotUse struct {
	// Object is the variable that points to the object whose fields the step uses.
	Object *types.Var
	// Redirects are those uses.
	Redirects []Redirect
	// Publishes says that the step reaches the fields in a way that the slot does not
	// know, and must find them published.
	Publishes bool
}

const usedOnce = "one access needs no copy"

// findSlots finds the slots of a group.
func (r *round) findSlots(g *Group) {
	if r.Mode == Detect || r.Mode == Isolate {
		return
	}
	for _, s := range g.Steps {
		for _, a := range s.Does.Accesses {
			if !foreign(g, a.Place) || r.redirected[a.Node] != nil || r.pages.has(a.Place) {
				continue
			}
			datum, why := r.datum(g, a.Place), ""
			switch {
			case datum == "":
			case r.leftOut(rule.OfVariable, r.names.Both(datum)...) != "":
				why = r.leftOut(rule.OfVariable, r.names.Both(datum)...)
			case s.Opaque != "":
				why = "the statement that uses it " + s.Opaque
			default:
				why = r.addToSlot(g, a, datum)
			}
			if why != "" {
				g.leaveOut(datum, why)
			}
		}
	}
	g.Slots = slices.DeleteFunc(g.Slots, func(s *Slot) bool { return r.hasBatches() && r.isForSeveral(g, s) })
	for _, slot := range g.Slots {
		r.prune(g, slot)
		for _, v := range slot.Fields {
			r.findMerge(g, v)
		}
	}
	g.Slots = slices.DeleteFunc(g.Slots, func(s *Slot) bool { return len(s.Fields) == 0 })
	for _, s := range g.Steps {
		for _, slot := range g.Slots {
			for _, use := range r.slotUse(g, slot, s).Redirects {
				r.redirected[use.Node] = slot
			}
		}
	}
}

// foreign reports whether a place is in an object that a local variable points to, and
// that is not the one with the lock.
func foreign(g *Group, p facts.Place) bool {
	return p.Known() && p.ThroughPointer() && p.Root != g.Lock.Root && !p.IsGlobal()
}

// addToSlot adds the field that an access is about to the slot of its object. It returns
// why there can be none.
func (r *round) addToSlot(g *Group, a *facts.Access, datum string) string {
	if why := copying.Unfit(a.Place.Last().Type(), r.sizes); why != "" {
		return why
	}
	file := r.fileAt(a.Node.Pos())
	object, ok := file.Spell(a.Place.Root.Type())
	// The field may be that of a generic struct's instance, so its type is that of the
	// expression.
	field, ok2 := file.Spell(r.info.TypeOf(a.Node))
	if !ok || !ok2 {
		return "its type has no name there"
	}
	i := slices.IndexFunc(g.Slots, func(s *Slot) bool { return types.Identical(s.object, a.Place.Root.Type()) })
	if i < 0 {
		i = len(g.Slots)
		g.Slots = append(g.Slots, &Slot{object: a.Place.Root.Type(), Spelling: object})
	}
	s := g.Slots[i]
	if s.field(a.Place) >= 0 {
		return ""
	}
	v := r.newVariable(g, a.Place, datum)
	v.Spelling = field
	// A struct that is used as a whole takes the place of its fields.
	s.Fields = slices.DeleteFunc(s.Fields, func(w *Variable) bool { return facts.HasPrefix(w.Fields, v.Fields) })
	s.Fields = append(s.Fields, v)
	return ""
}

// field returns the index of the slot's field that a place is in, whatever the object,
// and -1 if there is none.
func (s *Slot) field(p facts.Place) int {
	if !p.Known() || !types.Identical(p.Root.Type(), s.object) {
		return -1
	}
	return slices.IndexFunc(s.Fields, func(v *Variable) bool { return facts.HasPrefix(p.Fields, v.Fields) })
}

// prune leaves out the fields of which nothing would be gained, or that a section must
// not write. To leave one out can let the slot be used by more statements.
func (r *round) prune(g *Group, s *Slot) {
	for again := true; again; {
		again = false
		for i, v := range s.Fields {
			if why := r.useless(g, s, i); why != "" {
				g.leaveOut(v.Datum, why)
				s.Fields = slices.Delete(slices.Clone(s.Fields), i, i+1)
				again = true
				break
			}
		}
	}
}

// useless returns why a field should not be in a slot, and finds out whether it is
// written.
func (r *round) useless(g *Group, slot *Slot, field int) string {
	v := slot.Fields[field]
	v.Written = false
	count, together := make(map[*types.Var]int), make(map[*types.Var]int)
	most, without, passes := 0, 0, false
	var last *types.Var
	for _, s := range g.Steps {
		object := r.slotUse(g, slot, s).Object
		for _, a := range s.Does.Accesses {
			if object != nil && slot.field(a.Place) >= 0 {
				together[object]++
			}
			if slot.field(a.Place) != field || s.Opaque != "" || object == nil && r.hasBatches() {
				continue
			}
			times := 1
			if !r.hasBatches() { // they look at loops themselves
				stays, goesOn := loopsOver(g, s, a.Place.Root)
				passes = passes || goesOn != nil
				if stays {
					times++
				}
			}
			if object == nil {
				without += times
				continue
			}
			count[object] += times
			last = object
			most = max(most, count[object])
		}
		v.Written = v.Written || object != nil && slices.ContainsFunc(s.Does.Touches, func(t *facts.Touch) bool {
			return t.Write && r.facts.Within(t, v.Place, slot.accesses(field, s.Does.Accesses))
		})
	}
	switch {
	case v.Written && g.Reading:
		return "it is written in a section that may only read"
	case v.Written && g.losesByPanic() && slices.ContainsFunc(g.Steps, func(s *StepPlan) bool { return !s.ReleasesByPanic }):
		return "what is written to it could be lost by a panic"
	case most == 1 && !passes && len(count) == 1 && together[last] > 1:
		return "" // they are of one moment only by copies
	case most < 2 && most+without > 1:
		return hasNoCopy
	case most < 2 && passes:
		return batch.PassedBy
	case most < 2 && len(count) > 1:
		return onceEach
	case most < 2:
		return usedOnce
	}
	return ""
}

// accesses returns those of the accesses that are uses of a field of the slot, as if they
// were all of the object that the field was first found in.
func (s *Slot) accesses(field int, all []*facts.Access) []*facts.Access {
	var list []*facts.Access
	for _, a := range all {
		if s.field(a.Place) == field {
			same := *a
			same.Place.Root = s.Fields[field].Root
			list = append(list, &same)
		}
	}
	return list
}

// slotUse finds out what a step has to do with a slot.
func (r *round) slotUse(g *Group, slot *Slot, s *StepPlan) SlotUse {
	if s.Opaque != "" || s.Does.Acquires {
		return SlotUse{Publishes: true}
	}
	var use SlotUse
	for _, a := range s.Does.Accesses {
		i := slot.field(a.Place)
		if i < 0 {
			continue
		}
		other := r.redirected[a.Node] != nil && r.redirected[a.Node] != slot
		if !foreign(g, a.Place) || s.Loop || other || use.Object != nil && use.Object != a.Place.Root || !r.usable(s, a.Place.Root) {
			return SlotUse{Publishes: true}
		}
		use.Object = a.Place.Root
		use.Redirects = append(use.Redirects, Redirect{a.Node, i, a.Place.Beyond(slot.Fields[i].Place)})
	}
	if r.slotReachedOtherwise(slot, s) {
		return SlotUse{Publishes: true}
	}
	return use
}

// slotReachedOtherwise reports whether a step may reach the fields of a slot other than by
// the expressions that use the slot, or needs their addresses.
func (r *round) slotReachedOtherwise(slot *Slot, s *StepPlan) bool {
	for i, v := range slot.Fields {
		uses := slot.accesses(i, s.Does.Accesses)
		for _, t := range s.Does.Touches {
			within := r.facts.Within(t, v.Place, uses)
			if within && t.Taken || !within && r.facts.Reaches(t, v.Place, v.Footprint) != "" {
				return true
			}
		}
		for _, c := range s.Does.Calls {
			if e := r.facts.EffectOf(c.Func); e == nil || e.Names(v.Footprint) || e.MayPointTo(v.Footprint) != "" {
				return true
			}
		}
	}
	return false
}

// usable reports whether a variable means the same before a step as in all of it.
func (r *round) usable(s *StepPlan, root *types.Var) bool {
	if r.facts.Exposure(root) != facts.Hidden || !r.means(root, s.Begin()) {
		return false
	}
	return !slices.ContainsFunc(s.Does.Accesses, func(a *facts.Access) bool { return a.Assigned && a.Last == root })
}
