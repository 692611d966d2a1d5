package lockset

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A target is a function that a call may reach.
type target struct {
	fn    *ssa.Function
	pairs []locks.Pair // places that both sides have names for, besides the arguments
	// sameFrame: a closure of the calling function, so that every place means the same in
	// both.
	sameFrame bool
	// byInterface: found by the type of an interface alone.
	byInterface bool
	// unknownFrame: one of several functions that a field or variable may hold, of which it
	// is not known in which frame it was made. The locks that are held have no name in it.
	unknownFrame bool
}

// maxTargets bounds the methods that a call through an interface is taken to reach.
const maxTargets = 12

// A callGraph is what is known of the functions that values may be.
type callGraph struct {
	stored      map[types.Object][]target // functions that a field or variable is given
	methods     map[string][]*ssa.Function
	implementer map[interfaceMethod][]target
	usedAsValue map[*ssa.Function]bool // functions that are used other than by calling them
}

type interfaceMethod struct {
	iface *types.Interface
	name  string
}

func newCallGraph(values *locks.Values, fns []*ssa.Function) callGraph {
	g := callGraph{stored: make(map[types.Object][]target), methods: make(map[string][]*ssa.Function),
		implementer: make(map[interfaceMethod][]target), usedAsValue: make(map[*ssa.Function]bool)}
	for _, fn := range fns {
		if fn.Signature.Recv() != nil && fn.Synthetic == "" {
			g.methods[fn.Name()] = append(g.methods[fn.Name()], fn)
		}
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				g.noteValues(fn, i)
				if s, ok := i.(*ssa.Store); ok {
					g.noteStore(values, s)
				}
			}
		}
	}
	return g
}

// noteValues notes the functions that an instruction uses other than by calling them. The
// wrapper of a method value calls the method: it counts as such a use.
func (g *callGraph) noteValues(in *ssa.Function, i ssa.Instruction) {
	call, isCall := i.(ssa.CallInstruction)
	bound := strings.HasPrefix(in.Synthetic, "bound method")
	for _, op := range i.Operands(nil) {
		fn, ok := (*op).(*ssa.Function)
		if ok && (bound || !isCall || call.Common().Value != ssa.Value(fn)) {
			g.usedAsValue[Outermost(fn)] = true
		}
	}
}

// noteStore notes the function that a field or variable is given.
func (g *callGraph) noteStore(values *locks.Values, s *ssa.Store) {
	t := target{unknownFrame: true}
	switch v := s.Val.(type) {
	case *ssa.MakeClosure:
		t.fn = v.Fn.(*ssa.Function)
	case *ssa.Function:
		t.fn = v
	default:
		return
	}
	var o types.Object
	switch at := s.Addr.(type) {
	case *ssa.FieldAddr:
		o = values.Field(at.X.Type(), at.Field)
	case *ssa.Global:
		o = at.Object()
	}
	if o != nil && len(g.stored[o]) < maxTargets {
		g.stored[o] = append(g.stored[o], t)
	}
}

// targets returns what a call may reach. It is certain if the call reaches one of them;
// otherwise its effect on locks is taken to be none.
func (a *Analysis) targets(ctx *Context, c *ssa.CallCommon) (list []target, certain bool) {
	if c.IsInvoke() {
		if fn, _ := locks.Invoked(c); fn != nil && len(fn.Blocks) > 0 {
			return []target{{fn: fn}}, true
		}
		return a.implementations(c), false
	}
	list, certain = a.functions(ctx, c.Value)
	list = slices.DeleteFunc(slices.Clone(list), func(t target) bool { return len(t.fn.Blocks) == 0 })
	return list, certain
}

// functions returns the functions that a value may be.
func (a *Analysis) functions(ctx *Context, v ssa.Value) (list []target, certain bool) {
	return a.functionsOnce(ctx, v, make(map[ssa.Value]bool))
}

func (a *Analysis) functionsOnce(ctx *Context, v ssa.Value, seen map[ssa.Value]bool) ([]target, bool) {
	if seen[v] {
		return nil, true
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Function:
		return []target{plainFunction(v)}, true
	case *ssa.MakeClosure:
		return []target{a.targetOfClosure(v)}, true
	case *ssa.Parameter:
		for _, f := range ctx.entry.functions {
			if f.parameter == ssa.Value(v) {
				return []target{f.target}, true
			}
		}
	case *ssa.ChangeType:
		return a.functionsOnce(ctx, v.X, seen)
	case *ssa.Phi:
		var all []target
		certain := true
		for _, e := range v.Edges {
			if k, ok := e.(*ssa.Const); ok && k.Value == nil {
				continue
			}
			list, sure := a.functionsOnce(ctx, e, seen)
			certain = certain && sure
			all = append(all, list...)
		}
		return all, certain
	case *ssa.Call:
		return a.functionsReturned(v, 0)
	case *ssa.Extract:
		if call, ok := v.Tuple.(*ssa.Call); ok {
			return a.functionsReturned(call, v.Index)
		}
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return a.functionsInVariable(ctx, v.X, seen)
		}
	}
	return nil, false
}

