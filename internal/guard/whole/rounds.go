package whole

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// What a loop does in its rounds belongs together if the rounds are for one result. A loop that waits
// in each round is another matter: what happens meanwhile is what it waits for.
//
//	for i := range n { s += r.At(i) }     for range tick {           a round for each tick,
//	                                      	for k := range c.m {       in each of which the
//	one result of all rounds              		c.drop(k)              inner loop is one step
//	                                      	}
//	                                      }

// A loop is the blocks that control can be in between coming to a block and coming back to it.
type loop struct {
	header *ssa.BasicBlock
	blocks map[*ssa.BasicBlock]bool
}

// contains reports whether an instruction is in the loop.
func (l *loop) contains(i ssa.Instruction) bool { return l.blocks[i.Block()] }

// loops are the loops of a function, and the instructions that wait for other goroutines or for time.
type loops struct {
	loops []*loop
	waits stops
}

// loopsOf returns the loops of a function, and what it waits for.
func loopsOf(fn *ssa.Function) *loops {
	all := &loops{waits: make(stops)}
	byHeader := make(map[*ssa.BasicBlock]*loop)
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			if waits(i) {
				all.waits[i] = true
			}
		}
		for _, header := range b.Succs {
			if !header.Dominates(b) {
				continue
			}
			if byHeader[header] == nil {
				byHeader[header] = &loop{header, map[*ssa.BasicBlock]bool{header: true}}
				all.loops = append(all.loops, byHeader[header])
			}
			byHeader[header].addWaysFrom(b)
		}
	}
	return all
}

// addWaysFrom adds the blocks by which control comes from the header to a block.
func (l *loop) addWaysFrom(b *ssa.BasicBlock) {
	if l.blocks[b] {
		return
	}
	l.blocks[b] = true
	for _, before := range b.Preds {
		l.addWaysFrom(before)
	}
}

// waits reports whether an instruction waits until something happens elsewhere.
func waits(i ssa.Instruction) bool {
	switch i := i.(type) {
	case *ssa.UnOp:
		return i.Op == token.ARROW
	case *ssa.Select:
		return i.Blocking
	case *ssa.Call:
		if i.Call.IsInvoke() {
			return i.Call.Method.Name() == "Wait"
		}
		fn := i.Call.StaticCallee()
		return fn != nil && (fn.Name() == "Wait" || fn.String() == "time.Sleep")
	}
	return false
}

// loopsOf returns the loops of a function.
func (j *judge) loopsOf(fn *ssa.Function) *loops {
	if j.loops[fn] == nil {
		j.loops[fn] = loopsOf(fn)
	}
	return j.loops[fn]
}

// stops are the instructions that keep control from going on.
type stops map[ssa.Instruction]bool

// separatingStops returns what ends the ways on which the members of a bond belong together: such a way waits
// for nothing, or it stays in the round that it begins in. On all other ways the second member is made
// in a round that was waited for. It returns nothing if they belong together on every way.
func (j *judge) separatingStops(b bond) []stops {
	all := j.loopsOf(b.first.Instr.Parent())
	rounds := make(stops)
	for _, l := range all.loops {
		if l.contains(b.first.Instr) && l.contains(b.second.Instr) {
			rounds[l.header.Instrs[0]] = true
		}
	}
	if len(rounds) == 0 || len(all.waits) == 0 || b.strong && b.ofValue || b.first.deferred || b.second.deferred {
		return nil
	}
	return []stops{all.waits, rounds}
}

// goesOn reports whether control can come from the first member of a bond to the second without a
// round between them that was waited for.
func (j *judge) goesOn(b bond) bool {
	apart := j.separatingStops(b)
	return apart == nil || slices.ContainsFunc(apart, func(s stops) bool { return s.comesTo(b.first.Instr, b.second.Instr, nil) })
}

