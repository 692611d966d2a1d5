package plan

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/batch"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/rule"
	"github.com/cofferdam-go/cofferdam/internal/protect/summary"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A Batch is the copies that the sections of a group have of memory that they find on their way, or of entries of maps. Its variable
// has the type of a copy, and a name that no expression means.
type Batch struct {
	*batch.Batch
	*Variable
}

// withBatch stands for the copies of what is found on the way.
var withBatch = new(Slot)

// hasBatches reports whether there are batches at all. Auto has none: see RATIONALE.md.
func (p *planner) hasBatches() bool { return p.Mode == Tolerate || p.Mode == Exact }

// findBatches finds the batches of a group.
func (r *round) findBatches(g *Group) {
	if !r.hasBatches() {
		return
	}
	g.found = r.sectionOf(g)
	g.found.Find()
	for _, b := range g.found.Batches {
		v := &Variable{
			Place: facts.Place{Root: types.NewVar(token.NoPos, r.pkg.Types, b.Holder.Name(), b.Type)},
			Datum: r.guardedBy(g, b.Holder), Written: b.Written, Merge: b.Merge, Spelling: b.Spelling,
		}
		v.Suspects = r.suspects(&Variable{Place: facts.Place{Root: b.Holder}, Datum: v.Datum})
		g.Batches = append(g.Batches, &Batch{b, v})
	}
	for _, l := range g.found.Left {
		opaque := slices.ContainsFunc(g.Steps, func(s *StepPlan) bool { return s.Opaque != "" && s.Does.NamesKey(r.facts.KeyOf(l.Holder)) })
		if l.IsField() && !(opaque && l.Why == batch.UsedOnce) { // more is known now than that it is reached by a pointer
			datum := r.guardedBy(g, l.Holder)
			g.left = slices.DeleteFunc(g.left, func(old leftOut) bool {
				return old.datum == datum && (old.why == reachedByPointer || old.why == ofAnotherObject)
			})
			g.leaveOut(datum, l.Why)
		}
	}
	for i, s := range g.Steps {
		s.Assignments, s.BatchUses = g.found.Steps[i].Assignments, g.found.Steps[i].Uses
		for _, use := range s.BatchUses {
			for _, unit := range use.Units {
				r.redirected[unit] = withBatch
			}
		}
	}
}

// sectionOf is a group as package batch has it. What belongs to the object with the lock has copies by its name.
func (r *round) sectionOf(g *Group) *batch.Section {
	found := &batch.Section{
		Finder: batch.Finder{
			Info:    r.info,
			Guarded: func(v *types.Var) bool { return r.guardedBy(g, v) != "" && r.pages.of(v) == nil },
			Known: func(x ast.Expr) bool {
				p, ok := facts.PlaceOf(r.info, x)
				return ok && (r.hasCopy(g, x) || !p.ThroughPointer() || p.Root == g.Lock.Root)
			},
		},
		Facts: r.facts, Sizes: r.sizes, Function: r.functionOf(g),
		Spell: func(t types.Type) (string, bool) {
			text, ok := r.fileAt(g.First.Pos()).Spell(t)
			return text, ok && !source.HasTypeParam(t)
		},
		Refused: func(v *types.Var) string { return r.leftOut(rule.OfVariable, r.guardedBy(g, v)) },
		Claimed: func(x ast.Expr) bool { return r.hasCopy(g, x) },
		Whole:   func(v *types.Var) bool { return r.Maps || r.unites(v) },
		Reading: g.Reading,
		LosesByPanic: g.losesByPanic() && slices.ContainsFunc(g.Steps, func(s *StepPlan) bool {
			return !s.ReleasesByPanic
		}),
	}
	for _, s := range g.Steps {
		step := &batch.Step{Stmt: s.Stmt, Nodes: s.Nodes, Does: s.Does, Opaque: s.Opaque, Loop: s.Loop}
		for _, l := range g.Steps {
			if l.Loop && contains(l.Stmt, s.Stmt) {
				step.Loops = append(step.Loops, l.Stmt)
			}
		}
		found.Steps = append(found.Steps, step)
	}
	return found
}

// hasCopy reports whether an expression is to a copy. One that leads through a pointer of which the group has a copy is to what that
// points to.
//
//	head.n      v.n, where v is the copy of head
func (r *round) hasCopy(g *Group, x ast.Expr) bool {
	p, ok := facts.PlaceOf(r.info, x)
	leads := ok && p.ThroughPointer() && slices.ContainsFunc(g.Vars, func(v *Variable) bool { return v.Root == p.Root && len(v.Fields) == 0 })
	return r.redirected[x] != nil && !(r.redirected[x] == withLock && leads)
}

// reportContent notes what becomes of elements, entries and nodes in a group's sections.
func (r *round) reportContent(g *Group, s *Section) {
	if g.found == nil {
		return
	}
	for _, b := range g.Batches {
		if b.IsField() && !slices.Contains(s.Protected, b.Datum) {
			s.Protected = append(s.Protected, b.Datum)
		}
	}
	for _, v := range g.Vars {
		if v.OnPages != nil || v.CopiesEntries || !batch.HasContent(v.Last()) {
			continue
		}
		switch used, why, at := g.found.Content(v.Last()); {
		case why != "":
			s.HeaderOnly = append(s.HeaderOnly, summary.Header{Name: v.Datum, Gap: r.gapAt(at, why)})
		case used:
			s.WithEntries = append(s.WithEntries, v.Datum)
		}
	}
	for _, gap := range g.found.Gaps() {
		open := r.guardedBy(g, gap.Of.Holder)
		at := r.gapAt(gap.Stmt, gap.Why, open)
		known := slices.IndexFunc(s.Gaps, func(o Gap) bool { return o.At == at.At && o.Why == at.Why })
		switch {
		case known < 0:
			s.Gaps = append(s.Gaps, at)
		case !slices.Contains(s.Gaps[known].Open, open):
			s.Gaps[known].Open = append(s.Gaps[known].Open, open)
		}
	}
}

// gapAt is a gap, with the names of what is open in it.
func (r *round) gapAt(n ast.Node, why string, open ...string) Gap {
	return Gap{At: r.facts.Fset.PositionFor(n.Pos(), false), Why: why, Open: open}
}
