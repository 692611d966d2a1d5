package uncovered

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A fix ends one report of the race detector. What its lock does not guard, and what a user of the
// type would trip over next, is told with it: data of the type whose own lock is forgotten, data
// behind what is guarded, which object has the data, and what else the changed functions use.

// Beside tells of what stands beside the data of the lock.
func (f *Fix) Beside() []Access {
	owner := f.Code.OwnerOf(f.Lock)
	var others []*types.Named // structs that have the data, and not the lock
	for _, d := range f.Data {
		if n := f.Code.OwnerOf(d); d.IsField() && n != nil && n != owner && !slices.Contains(others, n) {
			others = append(others, n)
		}
	}
	parts := locks.PartsOf(owner)
	var split []Access
	for _, s := range whole.SplitBeside(f.Held, f.Lock, parts, f.Data) {
		if !f.isTest(s.At) {
			split = append(split, f.access(s.At, s.Func, s.Variable, true, s.Lock.Name()+", which guards it, is released between the load and this store, which depends on it"))
		}
	}
	return slices.Concat(split,
		f.exposed(whole.WithoutOwnLock(f.Held, f.Lock, parts, f.Data), ""),
		f.exposed(whole.BehindData(f.Held, f.Data), "it is reached by way of the data, and no lock guards it"),
		f.exposed(whole.LeadingTo(f.Held, others, f.Data), leadsToData),
		f.replacements(),
		f.handedOut(),
		f.leaving(),
	)
}

// leaving tells of maps and slices that leave the lock behind, of what is accessed with it alone.
func (f *Fix) leaving() []Access {
	var all []Access
	for _, g := range whole.Broken(f.Held, f.guardedInFact(), f.Lock) {
		for _, m := range g.Members {
			if m.Leaves && !f.isTest(m.At) {
				all = Add(all, f.access(m.At, g.Func, m.Variable, false, handedToOthers))
			}
		}
	}
	return all
}

// handedOut tells of objects with data of the lock, and of addresses of the data, that users of the package are
// given without it.
func (f *Fix) handedOut() []Access {
	var all []Access
	for _, h := range whole.Handing(f.Held, f.Lock, slices.Concat(f.Data, f.guardedInFact())) {
		why := "the object that has it is returned to users of the package, who do not have the lock"
		switch {
		case h.Address && h.ToCallback:
			why = "its address is given to a function of the package's users, who do not have the lock"
		case h.ToGoroutine:
			why = "its address is given to another goroutine, which need not have the lock"
		case h.Address:
			why = "its address is returned to users of the package, who do not have the lock"
		case h.ToCallback:
			why = "the object that has it is given to a function of the package's users, who do not have the lock"
		}
		all = append(all, f.access(h.At, h.Func, h.Variable, false, why))
	}
	return all
}

// guardedInFact is other data, which the lock was not taken for, and that is written and read with the lock held alone:
//
//	c.mu.Lock()
//	e, ok := c.byKey[key]      the lock is for byKey
//	c.stats.Hits++             and nothing else guards Hits
//	c.mu.Unlock()
func (f *Fix) guardedInFact() []*types.Var {
	var all []*types.Var
	for _, v := range f.Held.Variables {
		written, without := false, false
		observed := func(all []lockset.Observation) {
			for _, o := range all {
				if !f.isTest(o.At) {
					written = written || o.Kind == lockset.Write
					without = without || !f.holdsLock(o)
				}
			}
		}
		observed(v.Parts)
		for _, s := range v.Sites {
			observed(s.Observations)
		}
		isOfFix := slices.ContainsFunc(f.Data, func(d *types.Var) bool { return d.Pos() == v.Object.Pos() })
		if written && !without && !isOfFix {
			all = append(all, v.Object)
		}
	}
	return all
}

// handedToOthers is why a map or slice that leaves the lock behind is not covered.
const handedToOthers = "it is handed to code without the lock, and changed in place"

const leadsToData = "it leads to the data, and no lock guards it"

// replacements tells of accesses to what leads to the object with the lock.
func (f *Fix) replacements() []Access {
	var all []Access
	for _, r := range whole.Replacements(f.Held, f.Lock, f.Data) {
		why := leadsToData
		switch {
		case r.Lost:
			why = "it replaces the object that has the lock, and uses what the old one has: what is done to the old one meanwhile is lost"
		case r.Torn:
			why = "it leads to the object that has the lock, and may lead to another than it did before"
		case r.Lock != nil:
			why = "it leads to the object that has the lock, and " + r.Lock.Name() + ", which guards it elsewhere, is not held"
		}
		all = append(all, f.access(r.At, r.Func, r.Variable, r.Write, why))
	}
	return all
}

