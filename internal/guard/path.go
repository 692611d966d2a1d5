package guard

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A path names a place as seen from one function: a root value, then steps. A
// pointer and what it points to have the same path, because Go's selectors do not
// tell them apart either; so s.child.mu is three nodes whether child is a pointer
// or not. Paths are interned: equal paths are the same pointer.
type path struct {
	parent *path     // nil for a root
	step   step      // from parent
	root   ssa.Value // nil for the root of relations
	depth  int
	ups    int // how many steps go up
	id     int
}

// A step selects a field, or an element of a slice, map or array. A step up goes
// the other way: s.child taken one step up by child is s. That is how the lock of
// a parent is named in a function that knows only the child.
type step struct {
	field *types.Var // element for an element
	key   any        // of an element: the index value, or the text of a constant
	up    bool
}

// element stands for the elements of a slice, map or array.
var element = types.NewVar(token.NoPos, nil, "[]", types.Typ[types.Invalid])

const (
	maxDepth = 8 // longer paths are cut: their value becomes a root of its own
	maxUps   = 3
)

// paths interns paths.
type paths struct {
	roots  map[ssa.Value]*path
	next   map[edge]*path
	fields map[token.Pos]*types.Var
	locals map[token.Pos]*types.Var // by the position of their declaration
	here   *path                    // the root of relations
	count  int
}

type edge struct {
	from *path
	step step
}

func newPaths() *paths {
	t := &paths{roots: make(map[ssa.Value]*path), next: make(map[edge]*path), fields: make(map[token.Pos]*types.Var), locals: make(map[token.Pos]*types.Var)}
	t.here = t.node(&path{})
	return t
}

func (t *paths) node(p *path) *path {
	t.count++
	p.id = t.count
	return p
}

func (t *paths) root(v ssa.Value) *path {
	p := t.roots[v]
	if p == nil {
		p = t.node(&path{root: v})
		t.roots[v] = p
	}
	return p
}

// canonical returns the one variable that stands for all that are declared at the
// same place: those of the instances of a generic type, and those of the variants
// of a package.
func (t *paths) canonical(v *types.Var) *types.Var {
	v = v.Origin()
	if !v.Pos().IsValid() {
		return v
	}
	if c := t.fields[v.Pos()]; c != nil {
		return c
	}
	t.fields[v.Pos()] = v
	return v
}

// extend takes one step. Steps that undo each other vanish, except up to a
// container and down to an element, which may be another one. It returns nil if
// the path becomes too long.
func (t *paths) extend(p *path, s step) *path {
	if p.parent != nil && p.step.field == s.field && p.step.up != s.up && (s.field != element || s.up) {
		return p.parent
	}
	e := edge{p, s}
	if n := t.next[e]; n != nil {
		return n
	}
	n := &path{parent: p, step: s, root: p.root, depth: p.depth + 1, ups: p.ups}
	if s.up {
		n.ups++
	}
	if n.depth > maxDepth || n.ups > maxUps {
		return nil
	}
	t.next[e] = t.node(n)
	return n
}

// relate says how to get from one path to another: up to what both have in common,
// then down. It returns nil if they have nothing in common.
func (t *paths) relate(from, to *path) *path {
	if from == nil || to == nil || from.root != to.root {
		return nil
	}
	a, b := from, to
	var down []step
	rel := t.here
	up := func() bool {
		s := a.step
		s.up = !s.up
		if s.up {
			s.key = nil
		}
		rel = t.extend(rel, s)
		a = a.parent
		return rel != nil
	}
	for a != b {
		if a.depth >= b.depth {
			if !up() {
				return nil
			}
		} else {
			down = append(down, b.step)
			b = b.parent
		}
	}
	for i := len(down) - 1; i >= 0; i-- {
		if down[i].field == element && rel.parent != nil && rel.step.field == element && rel.step.up {
			return nil // another element than the one that from is in
		}
		if rel = t.extend(rel, down[i]); rel == nil {
			return nil
		}
	}
	return rel
}

// apply takes the steps of a relation.
func (t *paths) apply(p, rel *path) *path {
	if rel.parent == nil {
		return p
	}
	if p = t.apply(p, rel.parent); p == nil {
		return nil
	}
	return t.extend(p, rel.step)
}

// steps returns the steps of a path in order.
func (p *path) steps() []step {
	if p.parent == nil {
		return nil
	}
	return append(p.parent.steps(), p.step)
}