// releasedWithin reports whether a lock may be released between the members of a bond, on a way on
// which they belong together.
func (j *judge) releasedWithin(b bond, lock *types.Var) bool {
	if !j.ReleasedBetween(b.first.Instr, b.second.Instr, lock) {
		return false
	}
	apart := j.separatingStops(b)
	if apart == nil {
		if b.loop == nil {
			return true
		}
		apart = []stops{nil}
	}
	for _, block := range b.first.Instr.Parent().Blocks {
		for _, i := range block.Instrs {
			if !j.Releases(i, lock) || b.loop != nil && !b.loop.contains(i) {
				continue
			}
			if slices.ContainsFunc(apart, func(s stops) bool {
				return s.comesTo(b.first.Instr, i, nil) && s.comesTo(i, b.second.Instr, b.first.Instr)
			}) {
				return true
			}
		}
	}
	return false
}

// comesTo reports whether control can come from one instruction to another without being stopped, and
// without passing a third, which may be nil.
func (s stops) comesTo(from, to, without ssa.Instruction) bool {
	seen := make(map[*ssa.BasicBlock]bool)
	todo := [][]ssa.Instruction{from.Block().Instrs[slices.Index(from.Block().Instrs, from)+1:]}
	for len(todo) > 0 {
		instrs := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		end := slices.IndexFunc(instrs, func(i ssa.Instruction) bool { return s[i] || i == to || i == without })
		if end >= 0 {
			if instrs[end] == to && !s[to] {
				return true
			}
			continue
		}
		last := from.Block()
		if len(instrs) > 0 {
			last = instrs[len(instrs)-1].Block()
		}
		for _, next := range last.Succs {
			if !seen[next] {
				seen[next] = true
				todo = append(todo, next.Instrs)
			}
		}
	}
	return false
}

// bindRounds adds the bonds of members with themselves: those that are made in several rounds of a loop
// for one result.
func (b *binder) bindRounds() {
	for _, m := range b.found.members {
		taken := func(call *Member) bool { return b.isOfTaken(b.tracer, m, call) }
		if !m.reads || m.takes || m.settled || slices.ContainsFunc(b.found.members, taken) {
			continue
		}
		for _, l := range b.loopsOf(b.fn).loops {
			if !l.contains(m.Instr) {
				continue
			}
			switch one := b.isOfOneObject(m); {
			case one && (b.gathers(m, l) || b.goesOnBy(m, l) && b.differs(m)):
				b.addBond(bond{first: m, second: m, ofOneGuard: true, loop: l})
			case !one && b.gathers(m, l):
				b.addBond(bond{first: m, second: m, ofSeveral: true, loop: l})
			}
		}
	}
}

// gathers reports whether something gathers what a member reads in the rounds of a loop: it depends
// on the member, and on what it was itself in the round before.
func (b *binder) gathers(m *Member, l *loop) bool {
	for block := range l.blocks {
		for _, i := range block.Instrs {
			switch i.(type) {
			case *ssa.BinOp, *ssa.Call:
				if on := b.dependenceOf(i); i != m.Instr && on.data[m.Instr] && on.data[i] && b.isCarried(i, l) {
					return true
				}
			}
		}
	}
	return false
}

// isCarried reports whether a loop keeps what an instruction gathers from one round to the next. A
// variable that is no register is kept by all loops that it is used in, as far as can be told.
func (b *binder) isCarried(i ssa.Instruction, l *loop) bool {
	on := b.dependenceOf(i)
	inRegister := false
	for _, other := range b.loopsOf(b.fn).loops {
		for _, first := range other.header.Instrs {
			phi, ok := first.(*ssa.Phi)
			if ok && on.data[phi] && b.dependenceOf(phi).data[i] {
				if other == l {
					return true
				}
				inRegister = true
			}
		}
	}
	return !inRegister
}

// goesOnBy reports whether what a member reads decides whether a loop goes on, or what comes next in it.
func (b *binder) goesOnBy(m *Member, l *loop) bool {
	for block := range l.blocks {
		branch, ok := block.Instrs[len(block.Instrs)-1].(*ssa.If)
		if ok && b.dependenceOf(branch).data[m.Instr] && (l.isLeftBy(branch) || b.isInnermost(l, m)) {
			return true
		}
	}
	return false
}

