package lockset

import (
	"cmp"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A Context is a function together with what is known where it is entered.
type Context struct {
	fn      *ssa.Function
	entry   entry
	before  [][]locks.Path // the paths that lead to each block
	exits   []exit
	changes int        // of the exits
	visits  []visit    // that the last analysis made
	callers []*Context // in the order in which they were met, so that every run is the same
	// caller is the context that was seen first to call this one, and call is where.
	caller  *Context
	call    ssa.CallInstruction
	pending bool
}

// An exit is one way in which a function returns.
type exit struct {
	held    locks.Set
	outcome locks.Outcome // of the last result
}

func (e exit) equal(f exit) bool { return e.outcome == f.outcome && slices.Equal(e.held, f.held) }

// A Caller is a function that calls, and where.
type Caller struct {
	Func *ssa.Function
	At   token.Pos
	Call ssa.CallInstruction
}

// Callers returns the calls by which the context was reached first, innermost first, and at
// most so many.
func (ctx *Context) Callers(most int) []Caller {
	var all []Caller
	for ; ctx.caller != nil && len(all) < most; ctx = ctx.caller {
		all = append(all, Caller{ctx.caller.fn, ctx.call.Pos(), ctx.call})
	}
	return all
}

// MadeByCaller reports whether the object of an observation is an argument, which the only caller in
// the observation's contexts has made.
func (a *Analysis) MadeByCaller(o Observation) bool {
	if o.Base == nil {
		return false
	}
	given, ok := o.Base.Root().(*ssa.Parameter)
	if !ok {
		return false
	}
	index := slices.Index(given.Parent().Params, given)
	for _, ctx := range append([]*Context{o.Context}, o.Others...) {
		if ctx.fn != given.Parent() || len(ctx.callers) != 1 || ctx.caller != ctx.callers[0] || ctx.entry.fromOutside {
			return false
		}
		args := ctx.call.Common().Args
		if ctx.call.Common().IsInvoke() || index >= len(args) || !a.bornFresh(ctx.caller, args[index]) {
			return false
		}
	}
	return true
}

// addReachedFrom adds the functions from whose calls the context is reached, at any depth, its own
// among them.
func (ctx *Context) addReachedFrom(all map[*ssa.Function]bool) {
	ctx.visitCallers(func(c *Context) (further bool) {
		all[c.fn] = true
		return true
	})
}

// isOnlyFromSome reports whether the context is one of some functions, or is reached by their calls alone, at
// any depth. What is started as a goroutine is reached by no call.
func (ctx *Context) isOnlyFromSome(is func(*ssa.Function) bool) bool {
	only := true
	ctx.visitCallers(func(c *Context) (further bool) {
		if !only || is(c.fn) {
			return false
		}
		only = len(c.callers) > 0 && !c.entry.fromOutside
		return only
	})
	return only
}

// isInGoroutine reports whether all that the context is reached from is started as a goroutine.
func (ctx *Context) isInGoroutine() bool {
	started := true
	ctx.visitCallers(func(c *Context) (further bool) {
		_, byGo := c.call.(*ssa.Go)
		started = started && (byGo || len(c.callers) > 0) && !c.entry.fromOutside
		return true
	})
	return started
}

// visitCallers visits the context and, where visit says so, those that call it, each once.
func (ctx *Context) visitCallers(visit func(*Context) (further bool)) {
	seen := map[*Context]bool{ctx: true}
	todo := []*Context{ctx}
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !visit(c) {
			continue
		}
		for _, caller := range c.callers {
			if !seen[caller] {
				seen[caller] = true
				todo = append(todo, caller)
			}
		}
	}
}

// maxContexts and maxSmallContexts bound the contexts of one function; a small one, such as
// one that runs a closure under a lock, has more of them. Calls beyond that share one
// context, in which nothing is known.
const (
	maxContexts      = 24
	maxSmallContexts = 400
	smallBlocks      = 10
	sharedKey        = "shared"
)

