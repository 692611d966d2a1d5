package plan

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/outline"
)

// A decision is what becomes of all sections, given what is on pages.
type decision struct {
	packages []*Package
	sections []Section
	slowUses []slowUse
}

// A slowUse is a section that uses data on pages through the shared view: each time the
// page has to be opened, and protected again by the next section.
type slowUse struct {
	datum *PageDatum
	at    token.Position
}

// decide plans all packages. It changes nothing that is known, so that it can be asked
// about different data on pages.
func (p *planner) decide(pages *pageData) *decision {
	out := new(decision)
	for _, u := range p.units {
		newRound(u, pages, out).run()
	}
	if p.Mode == Tolerate || p.Mode == Auto {
		p.findAdditions(out)
	}
	if p.Mode == Exact {
		p.findVisits(out)
	}
	return out
}

// A round decides for one package.
type round struct {
	*unit
	pages *pageData
	all   *decision
	out   *Package

	// redirected are the accesses that are to a copy, with the slot that has it, or
	// withLock.
	redirected map[ast.Expr]*Slot
	// clonedCalls are the calls that become calls of clones in the sections of a lock.
	clonedCalls map[*ast.CallExpr]bool
	clones      map[string]*Clone
}

func newRound(u *unit, pages *pageData, all *decision) *round {
	r := &round{
		unit: u, pages: pages, all: all, out: &Package{Package: u.pkg},
		redirected: make(map[ast.Expr]*Slot), clonedCalls: make(map[*ast.CallExpr]bool),
		clones: make(map[string]*Clone),
	}
	for i, f := range u.files {
		r.out.Files = append(r.out.Files, &File{File: f, Index: u.index[i], Entry: u.entry(f)})
	}
	all.packages = append(all.packages, r.out)
	return r
}

func (r *round) run() {
	for _, b := range r.bodies {
		for _, a := range b.alone {
			r.all.sections = append(r.all.sections, a.Section)
			r.noteSlowBody(b, a.lock)
		}
		var groups []*Group
		for _, o := range b.outlines {
			g := newGroup(o, b.block)
			g.LockName = r.lockName(o.Lock)
			groups = append(groups, g)
			r.choose(g)
			r.claim(g)
			r.claimCalls(g)
		}
		for _, g := range groups {
			r.findSlots(g)
			r.findBatches(g)
			r.leaveOutOpen(g)
			r.report(g)
			if len(g.Vars)+len(g.Slots)+len(g.Batches) > 0 {
				r.planSteps(g)
				f := r.out.Files[b.file]
				f.Groups = append(f.Groups, g)
			}
		}
		r.resumeLater(b.block, groups)
	}
	r.findSites()
}

func newGroup(o *outline.Outline, body *ast.BlockStmt) *Group {
	g := &Group{Outline: o, Body: body}
	for _, s := range o.Inside {
		g.Steps = append(g.Steps, &StepPlan{Step: s, Opaque: s.WhyOpaque()})
	}
	return g
}

// report notes what becomes of a group's sections for the table.
func (r *round) report(g *Group) {
	if len(g.Vars)+len(g.Slots)+len(g.Batches)+len(g.left) == 0 && !g.callsAnything() {
		return // the lock guards nothing that the section uses
	}
	if len(g.left) == 1 && g.left[0].why == loadedOnce {
		return // there is nothing to disturb
	}
	s := Section{At: r.facts.Fset.PositionFor(g.First.Pos(), false), Lock: g.LockName, LockKey: r.facts.KeyOf(g.Lock.Last()), Times: len(g.Acquires), Gaps: r.gaps(g), Piecewise: r.Mode != Detect && r.isPiecewise(g)}
	vars := g.Vars
	for _, slot := range g.Slots {
		vars = slices.Concat(vars, slot.Fields)
	}
	for _, v := range vars {
		if v.OnPages != nil {
			if !v.Passive {
				s.Isolated = append(s.Isolated, v.Datum)
			}
			if v.OnPages.isWithContent() || r.leadsToNodes(v.OnPages.Type) {
				s.WithEntries = append(s.WithEntries, v.Datum)
			}
			continue
		}
		if v.CopiesEntries {
			s.WithEntries = append(s.WithEntries, v.Datum)
		}
		for _, name := range append([]string{v.Datum}, r.guardedIn(g, v.Last().Type())...) {
			if !slices.Contains(s.Protected, name) {
				s.Protected = append(s.Protected, name)
			}
		}
	}
	r.reportContent(g, &s)
	for _, d := range g.left {
		if l := (Left{Name: d.datum, Why: d.why}); d.why != usedOnce && !slices.Contains(s.Left, l) && !slices.Contains(s.Protected, d.datum) {
			s.Left = append(s.Left, l)
		}
	}
	r.all.sections = append(r.all.sections, s)
}

