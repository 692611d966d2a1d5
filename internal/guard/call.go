package guard

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A target is a function that a call may reach.
type target struct {
	fn    *ssa.Function
	pairs []pair // places that both sides know, besides the arguments
	// shared: a closure of the calling function, so that every path means the
	// same in both.
	shared bool
	// loose: found by the type of an interface alone.
	loose bool
	// vague: one of several that may be reached, of which it is not known in which
	// frame it was made. The lock that is held is then not one that it can name.
	vague bool
}

// maxTargets bounds the methods that a call through an interface is taken to reach.
const maxTargets = 12

// call applies a call, or a deferred one, to a state.
func (a *analysis) call(n *node, instr ssa.CallInstruction, state []disjunct) []disjunct {
	c := instr.Common()
	if op, v := a.operationOf(c); op != noOperation {
		return a.operate(instr, op, a.path(v), state)
	}
	if _, ok := c.Value.(*ssa.Builtin); ok {
		return state
	}
	targets, exact := a.targets(n, c)
	if len(targets) == 0 {
		a.callback(n, instr, state)
		return state
	}
	var out []disjunct
	for _, d := range state {
		for _, t := range targets {
			after := a.enter(n, instr, t, d)
			if exact {
				out, _ = merge(out, after)
			}
		}
	}
	if !exact {
		return state
	}
	return out
}

// operate applies an operation on a lock.
func (a *analysis) operate(instr ssa.CallInstruction, op operation, p *path, state []disjunct) []disjunct {
	var out []disjunct
	for _, d := range state {
		locked := d
		switch op {
		case lock, tryLock:
			locked.locks = d.locks.with(held{lock: p, write: true}.plain())
		case readLock, tryReadLock:
			locked.locks = d.locks.with(held{lock: p})
		case unlock, readUnlock:
			locked.locks = d.locks.without(held{lock: p}.plain().lock)
		}
		if op == tryLock || op == tryReadLock {
			locked = learnResult(locked, instr, "true")
			out, _ = merge(out, []disjunct{learnResult(d, instr, "false")})
		}
		out, _ = merge(out, []disjunct{locked})
	}
	return out
}

// enter applies the call of one target to one way.
func (a *analysis) enter(n *node, instr ssa.CallInstruction, t target, d disjunct) []disjunct {
	c := instr.Common()
	args := c.Args
	if c.IsInvoke() {
		args = append([]ssa.Value{c.Value}, c.Args...)
	}
	ctx, pairs, forms := a.contextOf(n, instr, args, t, d)
	callee := a.node(t.fn, ctx)
	callee.callers[n] = true
	if callee.from == nil && callee != n {
		callee.from, callee.call = n, instr
	}
	var out []disjunct
	for _, e := range callee.exits {
		after := d
		after.locks = nil
		used := make(map[*path]bool)
		for i, h := range d.locks {
			kept := true
			for _, f := range forms[i] {
				used[f] = true
				if callee.context.locks.find(f) < 0 {
					continue // it is entered in a context that stands for many
				}
				if j := e.locks.find(f); j < 0 {
					kept = false
				} else {
					h.write = h.write && e.locks[j].write
					h.may = h.may || e.locks[j].may
				}
			}
			if kept {
				after.locks = after.locks.with(h)
			}
		}
		for _, h := range e.locks {
			if used[h.lock] {
				continue
			}
			p := a.paths.up(h.lock, pairs)
			if _, global := h.lock.root.(*ssa.Global); p == nil && (global || t.shared) {
				p = h.lock
			}
			if p != nil && after.locks.find(p) < 0 {
				h.lock = p
				after.locks = after.locks.with(h.plain())
			}
		}
		out, _ = merge(out, []disjunct{learnResult(after, instr, e.result)})
	}
	return out
}