// last returns the field or variable at the end of a path, nil if it is neither.
func (t *paths) last(p *path) types.Object {
	if p.parent != nil {
		return p.step.field
	}
	switch r := p.root.(type) {
	case *ssa.Global:
		if v, ok := r.Object().(*types.Var); ok {
			return t.canonical(v)
		}
	case *ssa.Alloc:
		if v := t.locals[r.Pos()]; v != nil {
			return v
		}
	}
	return nil
}

// String renders the steps as Go does, a step up as "^child".
func (p *path) String() string {
	var parts []string
	switch r := p.root.(type) {
	case nil:
	case *ssa.Alloc:
		parts = append(parts, r.Comment)
	default:
		parts = append(parts, r.Name())
	}
	for _, s := range p.steps() {
		name := s.field.Name()
		if s.up {
			name = "^" + name
		}
		parts = append(parts, name)
	}
	return strings.ReplaceAll(strings.Join(parts, "."), ".[]", "[]")
}

// A pair says that two paths, of a called function and of its caller, name the
// same place.
type pair struct{ callee, caller *path }

// down translates a path of the caller into the terms of the callee, by the pair
// that needs the fewest steps up. It returns nil if no pair reaches it.
func (t *paths) down(p *path, pairs []pair) *path {
	var best *path
	for _, pr := range pairs {
		if rel := t.relate(pr.caller, p); rel != nil {
			if q := t.apply(pr.callee, rel); q != nil && (best == nil || q.ups < best.ups || q.ups == best.ups && q.depth < best.depth) {
				best = q
			}
		}
	}
	return best
}

// up translates a path of the callee into the terms of the caller.
func (t *paths) up(p *path, pairs []pair) *path {
	var best *path
	for _, pr := range pairs {
		if rel := t.relate(pr.callee, p); rel != nil {
			if q := t.apply(pr.caller, rel); q != nil && (best == nil || q.ups < best.ups || q.ups == best.ups && q.depth < best.depth) {
				best = q
			}
		}
	}
	return best
}

// path returns the path of a value.
func (a *analysis) path(v ssa.Value) *path {
	if p := a.pathOf[v]; p != nil {
		return p
	}
	a.pathOf[v] = a.paths.root(v) // where a cycle ends
	p := a.newPath(v)
	if p == nil {
		p = a.paths.root(v)
	}
	if alias := a.alias(p); alias != nil {
		p = alias
	}
	a.pathOf[v] = p
	return p
}

func (a *analysis) newPath(v ssa.Value) *path {
	switch v := v.(type) {
	case *ssa.FieldAddr:
		return a.paths.extend(a.path(v.X), step{field: a.field(v.X.Type(), v.Field)})
	case *ssa.Field:
		return a.paths.extend(a.path(v.X), step{field: a.field(v.X.Type(), v.Field)})
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return a.path(v.X)
		}
	case *ssa.IndexAddr:
		return a.paths.extend(a.path(v.X), step{field: element, key: keyOf(v.Index)})
	case *ssa.Index:
		return a.paths.extend(a.path(v.X), step{field: element, key: keyOf(v.Index)})
	case *ssa.Lookup:
		return a.paths.extend(a.path(v.X), step{field: element, key: keyOf(v.Index)})
	case *ssa.Extract:
		switch t := v.Tuple.(type) {
		case *ssa.Lookup:
			if v.Index == 0 {
				return a.path(t)
			}
		case *ssa.TypeAssert:
			if v.Index == 0 {
				return a.path(t)
			}
		case *ssa.Next:
			if r, ok := t.Iter.(*ssa.Range); ok && v.Index == 2 {
				return a.paths.extend(a.path(r.X), step{field: element, key: ssa.Value(t)})
			}
		}
	case *ssa.TypeAssert:
		return a.path(v.X)
	case *ssa.MakeInterface:
		if f := embeddedLock(v.X.Type()); f != nil && hasMethod(v.Type(), "Lock") {
			return a.paths.extend(a.path(v.X), step{field: a.paths.canonical(f)})
		}
		return a.path(v.X)
	case *ssa.ChangeType:
		return a.path(v.X)
	case *ssa.ChangeInterface:
		return a.path(v.X)
	case *ssa.Convert:
		return a.path(v.X)
	case *ssa.Slice:
		return a.path(v.X)
	case *ssa.FreeVar:
		if b := a.binding(v); b != nil {
			return a.path(b)
		}
	case *ssa.Alloc:
		if s := a.onlyStore(v); s != nil && isReference(s.Type()) {
			return a.path(s)
		}
	case *ssa.Phi:
		var one *path
		for _, e := range v.Edges {
			switch e := e.(type) {
			case *ssa.Const:
				continue
			case *ssa.Alloc:
				if e.Heap {
					continue // made because there was none: what it is stored as later
				}
			}
			p := a.path(e)
			if p == a.paths.roots[ssa.Value(v)] {
				continue
			}
			if one != nil && one != p {
				return nil
			}
			one = p
		}
		return one
	case *ssa.Call:
		fn := v.Call.StaticCallee()
		if fn == nil {
			return nil
		}
		if fn.Name() == "RLocker" && len(v.Call.Args) == 1 && isLock(v.Call.Args[0].Type()) {
			return a.paths.extend(a.path(v.Call.Args[0]), step{field: forReading})
		}
		if r := a.resultPath(fn); r != nil {
			return a.paths.up(r, a.argumentPairs(fn, v.Call.Args))
		}
	}
	return nil
}

