package guard

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
)

// Channels and the start of goroutines order accesses, too.

// isBehindSignal reports whether an access is made only behind a receive from a channel of
// signals: its elements have no value, as those of channels that are closed to tell something.
//
//	select {
//	case <-s.shutdown:
//		return s.err      set before the channel is closed
//	...
func isBehindSignal(o lockset.Observation, isSignal func(ssa.Value) bool) bool {
	return isBehind(o.Instr, types.RecvOnly, isSignal, func(i ssa.Instruction) bool {
		receive, ok := i.(*ssa.UnOp)
		return ok && receive.Op == token.ARROW && isSignal(receive.X)
	})
}

// isSignalBeside returns what reports whether a channel of signals stands in the same struct as a field.
// Whatever a comment says of the lock, such a channel is closed when the field is set.
//
//	type wanted struct {
//		ready chan struct{}
//		mu    sync.Mutex // guards conn
//		conn  *conn
//	}
func isSignalBeside(field *types.Var) func(ssa.Value) bool {
	return func(channel ssa.Value) bool { return isSignal(channel) && standsBeside(channel.(*ssa.UnOp).X, field) }
}

// standsBeside reports whether an address is that of a field of the same struct as another field.
func standsBeside(address ssa.Value, field *types.Var) bool {
	at, ok := address.(*ssa.FieldAddr)
	return ok && hasField(at.X.Type().Underlying().(*types.Pointer).Elem(), field, maxParts)
}

// isBehindWonSwap reports whether an access is made only by the goroutine that has changed an atomic field of
// the same struct from a state that it must have.
//
//	if !s.state.CompareAndSwap(running, stopping) {
//		return
//	}
//	s.conns = nil
func isBehindWonSwap(o lockset.Observation, field *types.Var) bool {
	return slices.ContainsFunc(instructions(o.Instr.Parent()), func(i ssa.Instruction) bool {
		call, ok := i.(*ssa.Call)
		if !ok || !isSwap(call.Call.StaticCallee()) || !standsBeside(call.Call.Args[0], field) {
			return false
		}
		return slices.ContainsFunc(branchesIf(call, true), func(b *ssa.BasicBlock) bool { return b.Dominates(o.Instr.Block()) })
	})
}

func isSwap(fn *ssa.Function) bool {
	return fn != nil && strings.HasPrefix(fn.Name(), "CompareAndSwap") && fn.Object() != nil && fn.Object().Pkg() != nil && fn.Object().Pkg().Path() == "sync/atomic"
}

// branchesIf returns the blocks to which control comes only if a value is what is asked for.
func branchesIf(v ssa.Value, is bool) []*ssa.BasicBlock {
	var all []*ssa.BasicBlock
	add := func(v ssa.Value, is bool) {
		successor := 0
		if !is {
			successor = 1
		}
		for _, user := range *v.Referrers() {
			if branch, ok := user.(*ssa.If); ok && len(branch.Block().Succs[successor].Preds) == 1 {
				all = append(all, branch.Block().Succs[successor])
			}
		}
	}
	add(v, is)
	for _, user := range *v.Referrers() {
		if not, ok := user.(*ssa.UnOp); ok && not.Op == token.NOT {
			add(not, !is)
		}
	}
	return all
}

// isBehindSection reports whether a function has taken the lock ahead of an access.
func (c *chooser) isBehindSection(o lockset.Observation, lock *types.Var) bool {
	return slices.ContainsFunc(instructions(o.Instr.Parent()), func(i ssa.Instruction) bool {
		taken := c.analysis.Taken(i)
		return taken != nil && c.places.Variable(taken) == lock && isAhead(i, o.Instr)
	})
}

// isSetOnce reports whether all writes of a field are made only if it is seen to have no value.
//
//	c.mu.Lock()
//	if c.retries == 0 {
//		c.retries = 3
//	}
//	c.mu.Unlock()
//	return c.retries
func isSetOnce(v *subject) bool {
	for _, s := range v.sites {
		for _, o := range s.Observations {
			if o.Kind == Write && !makesObject(o) && !isWrittenIfZero(o.Instr) {
				return false
			}
		}
	}
	return true
}

