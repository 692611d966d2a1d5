package repair

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/dataname"
	"github.com/cofferdam-go/cofferdam/internal/repair/uncovered"
)

// A run races on the data that its test happens to use. A struct that goroutines share has
// other fields, and a fix that leaves those as they are ends one report of the race detector
// and waits for the next:
//
//	type store struct {
//		cfg  *config                   the run raced here
//		subs []func()                  and another test would race here
//	}
//
// So what is changed after it was made, and has no lock, or is updated in several steps that are atomic by
// themselves, is guarded with what has raced: the
// companions of the data. They are the other fields of the struct that has the lock, and of those that
// have the data, the fields of what only that struct leads to, as the nodes of a list, or the other
// variables that the same functions use. A companion with an access that the lock cannot cover stays as it is.

// maxCompanions bounds how many companions are looked at.
const maxCompanions = 16

// withCompanions writes a whole patch again, for data with its companions. The patch is nil if
// there are none.
func (r *failedRun) withCompanions(alone wholePatch, regions []*cover.Region, data []dataname.Name, l *cover.Lock, base *cover.Patch) wholePatch {
	return r.withMore(alone, regions, data, r.companions(data, l, base), l, base)
}

// withMore writes a whole patch again, for data with as many of some companions as can be covered.
// The patch is nil if that is none.
func (r *failedRun) withMore(alone wholePatch, regions []*cover.Region, data, companions []dataname.Name, l *cover.Lock, base *cover.Patch) wholePatch {
	if len(companions) == 0 {
		return wholePatch{}
	}
	covered := func(w wholePatch) bool { return w.patch != nil && len(w.uncoverable) <= len(alone.uncoverable) }
	if w := r.writeWhole(regions, slices.Concat(data, companions), l, base); covered(w) {
		return w
	}
	best := wholePatch{}
	for _, c := range companions {
		more := append(slices.Clone(data), c)
		if w := r.writeWhole(regions, more, l, base); covered(w) {
			best, data = w, more
		}
	}
	return best
}

// companions are the fields and variables that a lock may guard besides some data.
func (r *failedRun) companions(data []dataname.Name, l *cover.Lock, base *cover.Patch) []dataname.Name {
	a := r.locksHeld()
	guarded := r.code.Variables(slices.Concat(data, base.Guarded(l)))
	isGuarded := func(v *types.Var) bool {
		return slices.ContainsFunc(guarded, func(g *types.Var) bool { return g.Pos() == v.Pos() })
	}
	users := make(map[*ssa.Function]bool) // functions that access the guarded data
	for _, v := range a.Variables {
		if isGuarded(v.Object) {
			for _, s := range v.Sites {
				users[lockset.Outermost(s.Func)] = true
			}
			for _, op := range v.Operations { // of sync/atomic, which are no sites
				users[lockset.Outermost(op.Instr.Parent())] = true
			}
		}
	}
	parts := locks.PartsOf(l.Owner())
	for _, v := range guarded {
		owner := r.code.OwnerOf(v)
		switch {
		case !v.IsField() || owner == nil:
		case l.Owner() == nil && l.Scope() == nil: // a lock of the package guards all objects of the data's types
			parts = append(parts, locks.PartsOf(owner)...)
		case !slices.Contains(parts, owner): // it guards a field of them, and has others of their fields
			parts = append(parts, owner)
		}
	}
	found := new(cover.Data)
	for _, v := range a.Variables {
		if isGuarded(v.Object) || !r.isUnguarded(v, l) && !r.isTakenApart(v) {
			continue
		}
		beside := slices.ContainsFunc(v.Sites, func(s *lockset.Site) bool { return users[lockset.Outermost(s.Func)] })
		switch {
		case l.Exists() && !base.Added(l) && !beside: // it may be there for other data
		case v.Object.IsField():
			for _, n := range parts {
				if dataname.HasField(n, v.Object) {
					found.AddField(n, v.Object)
				}
			}
		case l.Owner() != nil || !beside || v.Object.Pkg() != l.Package():
		case v.Object.Parent() == v.Object.Pkg().Scope():
			if l.Scope() == nil {
				found.AddGlobal(v.Object)
			}
		case l.Scope() != nil && l.Scope().Pos() <= v.Object.Pos() && v.Object.Pos() < l.Scope().End():
			found.AddLocal(v.Object)
		}
	}
	names := found.Names(r.code)
	names = append(names, r.handedOut(slices.Concat(data, base.Guarded(l), names), l, whole.CalledBy(users))...)
	return names[:min(len(names), maxCompanions)]
}

// isTakenApart reports whether code that is no test updates an atomic variable or a sync.Map in several steps, each of
// which needs no lock by itself:
//
//	n, _ := p.users.LoadOrStore(name, 0)
//	p.users.Store(name, n.(int)+1)        another user of the name may have come in between
func (r *failedRun) isTakenApart(v *lockset.Variable) bool {
	return len(v.Operations) > 0 && slices.ContainsFunc(whole.Updates(r.locksHeld(), v.Object), func(g *whole.Group) bool { return !r.inTest(g.Func) })
}

// isUnguarded reports whether a variable is written after it may be shared, outside of test
// code, and has no other lock than one.
func (r *failedRun) isUnguarded(v *lockset.Variable, l *cover.Lock) bool {
	written := false
	for _, s := range v.Sites {
		if uncovered.IsTestFile(s.At.Filename) {
			continue
		}
		for _, o := range s.Observations {
			written = written || o.Kind == lockset.Write
			for _, held := range o.Held {
				if !l.Exists() || r.locksHeld().Places.Variable(held.Lock) != r.locksHeld().Places.Canonical(l.Object()) {
					return false
				}
			}
		}
	}
	return written && !v.Atomic
}
