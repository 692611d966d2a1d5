package whole

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A summary is what calls of a function have to do with guarded data: an update may be made
// by way of a getter and a setter.
//
//	c.set(c.get() + 1)    get's result depends on n, set stores in n what it is given
type summary struct {
	// returned are the variables that a result depends on, stored those that are given a value
	// that depends on a parameter. The values say whether an access to it may be made without
	// the lock.
	returned, stored map[*types.Var]bool
}

// summaryOf returns the summary of a function, without what recursive calls add.
func (j *judge) summaryOf(fn *ssa.Function) *summary {
	if s, ok := j.summaries[fn]; ok {
		return s
	}
	s := &summary{make(map[*types.Var]bool), make(map[*types.Var]bool)}
	j.summaries[fn] = s
	members := j.withCalls(fn, j.members[fn])
	if len(members) == 0 {
		return s
	}
	t := newTracer(fn)
	for _, b := range fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		on := t.of(ret)
		for _, m := range members {
			if on.data[m.Instr] && m.reads {
				s.returned[m.Variable] = s.returned[m.Variable] || m.Open
			}
		}
	}
	for _, m := range members {
		if m.Kind == lockset.Write && len(t.of(m.Instr).parameters) > 0 && m.storesArgument() {
			s.stored[m.Variable] = s.stored[m.Variable] || m.Open
		}
	}
	return s
}

// storesArgument reports whether what a member writes is a value that it is given, and not
// only where it writes.
func (m *Member) storesArgument() bool {
	switch m.Instr.(type) {
	case *ssa.Store, *ssa.MapUpdate, *ssa.Call:
		return true
	}
	return false
}

// withCalls returns the members of a function with its calls of functions that return or store
// guarded data.
func (j *judge) withCalls(fn *ssa.Function, members []*Member) []*Member {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			call, ok := i.(*ssa.Call)
			if !ok || call.Call.StaticCallee() == nil || len(call.Call.StaticCallee().Blocks) == 0 {
				continue
			}
			s := j.summaryOf(call.Call.StaticCallee())
			for v, open := range s.returned {
				_, stores := s.stored[v]
				members = append(members[:len(members):len(members)], &Member{Variable: v, Kind: kindOf(stores), Instr: call, At: call.Pos(), Open: open, byCall: true, reads: true, base: j.baseOf(v, call)})
			}
			for v, open := range s.stored {
				if _, both := s.returned[v]; !both {
					members = append(members[:len(members):len(members)], &Member{Variable: v, Kind: lockset.Write, Instr: call, At: call.Pos(), Open: open, byCall: true, base: j.baseOf(v, call)})
				}
			}
		}
	}
	return members
}

// baseOf is the object whose field a call of a method accesses, nil if it is not the receiver's.
func (j *judge) baseOf(v *types.Var, call *ssa.Call) *locks.Place {
	fn := call.Call.StaticCallee()
	if fn.Signature.Recv() == nil || !v.IsField() {
		return nil
	}
	t := fn.Signature.Recv().Type()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for f := range st.Fields() {
		if f.Pos() == v.Pos() {
			return j.PlaceOf(call.Call.Args[0])
		}
	}
	return nil
}

func kindOf(stores bool) lockset.Kind {
	if stores {
		return lockset.Write
	}
	return lockset.Read
}
