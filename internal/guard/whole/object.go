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
		case ok && j.comesFrom(root, l.Lock.Root(), make(map[ssa.Value]bool)):
			return lockset.Held
		case !j.besideLock[v.Object.Pos()]: // the lock of another object is not its own
			best = lockset.CannotTell
		}
	}
	return best
}

// comesFrom reports whether a reference is made or found by way of an object and nothing else:
// whatever it refers to is the object's, or new.
func (j *judge) comesFrom(v ssa.Value, object locks.Root, seen map[ssa.Value]bool) bool {
	if locks.Root(v) == object || seen[v] {
		return true
	}
	seen[v] = true
	if p := j.PlaceOf(v); p != nil && p.Root() == object {
		return true
	}
	all := func(values ...ssa.Value) bool {
		return !slices.ContainsFunc(values, func(v ssa.Value) bool { return !j.comesFrom(v, object, seen) })
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
		if v.Call.IsInvoke() || v.Call.StaticCallee() == nil || v.Call.StaticCallee().Signature.Recv() == nil && !goesThrough(&v.Call) {
			return false
		}
		return all(sources(&v.Call)...)
	case *ssa.Parameter:
		calls, known := givenTo(v.Parent())
		return known && all(slices.Collect(func(yield func(ssa.Value) bool) {
			for _, c := range calls {
				for _, from := range sources(c) {
					if !yield(from) {
						return
					}
				}
			}
		})...)
	}
	return false
}

// goesThrough reports whether a call is of a function of packages slices, maps and sort: what it returns, and what it
// calls functions with, are elements and entries that it is given.
func goesThrough(c *ssa.CallCommon) bool {
	fn := c.StaticCallee()
	if fn == nil {
		return false
	}
	if origin := fn.Origin(); origin != nil {
		fn = origin
	}
	if fn.Object() == nil || fn.Object().Pkg() == nil {
		return false
	}
	switch fn.Object().Pkg().Path() {
	case "slices", "maps", "sort":
		return true
	}
	return false
}

// sources are what a call is given that leads to objects: its arguments but for literals, and the function value
// that it calls.
func sources(c *ssa.CallCommon) []ssa.Value {
	all := slices.DeleteFunc(slices.Clone(c.Args), func(arg ssa.Value) bool {
		_, literal := arg.(*ssa.MakeClosure)
		_, function := arg.(*ssa.Function)
		return literal || function || !locks.IsReference(arg.Type())
	})
	if c.StaticCallee() == nil {
		all = append(all, c.Value)
	}
	return all
}

// givenTo are the calls that a function literal is given to, if it is given to loops over iterators, to methods, and to
// functions that go through what else they are given, and is used in no other way:
//
//	slices.SortFunc(b.top, func(x, y *Entry) int { return y.Score - x.Score })     x and y are of b.top
//	for n := range t.nodes() { ... }                                               n is what nodes has of t
func givenTo(literal *ssa.Function) (calls []*ssa.CallCommon, known bool) {
	if literal.Parent() == nil {
		return nil, false
	}
	known = true
	note := func(value ssa.Value, uses []ssa.Instruction) {
		for _, use := range uses {
			if _, debugging := use.(*ssa.DebugRef); debugging {
				continue
			}
			call, ok := use.(*ssa.Call)
			if !ok || call.Call.IsInvoke() || call.Call.Value == value {
				known = false
				continue
			}
			loops := literal.Synthetic == rangeBody
			method := call.Call.StaticCallee() != nil && call.Call.StaticCallee().Signature.Recv() != nil
			known = known && (loops || method || goesThrough(&call.Call))
			calls = append(calls, &call.Call)
		}
	}
	for _, b := range literal.Parent().Blocks {
		for _, i := range b.Instrs {
			if made, ok := i.(*ssa.MakeClosure); ok && made.Fn == literal {
				note(made, *made.Referrers())
			} else if !ok && slices.ContainsFunc(i.Operands(nil), func(o *ssa.Value) bool { return *o == literal }) {
				note(literal, []ssa.Instruction{i})
			}
		}
	}
	return calls, known && len(calls) > 0
}

// rangeBody is what package ssa calls the function that it makes of the body of a loop over an iterator.
const rangeBody = "range-over-func yield"

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
