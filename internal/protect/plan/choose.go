package plan

import (
	"cmp"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/copying"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/rule"
)

// choose decides which variables a group has copies of, and which steps are opaque.
func (r *round) choose(g *Group) {
	var candidates []*Variable
	for _, s := range g.Steps {
		for _, a := range slices.Concat(s.Does.Accesses, r.calledAccesses(g, s)) {
			if v := r.candidate(g, a); v != nil && !slices.ContainsFunc(candidates, func(c *Variable) bool { return c.Place.Equal(v.Place) }) {
				candidates = append(candidates, v)
			}
		}
	}
	// A struct that is used as a whole takes the place of its fields.
	for _, v := range candidates {
		if !slices.ContainsFunc(candidates, func(c *Variable) bool { return c != v && v.Within(c.Place) }) {
			g.Vars = append(g.Vars, v)
		}
	}
	g.Vars = append(g.Vars, r.variablesOnPages(g)...)
	r.dropConflicting(g)
	for _, s := range g.Steps {
		if s.Opaque == "" {
			s.Opaque = r.obscured(g, s)
		}
	}
	r.guardPanics(g)
	r.noteSlow(g)
	r.dropUnused(g)
	for _, v := range g.Vars {
		r.findMerge(g, v)
		v.CopiesEntries = v.CopiesEntries && v.Written && !loopsAcross(g, v)
	}
}

// Why data has no copy by its name.
const (
	reachedByPointer = "it is reached by way of a pointer or an element"
	ofAnotherObject  = "it belongs to another object than the lock"
)

// candidate returns the variable that an access is about, if the lock guards it, and it
// can have a copy.
func (r *round) candidate(g *Group, a *facts.Access) *Variable {
	if !a.Place.Known() || r.pages.byWayOfCell(a.Place) {
		if d := r.guardedBy(g, a.Last); d != "" && r.pages.of(a.Last) == nil {
			why := reachedByPointer
			if r.Mode == Isolate {
				why = cmp.Or(r.pages.why[r.facts.KeyOf(a.Last)], why)
			}
			g.leaveOut(d, why)
		}
		return nil
	}
	datum := r.datum(g, a.Place)
	if datum == "" || r.pages.has(a.Place) {
		return nil
	}
	if why := r.leftOut(rule.OfVariable, r.names.Both(datum)...); why != "" {
		g.leaveOut(datum, why)
		return nil
	}
	if r.Mode == Isolate {
		g.leaveOut(datum, r.pages.whyNot(a.Place))
		return nil
	}
	if foreign(g, a.Place) && r.Mode != Detect {
		return nil // slots are for these
	}
	p := a.Place
	why := ""
	switch {
	case r.facts.Linked(p.Root) != "":
		why = r.facts.Linked(p.Root)
	case p.ThroughPointer() && p.Root != g.Lock.Root:
		why = ofAnotherObject
	case !r.means(p.Root, g.First.Pos()) && p.IsGlobal() && p.Root.Pkg() != r.pkg.Types:
		why = p.Root.Name() + " is a variable of another package"
	case !r.means(p.Root, g.First.Pos()):
		why = p.Root.Name() + " is not known where the lock is taken"
	case p.Root != g.Lock.Root && !r.facts.Stable(p.Root) && len(p.Fields) > 0:
		why = p.Root.Name() + " is assigned to"
	default:
		why = copying.Unfit(p.Last().Type(), r.sizes)
	}
	if why != "" {
		g.leaveOut(datum, why)
		return nil
	}
	v := r.newVariable(g, p, datum)
	v.CopiesEntries = (r.Maps || r.unites(p.Last())) && r.Mode != Detect && !g.Reading && facts.IsMap(p.Last().Type()) && !r.facts.AliasedMap(p.Last())
	return v
}

// unites reports whether a comment asks for careless entries of a map to be kept.
func (r *round) unites(v *types.Var) bool {
	at, ok := r.facts.Declaration(v)
	return ok && copying.Merge(at.Asked) == copying.Uniting
}

