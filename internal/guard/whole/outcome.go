package whole

import (
	"go/constant"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
)

// A call that takes something may also find that there is nothing to take. What is done then belongs to
// the look: it is right only as long as there is still nothing.
//
//	if err := q.reserve(n); err == nil {
//		return nil                        what was reserved is this goroutine's
//	}
//	q.waiters = append(q.waiters, w)      a release in between wakes nobody

// tookNothing reports whether a member is made only where a call has returned without changing anything.
func (b *binder) tookNothing(call, m *Member) bool {
	for _, branch := range b.deciding[m.Instr.Block()] {
		o, ok := outcomeOf(branch.Cond, call.Instr)
		if !ok {
			continue
		}
		to := branch.Block().Succs
		onTrue, onFalse := reachable(to[0], branch.Block())[m.Instr.Block().Index], reachable(to[1], branch.Block())[m.Instr.Block().Index]
		if onTrue == onFalse {
			continue
		}
		o.equal = o.equal == onTrue
		callees := b.Callees(call.Instr.(ssa.CallInstruction).Common())
		if len(callees) > 0 && !slices.ContainsFunc(callees, func(fn *ssa.Function) bool { return b.changesBefore(fn, o) }) {
			return true
		}
	}
	return false
}

// An outcome is that a result of a function is a constant, or that it is not.
type outcome struct {
	result int
	is     *ssa.Const
	equal  bool
}

// outcomeOf is the outcome of a call for which a condition is true.
func outcomeOf(cond ssa.Value, call ssa.Instruction) (o outcome, ok bool) {
	resultIndex := func(v ssa.Value) (int, bool) {
		if e, ok := v.(*ssa.Extract); ok {
			tuple, ok := e.Tuple.(*ssa.Call)
			return e.Index, ok && tuple == call
		}
		i, ok := v.(ssa.Instruction)
		return 0, ok && i == call
	}
	if o.result, ok = resultIndex(cond); ok { // a bool
		o.is, o.equal = ssa.NewConst(constant.MakeBool(true), cond.Type()), true
		return o, true
	}
	compared, ok := cond.(*ssa.BinOp)
	if !ok || compared.Op != token.EQL && compared.Op != token.NEQ {
		return o, false
	}
	o.equal = compared.Op == token.EQL
	if o.is, ok = compared.Y.(*ssa.Const); !ok {
		return o, false
	}
	o.result, ok = resultIndex(compared.X)
	return o, ok
}

// changesBefore reports whether a function may have changed guarded data when it returns with an outcome.
func (j *judge) changesBefore(fn *ssa.Function, o outcome) bool {
	var writes []*Member
	for _, m := range j.withCalls(fn, j.members[fn]) {
		if m.Kind == lockset.Write {
			writes = append(writes, m)
		}
	}
	for _, b := range fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || b == fn.Recover || o.result >= len(ret.Results) || !o.mayBe(resultOf(ret, o.result)) {
			continue
		}
		if slices.ContainsFunc(writes, func(m *Member) bool { return m.Instr.Block() == b || j.Reaches(m.Instr, ret) }) {
			return true
		}
	}
	return false
}

// mayBe reports whether a value may be what an outcome is. Of a value that is computed it is assumed that it
// is not the constant: an error that is returned is one.
func (o outcome) mayBe(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	same := ok && (c.Value == nil && o.is.Value == nil || c.Value != nil && o.is.Value != nil && constant.Compare(c.Value, token.EQL, o.is.Value))
	return same == o.equal
}
