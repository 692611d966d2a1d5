package whole

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A lock is there for some data. What stands beside that data may race all the same:
//
//	func (m *Metrics) Set(k string, v float64) {      func (m *Metrics) Reset() {
//		m.gaugeMu.Lock()                              	m.mu.Lock()
//		m.gauges[k] = v                               	clear(m.counters)
//		m.gaugeMu.Unlock()                            	m.mu.Unlock()
//	}                                                 	clear(m.gauges)       without gaugeMu

// An Exposed site accesses data that nothing orders.
type Exposed struct {
	Variable *types.Var
	Site     *lockset.Site
	// Lock is one that other accesses to the variable hold; nil if none does.
	Lock *types.Var
}

// WithoutOwnLock returns the accesses, without the lock that other accesses to the same variable hold,
// to the fields of some structs and to what a lock is held for somewhere. Data is left out.
func WithoutOwnLock(a *lockset.Analysis, lock *types.Var, structs []*types.Named, data []*types.Var) []Exposed {
	lock = a.Places.Canonical(lock)
	return exposed(a, func(v *lockset.Variable, held []*types.Var) bool {
		return len(held) > 0 && !contains(data, v.Object) && (slices.Contains(held, lock) || isFieldOf(structs, v.Object))
	})
}

// SplitBeside returns the stores of updates, to the fields of some structs that another lock guards,
// between whose load and store that lock may be released; Lock is that lock. Data is left out.
func SplitBeside(a *lockset.Analysis, lock *types.Var, structs []*types.Named, data []*types.Var) []SplitStore {
	lock = a.Places.Canonical(lock)
	var all []SplitStore
	for _, v := range a.Variables {
		held := locksOf(a, v)
		if len(held) == 0 || held[0] == lock || v.Atomic || contains(data, v.Object) || !isFieldOf(structs, v.Object) {
			continue
		}
		for _, g := range Broken(a, []*types.Var{v.Object}, held[0]) {
			for _, m := range g.Split {
				all = append(all, SplitStore{m, g.Func, held[0]})
			}
		}
	}
	return all
}

// A SplitStore is the store of an update in a function, in another section of a lock than its load.
type SplitStore struct {
	*Member
	Func *ssa.Function
	Lock *types.Var
}

// BehindData returns one write of each field, without any lock, of the structs that data leads to: a
// lock for a map of sessions is none for the sessions.
func BehindData(a *lockset.Analysis, data []*types.Var) []Exposed {
	var reached []*types.Named
	for _, d := range data {
		reached = addReached(reached, d.Type())
	}
	all := exposed(a, func(v *lockset.Variable, held []*types.Var) bool {
		return len(held) == 0 && !contains(data, v.Object) && isFieldOf(reached, v.Object)
	})
	return slices.CompactFunc(all, func(x, y Exposed) bool { return x.Variable == y.Variable })
}

// LeadingTo returns the accesses, without the lock that others hold, to what leads to objects of some
// structs, and its writes if none holds any: the lock of other objects is none for which object it is.
//
//	func (t *Tree) Reset() { t.root = &node{} }     a lock beside the data of nodes is not for the root
func LeadingTo(a *lockset.Analysis, structs []*types.Named, data []*types.Var) []Exposed {
	return exposed(a, func(v *lockset.Variable, _ []*types.Var) bool {
		return !contains(data, v.Object) && slices.Contains(structs, elementOf(v.Object.Type()))
	})
}

// BesideFunctions returns the accesses to what some functions use that nothing orders, of variables
// without any lock the writes.
func BesideFunctions(a *lockset.Analysis, among func(*ssa.Function) bool) []Exposed {
	return exposed(a, func(v *lockset.Variable, _ []*types.Var) bool {
		return slices.ContainsFunc(v.Sites, func(s *lockset.Site) bool { return !inTest(s) && among(s.Func) })
	})
}