// calledAccesses returns accesses by functions that a step calls, in terms of the section,
// as far as they are about the object that has the lock, or about globals.
func (r *round) calledAccesses(g *Group, s *StepPlan) []*facts.Access {
	var list []*facts.Access
	seen := make(map[facts.FuncKey]bool)
	var follow func(c facts.Call, root *types.Var)
	follow = func(c facts.Call, root *types.Var) {
		d, ok := r.functions[facts.FuncKeyOf(c.Func)]
		if !ok || seen[facts.FuncKeyOf(c.Func)] {
			return
		}
		seen[facts.FuncKeyOf(c.Func)] = true
		inner, _ := r.parameter(c, root)
		does := r.statement(d)
		for _, a := range does.Accesses {
			switch b := *a; {
			case !b.Place.Known():
			case b.Place.Root == inner && inner != nil && len(b.Place.Fields) > 0:
				b.Place.Root = g.Lock.Root
				list = append(list, &b)
			case b.Place.IsGlobal():
				list = append(list, &b)
			}
		}
		for _, c := range does.Calls {
			if inner != nil {
				follow(c, inner)
			}
		}
	}
	if s.Opaque == "" {
		for _, c := range s.Does.Calls {
			follow(c, g.Lock.Root)
		}
	}
	return list
}

// dropConflicting leaves out the variables that cannot have copies. To leave one out can
// make a step transparent, and the step show another way to the next.
func (r *round) dropConflicting(g *Group) {
	for again := true; again; {
		again = false
		for _, v := range g.Vars {
			if why := r.conflict(g, v); why != "" {
				g.leaveOut(v.Datum, why)
				g.Vars = slices.DeleteFunc(slices.Clone(g.Vars), func(w *Variable) bool { return w == v })
				again = true
				break
			}
		}
	}
}

// conflict returns why a candidate cannot have a copy, and finds out whether it is
// written and read.
func (r *round) conflict(g *Group, v *Variable) string {
	if v.OnPages != nil {
		return r.conflictOnPages(g, v)
	}
	v.Written, v.Blind = false, true
	for _, s := range g.Steps {
		if s.Opaque != "" || r.obscured(g, s) != "" {
			continue
		}
		for _, a := range s.Does.Accesses {
			if a.Place.Within(v.Place) {
				if a.Defined {
					return "it is defined in the section"
				}
				v.Written = v.Written || a.Entries && v.CopiesEntries
			}
		}
		for _, t := range s.Does.Touches {
			if r.facts.Within(t, v.Place, s.Does.Accesses) {
				v.Written = v.Written || t.Write
				v.Blind = v.Blind && t.Write && r.facts.IsWholly(t, v.Place)
			}
		}
		for _, c := range s.Does.Calls {
			if e := r.facts.EffectOf(c.Func); e.Names(v.Footprint) {
				v.Blind = false // a clone may read it
				v.Written = v.Written || e.Writes(v.Footprint)
			}
		}
		if v.Written && g.Reading {
			return "it is written in a section that may only read"
		}
	}
	return ""
}

// loopsAcross reports whether a loop over a map may be interrupted: what is copied
// after that is another map than the one that the loop goes through.
func loopsAcross(g *Group, v *Variable) bool {
	loops, interrupted := false, len(g.Acquires) > 1
	for _, s := range g.Steps {
		interrupted = interrupted || s.Opaque != ""
		loops = loops || s.Ranges && s.Uses(v.Place, func(a *facts.Access) bool { return a.Entries && a.Place.Equal(v.Place) })
	}
	return loops && interrupted
}

// dropUnused leaves out the variables that only opaque steps use: no step would use the
// copies. What is on pages stays, because opaque steps reach it in the own view, and a section
// is in its guard if one of them is not known to wait.
func (r *round) dropUnused(g *Group) {
	g.Vars = slices.DeleteFunc(g.Vars, func(v *Variable) bool {
		why, early := "", false
		for _, s := range g.Steps {
			uses := slices.ContainsFunc(s.Does.Calls, func(c facts.Call) bool { return r.facts.EffectOf(c.Func).Names(v.Footprint) }) ||
				s.Uses(v.Place, func(*facts.Access) bool { return true }) ||
				v.OnPages != nil && (v.isNode() && s.Does.NamesKey(v.OnPages.Key) || r.hasLiteral(s, v) || r.mayName(s, v))
			switch {
			case uses && (s.Opaque == "" || r.staysInGuard(v, s)):
				return false
			case uses && len(r.earlyLoads(g, v, s)) > 0:
				early = true
			case uses:
				why = "the statement that uses it " + s.Opaque
			}
		}
		switch {
		case (early || why != "") && r.isLoadedOnce(g, v):
			why = loadedOnce
		case early:
			v.Blind = false
			return false
		}
		if why != "" {
			g.leaveOut(v.Datum, why)
		}
		v.Passive = v.OnPages != nil && why != ""
		return !v.Passive
	})
}