// isWrittenIfZero reports whether a store to a field is on the side of a branch on which the field has no value.
func isWrittenIfZero(write ssa.Instruction) bool {
	store, ok := write.(*ssa.Store)
	if !ok {
		return false
	}
	to, ok := store.Addr.(*ssa.FieldAddr)
	if !ok {
		return false
	}
	for b := store.Block(); b.Idom() != nil; b = b.Idom() {
		branch, ok := b.Idom().Instrs[len(b.Idom().Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		compared, ok := branch.Cond.(*ssa.BinOp)
		if !ok || compared.Op != token.EQL && compared.Op != token.NEQ || !isZero(compared.Y) {
			continue
		}
		load, ok := compared.X.(*ssa.UnOp)
		if !ok || load.Op != token.MUL {
			continue
		}
		side := branch.Block().Succs[0]
		if compared.Op == token.NEQ {
			side = branch.Block().Succs[1]
		}
		if of, ok := load.X.(*ssa.FieldAddr); ok && of.X == to.X && of.Field == to.Field && side.Dominates(store.Block()) {
			return true
		}
	}
	return false
}

// isZero reports whether a value is nil, zero or empty.
func isZero(v ssa.Value) bool {
	k, ok := v.(*ssa.Const)
	return ok && (k.Value == nil || k.Value.ExactString() == "0" || k.Value.ExactString() == `""`)
}

// isBehindWait reports whether an access is made only behind a wait for goroutines.
func isBehindWait(o lockset.Observation) bool {
	return slices.ContainsFunc(instructions(o.Instr.Parent()), func(i ssa.Instruction) bool {
		call, ok := i.(*ssa.Call)
		if !ok || !isAhead(i, o.Instr) {
			return false
		}
		fn := call.Call.StaticCallee()
		return fn != nil && fn.RelString(nil) == "(*sync.WaitGroup).Wait"
	})
}

// isBehindSend reports whether an access is made only behind a send of nothing but a signal, by which a
// channel with room for one is a lock.
//
//	select {
//	case db.writer <- struct{}{}:      others wait until it is received again
//	...
func isBehindSend(o lockset.Observation) bool {
	return isBehind(o.Instr, types.SendOnly, isSignal, func(i ssa.Instruction) bool {
		send, ok := i.(*ssa.Send)
		return ok && isSignal(send.Chan)
	})
}

// isBehind reports whether an access is made only behind a signal in one direction, by itself or as
// the case of a select.
func isBehind(access ssa.Instruction, direction types.ChanDir, isSignal func(ssa.Value) bool, is func(ssa.Instruction) bool) bool {
	return slices.ContainsFunc(instructions(access.Parent()), func(i ssa.Instruction) bool {
		if s, ok := i.(*ssa.Select); ok {
			return slices.ContainsFunc(signalCases(s, direction, isSignal), func(c *ssa.BasicBlock) bool { return c.Dominates(access.Block()) })
		}
		return is(i) && isAhead(i, access)
	})
}

// isSignal reports whether a value is a channel that a field holds and whose elements are empty, or can be
// anything.
func isSignal(channel ssa.Value) bool {
	load, ok := channel.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return false
	}
	if _, ok := load.X.(*ssa.FieldAddr); !ok {
		return false
	}
	t, ok := channel.Type().Underlying().(*types.Chan)
	if !ok {
		return false
	}
	switch empty := t.Elem().Underlying().(type) {
	case *types.Struct:
		return empty.NumFields() == 0
	case *types.Interface:
		return empty.NumMethods() == 0 // as channels that are only closed have it, too
	}
	return false
}

// signalCases returns where the cases of a select begin that receive, or send, a signal.
func signalCases(s *ssa.Select, direction types.ChanDir, isSignal func(ssa.Value) bool) []*ssa.BasicBlock {
	var all []*ssa.BasicBlock
	for _, user := range *s.Referrers() {
		index, ok := user.(*ssa.Extract)
		if !ok || index.Index != 0 {
			continue
		}
		for _, compared := range *index.Referrers() {
			equal, ok := compared.(*ssa.BinOp)
			if !ok || equal.Op != token.EQL {
				continue
			}
			number, ok := equal.Y.(*ssa.Const)
			if !ok {
				continue
			}
			state := s.States[number.Int64()]
			if state.Dir != direction || !isSignal(state.Chan) {
				continue
			}
			for _, chosen := range *equal.Referrers() {
				if branch, ok := chosen.(*ssa.If); ok {
					all = append(all, branch.Block().Succs[0])
				}
			}
		}
	}
	return all
}

// isWrittenBeforeStart reports whether a read is made by the function of a goroutine that was started
// behind a write.
func isWrittenBeforeStart(v *subject, read lockset.Observation) bool {
	return slices.ContainsFunc(v.sites, func(s *lockset.Site) bool {
		return slices.ContainsFunc(s.Observations, func(o lockset.Observation) bool {
			return o.Kind == Write && startsBehind(o.Instr, read.Instr.Parent())
		})
	})
}

// startsBehind reports whether a goroutine that runs a function is started behind an instruction
// in all that may follow it, or in the same block.
func startsBehind(i ssa.Instruction, fn *ssa.Function) bool {
	for _, b := range i.Parent().Blocks {
		for _, j := range b.Instrs {
			start, ok := j.(*ssa.Go)
			if !ok || startedFunction(start) != fn {
				continue
			}
			if isAhead(i, start) {
				return true
			}
		}
	}
	return false
}

func startedFunction(g *ssa.Go) *ssa.Function {
	if m, ok := g.Call.Value.(*ssa.MakeClosure); ok {
		return m.Fn.(*ssa.Function)
	}
	return g.Call.StaticCallee()
}