// context returns the context of a function with an entry, and has it analysed if it is new.
func (a *Analysis) context(fn *ssa.Function, e entry) *Context {
	byKey := a.contexts[fn]
	if byKey == nil {
		byKey = make(map[string]*Context)
		a.contexts[fn] = byKey
	}
	key := e.key()
	if ctx := byKey[key]; ctx != nil {
		return ctx
	}
	limit := maxContexts
	if len(fn.Blocks) <= smallBlocks {
		limit = maxSmallContexts
	}
	if len(byKey) >= limit {
		for _, f := range e.functions {
			a.context(f.fn, entry{unnamedLocks: true})
		}
		e, key = entry{unnamedLocks: true}, sharedKey
		if ctx := byKey[key]; ctx != nil {
			return ctx
		}
	}
	ctx := &Context{fn: fn, entry: e}
	byKey[key] = ctx
	a.all = append(a.all, ctx)
	a.enqueue(ctx)
	return ctx
}

// addCaller notes a context that is to be analysed again when the exits of this one change.
func (ctx *Context) addCaller(caller *Context) {
	if !slices.Contains(ctx.callers, caller) {
		ctx.callers = append(ctx.callers, caller)
	}
}

// calledFrom notes a call that leads to the context.
func (ctx *Context) calledFrom(caller *Context, call ssa.CallInstruction) {
	if ctx.caller == nil && ctx != caller {
		ctx.caller, ctx.call = caller, call
	}
}

func (a *Analysis) enqueue(ctx *Context) {
	if !ctx.pending {
		ctx.pending = true
		a.pending = append(a.pending, ctx)
	}
}

// follow analyses from the functions where execution comes in, then from the functions that
// nothing was seen to reach: stored closures, methods that only unknown code calls. An
// unreached function may call others, so each is followed before the next one is looked for,
// in an order in which callers are likely to come first: exported methods of an unexported
// type, which are reached through an interface or a struct that embeds it, before the other
// functions, and functions before the closures in them.
func (a *Analysis) follow(fns []*ssa.Function) {
	for _, fn := range fns {
		if e, ok := a.programEntry(fn); ok {
			a.context(fn, e)
		}
	}
	a.analysePending()
	unreached := slices.DeleteFunc(slices.Clone(fns), func(fn *ssa.Function) bool { return fn.Synthetic != "" })
	slices.SortStableFunc(unreached, func(f, g *ssa.Function) int {
		return cmp.Or(nesting(f)-nesting(g), compareBool(token.IsExported(g.Name()), token.IsExported(f.Name())))
	})
	// What is known of the instances of a generic function that are called holds for the function, not for
	// literals in them that only code outside calls.
	called := make(map[*ssa.Function]bool)
	for _, fn := range fns {
		if origin := fn.Origin(); origin != nil && a.contexts[fn] != nil {
			called[origin] = true
		}
	}
	for _, fn := range unreached {
		if a.contexts[fn] == nil && !called[topmost(fn)] {
			a.context(fn, a.outsideEntry(fn))
			a.analysePending()
		}
	}
}

// topmost is the function that a literal stands in: of an instance, the instance.
func topmost(fn *ssa.Function) *ssa.Function {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	return fn
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// nesting is the number of functions that a literal stands in.
func nesting(fn *ssa.Function) int {
	n := 0
	for ; fn.Parent() != nil; fn = fn.Parent() {
		n++
	}
	return n
}

// maxRuns bounds how often one context is analysed: a last resort against exits that swing
// between two values.
const maxRuns = 60

// analysePending analyses contexts, and again those that call a context whose exits
// changed, until nothing changes.
func (a *Analysis) analysePending() {
	for len(a.pending) > 0 {
		ctx := a.pending[len(a.pending)-1]
		a.pending = a.pending[:len(a.pending)-1]
		ctx.pending = false
		if a.runs[ctx]++; a.runs[ctx] > maxRuns {
			continue
		}
		exits := a.analyse(ctx)
		if !slices.EqualFunc(exits, ctx.exits, exit.equal) {
			ctx.exits = exits
			ctx.changes++
			for _, c := range ctx.callers {
				a.enqueue(c)
			}
		}
	}
}