// resultPath returns the path of what a function returns if that is reached from
// its parameters, as in a method that returns a field.
func (a *analysis) resultPath(fn *ssa.Function) *path {
	if p, ok := a.resultOf[fn]; ok {
		return p
	}
	a.resultOf[fn] = nil
	if fn.Signature.Results().Len() != 1 || !isReference(fn.Signature.Results().At(0).Type()) {
		return nil
	}
	var one *path
	for _, b := range fn.Blocks {
		if len(b.Instrs) == 0 {
			continue
		}
		r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		p := a.path(r.Results[0])
		if _, ok := p.root.(*ssa.Parameter); !ok || one != nil && one != p {
			return nil
		}
		one = p
	}
	a.resultOf[fn] = one
	return one
}

// argumentPairs pairs a function's parameters with the arguments of a call.
func (a *analysis) argumentPairs(fn *ssa.Function, args []ssa.Value) []pair {
	var pairs []pair
	for i, p := range fn.Params {
		if i < len(args) && isReference(p.Type()) {
			pairs = append(pairs, pair{a.paths.root(p), a.path(args[i])})
		}
	}
	return pairs
}

// field returns field i of a struct, or of what a pointer to one points to.
func (a *analysis) field(t types.Type, i int) *types.Var {
	return a.paths.canonical(structOf(t).Field(i))
}

func structOf(t types.Type) *types.Struct {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		return s
	}
	// A type parameter whose types share a struct.
	if tp, ok := types.Unalias(t).(*types.TypeParam); ok {
		if u, ok := tp.Constraint().Underlying().(*types.Interface); ok && u.NumEmbeddeds() > 0 {
			return structOf(u.EmbeddedType(0))
		}
	}
	panic("guard: a field of " + t.String())
}

func keyOf(v ssa.Value) any {
	if c, ok := v.(*ssa.Const); ok && c.Value != nil {
		return c.Value.ExactString() + constantKind(c.Value)
	}
	return v
}

func constantKind(v constant.Value) string {
	if v.Kind() == constant.String {
		return "s"
	}
	return ""
}

// isReference reports whether copying a value of the type leaves both copies
// naming the same place.
func isReference(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface, *types.Map, *types.Slice, *types.Chan, *types.Signature:
		return true
	}
	return false
}

// binding returns what a closure's free variable is bound to, if the closure is
// made in one place.
func (a *analysis) binding(v *ssa.FreeVar) ssa.Value {
	made := a.closures[v.Parent()]
	if len(made) != 1 || v.Parent().Parent() == nil {
		return nil
	}
	for i, f := range v.Parent().FreeVars {
		if f == v {
			return made[0].Bindings[i]
		}
	}
	return nil
}

// onlyStore returns the one value that is ever stored into a variable, nil if
// there are several or the variable's address goes elsewhere.
func (a *analysis) onlyStore(v *ssa.Alloc) ssa.Value {
	var stored ssa.Value
	stores := 0
	var visit func(addr ssa.Value) bool
	visit = func(addr ssa.Value) bool {
		for _, r := range *addr.Referrers() {
			switch r := r.(type) {
			case *ssa.Store:
				if r.Addr != addr {
					return false
				}
				stored = r.Val
				stores++
			case *ssa.MakeClosure:
				for i, b := range r.Bindings {
					if b == addr && !visit(r.Fn.(*ssa.Function).FreeVars[i]) {
						return false
					}
				}
			case *ssa.UnOp, *ssa.DebugRef:
			case *ssa.FieldAddr, *ssa.IndexAddr:
				return false
			default:
				return false
			}
		}
		return true
	}
	if !visit(v) || stores != 1 {
		return nil
	}
	return stored
}
