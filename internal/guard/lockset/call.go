package lockset

import (
	"go/constant"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// call applies a call, or a deferred one, to the paths that lead to it.
func (a *Analysis) call(ctx *Context, instr ssa.CallInstruction, paths []locks.Path) []locks.Path {
	c := instr.Common()
	if op, ok := a.values.Op(c); ok {
		var out []locks.Path
		for _, path := range paths {
			out, _ = locks.Merge(out, path.Apply(op, resultOf(instr)))
		}
		return out
	}
	if _, ok := c.Value.(*ssa.Builtin); ok {
		return paths
	}
	targets, certain := a.targets(ctx, c)
	if len(targets) == 0 {
		a.callBack(ctx, instr, paths)
		return paths
	}
	var out []locks.Path
	for _, path := range paths {
		for _, t := range targets {
			out, _ = locks.Merge(out, a.enter(ctx, instr, t, path))
		}
	}
	if !certain {
		return paths
	}
	return out
}

// enter applies the call of one target to one path.
func (a *Analysis) enter(ctx *Context, instr ssa.CallInstruction, t target, path locks.Path) []locks.Path {
	c := instr.Common()
	args := c.Args
	if c.IsInvoke() {
		receiver := c.Value
		if _, known := locks.Invoked(c); known != nil {
			receiver = known
		}
		args = append([]ssa.Value{receiver}, c.Args...)
	}
	p := a.newCrossing(ctx, instr, args, t, path)
	callee := a.context(t.fn, p.entry)
	callee.addCaller(ctx)
	callee.calledFrom(ctx, instr)
	if a.visiting != nil {
		a.visiting.note(callee)
	}
	result := resultOf(instr)
	var out []locks.Path
	for _, e := range callee.exits {
		after := path
		after.Held = a.heldAfter(p, callee, e, path.Held)
		if result != nil {
			after = after.LearnOutcome(result, e.outcome)
		}
		out, _ = locks.Merge(out, []locks.Path{after})
	}
	return out
}

// heldAfter is what a caller holds after a call that ended in an exit of the callee.
func (a *Analysis) heldAfter(p *crossing, callee *Context, e exit, before locks.Set) locks.Set {
	var after locks.Set
	caller := make(map[*locks.Place]bool) // what the callee's names of the caller's locks are
	for i, h := range before {
		kept := true
		for _, name := range p.names[i] {
			caller[name] = true
			if callee.entry.held.Find(name) < 0 {
				continue // the callee is entered in a context that stands for many
			}
			j := e.held.Find(name)
			if j < 0 {
				kept = false
				continue
			}
			h.Mode = min(h.Mode, e.held[j].Mode)
			h.Maybe = h.Maybe || e.held[j].Maybe
		}
		if kept {
			after = after.With(h)
		}
	}
	for _, h := range e.held {
		if caller[h.Lock] {
			continue
		}
		name := a.Places.Up(h.Lock, p.pairs)
		if name == nil && (h.Lock.IsGlobal() || p.target.sameFrame) {
			name = h.Lock
		}
		if name != nil && after.Find(name) < 0 {
			h.Lock = name
			after = after.With(h.Side())
		}
	}
	return after
}

// A crossing is what a call takes into the function that it calls: the entry, with the caller's places and locks in the
// callee's terms.
type crossing struct {
	target target
	entry  entry
	pairs  []locks.Pair // places that both sides have names for
	// names are, for each lock that the caller holds, its names on the other side.
	names [][]*locks.Place
}

// newCrossing returns what a call takes into one of its targets.
func (a *Analysis) newCrossing(ctx *Context, instr ssa.Instruction, args []ssa.Value, t target, path locks.Path) *crossing {
	p := &crossing{target: t, pairs: append(slices.Clip(t.pairs), a.values.ArgumentPairs(t.fn, args)...)}
	p.entry = entry{unnamedLocks: ctx.entry.unnamedLocks, fromOutside: t.byInterface}
	if (ctx.entry.beforeGoroutines || ctx.entry.byOnce) && !a.spawnedBefore(ctx.fn, instr) {
		p.entry.beforeGoroutines, p.entry.byOnce = ctx.entry.beforeGoroutines, ctx.entry.byOnce
	}
	a.passArguments(ctx, p, args, path)
	a.passLocks(ctx, p, path.Held)
	a.passObjects(ctx, instr, p)
	return p
}

// passArguments takes along what is known of the arguments: booleans and functions.
func (a *Analysis) passArguments(ctx *Context, p *crossing, args []ssa.Value, path locks.Path) {
	for i, param := range p.target.fn.Params {
		if i >= len(args) {
			break
		}
		c := locks.Condition{Value: param}
		if holds, known := path.Known(locks.Condition{Value: args[i]}); known {
			p.entry.facts = append(p.entry.facts, locks.Fact{Condition: c, Holds: holds})
		} else if k, ok := args[i].(*ssa.Const); ok && k.Value != nil && k.Value.Kind() == constant.Bool {
			p.entry.facts = append(p.entry.facts, locks.Fact{Condition: c, Holds: constant.BoolVal(k.Value)})
		}
		if _, ok := param.Type().Underlying().(*types.Signature); ok {
			if f, certain := a.functions(ctx, args[i]); certain && len(f) == 1 && !f[0].unknownFrame {
				p.entry.functions = append(p.entry.functions, functionArgument{param, a.carryIntoCall(f[0], p.pairs)})
			}
		}
	}
	if p.target.sameFrame {
		p.entry.functions = append(p.entry.functions, ctx.entry.functions...)
	}
}

// passLocks takes along the locks that are held, under the names that the callee has for
// them. A lock without a name there is kept under the caller's name if a function that
// knows it is taken along too. So is the lock of what a function that calls itself began with, as that
// of a tree: the way back to it grows with each call, and becomes too long for a name.
func (a *Analysis) passLocks(ctx *Context, p *crossing, held locks.Set) {
	p.names = make([][]*locks.Place, len(held))
	for i, h := range held {
		var names []*locks.Place
		if p.target.sameFrame {
			names = append(names, h.Lock)
		} else {
			if q := a.Places.Down(h.Lock, p.pairs); q != nil {
				names = append(names, q)
			}
			if h.Lock.IsGlobal() {
				names = append(names, h.Lock)
			}
		}
		switch {
		case len(names) > 0:
		case p.target.unknownFrame:
			p.entry.unnamedLocks = true
		case len(p.entry.functions) > 0 || len(p.target.pairs) > 0 || p.target.fn == ctx.fn && isAbove(h.Lock, p.pairs):
			names = append(names, h.Lock)
		}
		for j, name := range names {
			there := locks.Held{Lock: name, Mode: h.Mode, Maybe: h.Maybe}.Side()
			names[j] = there.Lock
			p.entry.held = p.entry.held.With(there)
		}
		p.names[i] = names
	}
}

// isAbove reports whether a lock belongs to what leads to a parameter, which a call takes further down.
func isAbove(lock *locks.Place, pairs []locks.Pair) bool {
	return lock.Ups() > 0 && slices.ContainsFunc(pairs, func(p locks.Pair) bool { return p.Caller.Root() == lock.Root() })
}

// passObjects takes along which objects are fresh, and which come from outside.
func (a *Analysis) passObjects(ctx *Context, instr ssa.Instruction, p *crossing) {
	e := &p.entry
	for _, pair := range p.pairs {
		if pair.Callee.Parent() != nil {
			continue
		}
		if ctx.isOutsideParameter(pair.Caller) {
			e.outsideParameters = addPlace(e.outsideParameters, pair.Callee)
		}
		if a.isFresh(ctx, pair.Caller, instr) {
			e.fresh = addPlace(e.fresh, pair.Callee)
		}
	}
	if p.target.sameFrame {
		for _, f := range a.freshRoots(ctx, p.target.fn, instr) {
			e.fresh = addPlace(e.fresh, f)
		}
		e.outsideParameters = ctx.entry.outsideParameters
		for _, param := range ctx.fn.Params {
			if q := a.Places.Root(param); ctx.isOutsideParameter(q) {
				e.outsideParameters = addPlace(slices.Clip(e.outsideParameters), q)
			}
		}
	}
	slices.SortFunc(e.fresh, func(p, q *locks.Place) int { return p.ID() - q.ID() })
}

func addPlace(list []*locks.Place, p *locks.Place) []*locks.Place {
	if slices.Contains(list, p) {
		return list
	}
	return append(list, p)
}

// isOutsideParameter reports whether a place is a parameter whose object code that is not
// at hand passed to the program: what the object belongs to is not known here.
func (ctx *Context) isOutsideParameter(p *locks.Place) bool {
	_, parameter := p.Root().(*ssa.Parameter)
	return p.Parent() == nil && parameter && (ctx.entry.fromOutside || slices.Contains(ctx.entry.outsideParameters, p))
}

// carryIntoCall takes a function value along into a call: what it shares with the caller becomes
// what it shares with the callee.
func (a *Analysis) carryIntoCall(t target, pairs []locks.Pair) target {
	out := target{fn: t.fn}
	for _, p := range t.pairs {
		if q := a.Places.Down(p.Caller, pairs); q != nil {
			out.pairs = append(out.pairs, locks.Pair{Callee: p.Callee, Caller: q})
		}
	}
	for _, p := range pairs {
		made := p.Caller
		if !t.sameFrame {
			if made = a.Places.Down(p.Caller, t.pairs); made == nil {
				continue
			}
		}
		out.pairs = append(out.pairs, locks.Pair{Callee: made, Caller: p.Callee})
	}
	return out
}

// callBack follows the functions that a call of unknown code is given: as closures, or as
// the methods of an interface. Code that may keep them may call them at any time: if a lock
// is held there, it cannot be told whether it is when they run. The standard library does
// not call what it keeps before it returns.
func (a *Analysis) callBack(ctx *Context, instr ssa.CallInstruction, paths []locks.Path) {
	c := instr.Common()
	once := c.StaticCallee() != nil && isOnce(c.StaticCallee())
	visit := func(t target) {
		if len(t.fn.Blocks) == 0 {
			return
		}
		for _, path := range paths {
			if keepsCallbacks(c) {
				a.context(t.fn, entry{unnamedLocks: len(path.Held) > 0 && !isStandard(c)})
				continue
			}
			p := a.newCrossing(ctx, instr, nil, t, path)
			p.entry.byOnce = p.entry.byOnce || once
			a.context(t.fn, p.entry).calledFrom(ctx, instr)
		}
	}
	for _, t := range a.callbacks(ctx, c) {
		visit(t)
	}
}

// callbacks returns the functions of the program that a call gives away.
func (a *Analysis) callbacks(ctx *Context, c *ssa.CallCommon) []target {
	var all []target
	sig := c.Signature()
	args := c.Args
	if sig.Recv() != nil && !c.IsInvoke() && len(args) > 0 {
		args = args[1:]
	}
	for i, arg := range args {
		if _, ok := arg.Type().Underlying().(*types.Signature); ok {
			list, _ := a.functions(ctx, arg)
			all = append(all, list...)
			continue
		}
		if made, ok := arg.(*ssa.MakeInterface); ok && i < sig.Params().Len() {
			all = append(all, a.methodsGiven(made, sig.Params().At(i).Type())...)
		}
	}
	return all
}

// methodsGiven are the methods of the program that code can call that is given an object as
// an interface.
func (a *Analysis) methodsGiven(made *ssa.MakeInterface, as types.Type) []target {
	iface, ok := as.Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	var all []target
	for m := range iface.Methods() {
		for _, fn := range a.methods[m.Name()] {
			if types.Identical(deref(fn.Signature.Recv().Type()), deref(made.X.Type())) {
				all = append(all, target{fn: fn, pairs: []locks.Pair{{Callee: a.Places.Root(fn.Params[0]), Caller: a.values.Place(made.X)}}})
			}
		}
	}
	return all
}

// spawn follows a go statement: the goroutine begins with nothing held.
func (a *Analysis) spawn(ctx *Context, instr *ssa.Go) {
	c := instr.Common()
	if _, ok := a.values.Op(c); ok {
		return
	}
	targets, _ := a.targets(ctx, c)
	for _, t := range targets {
		e := entry{}
		if t.sameFrame {
			e.functions = ctx.entry.functions
		}
		a.context(t.fn, e).calledFrom(ctx, instr)
	}
}
