package guard

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// An object is fresh from its allocation until it is published: stored where
// others can find it, sent, or given to another goroutine. What happens to it
// before is initialisation and needs no lock.

// isFresh reports whether the object at the root of a path is fresh at an
// instruction.
func (a *analysis) isFresh(n *node, p *path, at ssa.Instruction) bool {
	return p != nil && p.root != nil && a.bornFresh(n, p.root) && !a.publishedBefore(n, p.root, at)
}

// bornFresh reports whether a value is a new object.
func (a *analysis) bornFresh(n *node, v ssa.Value) bool {
	if slices.Contains(n.context.fresh, a.paths.root(v)) {
		return true
	}
	switch v := v.(type) {
	case *ssa.Alloc:
		return v.Parent() == n.fn
	case *ssa.MakeMap, *ssa.MakeSlice:
		return v.Parent() == n.fn
	case *ssa.Call:
		return v.Parent() == n.fn && a.returnsFresh(v.Call.StaticCallee(), 0)
	case *ssa.Extract:
		call, ok := v.Tuple.(*ssa.Call)
		return ok && v.Parent() == n.fn && a.returnsFresh(call.Call.StaticCallee(), v.Index)
	}
	return false
}

type resultKey struct {
	fn    *ssa.Function
	index int
}

// returnsFresh reports whether a function returns an object that it made and kept
// to itself: whether it is a constructor.
func (a *analysis) returnsFresh(fn *ssa.Function, index int) bool {
	if fn == nil || len(fn.Blocks) == 0 {
		return false
	}
	key := resultKey{fn, index}
	if r, ok := a.constructors[key]; ok {
		return r
	}
	a.constructors[key] = false
	n := &node{fn: fn}
	found := false
	for _, b := range fn.Blocks {
		r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		v := r.Results[index]
		if k, ok := v.(*ssa.Const); ok && k.Value == nil {
			continue
		}
		p := a.path(v)
		if p.parent != nil || !a.isFresh(n, p, r) {
			return false
		}
		found = true
	}
	a.constructors[key] = found
	return found
}

// freshRoots returns what is fresh at the call of a closure among the variables
// and objects that the closure can reach.
func (a *analysis) freshRoots(n *node, closure *ssa.Function, at ssa.Instruction) []*path {
	var list []*path
	add := func(p *path) {
		if p.parent == nil && a.isFresh(n, p, at) && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	for _, p := range n.context.fresh {
		add(p)
	}
	for _, f := range closure.FreeVars {
		add(a.paths.root(a.path(f).root))
		if v := a.variable(f); v != nil {
			add(a.paths.root(v))
		}
	}
	return list
}

// variable returns the local variable that an address is that of.
func (a *analysis) variable(addr ssa.Value) *ssa.Alloc {
	for {
		switch v := addr.(type) {
		case *ssa.Alloc:
			return v
		case *ssa.FreeVar:
			if addr = a.binding(v); addr == nil {
				return nil
			}
		default:
			return nil
		}
	}
}

type publicationKey struct {
	n *node
	v ssa.Value
}

func (a *analysis) publishedBefore(n *node, v ssa.Value, at ssa.Instruction) bool {
	key := publicationKey{n, v}
	sites, ok := a.publications[key]
	if !ok {
		a.publications[key] = nil // where objects that hold each other end
		sites = a.findPublications(n, v)
		a.publications[key] = sites
	}
	birth, _ := v.(ssa.Instruction)
	for _, s := range sites {
		if a.reaches(s, at, birth) {
			return true
		}
	}
	return false
}

// findPublications returns the instructions of a function that publish an object.
func (a *analysis) findPublications(n *node, v ssa.Value) []ssa.Instruction {
	var sites []ssa.Instruction
	is := func(x ssa.Value) bool { return a.leadsTo(x, v) }
	into := func(addr ssa.Value, i ssa.Instruction) {
		r := a.path(addr).root
		if w := a.variable(addr); w != nil && w.Parent() == n.fn {
			r = w
		}
		switch {
		case r == v:
		case a.bornFresh(n, r):
			a.publishedBefore(n, r, i)
			sites = append(sites, a.publications[publicationKey{n, r}]...)
		default:
			sites = append(sites, i)
		}
	}
	for _, b := range n.fn.Blocks {
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.Store:
				if is(i.Val) {
					into(i.Addr, i)
				}
			case *ssa.MapUpdate:
				if is(i.Value) || is(i.Key) {
					into(i.Map, i)
				}
			case *ssa.Send:
				if is(i.X) {
					sites = append(sites, i)
				}
			case *ssa.Go:
				if is(i.Call.Value) || slices.ContainsFunc(i.Call.Args, is) {
					sites = append(sites, i)
				}
			case ssa.CallInstruction:
				if a.callPublishes(i, v) {
					sites = append(sites, i)
				}
			}
		}
	}
	return sites
}

