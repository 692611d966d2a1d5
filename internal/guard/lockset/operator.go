package lockset

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// operators are the functions that take each lock, or release it, themselves or in what they call. They are
// found backwards from the operations, once for a lock: forwards, each question would go through all that a
// call may reach.
type operators struct {
	operations map[*types.Var][]operating
	callers    map[*ssa.Function][]calling
	takers     map[*types.Var]map[*ssa.Function]bool
	releasers  map[*types.Var]map[*ssa.Function]bool
}

// An operating is a function that operates on a lock itself.
type operating struct {
	fn       *ssa.Function
	releases bool
	later    bool // it defers that
}

// A calling is a function that calls another.
type calling struct {
	fn    *ssa.Function
	later bool
}

// findOperators notes the operations and calls of all functions.
func (a *Analysis) findOperators() {
	a.operators = &operators{
		operations: make(map[*types.Var][]operating), callers: make(map[*ssa.Function][]calling),
		takers: make(map[*types.Var]map[*ssa.Function]bool), releasers: make(map[*types.Var]map[*ssa.Function]bool),
	}
	for _, fn := range a.Functions {
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				a.noteOperator(fn, i)
			}
		}
	}
}

// noteOperator notes what an instruction does that the function itself does: what it starts, another goroutine does.
func (a *Analysis) noteOperator(fn *ssa.Function, i ssa.Instruction) {
	call, ok := i.(ssa.CallInstruction)
	if _, started := i.(*ssa.Go); !ok || started {
		return
	}
	_, now := i.(*ssa.Call)
	if op, ok := a.values.Op(call.Common()); ok {
		if op.Lock != nil && a.Places.Variable(op.Lock) != nil {
			lock := a.Places.Variable(op.Lock)
			a.operators.operations[lock] = append(a.operators.operations[lock], operating{fn, op.Releases(), !now})
		}
		return
	}
	for _, callee := range a.Callees(call.Common()) {
		a.operators.callers[callee] = append(a.operators.callers[callee], calling{fn, !now})
	}
}

// takers are the functions that take a lock when they are called. What they defer is done when they end, and
// takes none.
func (a *Analysis) takers(lock *types.Var) map[*ssa.Function]bool {
	if a.operators == nil {
		a.findOperators()
	}
	return a.operators.of(a.operators.takers, lock, func(o operating) bool { return !o.releases && !o.later }, func(c calling) bool { return !c.later })
}

// releasers are the functions that release a lock when they are called, or when they end.
func (a *Analysis) releasers(lock *types.Var) map[*ssa.Function]bool {
	if a.operators == nil {
		a.findOperators()
	}
	return a.operators.of(a.operators.releasers, lock, func(o operating) bool { return o.releases }, func(calling) bool { return true })
}

func (o *operators) of(known map[*types.Var]map[*ssa.Function]bool, lock *types.Var, operates func(operating) bool, calls func(calling) bool) map[*ssa.Function]bool {
	if all, ok := known[lock]; ok {
		return all
	}
	all := make(map[*ssa.Function]bool)
	known[lock] = all
	var todo []*ssa.Function
	add := func(fn *ssa.Function) {
		if !all[fn] {
			all[fn] = true
			todo = append(todo, fn)
		}
	}
	for _, op := range o.operations[lock] {
		if operates(op) {
			add(op.fn)
		}
	}
	for len(todo) > 0 {
		fn := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, c := range o.callers[fn] {
			if calls(c) {
				add(c.fn)
			}
		}
	}
	return all
}
