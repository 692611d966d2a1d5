package guard

import (
	"go/constant"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A context is what is known where a function is entered. Each function is
// analysed once per context that it is called in.
type context struct {
	locks    lockset
	fresh    []*path // roots of objects that nobody else can reach yet
	facts    []fact  // constant boolean arguments
	funcs    []funcArgument
	quiet    bool // no other goroutine runs yet
	external bool // entered by code that is not at hand
	// outsiders are parameters that such code passed on to the program, and the
	// program to this function.
	outsiders []*path
	assumed   bool // the caller may hold locks that cannot be named here
}

// A funcArgument is a parameter that is known to hold one function.
type funcArgument struct {
	param ssa.Value
	target
}

func (c *context) key() string {
	var b strings.Builder
	for _, h := range c.locks {
		b.WriteString(strconv.Itoa(h.lock.id))
		if h.write {
			b.WriteByte('w')
		}
		if h.may {
			b.WriteByte('?')
		}
		b.WriteByte(' ')
	}
	for _, p := range c.fresh {
		b.WriteString("f" + strconv.Itoa(p.id) + " ")
	}
	for _, p := range c.outsiders {
		b.WriteString("o" + strconv.Itoa(p.id) + " ")
	}
	for _, f := range c.facts {
		b.WriteString(f.value.Name() + f.constant + strconv.FormatBool(f.holds) + " ")
	}
	for _, f := range c.funcs {
		b.WriteString(f.param.Name() + "=" + f.fn.String())
		for _, p := range f.pairs {
			b.WriteString(strconv.Itoa(p.callee.id) + ":" + strconv.Itoa(p.caller.id) + ",")
		}
	}
	for _, flag := range []bool{c.quiet, c.external, c.assumed} {
		b.WriteString(strconv.FormatBool(flag)[:1])
	}
	return b.String()
}

// A node is a function in a context.
type node struct {
	fn      *ssa.Function
	context context
	in      map[*ssa.BasicBlock][]disjunct
	exits   []exit
	callers map[*node]bool
	from    *node // the first caller
	call    ssa.CallInstruction
	queued  bool
}

// An exit is one way in which a function returns.
type exit struct {
	locks  lockset
	result string // what the last result is known to be: "true", "false", "nil", "non-nil" or ""
}

// maxContexts and maxSmallContexts bound the contexts that one function is analysed
// in, a small one (such as one that runs a closure under a lock) in more of them.
// Calls beyond that share one in which nothing is known.
const (
	maxContexts      = 24
	maxSmallContexts = 400
	smallBlocks      = 10
)

func (a *analysis) node(fn *ssa.Function, c context) *node {
	byKey := a.nodes[fn]
	if byKey == nil {
		byKey = make(map[string]*node)
		a.nodes[fn] = byKey
	}
	key := c.key()
	if n := byKey[key]; n != nil {
		return n
	}
	limit := maxContexts
	if len(fn.Blocks) <= smallBlocks {
		limit = maxSmallContexts
	}
	if len(byKey) >= limit {
		for _, f := range c.funcs {
			a.node(f.fn, context{assumed: true})
		}
		c = context{assumed: true}
		key = "many"
		if n := byKey[key]; n != nil {
			return n
		}
	}
	n := &node{fn: fn, context: c, callers: make(map[*node]bool)}
	byKey[key] = n
	a.all = append(a.all, n)
	a.enqueue(n)
	return n
}

func (a *analysis) enqueue(n *node) {
	if !n.queued {
		n.queued = true
		a.queue = append(a.queue, n)
	}
}

// settle analyses nodes until nothing changes.
func (a *analysis) settle() {
	for len(a.queue) > 0 {
		n := a.queue[len(a.queue)-1]
		a.queue = a.queue[:len(a.queue)-1]
		n.queued = false
		if a.runs[n]++; a.runs[n] > 60 {
			continue // a last resort against states that swing between two values
		}
		exits := a.analyse(n)
		if !slices.EqualFunc(exits, n.exits, func(x, y exit) bool { return x.result == y.result && slices.Equal(x.locks, y.locks) }) {
			n.exits = exits
			for c := range n.callers {
				a.enqueue(c)
			}
		}
	}
}

// analyse runs the data flow through one function.
func (a *analysis) analyse(n *node) []exit {
	n.in = make(map[*ssa.BasicBlock][]disjunct)
	if len(n.fn.Blocks) == 0 {
		return []exit{{locks: n.context.locks}}
	}
	entry := n.fn.Blocks[0]
	n.in[entry] = []disjunct{{locks: n.context.locks, facts: n.context.facts}}
	pending := make([]bool, len(n.fn.Blocks))
	pending[0] = true
	var exits []exit
	for budget := 40 * len(n.fn.Blocks); budget > 0; budget-- {
		i := slices.Index(pending, true)
		if i < 0 {
			break
		}
		pending[i] = false
		b := n.fn.Blocks[i]
		state := n.in[b]
		for _, instr := range b.Instrs {
			if len(state) == 0 {
				break
			}
			if r, ok := instr.(*ssa.Return); ok {
				exits = addExits(exits, r, state)
			}
			state = a.transfer(n, instr, state)
		}
		for s, succ := range b.Succs {
			out := a.branch(n, b, s, state)
			if len(out) == 0 {
				continue
			}
			merged, changed := merge(n.in[succ], out)
			if changed {
				n.in[succ] = merged
				pending[succ.Index] = true
			}
		}
	}
	slices.SortFunc(exits, func(x, y exit) int {
		if c := strings.Compare(x.result, y.result); c != 0 {
			return c
		}
		return slices.CompareFunc(x.locks, y.locks, func(g, h held) int { return g.lock.id - h.lock.id })
	})
	return exits
}

// branch filters a state by the edge that is taken.
func (a *analysis) branch(n *node, b *ssa.BasicBlock, succ int, state []disjunct) []disjunct {
	branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok || len(state) == 0 {
		return state
	}
	c, negated := conditionOf(branch.Cond)
	want := (succ == 0) != negated
	repeated := a.repeatedConditions(n.fn)[c]
	var out []disjunct
	for _, d := range state {
		holds, known := d.known(c)
		if known && holds != want {
			continue
		}
		if !known && repeated {
			d = d.learn(fact{c, want})
		}
		out = append(out, d)
	}
	return out
}

// repeatedConditions returns the conditions that branches test, and whether they are
// worth remembering: more than one branch tests them, or they are about what the
// function returns.
func (a *analysis) repeatedConditions(fn *ssa.Function) map[condition]bool {
	if r, ok := a.repeated[fn]; ok {
		return r
	}
	count := make(map[condition]bool)
	for _, b := range fn.Blocks {
		if len(b.Instrs) == 0 {
			continue
		}
		if i, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If); ok {
			c, _ := conditionOf(i.Cond)
			_, seen := count[c]
			count[c] = seen || isReturned(c.value)
		}
	}
	a.repeated[fn] = count
	return count
}