// contextOf says what a target is entered with: its context, the places that both
// sides know, and the names that each held lock has on the other side.
func (a *analysis) contextOf(n *node, instr ssa.Instruction, args []ssa.Value, t target, d disjunct) (context, []pair, [][]*path) {
	pairs := append(slices.Clip(t.pairs), a.argumentPairs(t.fn, args)...)
	ctx := context{assumed: n.context.assumed, external: t.loose, quiet: n.context.quiet && !a.spawnedBefore(n.fn, instr)}
	for i, p := range t.fn.Params {
		if i >= len(args) {
			break
		}
		if holds, known := d.known(condition{value: args[i]}); known {
			ctx.facts = append(ctx.facts, fact{condition{value: p}, holds})
		} else if k, ok := args[i].(*ssa.Const); ok && k.Value != nil && k.Value.Kind() == constant.Bool {
			ctx.facts = append(ctx.facts, fact{condition{value: p}, constant.BoolVal(k.Value)})
		}
		if _, ok := p.Type().Underlying().(*types.Signature); ok {
			if f, exact := a.functions(n, args[i]); exact && len(f) == 1 && !f[0].vague {
				ctx.funcs = append(ctx.funcs, funcArgument{p, a.carry(f[0], pairs)})
			}
		}
	}
	if t.shared {
		ctx.funcs = append(ctx.funcs, n.context.funcs...)
	}
	forms := make([][]*path, len(d.locks))
	for i, h := range d.locks {
		var names []*path
		if t.shared {
			names = append(names, h.lock)
		} else {
			if q := a.paths.down(h.lock, pairs); q != nil {
				names = append(names, q)
			}
			if _, ok := h.lock.root.(*ssa.Global); ok {
				names = append(names, h.lock)
			}
		}
		switch {
		case len(names) > 0:
		case t.vague:
			ctx.assumed = true
		case len(ctx.funcs) > 0 || len(t.pairs) > 0:
			names = append(names, h.lock) // for the closure, which knows it
		}
		for j, q := range names {
			names[j] = held{lock: q}.plain().lock
			ctx.locks = ctx.locks.with(held{lock: q, write: h.write, may: h.may}.plain())
		}
		forms[i] = names
	}
	for _, p := range pairs {
		if p.callee.parent == nil && n.isOutsider(p.caller) && !slices.Contains(ctx.outsiders, p.callee) {
			ctx.outsiders = append(ctx.outsiders, p.callee)
		}
		if p.callee.parent == nil && a.isFresh(n, p.caller, instr) && !slices.Contains(ctx.fresh, p.callee) {
			ctx.fresh = append(ctx.fresh, p.callee)
		}
	}
	if t.shared {
		for _, p := range a.freshRoots(n, t.fn, instr) {
			if !slices.Contains(ctx.fresh, p) {
				ctx.fresh = append(ctx.fresh, p)
			}
		}
	}
	if t.shared {
		ctx.outsiders = n.context.outsiders
		for _, p := range n.fn.Params {
			if q := a.paths.root(p); n.isOutsider(q) && !slices.Contains(ctx.outsiders, q) {
				ctx.outsiders = append(slices.Clip(ctx.outsiders), q)
			}
		}
	}
	slices.SortFunc(ctx.fresh, func(p, q *path) int { return p.id - q.id })
	return ctx, pairs, forms
}

// isOutsider reports whether an object was handed to the program's functions by code
// that is not at hand: nobody here knows what it belongs to.
func (n *node) isOutsider(p *path) bool {
	_, parameter := p.root.(*ssa.Parameter)
	return p.parent == nil && parameter && (n.context.external || slices.Contains(n.context.outsiders, p))
}

// carry takes a function value along into a call: what it shares with the caller
// becomes what it shares with the callee.
func (a *analysis) carry(t target, pairs []pair) target {
	out := target{fn: t.fn}
	for _, p := range t.pairs {
		if q := a.paths.down(p.caller, pairs); q != nil {
			out.pairs = append(out.pairs, pair{p.callee, q})
		}
	}
	for _, p := range pairs {
		made := p.caller
		if !t.shared {
			if made = a.paths.down(p.caller, t.pairs); made == nil {
				continue
			}
		}
		out.pairs = append(out.pairs, pair{made, p.callee})
	}
	return out
}

