package repair

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

// besideLock tells of what stands beside the data of a candidate's lock.
func (c *Candidate) besideLock(changed *changedProgram, lock *types.Var, data []*types.Var) []Uncovered {
	a, code := changed.locksHeld(), changed.code
	var owners []*types.Named
	for _, d := range data {
		if owner := code.OwnerOf(d); d.IsField() && owner != nil && !slices.Contains(owners, owner) {
			owners = append(owners, owner)
		}
	}
	parts := locks.PartsOf(code.OwnerOf(lock))
	others := slices.DeleteFunc(owners, func(n *types.Named) bool { return n == code.OwnerOf(lock) })
	var split []Uncovered
	for _, s := range whole.SplitBeside(a, lock, parts, data) {
		if at := code.Fset.Position(s.At); !isTestFile(at.Filename) {
			split = append(split, Uncovered{File: at.Filename, Line: at.Line, Func: functionName(s.Func), Data: s.Variable.Name(), Write: true,
				Why: s.Lock.Name() + ", which guards it, is released between the load and this store, which depends on it"})
		}
	}
	return slices.Concat(split,
		toldExposed(whole.WithoutOwnLock(a, lock, parts, data), ""),
		toldExposed(whole.BehindData(a, data), "it is reached by way of the data, and no lock guards it"),
		toldExposed(whole.LeadingTo(a, others, data), leadsToData),
		toldReplacements(a, whole.Replacements(a, lock, data)),
	)
}

const leadsToData = "it leads to the data, and no lock guards it"

// toldReplacements tells of accesses to what leads to the object with the lock.
func toldReplacements(a *lockset.Analysis, all []whole.Replacement) []Uncovered {
	var told []Uncovered
	for _, r := range all {
		at := a.Program.Fset.Position(r.At)
		u := Uncovered{File: at.Filename, Line: at.Line, Func: functionName(r.Func), Data: r.Variable.Name(), Write: r.Write, Why: leadsToData}
		switch {
		case r.Lost:
			u.Why = "it replaces the object that has the lock by one made of it: what is done to the old one meanwhile is lost"
		case r.Torn:
			u.Why = "it leads to the object that has the lock, and may lead to another than it did before"
		case r.Lock != nil:
			u.Why = "it leads to the object that has the lock, and " + r.Lock.Name() + ", which guards it elsewhere, is not held"
		}
		told = append(told, u)
	}
	return told
}

// besideChange tells of what the functions use that a change without a lock has touched. What has no
// lock at all is told if data has become atomic: otherwise goroutines may have another order.
func (c *Candidate) besideChange(changed *changedProgram) []Uncovered {
	touched := func(fn *ssa.Function) bool { return c.touches(changed, fn) }
	all := whole.BesideFunctions(changed.locksHeld(), touched)
	if !c.Change.Atomic {
		all = slices.DeleteFunc(all, func(x whole.Exposed) bool { return x.Lock == nil })
	}
	return toldExposed(all, "no lock guards it, and a function that was changed uses it")
}

// toldExposed tells of exposed sites; why is for those of data without any lock.
func toldExposed(all []whole.Exposed, why string) []Uncovered {
	var told []Uncovered
	for _, x := range all {
		u := Uncovered{File: x.Site.At.Filename, Line: x.Site.At.Line, Func: functionName(x.Site.Func), Data: x.Variable.Name(), Write: x.Site.Kind == lockset.Write, Why: why}
		if x.Lock != nil {
			u.Why = x.Lock.Name() + ", which guards it elsewhere, is not held"
		}
		told = append(told, u)
	}
	return told
}
