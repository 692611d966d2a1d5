package plan

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// A turn is a step at which a slot goes on to another object, whose copy takes the place of the one before.
type turn struct {
	*StepPlan
	// Within is the loop in which the step has another object in each round, nil if the object has another name, or the name was
	// assigned to.
	Within ast.Stmt
}

// turns returns the turns of a slot.
//
//	e.n++; d.n += e.n; e.n--        two turns, to d and back
//	for ; e != nil; e = e.next {
//		e.n += 2                a turn in each round
//		e.sum += e.n
//	}
func (r *round) turns(g *Group, slot *Slot) []turn {
	var list []turn
	var last *types.Var
	assigned := false // since the last use
	var within ast.Stmt
	for _, s := range g.Steps {
		is, loop := false, ast.Stmt(nil)
		for _, a := range s.Does.Accesses {
			if s.Opaque != "" || slot.field(a.Place) < 0 || !foreign(g, a.Place) {
				continue
			}
			_, goesOn := loopsOver(g, s, a.Place.Root)
			switch {
			case last != nil && last != a.Place.Root, assigned && (goesOn == nil || goesOn == within):
				is = true
			case goesOn != nil && (last == nil || goesOn != within):
				is, loop = true, goesOn
			}
			last, assigned, within = a.Place.Root, false, goesOn
		}
		if is {
			list = append(list, turn{s, loop})
		}
		assigned = assigned || last != nil && assigns(s, last)
	}
	return list
}

// isForSeveral reports whether a group uses several objects by turns other than those of loops. Batches have copies of all of them.
func (r *round) isForSeveral(g *Group, slot *Slot) bool {
	return slices.ContainsFunc(r.turns(g, slot), func(t turn) bool { return t.Within == nil })
}

// assigns reports whether a step assigns to a local variable.
func assigns(s *StepPlan, v *types.Var) bool {
	return slices.ContainsFunc(s.Does.Accesses, func(a *facts.Access) bool { return a.Assigned && a.Last == v })
}

// loopsOver reports whether a loop of the section comes back to a step with the same object in a variable, and returns the
// innermost one that does with another.
func loopsOver(g *Group, s *StepPlan, object *types.Var) (stays bool, goesOn ast.Stmt) {
	for _, l := range g.Steps {
		if !l.Loop || !contains(l.Stmt, s.Stmt) {
			continue
		}
		if l.Stmt.Pos() <= object.Pos() && object.Pos() < l.Stmt.End() ||
			slices.ContainsFunc(g.Steps, func(u *StepPlan) bool { return contains(l.Stmt, u.Stmt) && assigns(u, object) }) {
			if goesOn == nil || contains(goesOn, l.Stmt) {
				goesOn = l.Stmt
			}
		} else {
			stays = true
		}
	}
	return stays, goesOn
}

// Why a slot has not the same object to itself all the time.
const (
	takesTurns  = "there is a copy of one object at a time, and this goes on to another"
	onceEach    = "several objects are used once each, and changes may come between them"
	hasNoCopy   = "it is used where there can be no copy of one object, as in the header of a loop"
	mayReachAll = "this may reach the objects of which there are copies"
)

// slotGaps returns the steps at which a slot has not the same object to itself as before or after, apart from those for which the
// section is interrupted as a whole.
func (r *round) slotGaps(g *Group, slot *Slot) []Gap {
	uses := make([]bool, len(g.Steps))
	for i, s := range g.Steps {
		uses[i] = slices.ContainsFunc(s.Does.Accesses, func(a *facts.Access) bool { return slot.field(a.Place) >= 0 })
	}
	var open []string
	for _, v := range slot.Fields {
		open = append(open, v.Datum)
	}
	var list []Gap
	turns := r.turns(g, slot)
	for i, s := range g.Steps {
		why := ""
		switch {
		case s.Opaque != "":
		case slices.ContainsFunc(turns, func(t turn) bool { return t.StepPlan == s }):
			why = takesTurns
		case !r.slotUse(g, slot, s).Publishes:
		case uses[i]:
			why = hasNoCopy
		default:
			why = mayReachAll
		}
		before, after := slices.Contains(uses[:i], true), slices.Contains(uses[i+1:], true)
		again := slices.ContainsFunc(g.Steps, func(u *StepPlan) bool { return uses[slices.Index(g.Steps, u)] && loopHasBoth(g, u, s) })
		if why != "" && (before && after || uses[i] && (before || after) || again) {
			list = append(list, r.gapAt(s.Stmt, why, open...))
		}
	}
	return list
}