// callsAnything reports whether a section runs code that is not known: the code may be what
// uses the data.
//
//	func (t *T) with(f func()) { t.mu.Lock(); f(); t.mu.Unlock() }
func (g *Group) callsAnything() bool {
	return slices.ContainsFunc(g.Steps, func(s *StepPlan) bool { return s.Does.CallsValue })
}

// gaps returns the steps for which the sections of a group are interrupted between two uses
// of what they have to themselves, or for the second of them. Before the first use and after
// the last there is nothing to disturb. A section that has all on pages is interrupted only
// where it is known to wait.
//
//	a := x.n       from the copy
//	log.Print()    a gap if x.n is used once more
//	x.print()      a gap if it uses x.n
func (r *round) gaps(g *Group) []Gap {
	if r.Mode == Detect {
		return nil
	}
	uses := make([]bool, len(g.Steps))
	for i, s := range g.Steps {
		uses[i] = r.usesAny(g, s)
	}
	var list []Gap
	for i, s := range g.Steps {
		if s.Opaque == "" || len(g.Slots)+len(g.Batches) == 0 && !slices.ContainsFunc(g.Vars, func(v *Variable) bool { return !v.Passive && !r.staysInGuard(v, s) }) {
			continue
		}
		before, itself := slices.Contains(uses[:i], true), uses[i]
		if itself && r.usesOnlyEarly(g, s) {
			before, itself = true, false
		}
		around := 0
		for _, use := range []bool{before, itself, slices.Contains(uses[i+1:], true)} {
			if use {
				around++
			}
		}
		inLoop := slices.ContainsFunc(g.Steps, func(u *StepPlan) bool { return uses[slices.Index(g.Steps, u)] && loopHasBoth(g, u, s) })
		if around > 1 || inLoop {
			list = append(list, r.gapAt(s.Stmt, s.Opaque, r.openFor(g, s)...))
		}
	}
	for _, slot := range g.Slots {
		list = append(list, r.slotGaps(g, slot)...)
	}
	return list
}

// openFor returns the data of a group that it has not to itself for a step.
func (r *round) openFor(g *Group, s *StepPlan) []string {
	var open []string
	for _, v := range g.Vars {
		if !v.Passive && !r.staysInGuard(v, s) {
			open = append(open, v.Datum)
			open = append(open, r.guardedIn(g, v.Last().Type())...)
		}
	}
	for _, slot := range g.Slots {
		for _, v := range slot.Fields {
			open = append(open, v.Datum)
		}
	}
	for _, b := range g.Batches {
		open = append(open, b.Datum)
	}
	return open
}

// usesAny reports whether a step may use what the sections of a group have to themselves, by
// itself or by code that it runs.
func (r *round) usesAny(g *Group, s *StepPlan) bool {
	vars := g.Vars
	for _, slot := range g.Slots {
		vars = slices.Concat(vars, slot.Fields)
	}
	lock := r.facts.KeyOf(g.Lock.Last())
	return slices.ContainsFunc(vars, func(v *Variable) bool {
		return slices.ContainsFunc(s.Does.Accesses, func(a *facts.Access) bool {
			return a.Place.Within(v.Place) || r.facts.KeyOf(a.Last) == v.Footprint.Keys[0]
		}) ||
			slices.ContainsFunc(s.Does.Calls, func(c facts.Call) bool { return r.facts.EffectOf(c.Func).Names(v.Footprint) }) ||
			r.usesElements(v, s) || r.runsOpen(s, r.openCodeOf(v.Footprint.Keys[0], lock)) != ""
	}) || slices.ContainsFunc(g.Batches, func(b *Batch) bool {
		k := r.facts.KeyOf(b.Holder)
		return s.Does.NamesKey(k) || r.runsOpen(s, r.openCodeOf(k, lock)) != ""
	})
}