func isReturned(v ssa.Value) bool {
	refs := v.Referrers()
	return refs != nil && slices.ContainsFunc(*refs, func(i ssa.Instruction) bool {
		_, ok := i.(*ssa.Return)
		return ok
	})
}

func addExits(exits []exit, r *ssa.Return, state []disjunct) []exit {
	for _, d := range state {
		e := exit{locks: d.locks}
		if len(r.Results) > 0 {
			e.result = resultOf(r.Results[len(r.Results)-1], d)
		}
		if !slices.ContainsFunc(exits, func(x exit) bool { return x.result == e.result && slices.Equal(x.locks, e.locks) }) {
			exits = append(exits, e)
		}
	}
	const most = 6
	if len(exits) > most {
		var state []disjunct
		for _, e := range exits {
			state = append(state, disjunct{locks: e.locks})
		}
		exits = []exit{{locks: flatten(state).locks}}
	}
	return exits
}

// resultOf says what is known of a returned value.
func resultOf(v ssa.Value, d disjunct) string {
	if k, ok := v.(*ssa.Const); ok {
		switch {
		case k.Value == nil:
			return "nil"
		case k.Value.Kind() == constant.Bool:
			return k.Value.String()
		}
		return ""
	}
	if t, ok := v.Type().Underlying().(*types.Basic); ok && t.Kind() == types.Bool {
		c, negated := conditionOf(v)
		if holds, known := d.known(c); known {
			return strconv.FormatBool(holds != negated)
		}
		return ""
	}
	if notNil(v) {
		return "non-nil"
	}
	for _, f := range d.facts {
		if f.value == v && strings.HasPrefix(f.constant, "=nil") {
			if f.holds {
				return "nil"
			}
			return "non-nil"
		}
	}
	return ""
}

// notNil recognises new values, and errors: those that a package declares, and
// those that are made where they are returned.
func notNil(v ssa.Value) bool {
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

// learnResult records what a call is known to have returned.
func learnResult(d disjunct, call ssa.CallInstruction, result string) disjunct {
	v := call.Value()
	if result == "" || v == nil {
		return d
	}
	var last ssa.Value = v
	if t, ok := v.Type().(*types.Tuple); ok {
		last = nil
		for _, r := range *v.Referrers() {
			if e, ok := r.(*ssa.Extract); ok && e.Index == t.Len()-1 {
				last = e
			}
		}
	}
	if last == nil {
		return d
	}
	switch result {
	case "true", "false":
		return d.learn(fact{condition{value: last}, result == "true"})
	case "nil", "non-nil":
		return d.learn(fact{condition{last, "=nil:" + types.TypeString(last.Type(), nil)}, result == "nil"})
	}
	panic("guard: a result that is " + result)
}

// transfer applies one instruction to a state.
func (a *analysis) transfer(n *node, instr ssa.Instruction, state []disjunct) []disjunct {
	if a.record != nil {
		a.record(instr, state)
	}
	if v, ok := instr.(ssa.Value); ok {
		for i, d := range state {
			if f := d.forget(v); len(f.facts) != len(d.facts) {
				state = slices.Clone(state)
				state[i] = f
			}
		}
	}
	switch instr := instr.(type) {
	case *ssa.Call:
		return a.call(n, instr, state)
	case *ssa.Go:
		a.spawn(n, instr)
	case *ssa.Defer:
		out := slices.Clone(state)
		for i := range out {
			if !slices.Contains(out[i].defers, instr) {
				out[i].defers = append(slices.Clip(out[i].defers), instr)
			}
		}
		return out
	case *ssa.RunDefers:
		var out []disjunct
		for _, d := range state {
			defers := d.defers
			d.defers = nil
			one := []disjunct{d}
			for _, def := range slices.Backward(defers) {
				one = a.call(n, def, one)
			}
			out, _ = merge(out, one)
		}
		return out
	}
	return state
}
