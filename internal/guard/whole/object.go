package whole

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A lock guards the data of its own object, or what that object leads to. Which object that is, is
// asked of each access:
//
//	func (p *Pool) Get() *Conn {           func (p *Pool) Put(c *Conn) {
//		p.mu.Lock()                        	p.mu.Lock()
//		c := p.conns[0]                    	c.busy = false      c may be another pool's:
//		c.busy = true    c is of p         	p.mu.Unlock()       that cannot be told
//		p.mu.Unlock()                      }
//		...

// holding says whether an observation has the lock, of the object with the data.
func (j *judge) holding(v *lockset.Variable, o lockset.Observation, ways []*locks.Place) lockset.Holding {
	best := lockset.NotHeld
	for _, way := range ways {
		switch h := lockset.HoldingOf(j.Places, o, way); {
		case h == lockset.Held, h == lockset.HeldForReading && o.Kind == lockset.Read:
			return lockset.Held
		case h == lockset.CannotTell:
			best = lockset.CannotTell
		}
	}
	for _, l := range o.Unrelated {
		if j.lock == nil || j.Places.Variable(l.Lock) != j.lock || l.Mode != locks.Write && o.Kind == lockset.Write {
			continue
		}
		root, ok := o.Base.Root().(ssa.Value)
		switch {
		case ok && comesFrom(root, l.Lock.Root(), make(map[ssa.Value]bool)):
			return lockset.Held
		case !j.besideLock[v.Object.Pos()]: // the lock of another object is not its own
			best = lockset.CannotTell
		}
	}
	return best
}

// comesFrom reports whether a reference is made or found by way of an object and nothing else:
// whatever it refers to is the object's, or new.
func comesFrom(v ssa.Value, object locks.Root, seen map[ssa.Value]bool) bool {
	if locks.Root(v) == object || seen[v] {
		return true
	}
	seen[v] = true
	all := func(values ...ssa.Value) bool {
		return !slices.ContainsFunc(values, func(v ssa.Value) bool { return !comesFrom(v, object, seen) })
	}
	switch v := v.(type) {
	case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice:
		return all(contentsOf(v)...)
	case *ssa.Const:
		return true
	case *ssa.FieldAddr:
		return all(v.X)
	case *ssa.Field:
		return all(v.X)
	case *ssa.IndexAddr:
		return all(v.X)
	case *ssa.Index:
		return all(v.X)
	case *ssa.Lookup:
		return all(v.X)
	case *ssa.Extract:
		return all(v.Tuple)
	case *ssa.Next:
		return all(v.Iter)
	case *ssa.Range:
		return all(v.X)
	case *ssa.TypeAssert:
		return all(v.X)
	case *ssa.ChangeType:
		return all(v.X)
	case *ssa.MakeInterface:
		return all(v.X)
	case *ssa.Slice:
		return all(v.X)
	case *ssa.UnOp:
		return v.Op == token.MUL && all(v.X)
	case *ssa.Phi:
		return all(v.Edges...)
	case *ssa.Call:
		if b, ok := v.Call.Value.(*ssa.Builtin); ok {
			return b.Name() == "append" && all(v.Call.Args...)
		}
		// What a method of the object, or of what it leads to, returns is its own.
		if v.Call.IsInvoke() || v.Call.StaticCallee() == nil || v.Call.StaticCallee().Signature.Recv() == nil {
			return false
		}
		return all(slices.DeleteFunc(slices.Clone(v.Call.Args), func(arg ssa.Value) bool { return !locks.IsReference(arg.Type()) })...)
	}
	return false
}

// contentsOf are the references that a function stores into what it has made.
func contentsOf(made ssa.Value) []ssa.Value {
	var all []ssa.Value
	for _, r := range *made.Referrers() {
		switch r := r.(type) {
		case *ssa.Store:
			if r.Addr == made {
				all = append(all, r.Val)
			}
		case *ssa.MapUpdate:
			if r.Map == made {
				all = append(all, r.Value)
			}
		case *ssa.FieldAddr:
			all = append(all, contentsOf(r)...)
		case *ssa.IndexAddr:
			all = append(all, contentsOf(r)...)
		}
	}
	return slices.DeleteFunc(all, func(v ssa.Value) bool { return !locks.IsReference(v.Type()) })
}

// fieldsBeside are the fields of the struct that has a lock, by where they are declared.
func fieldsBeside(a *lockset.Analysis, lock *types.Var) map[token.Pos]bool {
	beside := make(map[token.Pos]bool)
	for _, pkg := range a.Program.AllPackages() {
		for _, member := range pkg.Members {
			t, ok := member.(*ssa.Type)
			if !ok {
				continue
			}
			st, ok := structOf(t.Type())
			if !ok || !slices.ContainsFunc(slices.Collect(st.Fields()), func(f *types.Var) bool { return f.Pos() == lock.Pos() }) {
				continue
			}
			for f := range st.Fields() {
				beside[f.Pos()] = true
			}
		}
	}
	return beside
}

func structOf(t types.Type) (*types.Struct, bool) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	return st, ok
}