// planSteps works out what is written for each step of a group.
func (r *round) planSteps(g *Group) {
	for _, v := range g.Vars {
		v.Exact = r.Mode == Exact && !v.CopiesEntries && r.facts.Footprint(v.Last()).Exposure == facts.Hidden
	}
	g.OnlyReaches = len(g.Slots)+len(g.Batches) == 0 && !slices.ContainsFunc(g.Vars, func(v *Variable) bool { return !v.Passive })
	g.Rescues = r.rescues(g)
	r.findStranded(g)
	for _, s := range g.Steps {
		if _, ok := s.Stmt.(*ast.DeferStmt); ok && g.Rescues {
			s.Defers = true
		}
		s.Interrupts = s.Opaque != "" || r.Mode == Detect && r.writes(g, s)
		s.Relents = s.Interrupts && slices.ContainsFunc(g.Vars, func(v *Variable) bool { return !v.Passive && r.staysInGuard(v, s) })
		g.Relents = g.Relents || s.Relents
		s.Resumes = !s.Ends && !isReturn(s.Stmt) && !facts.Panics(r.info, s.Stmt)
		switch {
		case s.Interrupts:
			s.Redirects = redirects(g.Vars, s.Does.Accesses, func(v *Variable) bool { return v.OnPages != nil })
			r.planEarly(g, s)
		case r.Mode != Detect:
			for _, slot := range g.Slots {
				s.SlotUses = append(s.SlotUses, r.slotUse(g, slot, s))
			}
			s.MapCopies = r.mapCopies(g, s)
			s.Calls = r.clonedCallsOf(g.Vars, s.Does.Calls)
			s.Redirects = redirects(g.Vars, s.Does.Accesses, func(*Variable) bool { return true })
		}
	}
	r.planNames(g)
}

func isReturn(s ast.Stmt) bool {
	_, ok := s.(*ast.ReturnStmt)
	return ok
}

// redirects returns the accesses that are within one of the variables.
func redirects(vars []*Variable, accesses []*facts.Access, want func(*Variable) bool) []Redirect {
	var list []Redirect
	for _, a := range accesses {
		for i, v := range vars {
			if a.Place.Within(v.Place) && want(v) {
				list = append(list, Redirect{a.Node, i, a.Place.Beyond(v.Place)})
			}
		}
	}
	return list
}

// writes reports whether a step may write a variable of the group.
func (r *round) writes(g *Group, s *StepPlan) bool {
	return slices.ContainsFunc(g.Vars, func(v *Variable) bool {
		return slices.ContainsFunc(s.Does.Touches, func(t *facts.Touch) bool { return t.Write && r.facts.Within(t, v.Place, s.Does.Accesses) }) ||
			slices.ContainsFunc(s.Does.Calls, func(c facts.Call) bool { return r.facts.EffectOf(c.Func).Writes(v.Footprint) }) ||
			v.CopiesEntries && s.Uses(v.Place, func(a *facts.Access) bool { return a.Entries })
	})
}

// mapCopies returns the variables whose maps a step changes, or goes through.
func (r *round) mapCopies(g *Group, s *StepPlan) []int {
	var list []int
	for i, v := range g.Vars {
		if !v.CopiesEntries {
			continue
		}
		changes := s.Uses(v.Place, func(a *facts.Access) bool { return a.Entries && a.Place.Equal(v.Place) }) ||
			slices.ContainsFunc(s.Does.Calls, func(c facts.Call) bool { return r.facts.EffectOf(c.Func).Names(v.Footprint) })
		if changes {
			list = append(list, i)
		}
	}
	return list
}

// planNames finds out whether a local variable has to say that there are copies, and
// which variables' names mean something else where they are published or taken.
func (r *round) planNames(g *Group) {
	places := make([]token.Pos, 0, len(g.Acquires)+len(g.Releases)+1)
	for _, st := range slices.Concat(g.Acquires, g.Releases) {
		places = append(places, st.Pos())
	}
	if g.Deferred != nil {
		places = append(places, g.Deferred.Pos())
	}
	interrupted := g.Deferred != nil && len(g.Releases) > 0
	for _, s := range g.Steps {
		if !s.Defers && !s.Interrupts {
			continue
		}
		interrupted = true
		places = append(places, s.Stmt.Pos(), s.Stmt.End())
		places = append(places, s.Bodies...)
		if s.BodyEnd.IsValid() {
			places = append(places, s.BodyEnd)
		}
		for _, c := range s.Continues {
			places = append(places, c.Pos())
		}
	}
	g.Flagged = (interrupted || g.Rescues || g.Stranded) && len(g.Vars) > 0
	for _, v := range g.Vars {
		v.ByPointer = slices.ContainsFunc(places, func(at token.Pos) bool { return !r.means(v.Root, at) })
	}
}