// targets returns what a call may reach. They are exact if it reaches one of them
// for sure; otherwise its effect on locks is taken to be none.
func (a *analysis) targets(n *node, c *ssa.CallCommon) (list []target, exact bool) {
	if c.IsInvoke() {
		return a.implementations(c), false
	}
	list, exact = a.functions(n, c.Value)
	list = slices.DeleteFunc(slices.Clone(list), func(t target) bool { return len(t.fn.Blocks) == 0 })
	return list, exact
}

// functions returns the functions that a value may be.
func (a *analysis) functions(n *node, v ssa.Value) (list []target, exact bool) {
	return a.functionsAt(n, v, make(map[ssa.Value]bool))
}

func (a *analysis) functionsAt(n *node, v ssa.Value, seen map[ssa.Value]bool) ([]target, bool) {
	if seen[v] {
		return nil, true
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Function:
		return []target{{fn: v}}, true
	case *ssa.MakeClosure:
		return []target{a.closure(v)}, true
	case *ssa.Parameter:
		for _, f := range n.context.funcs {
			if f.param == ssa.Value(v) {
				return []target{f.target}, true
			}
		}
	case *ssa.ChangeType:
		return a.functionsAt(n, v.X, seen)
	case *ssa.Phi:
		var all []target
		exact := true
		for _, e := range v.Edges {
			if k, ok := e.(*ssa.Const); ok && k.Value == nil {
				continue
			}
			list, sure := a.functionsAt(n, e, seen)
			exact = exact && sure
			all = append(all, list...)
		}
		return all, exact
	case *ssa.Call:
		return a.returned(v, 0)
	case *ssa.Extract:
		if call, ok := v.Tuple.(*ssa.Call); ok {
			return a.returned(call, v.Index)
		}
	case *ssa.UnOp:
		if v.Op != token.MUL {
			break
		}
		addr := v.X
		for {
			f, ok := addr.(*ssa.FreeVar)
			if !ok {
				break
			}
			b := a.binding(f)
			if b == nil {
				return nil, false
			}
			addr = b
		}
		switch addr := addr.(type) {
		case *ssa.Alloc:
			if s := a.onlyStore(addr); s != nil {
				return a.functionsAt(n, s, seen)
			}
		case *ssa.FieldAddr:
			return a.stored[a.field(addr.X.Type(), addr.Field)], false
		case *ssa.Global:
			return a.stored[addr.Object()], false
		}
	}
	return nil, false
}

// closure returns what a closure calls, as seen from where it is made.
func (a *analysis) closure(v *ssa.MakeClosure) target {
	fn := v.Fn.(*ssa.Function)
	if fn.Parent() != nil && len(a.closures[fn]) == 1 {
		return target{fn: fn, shared: true}
	}
	t := target{fn: fn}
	for i, f := range fn.FreeVars {
		t.pairs = append(t.pairs, pair{a.paths.root(f), a.path(v.Bindings[i])})
	}
	return t
}

// returned returns the functions that a call of a known function returns.
func (a *analysis) returned(call *ssa.Call, index int) ([]target, bool) {
	fn := call.Call.StaticCallee()
	if fn == nil || len(fn.Blocks) == 0 {
		return nil, false
	}
	pairs := a.argumentPairs(fn, call.Call.Args)
	var all []target
	for _, b := range fn.Blocks {
		r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		if k, ok := r.Results[index].(*ssa.Const); ok && k.Value == nil {
			continue
		}
		var t target
		switch v := r.Results[index].(type) {
		case *ssa.MakeClosure:
			t = a.closure(v)
		case *ssa.Function:
			t = target{fn: v}
		default:
			return nil, false
		}
		if t.shared {
			t.shared, t.pairs = false, pairs
		} else {
			made := t.pairs
			t.pairs = nil
			for _, p := range made {
				if q := a.paths.up(p.caller, pairs); q != nil {
					t.pairs = append(t.pairs, pair{p.callee, q})
				}
			}
		}
		all = append(all, t)
	}
	return all, len(all) > 0
}