// exposed tells of exposed sites; why is for those of data without any lock.
func (p *Program) exposed(sites []whole.Exposed, why string) []Access {
	var all []Access
	for _, x := range sites {
		reason := why
		if x.Lock != nil {
			reason = x.Lock.Name() + ", which guards it elsewhere, is not held"
		}
		all = append(all, p.access(x.Site.Observations[0].At, x.Site.Func, x.Variable, x.Site.Kind == lockset.Write, reason))
	}
	return all
}

// BesideFunctions tells of what the functions use that a change without a lock has touched. What has
// no lock at all is told if that is asked for: otherwise goroutines may have another order.
func (p *Program) BesideFunctions(touched func(*ssa.Function) bool, withoutLock bool) []Access {
	all := whole.BesideFunctions(p.Held, touched)
	if !withoutLock {
		all = slices.DeleteFunc(all, func(x whole.Exposed) bool { return x.Lock == nil })
	}
	return p.exposed(all, "no lock guards it, and a function that was changed uses it")
}

// Plain tells of accesses to variables without sync/atomic, by which others access them.
func (p *Program) Plain(variables []*types.Var) []Access {
	var all []Access
	for _, v := range p.Held.Variables {
		if !v.Atomic || !slices.ContainsFunc(variables, func(d *types.Var) bool { return d.Pos() == v.Object.Pos() }) {
			continue
		}
		for _, s := range v.Sites {
			if at := s.Observations[0].At; !p.isTest(at) {
				all = Add(all, p.access(at, s.Func, v.Object, s.Kind == lockset.Write, "it is no operation of sync/atomic, as other accesses are"))
			}
		}
	}
	return all
}

// HalfGuarded tells of accesses without the lock to data that it guards by half.
func (f *Fix) HalfGuarded(halves []whole.HalfGuarded) []Access {
	var all []Access
	for _, h := range halves {
		for _, o := range h.Without {
			all = Add(all, f.observed(h.Variable, o, "the lock is held at other accesses to it, and not at this one"))
		}
	}
	return all
}

// Companions tells of the accesses without the lock to some data that belongs to the lock's, and that the
// lock does not guard.
// Only says of which functions: those in which one of its accesses has no lock; nil means any.
func (f *Fix) Companions(data []*types.Var, only func(*ssa.Function) bool) []Access {
	var all []Access
	for _, v := range f.Held.Variables {
		if !slices.ContainsFunc(data, func(d *types.Var) bool { return d.Pos() == v.Object.Pos() }) {
			continue
		}
		if only != nil && !slices.ContainsFunc(v.Sites, func(s *lockset.Site) bool { return only(s.Func) && isBare(v, s) }) {
			continue
		}
		why := "nothing guards it, and the lock cannot be taken wherever it is accessed"
		if slices.ContainsFunc(v.Sites, func(s *lockset.Site) bool { return slices.ContainsFunc(s.Observations, f.holdsLock) }) {
			why = "the lock is held at other accesses to it, and cannot be taken at all of them"
		}
		for _, s := range v.Sites {
			for _, o := range s.Observations {
				if !f.isTest(o.At) && v.Conflicts(o) && !f.holdsLock(o) {
					all = Add(all, f.observed(v.Object, o, why))
				}
			}
		}
	}
	return all
}

// holdsLock reports whether an observation has the lock of the fix, for what it does.
func (f *Fix) holdsLock(o lockset.Observation) bool {
	lock := f.Held.Places.Canonical(f.Lock)
	return slices.ContainsFunc(o.Held, func(r lockset.Relation) bool {
		return f.Held.Places.Variable(r.Lock) == lock && !r.Maybe && (r.Mode == locks.Write || o.Kind == lockset.Read)
	})
}

// observed tells of an observation, with why its function could not be covered.
func (f *Fix) observed(v *types.Var, o lockset.Observation, why string) Access {
	fn := o.Instr.Parent()
	return f.access(o.At, fn, v, o.Kind == lockset.Write, because(why, f.Uncoverable[FunctionName(fn)]))
}

// isBare reports whether a site may access a variable with no lock at all, while another does.
func isBare(v *lockset.Variable, s *lockset.Site) bool {
	return slices.ContainsFunc(s.Observations, func(o lockset.Observation) bool {
		return len(o.Held)+len(o.OfUnknownObject)+len(o.OfUnrelatedObject) == 0 && !o.Unnamed && v.Conflicts(o)
	})
}