// isLeftBy reports whether a branch is the end of the loop on one of its sides.
func (l *loop) isLeftBy(branch *ssa.If) bool {
	return slices.ContainsFunc(branch.Block().Succs, func(side *ssa.BasicBlock) bool { return !l.blocks[side] })
}

// isInnermost reports whether a loop with a member has no other one with it inside.
func (b *binder) isInnermost(l *loop, m *Member) bool {
	return !slices.ContainsFunc(b.loopsOf(b.fn).loops, func(inner *loop) bool { return inner != l && inner.contains(m.Instr) && l.blocks[inner.header] })
}

// countedLoop is the innermost loop in whose rounds a member writes for one object, if it has no more
// rounds than it counts; nil if there is none. Another one may go on until a goroutine has done something,
// for which that may need the lock.
func (j *judge) countedLoop(m *Member) *loop {
	if m.Kind != lockset.Write || m.deferred || m.settled || !j.isOfOneObject(m) {
		return nil
	}
	var innermost *loop
	for _, l := range j.loopsOf(m.Instr.Parent()).loops {
		if l.contains(m.Instr) && (innermost == nil || innermost.blocks[l.header]) {
			innermost = l
		}
	}
	if innermost == nil || !innermost.isCounted() {
		return nil
	}
	return innermost
}

// isCounted reports whether the loop ends with a map or string, or where a count comes to a bound, if it
// does not end before.
func (l *loop) isCounted() bool {
	branch, ok := l.header.Instrs[len(l.header.Instrs)-1].(*ssa.If)
	return ok && l.isLeftBy(branch) && l.isBound(branch.Cond)
}

// isBound reports whether a condition is that a map or string has more, or that a count is below what
// does not change in the loop.
func (l *loop) isBound(condition ssa.Value) bool {
	switch c := condition.(type) {
	case *ssa.Extract:
		_, next := c.Tuple.(*ssa.Next)
		return next
	case *ssa.BinOp:
		bound, made := c.Y.(ssa.Instruction)
		if made && l.contains(bound) {
			return false
		}
		count, isPhi := c.X.(*ssa.Phi)
		if !isPhi { // of range, which counts before it compares
			if next, ok := c.X.(*ssa.BinOp); ok {
				count, isPhi = next.X.(*ssa.Phi)
			}
		}
		return isPhi && count.Block() == l.header && slices.ContainsFunc(count.Edges, func(edge ssa.Value) bool { return counts(edge, count) })
	}
	return false
}

// differs reports whether a member reads something else in each round: a loop that reads one thing
// until it has changed waits for the change.
func (b *binder) differs(m *Member) bool {
	for i := range b.dependenceOf(m.Instr).data {
		switch i := i.(type) {
		case *ssa.Next:
			return true
		case *ssa.Phi:
			if slices.ContainsFunc(i.Edges, func(edge ssa.Value) bool { return counts(edge, i) }) {
				return true
			}
		}
	}
	return false
}

// counts reports whether a value is what a variable had in the round before, and something more.
func counts(v ssa.Value, before *ssa.Phi) bool {
	op, ok := v.(*ssa.BinOp)
	return ok && (op.X == ssa.Value(before) || op.Y == ssa.Value(before))
}

// isOfOneObject reports whether a member is of the same object in all rounds of a loop.
func (j *judge) isOfOneObject(m *Member) bool {
	if m.base == nil || m.base.Root() == nil {
		return true
	}
	made, ok := m.base.Root().(ssa.Instruction)
	if ok && made.Parent() == m.Instr.Parent() && j.Reaches(made, made) {
		return false
	}
	return !j.besideLock[m.Variable.Pos()] || !slices.ContainsFunc(m.base.Steps(), func(s locks.Step) bool { return s.Key != nil })
}
