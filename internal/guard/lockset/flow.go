package lockset

import (
	"cmp"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// analyse follows all paths through one context and returns how they end. Of what the last analysis of the context
// did, it does again only what comes after a call whose exits have changed.
func (a *Analysis) analyse(ctx *Context) []exit {
	if len(ctx.fn.Blocks) == 0 {
		return []exit{{held: ctx.entry.held}}
	}
	known, begun := ctx.stillHold()
	if len(known) > 0 && begun == nil {
		return ctx.exits
	}
	ctx.before = make([][]locks.Path, len(ctx.fn.Blocks))
	ctx.before[0] = []locks.Path{{Held: ctx.entry.held, Facts: ctx.entry.facts}}
	pending := make([]bool, len(ctx.fn.Blocks))
	pending[0] = true
	var exits []exit
	for _, v := range known {
		pending[v.block] = false
		for _, c := range v.changed {
			ctx.before[c.block] = c.paths
			pending[c.block] = true
		}
		exits = slices.Clip(v.exits)
	}
	ctx.visits = known
	for budget := 40*len(pending) - len(known); budget > 0; budget-- {
		v := visit{block: slices.Index(pending, true)}
		if begun != nil {
			v, begun = *begun, nil
		}
		if v.block < 0 {
			break
		}
		pending[v.block] = false
		exits = a.visit(ctx, &v, exits)
		for _, c := range v.changed {
			pending[c.block] = true
		}
		ctx.visits = append(ctx.visits, v)
	}
	exits = slices.Clone(exits)
	slices.SortFunc(exits, func(e, f exit) int {
		if c := cmp.Compare(e.outcome, f.outcome); c != 0 {
			return c
		}
		return slices.CompareFunc(e.held, f.held, func(g, h locks.Held) int { return g.Lock.ID() - h.Lock.ID() })
	})
	return exits
}

// visit goes through a block with the paths that are known to lead to it, or through the rest of one, and
// takes them on to the blocks behind it. It returns the exits of the context, of which some are known
// already.
func (a *Analysis) visit(ctx *Context, v *visit, exits []exit) []exit {
	a.visiting = v
	defer func() { a.visiting = nil }()
	b := ctx.fn.Blocks[v.block]
	from, paths := 0, ctx.before[b.Index]
	if v.before != nil {
		from, paths = v.at, v.before
	}
	for i, instr := range b.Instrs[from:] {
		if len(paths) == 0 {
			break
		}
		v.at, v.before = from+i, paths
		if r, ok := instr.(*ssa.Return); ok {
			exits = addExits(exits, r, paths)
		}
		paths = a.transfer(ctx, instr, paths)
		a.steps++
	}
	for s, succ := range b.Succs {
		merged, changed := locks.Merge(ctx.before[succ.Index], a.branch(ctx.fn, b, s, paths))
		if changed {
			ctx.before[succ.Index] = merged
			v.changed = append(v.changed, arrival{succ.Index, merged})
		}
	}
	v.exits = exits
	return exits
}

// transfer applies one instruction to the paths that lead to it.
func (a *Analysis) transfer(ctx *Context, instr ssa.Instruction, paths []locks.Path) []locks.Path {
	if a.observe != nil {
		a.observe(instr, paths)
	}
	if v, ok := instr.(ssa.Value); ok {
		paths = forget(paths, v)
	}
	switch instr := instr.(type) {
	case *ssa.Call:
		return a.call(ctx, instr, paths)
	case *ssa.Go:
		a.spawn(ctx, instr)
	case *ssa.Defer:
		out := slices.Clone(paths)
		for i := range out {
			out[i] = out[i].Defer(instr)
		}
		return out
	case *ssa.RunDefers:
		var out []locks.Path
		for _, path := range paths {
			deferred := path.Deferred
			path.Deferred = nil
			after := []locks.Path{path}
			for _, d := range slices.Backward(deferred) {
				after = a.call(ctx, d.(*ssa.Defer), after)
			}
			out, _ = locks.Merge(out, after)
		}
		return out
	}
	return paths
}

// forget drops what is known about a value that is computed again. The parts of a tuple are
// computed with it: what a call returns is known before it is extracted.
func forget(paths []locks.Path, v ssa.Value) []locks.Path {
	if _, ok := v.(*ssa.Extract); ok {
		return paths
	}
	about := func(n locks.Node) bool {
		e, ok := n.(*ssa.Extract)
		return n == locks.Node(v) || ok && e.Tuple == v
	}
	for i, path := range paths {
		if without := path.Forget(about); len(without.Facts) != len(path.Facts) {
			paths = slices.Clone(paths)
			paths[i] = without
		}
	}
	return paths
}

// branch returns the paths that take one of the edges at the end of a block.
func (a *Analysis) branch(fn *ssa.Function, b *ssa.BasicBlock, succ int, paths []locks.Path) []locks.Path {
	branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok || len(paths) == 0 {
		return paths
	}
	c, negated := conditionOf(branch.Cond)
	want := (succ == 0) != negated
	remember := a.rememberedConditions(fn)[c]
	var out []locks.Path
	for _, path := range paths {
		holds, known := path.Known(c)
		if known && holds != want {
			continue
		}
		if !known && remember {
			path = path.Learn(locks.Fact{Condition: c, Holds: want})
		}
		out = append(out, path)
	}
	return out
}

// conditionOf puts what a branch tests into the form that two tests of the same thing
// share. The second result says that the branch is taken if the condition does not hold.
func conditionOf(v ssa.Value) (c locks.Condition, negated bool) {
	for {
		switch x := v.(type) {
		case *ssa.UnOp:
			if x.Op == token.NOT {
				v, negated = x.X, !negated
				continue
			}
		case *ssa.BinOp:
			if k, ok := x.Y.(*ssa.Const); ok && (x.Op == token.EQL || x.Op == token.NEQ) {
				text := locks.IsNil
				if k.Value != nil {
					text = "=" + k.String()
				}
				return locks.Condition{Value: x.X, Constant: text}, negated != (x.Op == token.NEQ)
			}
		}
		return locks.Condition{Value: v}, negated
	}
}

// rememberedConditions returns the conditions that branches test, and whether their
// outcomes are worth remembering: more than one branch tests them, or they are about what
// the function returns.
func (a *Analysis) rememberedConditions(fn *ssa.Function) map[locks.Condition]bool {
	if r, ok := a.remembered[fn]; ok {
		return r
	}
	all := make(map[locks.Condition]bool)
	for _, b := range fn.Blocks {
		if len(b.Instrs) == 0 {
			continue
		}
		if i, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If); ok {
			c, _ := conditionOf(i.Cond)
			_, again := all[c]
			all[c] = again || isReturned(c.Value.(ssa.Value))
		}
	}
	a.remembered[fn] = all
	return all
}

