package lockset

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// ReleasedBetween reports whether control can come from one instruction of a function to
// another and release a lock on the way, without passing the first again. A call of a
// function that releases the lock, at any depth, counts as a release.
func (a *Analysis) ReleasedBetween(from, to ssa.Instruction, lock *types.Var) bool {
	return a.releasedOnWay(from, to, lock, a.Releases, func(i ssa.Instruction) bool { return i == from })
}

// ReleasedSince reports whether a lock that is held at one instruction may be released after it, and
// control come from there to another without passing some.
func (a *Analysis) ReleasedSince(from, to ssa.Instruction, lock *types.Var, passing func(ssa.Instruction) bool) bool {
	return a.releasedOnWay(from, to, lock, a.ReleasesHeld, passing)
}

func (a *Analysis) releasedOnWay(from, to ssa.Instruction, lock *types.Var, releases func(ssa.Instruction, *types.Var) bool, passing func(ssa.Instruction) bool) bool {
	for _, b := range from.Parent().Blocks {
		for _, i := range b.Instrs {
			if releases(i, lock) && a.reaches(from, i, nil) && a.ReachesWithout(i, to, passing) {
				return true
			}
		}
	}
	return false
}

// ReleasesHeld reports whether an instruction, at which a lock is held, releases it: itself, or in what it
// calls. What takes the lock before that works on the lock of another object, or would wait for ever.
func (a *Analysis) ReleasesHeld(i ssa.Instruction, lock *types.Var) bool {
	call, ok := i.(*ssa.Call)
	switch {
	case !ok || !a.Releases(i, lock):
		return false
	case a.IsOp(&call.Call):
		return true
	}
	return slices.ContainsFunc(a.Callees(&call.Call), func(fn *ssa.Function) bool { return a.ReleasesFirst(fn, lock) })
}

// ReleasesFirst reports whether a function may release a lock before it takes it.
func (a *Analysis) ReleasesFirst(fn *ssa.Function, lock *types.Var) bool {
	if fn == nil || len(fn.Blocks) == 0 {
		return false
	}
	begin := fn.Blocks[0].Instrs[0]
	acquires := func(i ssa.Instruction) bool { return a.Acquires(i, lock) }
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			if a.Releases(i, lock) && !acquires(i) && (i == begin || !acquires(begin) && a.ReachesWithout(begin, i, acquires)) {
				return true
			}
		}
	}
	return false
}

// Callees returns the functions of the program that a call may reach: the one that it names, or the
// methods by which types of the program implement an interface.
func (a *Analysis) Callees(c *ssa.CallCommon) []*ssa.Function {
	if fn := c.StaticCallee(); fn != nil {
		return []*ssa.Function{fn}
	}
	var all []*ssa.Function
	if c.IsInvoke() {
		for _, t := range a.implementations(c) {
			all = append(all, t.fn)
		}
	}
	return all
}

// IsOp reports whether a call is an operation on a lock.
func (a *Analysis) IsOp(c *ssa.CallCommon) bool {
	_, ok := a.values.Op(c)
	return ok
}

// Releases reports whether an instruction releases a lock, itself or in what it calls. What a
// function defers, it does when it ends: for its caller that is in the call.
func (a *Analysis) Releases(i ssa.Instruction, lock *types.Var) bool {
	call, ok := i.(*ssa.Call)
	return ok && a.CallReleases(&call.Call, lock)
}

// Operates reports whether an instruction is itself an operation on a lock, made now or later.
func (a *Analysis) Operates(i ssa.Instruction, lock *types.Var) bool {
	_, ok := a.operationOf(i, lock)
	return ok
}

// Acquires reports whether a call takes a lock, by itself or in what it calls.
func (a *Analysis) Acquires(i ssa.Instruction, lock *types.Var) bool {
	call, ok := i.(*ssa.Call)
	return ok && a.callAcquires(call.Common(), lock)
}

func (a *Analysis) callAcquires(c *ssa.CallCommon, lock *types.Var) bool {
	if op, ok := a.values.Op(c); ok {
		return !op.Releases() && op.Lock != nil && a.Places.Variable(op.Lock) == lock
	}
	return slices.ContainsFunc(a.Callees(c), func(fn *ssa.Function) bool { return a.takers(lock)[fn] })
}

// ReleasesOnly reports whether a call releases a lock and takes it nowhere: what comes before
// it holds the lock.
func (a *Analysis) ReleasesOnly(i ssa.Instruction, lock *types.Var) bool {
	call, ok := i.(ssa.CallInstruction)
	if _, spawned := i.(*ssa.Go); !ok || spawned {
		return false
	}
	return a.CallReleases(call.Common(), lock) && !a.callAcquires(call.Common(), lock)
}

// ReachesWithout reports whether control can come from one instruction of a function to another
// without passing one of some others.
func (a *Analysis) ReachesWithout(from, to ssa.Instruction, avoid func(ssa.Instruction) bool) bool {
	type point struct {
		block *ssa.BasicBlock
		index int
	}
	seen := make(map[*ssa.BasicBlock]bool)
	todo := []point{{from.Block(), a.index(from) + 1}}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		passed := false
		for _, i := range p.block.Instrs[p.index:] {
			if i == to {
				return true
			}
			if passed = avoid(i); passed {
				break
			}
		}
		for _, next := range p.block.Succs {
			if !passed && !seen[next] {
				seen[next] = true
				todo = append(todo, point{next, 0})
			}
		}
	}
	return false
}

