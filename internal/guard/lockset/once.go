package lockset

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// What a sync.Once runs is done before any of its Do returns. So its accesses without a lock are initialisation for
// those that come after a Do, and for no others:
//
//	func (c *Catalog) load() { c.once.Do(func() { c.entries = read() }) }
//	func (c *Catalog) Price(name string) int {
//		c.load()
//		return c.entries[name]                                   after it
//	}
//	func (c *Catalog) Size() int { return len(c.entries) }       may be at the same time

// judgeOnce adds the accesses that are made by a sync.Once to their variables, or counts them as early where
// nothing else may access the variable before.
func (a *Analysis) judgeOnce() {
	after := afterOnce(make(map[*ssa.Function]bool))
	early := make(map[*Variable]bool)
	for _, found := range a.byOnce {
		v := found.variable
		if _, judged := early[v]; !judged {
			early[v] = !slices.ContainsFunc(v.Sites, func(s *Site) bool {
				return slices.ContainsFunc(s.Observations, func(o Observation) bool { return !after.alwaysComes(o) })
			})
		}
	}
	for _, found := range a.byOnce {
		if early[found.variable] {
			found.variable.Early++
		} else {
			a.addAccess(found)
		}
	}
	a.byOnce = nil
}

// An afterOnce tells which instructions come after a Do of some sync.Once. It remembers whether functions call
// one on every way to their end.
type afterOnce map[*ssa.Function]bool

// alwaysComes reports whether an access comes after a Do in all its contexts. What is known to run before any other
// goroutine need not.
func (a afterOnce) alwaysComes(o Observation) bool {
	return !slices.ContainsFunc(append([]*Context{o.Context}, o.Others...), func(ctx *Context) bool {
		return ctx == nil || !a.isAfter(ctx, o.Instr, make(map[*Context]bool))
	})
}

// isAfter reports whether an instruction of a context comes after a Do: in its function, or in all that call it.
func (a afterOnce) isAfter(ctx *Context, i ssa.Instruction, seen map[*Context]bool) bool {
	if a.isAfterIn(ctx.fn, i) {
		return true
	}
	if start, ok := ctx.call.(*ssa.Go); ok && len(ctx.callers) == 0 && !ctx.entry.fromOutside {
		return a.isAfter(ctx.caller, start, seen)
	}
	if seen[ctx] || ctx.entry.fromOutside || len(ctx.callers) == 0 {
		return seen[ctx]
	}
	seen[ctx] = true
	return !slices.ContainsFunc(ctx.callers, func(caller *Context) bool {
		calls := callsOf(caller.fn, ctx.fn)
		return len(calls) == 0 || slices.ContainsFunc(calls, func(call ssa.CallInstruction) bool { return !a.isAfter(caller, call, seen) })
	})
}

// isAfterIn reports whether a function calls a Do on every way to an instruction.
func (a afterOnce) isAfterIn(fn *ssa.Function, i ssa.Instruction) bool {
	return slices.ContainsFunc(fn.Blocks, func(b *ssa.BasicBlock) bool {
		return b.Dominates(i.Block()) && slices.ContainsFunc(b.Instrs, func(before ssa.Instruction) bool {
			call, ok := before.(*ssa.Call)
			return ok && (b != i.Block() || slices.Index(b.Instrs, before) < slices.Index(b.Instrs, i)) && a.isDo(call)
		})
	})
}

// isDo reports whether a call is one of Do, or of a function that calls it on every way to its end.
func (a afterOnce) isDo(call *ssa.Call) bool {
	fn := call.Call.StaticCallee()
	if fn == nil || len(fn.Blocks) == 0 || isOnce(fn) {
		return fn != nil && isOnce(fn)
	}
	does, known := a[fn]
	if !known {
		a[fn] = false // of one that calls itself
		does = !slices.ContainsFunc(fn.Blocks, func(b *ssa.BasicBlock) bool {
			end, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
			return ok && b != fn.Recover && !a.isAfterIn(fn, end)
		})
		a[fn] = does
	}
	return does
}

// callsOf are the calls of one function by another where it is named.
func callsOf(caller, callee *ssa.Function) (all []ssa.CallInstruction) {
	for _, b := range caller.Blocks {
		for _, i := range b.Instrs {
			if call, ok := i.(ssa.CallInstruction); ok && call.Common().StaticCallee() == callee {
				all = append(all, call)
			}
		}
	}
	return all
}