// mayName reports whether a step uses what may be isolated data of the group by an expression of which the object is not known.
//
//	x.mu.Lock()
//	all[i].n++        the section is in the guard of x.n, in case that is x
//	x.mu.Unlock()
func (r *round) mayName(s *StepPlan, v *Variable) bool {
	return slices.ContainsFunc(s.Does.Accesses, func(a *facts.Access) bool {
		return !a.Place.Known() && a.Last != nil && r.facts.KeyOf(a.Last) == v.OnPages.Key
	})
}

// loadedOnce is why data is left as it is that is all that a section looks at, once.
const loadedOnce = "one load needs no protection"

// isLoadedOnce reports whether all that the sections of a group do with guarded data is to load
// one word of this variable once, by themselves: nothing can come between.
//
//	x.mu.Lock()
//	fmt.Fprintln(w, x.n)
//	x.mu.Unlock()
func (r *round) isLoadedOnce(g *Group, v *Variable) bool {
	if !copying.IsWord(v.Last().Type()) || v.Footprint.Exposure != facts.Hidden || g.callsAnything() {
		return false
	}
	open := r.openCodeOf(v.Footprint.Keys[0], r.facts.KeyOf(g.Lock.Last()))
	accesses := 0
	for _, s := range g.Steps {
		if r.runsOpen(s, open) != "" || slices.ContainsFunc(s.Does.Calls, func(c facts.Call) bool { return r.facts.EffectOf(c.Func).Names(v.Footprint) }) {
			return false
		}
		for _, a := range s.Does.Accesses {
			switch {
			case a.Place.Equal(v.Place) && !a.Assigned && !loopHasBoth(g, s, s):
				accesses++
			case a.Last == v.Last() || a.Place.Known() && r.datum(g, a.Place) != "" || r.guardedBy(g, a.Last) != "":
				return false
			}
		}
	}
	return accesses == 1
}

// obscured returns why a step reaches variables of the group other than by name, or has
// to find them published for another reason that depends on what is copied.
func (r *round) obscured(g *Group, s *StepPlan) string {
	for _, v := range g.Vars {
		if s.Does.Acquires && !r.exclusive(g, v) {
			return "takes another lock, which may be what " + v.Last().Name() + " is used with elsewhere"
		}
		if v.OnPages == nil {
			if why := r.reachedOtherwise(s.Does, v); why != "" {
				return why
			}
		}
	}
	for _, c := range s.Does.Calls {
		if r.clonedCalls[c.Expr] && len(r.namedBy(g.Vars, c)) > 0 {
			return c.String() + ", which uses what another lock guards, too"
		}
		if why := r.uncloneable(g.Vars, g.Reading, c); why != "" {
			return c.String() + ", which " + why
		}
	}
	return ""
}

// reachedOtherwise returns why a statement reaches a variable other than by the expressions
// that are written in another way.
func (u *unit) reachedOtherwise(does *facts.Statement, v *Variable) string {
	for _, t := range does.Touches {
		within := u.facts.Within(t, v.Place, does.Accesses)
		if within && t.Taken {
			return "takes the address of " + v.Last().Name()
		}
		if !within {
			if why := u.facts.Reaches(t, v.Place, v.Footprint); why != "" {
				return why
			}
		}
	}
	return ""
}

// withLock stands for the copies of what belongs to the object with the lock.
var withLock = new(Slot)

// claim notes the accesses that are to copies of a group. Sections of two locks can
// overlap: what one has a copy of, the other does not.
func (r *round) claim(g *Group) {
	accesses := func(v *Variable, do func(*facts.Access) bool) bool {
		for _, s := range g.Steps {
			if s.Opaque == "" && s.Uses(v.Place, do) || slices.ContainsFunc(r.earlyLoads(g, v, s), do) {
				return true
			}
		}
		return false
	}
	g.Vars = slices.DeleteFunc(g.Vars, func(v *Variable) bool {
		if accesses(v, func(a *facts.Access) bool { return r.redirected[a.Node] != nil }) {
			g.leaveOut(v.Datum, "a section that overlaps has a copy")
			return true
		}
		accesses(v, func(a *facts.Access) bool { r.redirected[a.Node] = withLock; return false })
		return false
	})
}