// functionsInVariable returns the functions that a variable may hold.
func (a *Analysis) functionsInVariable(ctx *Context, addr ssa.Value, seen map[ssa.Value]bool) ([]target, bool) {
	for {
		f, ok := addr.(*ssa.FreeVar)
		if !ok {
			break
		}
		if addr = a.values.Binding(f); addr == nil {
			return nil, false
		}
	}
	switch addr := addr.(type) {
	case *ssa.Alloc:
		if s := locks.OnlyStore(addr); s != nil {
			return a.functionsOnce(ctx, s, seen)
		}
	case *ssa.FieldAddr:
		return a.stored[a.values.Field(addr.X.Type(), addr.Field)], false
	case *ssa.Global:
		return a.stored[addr.Object()], false
	}
	return nil, false
}

// plainFunction returns what a function that is no closure calls. A literal that captures
// nothing still runs in the frame of the function around it, under its locks.
func plainFunction(fn *ssa.Function) target {
	return target{fn: fn, sameFrame: fn.Parent() != nil}
}

// targetOfClosure returns what a closure calls, as seen from where it is made.
func (a *Analysis) targetOfClosure(v *ssa.MakeClosure) target {
	fn := v.Fn.(*ssa.Function)
	if fn.Parent() != nil && len(a.values.Closures(fn)) == 1 {
		return target{fn: fn, sameFrame: true}
	}
	t := target{fn: fn}
	for i, f := range fn.FreeVars {
		t.pairs = append(t.pairs, locks.Pair{Callee: a.Places.Root(f), Caller: a.values.Place(v.Bindings[i])})
	}
	return t
}

// functionsReturned returns the functions that a call of a known function returns.
func (a *Analysis) functionsReturned(call *ssa.Call, index int) ([]target, bool) {
	fn := call.Call.StaticCallee()
	if fn == nil || len(fn.Blocks) == 0 {
		return nil, false
	}
	pairs := a.values.ArgumentPairs(fn, call.Call.Args)
	var all []target
	for _, b := range fn.Blocks {
		r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		result := r.Results[index]
		if named, ok := result.(*ssa.ChangeType); ok { // to iter.Seq, for example
			result = named.X
		}
		var t target
		switch v := result.(type) {
		case *ssa.MakeClosure:
			t = a.targetOfClosure(v)
		case *ssa.Function:
			t = plainFunction(v)
		case *ssa.Const:
			if v.Value == nil {
				continue
			}
			return nil, false
		default:
			return nil, false
		}
		all = append(all, a.outOf(t, pairs))
	}
	return all, len(all) > 0
}

// outOf translates a function that a call returns into the terms of the caller.
func (a *Analysis) outOf(t target, pairs []locks.Pair) target {
	if t.sameFrame {
		t.sameFrame, t.pairs = false, pairs
		return t
	}
	made := t.pairs
	t.pairs = nil
	for _, p := range made {
		if q := a.Places.Up(p.Caller, pairs); q != nil {
			t.pairs = append(t.pairs, locks.Pair{Callee: p.Callee, Caller: q})
		}
	}
	return t
}

// implementations returns the methods of the program that a call through an interface may
// reach; none if they are too many.
func (a *Analysis) implementations(c *ssa.CallCommon) []target {
	iface, ok := c.Value.Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	key := interfaceMethod{iface, c.Method.Name()}
	if list, ok := a.implementer[key]; ok {
		return list
	}
	var list []target
	for _, m := range a.methods[c.Method.Name()] {
		if types.Implements(m.Signature.Recv().Type(), iface) {
			list = append(list, target{fn: m, byInterface: true})
		}
	}
	if len(list) > maxTargets {
		list = nil
	}
	a.implementer[key] = list
	return list
}

// keepsCallbacks reports whether the functions and methods that unknown code is given may be
// called later, or on another goroutine.
func keepsCallbacks(c *ssa.CallCommon) bool {
	if c.IsInvoke() {
		return locks.KeepsCallbacks(c.Method)
	}
	fn := c.StaticCallee()
	if fn == nil {
		return !isLoop(c)
	}
	o, ok := fn.Object().(*types.Func)
	return !ok || locks.KeepsCallbacks(o)
}

// isLoop reports whether a call is a loop over an iterator, which is done with the loop's body when it returns.
func isLoop(c *ssa.CallCommon) bool {
	if len(c.Args) != 1 {
		return false
	}
	body, ok := c.Args[0].(*ssa.MakeClosure)
	if !ok {
		return false
	}
	return body.Fn.(*ssa.Function).Synthetic == "range-over-func yield"
}

// isStandard reports whether a call is of a function of the standard library.
func isStandard(c *ssa.CallCommon) bool {
	fn := c.Method
	if !c.IsInvoke() && c.StaticCallee() != nil {
		fn, _ = c.StaticCallee().Object().(*types.Func)
	}
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	first, _, _ := strings.Cut(fn.Pkg().Path(), "/")
	return !strings.Contains(first, ".")
}

func isOnce(fn *ssa.Function) bool { return strings.HasPrefix(fn.RelString(nil), "(*sync.Once).") }
