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

// Uniting is for maps whose sections and careless code change different keys. It has to compare
// all entries, so it is only for those who ask for it.
const Uniting Merge = "union"

// Merges are those that can be asked for, by a comment on the declaration:
//
//	total int //cofferdam:resolve delta
//
// The name of a function of the package can be asked for as well:
//
//	state State //cofferdam:resolve later
//
//	func later(theirs, ours, before State) State
var Merges = []Merge{Keeping, "theirs", Adding, Raising, Lowering, Appending, Uniting, "refuse"}

// checkAsked returns an error if a comment asks for something that there is not.
func (p *planner) checkAsked() error {
	for _, d := range p.facts.Asked() {
		if why := unfitMerge(d); why != "" {
			at := p.facts.Fset.PositionFor(d.Name.Pos(), false)
			return fmt.Errorf("%s: //cofferdam:resolve %s: %s", at, d.Asked, why)
		}
	}
	return nil
}

// unfitMerge returns why a variable cannot have what its comment asks for.
func unfitMerge(d facts.Declaration) string {
	v := d.Package.TypesInfo.Defs[d.Name].(*types.Var)
	if slices.Contains(Merges, Merge(d.Asked)) {
		if Merge(d.Asked) == Uniting && !facts.IsMap(v.Type()) {
			return "that is for maps, and this is a " + v.Type().String()
		}
		return ""
	}
	fn, ok := d.Package.Types.Scope().Lookup(d.Asked).(*types.Func)
	if !ok {
		return fmt.Sprintf("there is no such way to merge two changes, and no such function in the package; give one of %v, or a function", Merges)
	}
	one := types.NewParam(0, nil, "", v.Type())
	want := types.NewSignatureType(nil, nil, nil, types.NewTuple(one, one, one), types.NewTuple(one), false)
	if !types.Identical(fn.Signature(), want) {
		return fmt.Sprintf("the function has to be %s(theirs, ours, before T) T, where T is %s", d.Asked, types.TypeString(v.Type(), types.RelativeTo(d.Package.Types)))
	}
	return ""
}

// merges are those of updates.
var merges = map[facts.Update]Merge{facts.Assigns: Keeping, facts.Adds: Adding, facts.Raises: Raising, facts.Lowers: Lowering, facts.Appends: Appending}

// findMerge finds out how a careless change to a variable is merged with that of a section: if
// all that the section does to it is to add, both changes count, and so on. It need not matter
// what careless code does: the result is what there would be had the section come after it.
func (r *round) findMerge(g *Group, v *Variable) {
	v.Merge, v.Resolver = "", ""
	if at, ok := r.facts.Declaration(v.Last()); ok && at.Asked != "" {
		switch {
		case slices.Contains(Merges, Merge(at.Asked)):
			v.Merge = Merge(at.Asked)
		case at.Package.PkgPath == r.pkg.PkgPath:
			v.Resolver = at.Asked
		default:
			v.Merge = Keeping // the function has no name here
		}
		return
	}
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
