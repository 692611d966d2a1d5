package whole

import (
	"cmp"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A summary is what calls of a function have to do with guarded data: an update may be made
// by way of a getter and a setter.
//
//	c.set(c.get() + 1)    get's result depends on n, set stores in n what it is given
type summary struct {
	// returned are the variables that a result depends on, written those that are changed.
	returned, written map[*types.Var]bool
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
		on := t.dependenceOf(ret)
		for _, m := range members {
			if (on.data[m.Instr] || on.control[m.Instr]) && m.reads && !m.settled {
				s.returned[m.Variable] = true
			}
		}
	}
	for _, m := range members {
		if m.Kind == lockset.Write {
			s.written[m.Variable] = true
		}
	}
	return s
}

// withCalls returns the members of a function with its calls of functions that return or change
// guarded data.
func (j *judge) withCalls(fn *ssa.Function, members []*Member) []*Member {
	members = members[:len(members):len(members)]
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			call, ok := i.(ssa.CallInstruction)
			if _, spawned := i.(*ssa.Go); !ok || spawned {
				continue
			}
			_, deferred := i.(*ssa.Defer)
			s := j.summaryOfCall(call.Common())
			for v := range s.returned {
				if deferred {
					continue // nothing has the result
				}
				members = append(members, &Member{Variable: v, Kind: kindOf(s.written[v]), Instr: call, At: call.Pos(), Open: j.openFrom[fn][v],
					instead: j.insteadFrom[fn][v], byCall: true, reads: true, takes: len(s.written) > 0, base: j.baseOf(v, call)})
			}
			for v := range s.written {
				if deferred || !s.returned[v] {
					members = append(members, &Member{Variable: v, Kind: lockset.Write, Instr: call, At: call.Pos(), Open: j.openFrom[fn][v], byCall: true, deferred: deferred, base: j.baseOf(v, call)})
				}
			}
		}
	}
	slices.SortStableFunc(members, func(m, n *Member) int { return cmp.Compare(m.Variable.Pos(), n.Variable.Pos()) })
	return members
}

// summaryOfCall returns what a call has to do with guarded data, whichever function it reaches.
func (j *judge) summaryOfCall(c *ssa.CallCommon) *summary {
	callees := slices.DeleteFunc(j.Callees(c), func(fn *ssa.Function) bool { return len(fn.Blocks) == 0 })
	body := loopBody(c)
	if len(callees) == 1 && body == nil {
		return j.summaryOf(callees[0])
	}
	all := &summary{make(map[*types.Var]bool), make(map[*types.Var]bool)}
	for _, fn := range callees {
		s := j.summaryOf(fn)
		maps.Copy(all.returned, s.returned)
		maps.Copy(all.written, s.written)
	}
	if body != nil {
		j.addBody(all, body)
	}
	return all
}

// loopBody is the body of the loop over an iterator that a call is, nil if it is none:
//
//	for k := range c.Keys() {       c.Keys()(func(k string) bool {
//		sum += c.get(k)             	sum += c.get(k)
//	}                               	return true
//	                                })
func loopBody(c *ssa.CallCommon) *ssa.Function {
	for _, arg := range c.Args {
		if literal, ok := arg.(*ssa.MakeClosure); ok {
			if fn := literal.Fn.(*ssa.Function); fn.Synthetic == rangeBody {
				return fn
			}
		}
	}
	return nil
}

// addBody adds what the body of a loop does. What it has read it leaves in variables of the function
// around it.
func (j *judge) addBody(s *summary, body *ssa.Function) {
	for _, m := range j.withCalls(body, j.members[body]) {
		if m.reads && !m.settled {
			s.returned[m.Variable] = true
		}
		if m.Kind == lockset.Write {
			s.written[m.Variable] = true
		}
	}
}

// baseOf is the object whose field a call of a method accesses, nil if it is not the receiver's.
func (j *judge) baseOf(v *types.Var, call ssa.CallInstruction) *locks.Place {
	c := call.Common()
	for _, fn := range j.Callees(c) {
		if fn.Signature.Recv() == nil || !v.IsField() {
			continue
		}
		st, ok := structOf(fn.Signature.Recv().Type())
		if !ok || !slices.ContainsFunc(slices.Collect(st.Fields()), func(f *types.Var) bool { return f.Pos() == v.Pos() }) {
			continue
		}
		if c.IsInvoke() {
			return j.PlaceOf(c.Value)
		}
		return j.PlaceOf(c.Args[0])
	}
	return nil
}

func kindOf(stores bool) lockset.Kind {
	if stores {
		return lockset.Write
	}
	return lockset.Read
}

// isOfTaken reports whether a member is of an object that a call has given to the function, and marked as
// taken by storing into a field of it:
//
//	j := q.claim()        finds a job that is pending, and stores that it is running
//	err := j.run()
//	j.state = done        no update of what claim has read: the job is this function's by now
//
// If the call may give an object without a mark, it is an update.
func (j *judge) isOfTaken(t *tracer, m, call *Member) bool {
	if m.byCall || !call.byCall || call.Kind != lockset.Write {
		return false
	}
	var addr ssa.Value
	switch i := m.Instr.(type) {
	case *ssa.Store:
		addr = i.Addr
	case *ssa.UnOp:
		addr = i.X
	}
	field, ok := addr.(*ssa.FieldAddr)
	if !ok {
		return false
	}
	found := make(map[ssa.Instruction]bool)
	(&slice{t, found, make(map[ssa.Value]bool)}).add(field.X)
	if !found[call.Instr] {
		return false
	}
	callees := j.Callees(call.Instr.(ssa.CallInstruction).Common())
	return len(callees) > 0 && !slices.ContainsFunc(callees, func(fn *ssa.Function) bool { return !j.marksAll(fn, call.Variable) })
}

// marksAll reports whether a function has stored into a variable whenever it returns something.
func (j *judge) marksAll(fn *ssa.Function, v *types.Var) bool {
	var marks []*Member
	for _, m := range j.members[fn] {
		if m.Variable == v && m.Kind == lockset.Write {
			marks = append(marks, m)
		}
	}
	for _, b := range fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || len(ret.Results) == 0 || b == fn.Recover {
			continue
		}
		if _, nothing := resultOf(ret, 0).(*ssa.Const); !nothing && !slices.ContainsFunc(marks, func(m *Member) bool { return m.Instr.Block().Dominates(b) }) {
			return false
		}
	}
	return len(marks) > 0
}

// resultOf is a value that a function returns. With deferred calls, it is kept in a variable while they run.
func resultOf(ret *ssa.Return, index int) ssa.Value {
	load, ok := ret.Results[index].(*ssa.UnOp)
	if !ok {
		return ret.Results[index]
	}
	for _, i := range slices.Backward(ret.Block().Instrs) {
		if store, ok := i.(*ssa.Store); ok && store.Addr == load.X {
			return store.Val
		}
	}
	return load
}