// Released is the lock that an instruction itself releases, now or later; nil if it releases none.
func (a *Analysis) Released(i ssa.Instruction) *types.Var {
	call, ok := i.(ssa.CallInstruction)
	if !ok {
		return nil
	}
	if op, ok := a.values.Op(call.Common()); ok && op.Releases() && op.Lock != nil {
		return a.Places.Variable(op.Lock)
	}
	return nil
}

// Taken is the lock that an instruction itself takes, as its function names it; nil if it takes none.
func (a *Analysis) Taken(i ssa.Instruction) *locks.Place {
	call, ok := i.(*ssa.Call)
	if !ok {
		return nil
	}
	if op, ok := a.values.Op(call.Common()); ok && !op.Releases() {
		return op.Lock
	}
	return nil
}

// operationOf returns the operation on a lock that an instruction is.
func (a *Analysis) operationOf(i ssa.Instruction, lock *types.Var) (locks.Op, bool) {
	call, ok := i.(ssa.CallInstruction)
	if !ok {
		return locks.Op{}, false
	}
	op, ok := a.values.Op(call.Common())
	return op, ok && op.Lock != nil && a.Places.Variable(op.Lock) == lock
}

// CallReleases reports whether a call, made now or later, releases a lock.
func (a *Analysis) CallReleases(c *ssa.CallCommon, lock *types.Var) bool {
	if op, ok := a.values.Op(c); ok {
		return op.Releases() && op.Lock != nil && a.Places.Variable(op.Lock) == lock
	}
	return slices.ContainsFunc(a.Callees(c), func(fn *ssa.Function) bool { return a.releasers(lock)[fn] })
}

// Reaches reports whether control can come from one instruction of a function to another, which may
// be the same.
func (a *Analysis) Reaches(from, to ssa.Instruction) bool { return a.reaches(from, to, nil) }

// reaches reports whether control can come from one instruction to another without passing
// a third, which may be nil.
func (a *Analysis) reaches(from, to, avoid ssa.Instruction) bool {
	if from == nil || to == nil || from.Block() == nil || to.Block() == nil || from.Parent() != to.Parent() {
		return false
	}
	fromBlock, toBlock := from.Block(), to.Block()
	fromIndex, toIndex := a.index(from), a.index(to)
	var avoidBlock *ssa.BasicBlock
	avoidIndex := -1
	if avoid != nil && avoid.Block() != nil {
		avoidBlock, avoidIndex = avoid.Block(), a.index(avoid)
	}
	if fromBlock == toBlock && fromIndex < toIndex && !(avoidBlock == fromBlock && avoidIndex > fromIndex && avoidIndex < toIndex) {
		return true
	}
	if avoidBlock == fromBlock && avoidIndex > fromIndex {
		return false
	}
	seen := make([]bool, len(from.Parent().Blocks))
	todo := slices.Clone(fromBlock.Succs)
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[b.Index] {
			continue
		}
		seen[b.Index] = true
		if b == toBlock && !(avoidBlock == b && avoidIndex < toIndex) {
			return true
		}
		if avoidBlock != b {
			todo = append(todo, b.Succs...)
		}
	}
	return false
}

// index returns an instruction's place in its block.
func (a *Analysis) index(i ssa.Instruction) int {
	if n, ok := a.indexOf[i]; ok {
		return n
	}
	for n, j := range i.Block().Instrs {
		a.indexOf[j] = n
	}
	return a.indexOf[i]
}

// spawnedBefore reports whether a function may have started a goroutine before an
// instruction.
func (a *Analysis) spawnedBefore(fn *ssa.Function, at ssa.Instruction) bool {
	for _, s := range a.spawnSites(fn) {
		if a.reaches(s, at, nil) {
			return true
		}
	}
	return false
}

// spawnSites returns the instructions of a function that start goroutines, by themselves or
// in what they call.
func (a *Analysis) spawnSites(fn *ssa.Function) []ssa.Instruction {
	if s, ok := a.spawns[fn]; ok {
		return s
	}
	a.spawns[fn] = nil
	var sites []ssa.Instruction
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.Go:
				sites = append(sites, i)
			case *ssa.Call:
				if a.callSpawns(i) {
					sites = append(sites, i)
				}
			}
		}
	}
	a.spawns[fn] = sites
	return sites
}

func (a *Analysis) callSpawns(i *ssa.Call) bool {
	callee := i.Call.StaticCallee()
	if m, ok := i.Call.Value.(*ssa.MakeClosure); ok {
		callee = m.Fn.(*ssa.Function)
	}
	if callee != nil && len(callee.Blocks) > 0 {
		return len(a.spawnSites(callee)) > 0
	}
	return keepsCallbacks(&i.Call) && len(a.callbacks(&Context{fn: i.Parent()}, &i.Call)) > 0 || callee != nil && callee.Name() == "Parallel"
}

// waitedBefore reports whether a function has waited for its goroutines before an
// instruction: what they did to its variables is over then.
func (a *Analysis) waitedBefore(fn *ssa.Function, at ssa.Instruction) bool {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			if waits(i) && a.reaches(i, at, nil) {
				return true
			}
		}
	}
	return false
}

// waits reports whether an instruction waits for other goroutines: a receive, a select, a
// call of a function named Wait.
func waits(i ssa.Instruction) bool {
	switch i := i.(type) {
	case *ssa.UnOp:
		return i.Op == token.ARROW
	case *ssa.Select:
		return true
	case *ssa.Call:
		if i.Call.IsInvoke() {
			return i.Call.Method.Name() == "Wait"
		}
		fn := i.Call.StaticCallee()
		return fn != nil && fn.Name() == "Wait"
	}
	return false
}