func (a *analysis) callPublishes(i ssa.CallInstruction, v ssa.Value) bool {
	c := i.Common()
	fn := c.StaticCallee()
	if m, ok := c.Value.(*ssa.MakeClosure); ok {
		fn = m.Fn.(*ssa.Function)
		if a.leadsTo(m, v) && len(a.findPublications(&node{fn: fn}, v)) > 0 {
			return true
		}
	}
	for k, arg := range c.Args {
		if !a.leadsTo(arg, v) {
			continue
		}
		if fn == nil || len(fn.Blocks) == 0 {
			if _, builtin := c.Value.(*ssa.Builtin); !builtin && startsGoroutine(c) {
				return true
			}
			continue
		}
		if a.publishesParameter(fn, k) {
			return true
		}
	}
	return false
}

func (a *analysis) publishesParameter(fn *ssa.Function, index int) bool {
	if index >= len(fn.Params) {
		return false
	}
	key := resultKey{fn, index}
	if r, ok := a.publishers[key]; ok {
		return r
	}
	a.publishers[key] = false
	r := len(a.findPublications(&node{fn: fn}, fn.Params[index])) > 0
	a.publishers[key] = r
	return r
}

// leadsTo reports whether whoever has x has the object v: x is a pointer to it or
// into it, or a closure over it.
func (a *analysis) leadsTo(x, v ssa.Value) bool { return a.leads(x, v, 0) }

func (a *analysis) leads(x, v ssa.Value, depth int) bool {
	const deepest = 6 // closures may hold each other, and themselves
	if x == v {
		return true
	}
	if x == nil || depth > deepest || !isReference(x.Type()) {
		return false
	}
	p := a.path(x)
	if p.parent == nil && p.root == v {
		return true
	}
	if m, ok := p.root.(*ssa.MakeClosure); ok && p.parent == nil && m != v {
		for _, b := range m.Bindings {
			if a.leads(b, v, depth+1) {
				return true
			}
		}
		return false
	}
	for inner := x; ; {
		switch y := inner.(type) {
		case *ssa.FieldAddr:
			inner = y.X
		case *ssa.IndexAddr:
			inner = y.X
		case *ssa.MakeInterface:
			inner = y.X
		case *ssa.ChangeType:
			inner = y.X
		default:
			return inner != x && (inner == v || a.path(inner) == a.paths.root(v))
		}
	}
}

// reaches reports whether control can come from one instruction to another without
// passing a third.
func (a *analysis) reaches(from, to, avoid ssa.Instruction) bool {
	if from == nil || to == nil || from.Block() == nil || to.Block() == nil || from.Parent() != to.Parent() {
		return false
	}
	fb, tb := from.Block(), to.Block()
	fi, ti := a.index(from), a.index(to)
	ab, ai := (*ssa.BasicBlock)(nil), -1
	if avoid != nil && avoid.Block() != nil {
		ab, ai = avoid.Block(), a.index(avoid)
	}
	if fb == tb && fi < ti && !(ab == fb && ai > fi && ai < ti) {
		return true
	}
	if ab == fb && ai > fi {
		return false
	}
	seen := make([]bool, len(from.Parent().Blocks))
	todo := slices.Clone(fb.Succs)
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[b.Index] {
			continue
		}
		seen[b.Index] = true
		if b == tb && !(ab == b && ai < ti) {
			return true
		}
		if ab != b {
			todo = append(todo, b.Succs...)
		}
	}
	return false
}

// index returns an instruction's place in its block.
func (a *analysis) index(i ssa.Instruction) int {
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
func (a *analysis) spawnedBefore(fn *ssa.Function, at ssa.Instruction) bool {
	for _, s := range a.spawnSites(fn) {
		if a.reaches(s, at, nil) {
			return true
		}
	}
	return false
}

func (a *analysis) spawnSites(fn *ssa.Function) []ssa.Instruction {
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
				callee := i.Call.StaticCallee()
				if m, ok := i.Call.Value.(*ssa.MakeClosure); ok {
					callee = m.Fn.(*ssa.Function)
				}
				if callee != nil && len(callee.Blocks) > 0 {
					if len(a.spawnSites(callee)) > 0 {
						sites = append(sites, i)
					}
				} else if startsGoroutine(&i.Call) || callee != nil && callee.Name() == "Parallel" {
					sites = append(sites, i)
				}
			}
		}
	}
	a.spawns[fn] = sites
	return sites
}