// implementations returns the methods of the analysed packages that a call
// through an interface may reach.
func (a *analysis) implementations(c *ssa.CallCommon) []target {
	iface, ok := c.Value.Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	key := methodKey{iface, c.Method.Name()}
	if list, ok := a.reached[key]; ok {
		return list
	}
	var list []target
	for _, m := range a.methods[c.Method.Name()] {
		if types.Implements(m.Signature.Recv().Type(), iface) {
			list = append(list, target{fn: m, loose: true})
		}
	}
	if len(list) > maxTargets {
		list = nil
	}
	a.reached[key] = list
	return list
}

type methodKey struct {
	iface  *types.Interface
	method string
}

// callback follows the functions that a call of unknown code is given: as closures,
// or as the methods of an interface. Unknown code is taken to call them before it
// returns, as sort.Slice and heap.Push do, unless its name says otherwise.
func (a *analysis) callback(n *node, instr ssa.CallInstruction, state []disjunct) {
	c := instr.Common()
	later := startsGoroutine(c)
	once := c.StaticCallee() != nil && strings.HasPrefix(c.StaticCallee().RelString(nil), "(*sync.Once).")
	visit := func(t target, args []pair) {
		if len(t.fn.Blocks) == 0 {
			return
		}
		t.pairs = append(slices.Clip(t.pairs), args...)
		if later {
			a.node(t.fn, context{})
			return
		}
		for _, d := range state {
			ctx, _, _ := a.contextOf(n, instr, nil, t, d)
			ctx.quiet = ctx.quiet || once
			callee := a.node(t.fn, ctx)
			if callee.from == nil && callee != n {
				callee.from, callee.call = n, instr
			}
		}
	}
	sig := c.Signature()
	args := c.Args
	if sig.Recv() != nil && !c.IsInvoke() && len(args) > 0 {
		args = args[1:]
	}
	for i, arg := range args {
		if _, ok := arg.Type().Underlying().(*types.Signature); ok {
			list, _ := a.functions(n, arg)
			for _, t := range list {
				visit(t, nil)
			}
			continue
		}
		made, ok := arg.(*ssa.MakeInterface)
		if !ok || i >= sig.Params().Len() {
			continue
		}
		iface, ok := sig.Params().At(i).Type().Underlying().(*types.Interface)
		if !ok {
			continue
		}
		for m := range iface.Methods() {
			for _, fn := range a.methods[m.Name()] {
				if types.Identical(deref(fn.Signature.Recv().Type()), deref(made.X.Type())) {
					visit(target{fn: fn}, []pair{{a.paths.root(fn.Params[0]), a.path(made.X)}})
				}
			}
		}
	}
}

// startsGoroutine reports whether unknown code runs its callbacks later, or on
// another goroutine. The names are those that packages of the field use for it.
func startsGoroutine(c *ssa.CallCommon) bool {
	name := ""
	switch fn := c.StaticCallee(); {
	case c.IsInvoke():
		name = c.Method.Name()
	case fn != nil:
		name = fn.Name()
	}
	for _, word := range []string{"Go", "TryGo", "AfterFunc", "Handle", "HandleFunc", "HandlerFunc", "Submit", "Schedule", "Spawn",
		"Async", "Notify", "SetFinalizer", "AddCleanup", "Cleanup", "Subscribe", "On", "Register", "RegisterFunc", "OnceFunc"} {
		if name == word || len(word) > 2 && strings.HasPrefix(name, word) {
			return true
		}
	}
	return false
}

// spawn follows a go statement.
func (a *analysis) spawn(n *node, instr *ssa.Go) {
	c := instr.Common()
	if _, v := a.operationOf(c); v != nil {
		return
	}
	targets, _ := a.targets(n, c)
	for _, t := range targets {
		ctx := context{}
		if t.shared {
			ctx.funcs = n.context.funcs
		}
		callee := a.node(t.fn, ctx)
		if callee.from == nil && callee != n {
			callee.from, callee.call = n, instr
		}
	}
}
