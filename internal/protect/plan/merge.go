package plan

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/copying"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// checkAsked returns an error if a comment asks for something that there is not.
func (p *planner) checkAsked() error {
	for _, d := range p.facts.Asked() {
		if why := copying.UnfitMerge(d); why != "" {
			at := p.facts.Fset.PositionFor(d.Name.Pos(), false)
			return fmt.Errorf("%s: //cofferdam:resolve %s: %s", at, d.Asked, why)
		}
	}
	return nil
}

// findMerge finds out how a careless change to a variable is merged with that of a section: if
// all that the section does to it is to add, both changes count, and so on. It need not matter
// what careless code does: the result is what there would be had the section come after it.
func (r *round) findMerge(g *Group, v *Variable) {
	v.Merge, v.Resolver = "", ""
	if at, ok := r.facts.Declaration(v.Last()); ok && at.Asked != "" {
		switch {
		case slices.Contains(copying.Merges, copying.Merge(at.Asked)):
			v.Merge = copying.Merge(at.Asked)
		case at.Package.PkgPath == r.pkg.PkgPath:
			v.Resolver = at.Asked
		default:
			v.Merge = copying.Keeping // the function has no name here
		}
		return
	}
	for _, s := range g.Steps {
		if s.Opaque == "" {
			r.addMerge(s.Does, v, make(map[facts.FuncKey]bool))
		}
	}
}

// addMerge adds what a statement does to a variable.
func (r *round) addMerge(does *facts.Statement, v *Variable, seen map[facts.FuncKey]bool) {
	for _, t := range does.Touches {
		if !t.Write || r.facts.Reaches(t, v.Place, v.Footprint) == "" {
			continue
		}
		if m := copying.MergeOf(t.Update); v.Merge == "" {
			v.Merge = m
		} else if v.Merge != m {
			v.Merge = copying.Keeping
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