func isReturned(v ssa.Value) bool {
	refs := v.Referrers()
	return refs != nil && slices.ContainsFunc(*refs, func(i ssa.Instruction) bool {
		_, ok := i.(*ssa.Return)
		return ok
	})
}

// maxExits bounds the exits of one context that are kept apart.
const maxExits = 6

func addExits(exits []exit, r *ssa.Return, paths []locks.Path) []exit {
	for _, path := range paths {
		e := exit{held: path.Held}
		if len(r.Results) > 0 {
			e.outcome = outcomeOf(r.Results[len(r.Results)-1], path)
		}
		if !slices.ContainsFunc(exits, e.equal) {
			exits = append(exits, e)
		}
	}
	if len(exits) > maxExits {
		var all []locks.Path
		for _, e := range exits {
			all = append(all, locks.Path{Held: e.held})
		}
		exits = []exit{{held: locks.Flatten(all).Held}}
	}
	return exits
}

// outcomeOf says what is known of a returned value.
func outcomeOf(v ssa.Value, path locks.Path) locks.Outcome {
	if k, ok := v.(*ssa.Const); ok {
		switch {
		case k.Value == nil:
			return locks.Nil
		case k.Value.Kind() != constant.Bool:
			return locks.Anything
		case constant.BoolVal(k.Value):
			return locks.True
		}
		return locks.False
	}
	if t, ok := v.Type().Underlying().(*types.Basic); ok && t.Kind() == types.Bool {
		c, negated := conditionOf(v)
		holds, known := path.Known(c)
		switch {
		case !known:
			return locks.Anything
		case holds != negated:
			return locks.True
		}
		return locks.False
	}
	if isNotNil(v) {
		return locks.NonNil
	}
	if o := path.OutcomeOf(v); o == locks.Nil || o == locks.NonNil {
		return o
	}
	return locks.Anything
}

// isNotNil recognises new values, and errors: those that a package declares, and those that
// are made where they are returned.
func isNotNil(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.MakeInterface, *ssa.Alloc, *ssa.MakeClosure, *ssa.Function:
		return true
	case *ssa.UnOp:
		_, global := v.X.(*ssa.Global)
		return global && types.Identical(v.Type(), types.Universe.Lookup("error").Type())
	case *ssa.Call:
		if fn := v.Call.StaticCallee(); fn != nil {
			switch fn.RelString(nil) {
			case "errors.New", "fmt.Errorf":
				return true
			}
		}
	}
	return false
}

// resultOf returns the value that the last result of a call becomes, nil if nothing uses it.
func resultOf(call ssa.CallInstruction) locks.Node {
	v := call.Value()
	if v == nil {
		return nil
	}
	t, ok := v.Type().(*types.Tuple)
	if !ok {
		return v
	}
	for _, r := range *v.Referrers() {
		if e, ok := r.(*ssa.Extract); ok && e.Index == t.Len()-1 {
			return e
		}
	}
	return nil
}
