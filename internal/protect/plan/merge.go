package plan

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// A Merge is what becomes of a part of a variable that both a section and careless code have
// changed, as package tolerate calls it. What a section has written is never given up for a
// careless value.
type Merge string

// The merges that can be told from how sections change a variable.
const (
	Keeping   Merge = "ours"
	Adding    Merge = "delta"
	Raising   Merge = "max"
	Lowering  Merge = "min"
	Appending Merge = "append"
)

// Merges are those that can be asked for, by a comment on the declaration:
//
//	total int //cofferdam:resolve delta
var Merges = []Merge{Keeping, "theirs", Adding, Raising, Lowering, Appending, "refuse"}

// checkAsked returns an error if a comment asks for something that there is not.
func (p *planner) checkAsked() error {
	for _, d := range p.facts.Asked() {
		if !slices.Contains(Merges, Merge(d.Asked)) {
			at := p.facts.Fset.PositionFor(d.Name.Pos(), false)
			return fmt.Errorf("%s: //cofferdam:resolve %s: there is no such way to merge two changes; give one of %v", at, d.Asked, Merges)
		}
	}
	return nil
}

// merges are those of updates.
var merges = map[facts.Update]Merge{facts.Assigns: Keeping, facts.Adds: Adding, facts.Raises: Raising, facts.Lowers: Lowering, facts.Appends: Appending}

// findMerge finds out how a careless change to a variable is merged with that of a section: if
// all that the section does to it is to add, both changes count, and so on. It need not matter
// what careless code does: the result is what there would be had the section come after it.
func (r *round) findMerge(g *Group, v *Variable) {
	if at, ok := r.facts.Declaration(v.Last()); ok && at.Asked != "" {
		v.Merge = Merge(at.Asked)
		return
	}
	v.Merge = ""
	for _, s := range g.Steps {
		if s.Opaque == "" {
			r.addMerge(s.does, v, make(map[facts.FuncKey]bool))
		}
	}
}

// addMerge adds what a statement does to a variable.
func (r *round) addMerge(does *facts.Statement, v *Variable, seen map[facts.FuncKey]bool) {
	for _, t := range does.Touches {
		if !t.Write || r.facts.Reaches(t, v.Place, v.Footprint) == "" {
			continue
		}
		if m := merges[t.Update]; v.Merge == "" {
			v.Merge = m
		} else if v.Merge != m {
			v.Merge = Keeping
		}
	}
	for _, c := range does.Calls {
		k := facts.FuncKeyOf(c.Func)
		if seen[k] || !r.facts.EffectOf(c.Func).Writes(v.Footprint) {
			continue
		}
		seen[k] = true
		if d, ok := r.functions[k]; ok {
			inner := *v
			inner.Place = anyObject(v.Place, c.Func)
			r.addMerge(r.statement(d), &inner, seen)
			v.Merge = inner.Merge
		}
	}
}

// anyObject is a place in whatever object a function has it in.
func anyObject(p facts.Place, fn *types.Func) facts.Place {
	if !p.ThroughPointer() {
		return p
	}
	return facts.Place{Root: types.NewParam(0, fn.Pkg(), "", p.Root.Type()), Fields: p.Fields}
}