// exposed returns the sites of some variables, outside of test code, that conflict with another and
// have none of the locks that accesses to the variable hold. Of a variable without locks these are
// its writes or, if its writes may hold a lock that cannot be named there, its reads.
func exposed(a *lockset.Analysis, some func(v *lockset.Variable, held []*types.Var) bool) []Exposed {
	var all []Exposed
	for _, v := range a.Variables {
		held := locksOf(a, v)
		if v.Atomic || !some(v, held) {
			continue
		}
		var reads, writes []Exposed
		for _, s := range v.Sites {
			bare := slices.ContainsFunc(s.Observations, func(o lockset.Observation) bool {
				return v.Conflicts(o) && !o.Unnamed && !slices.ContainsFunc(held, func(l *types.Var) bool { return hasClass(a.Places, o, l) })
			})
			switch {
			case !bare || inTest(s):
			case len(held) > 0:
				all = append(all, Exposed{v.Object, s, held[0]})
			case s.Kind == lockset.Write:
				writes = append(writes, Exposed{v.Object, s, nil})
			default:
				reads = append(reads, Exposed{v.Object, s, nil})
			}
		}
		if len(writes) == 0 {
			writes = reads
		}
		all = append(all, writes...)
	}
	return all
}

// locksOf are the locks that accesses to a variable hold, of whichever objects, outside of test code.
func locksOf(a *lockset.Analysis, v *lockset.Variable) []*types.Var {
	var all []*types.Var
	for _, s := range v.Sites {
		if inTest(s) {
			continue
		}
		for _, o := range s.Observations {
			held := slices.Concat(o.OfUnrelatedObject, o.OfUnknownObject)
			for _, r := range o.Held {
				held = append(held, a.Places.Variable(r.Lock))
			}
			for _, l := range held {
				if l != nil && !slices.Contains(all, l) {
					all = append(all, l)
				}
			}
		}
	}
	return all
}

func inTest(s *lockset.Site) bool { return isTestName(s.At.Filename) }

func isTestName(file string) bool { return strings.HasSuffix(file, "_test.go") }

func contains(all []*types.Var, v *types.Var) bool {
	return slices.ContainsFunc(all, func(w *types.Var) bool { return w.Pos() == v.Pos() })
}

// isFieldOf reports whether a variable is a field of one of some structs.
func isFieldOf(structs []*types.Named, v *types.Var) bool {
	at := func(pos token.Pos) func(*types.Var) bool { return func(f *types.Var) bool { return f.Pos() == pos } }
	return slices.ContainsFunc(structs, func(n *types.Named) bool {
		st, ok := structOf(n)
		return ok && slices.ContainsFunc(slices.Collect(st.Fields()), at(v.Pos()))
	})
}

// elementOf is the named type that a type is, or leads to over pointers and containers; nil if it is
// another.
func elementOf(t types.Type) *types.Named {
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		return elementOf(t.Elem())
	case *types.Slice:
		return elementOf(t.Elem())
	case *types.Array:
		return elementOf(t.Elem())
	case *types.Map:
		return elementOf(t.Elem())
	case *types.Named:
		return t.Origin()
	}
	return nil
}

// addReached adds the struct types without a lock of their own that a type leads to.
func addReached(known []*types.Named, t types.Type) []*types.Named {
	if m, ok := types.Unalias(t).(*types.Map); ok {
		known = addReached(known, m.Key())
	}
	n := elementOf(t)
	if n == nil || slices.Contains(known, n) {
		return known
	}
	st, ok := structOf(n)
	if !ok || slices.ContainsFunc(slices.Collect(st.Fields()), func(f *types.Var) bool { return locks.IsLock(f.Type()) }) {
		return known
	}
	known = append(known, n)
	for f := range st.Fields() {
		known = addReached(known, f.Type())
	}
	return known
}

// StoresWithin reports whether a function stores, at positions that meet a condition, what is not its own, be it
// guarded or not: a read lock is not for that.
func StoresWithin(fn *ssa.Function, within func(token.Pos) bool) bool {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.Store:
				if _, local := i.Addr.(*ssa.Alloc); local {
					continue
				}
			case *ssa.MapUpdate:
			default:
				continue
			}
			if within(i.Pos()) {
				return true
			}
		}
	}
	return false
}
