package locks

import (
	"cmp"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A Place names memory as seen from one function: a root, then steps. s.child.mu is the
// root s and two steps. A pointer and what it points to have the same place, because Go's
// selectors do not tell them apart either. Places are interned in a table: equal places of
// one table are the same pointer.
type Place struct {
	parent *Place // nil for a root
	step   Step   // from parent
	root   Root   // nil for the root of relations
	depth  int
	ups    int // how many steps go up
	id     int
}

// A Root is what a place begins with. In syntax it is a variable (*types.Var), in SSA form
// a value (ssa.Value): a parameter, a global, an allocation, or whatever else a pointer
// comes from.
type Root interface {
	Name() string
	Type() types.Type
	Pos() token.Pos
}

// A Step selects a field, or an element of a slice, map or array. A step up goes the other
// way: s.child taken one step up by child is s. That is how the lock of a parent is named
// in a function that knows only the child.
type Step struct {
	Field *types.Var // Element for an element
	// Key tells elements apart: the text of a constant, an SSA value, or what Syntax makes
	// of an index. Nil stands for any element.
	Key any
	Up  bool
}

// Element is the field of the step to an element of a slice, map or array.
var Element = types.NewVar(token.NoPos, nil, "[]", types.Typ[types.Invalid])

// readSide is the field of the step to what (*sync.RWMutex).RLocker returns: the same
// lock, held for reading.
var readSide = types.NewVar(token.NoPos, nil, "RLocker()", types.Typ[types.Invalid])

const (
	maxDepth = 8 // longer places are cut: their value becomes a root of its own
	maxUps   = 3
)

// Places interns places.
type Places struct {
	roots     map[Root]*Place
	next      map[placeEdge]*Place
	variables map[token.Pos]*types.Var
	locals    map[token.Pos]*types.Var // by the position of their declaration
	relations *Place                   // the root of relations
	count     int
}

type placeEdge struct {
	from *Place
	step Step
}

// NewPlaces returns an empty table.
func NewPlaces() *Places {
	t := &Places{roots: make(map[Root]*Place), next: make(map[placeEdge]*Place), variables: make(map[token.Pos]*types.Var), locals: make(map[token.Pos]*types.Var)}
	t.relations = t.number(&Place{})
	return t
}

func (t *Places) number(p *Place) *Place {
	t.count++
	p.id = t.count
	return p
}

// Declare tells the table of a variable that is no field, so that the allocation that SSA
// form has for it can be traced back to it.
func (t *Places) Declare(v *types.Var) { t.locals[v.Pos()] = t.Canonical(v) }

// Local returns the variable that was declared at a position, nil if none was.
func (t *Places) Local(at token.Pos) *types.Var { return t.locals[at] }

// Root returns the place of a root.
func (t *Places) Root(r Root) *Place {
	p := t.roots[r]
	if p == nil {
		p = t.number(&Place{root: r})
		t.roots[r] = p
	}
	return p
}

// Here is where relations begin: see Relate.
func (t *Places) Here() *Place { return t.relations }

// Canonical returns the one variable that stands for all that are declared at the same
// position: those of the instances of a generic type, and those of the variants of a
// package.
func (t *Places) Canonical(v *types.Var) *types.Var {
	v = v.Origin()
	if !v.Pos().IsValid() {
		return v
	}
	if c := t.variables[v.Pos()]; c != nil {
		return c
	}
	t.variables[v.Pos()] = v
	return v
}

// Extend takes one step. Steps that undo each other vanish, except up to a container and
// down to an element, which may be another one. It returns nil if the place becomes too
// long.
func (t *Places) Extend(p *Place, s Step) *Place {
	if p == nil {
		return nil
	}
	if p.parent != nil && p.step.Field == s.Field && p.step.Up != s.Up && (s.Field != Element || s.Up) {
		return p.parent
	}
	e := placeEdge{p, s}
	if n := t.next[e]; n != nil {
		return n
	}
	n := &Place{parent: p, step: s, root: p.root, depth: p.depth + 1, ups: p.ups}
	if s.Up {
		n.ups++
	}
	if n.depth > maxDepth || n.ups > maxUps {
		return nil
	}
	t.next[e] = t.number(n)
	return n
}

// Field takes the step to a field.
func (t *Places) Field(p *Place, f *types.Var) *Place {
	return t.Extend(p, Step{Field: t.Canonical(f)})
}

// Parent is the place one step before, nil for a root.
func (p *Place) Parent() *Place { return p.parent }

// Root is what the place begins with; nil for a relation.
func (p *Place) Root() Root { return p.root }

// Depth is the number of steps.
func (p *Place) Depth() int { return p.depth }

// Ups is the number of steps that go up.
func (p *Place) Ups() int { return p.ups }

// ID orders the places of one table.
func (p *Place) ID() int { return p.id }

// Steps returns the steps in order.
func (p *Place) Steps() []Step {
	if p.parent == nil {
		return nil
	}
	return append(p.parent.Steps(), p.step)
}

// Variable returns the field or variable at the end of a place, Element for an element,
// and nil for a value that has no name in the source.
func (t *Places) Variable(p *Place) *types.Var {
	if p.parent != nil {
		return p.step.Field
	}
	return t.rootVariable(p.root)
}

// Class returns what all locks that are declared together have in common: the field or
// variable, and for an element that of the container. Order is an order of classes. It
// returns nil if the place does not end in anything that the source declares.
func (t *Places) Class(p *Place) *types.Var {
	for p.parent != nil && p.step.Field == Element {
		p = p.parent
	}
	return t.Variable(p)
}

// rootVariable returns the variable that a root is; nil if it is a value without a name.
func (t *Places) rootVariable(r Root) *types.Var {
	switch r := r.(type) {
	case *types.Var:
		return r
	case *ssa.Global:
		if v, ok := r.Object().(*types.Var); ok {
			return t.Canonical(v)
		}
	case *ssa.Alloc:
		return t.locals[r.Pos()]
	}
	return nil
}

// Unkeyed returns the place with every element standing for any, nil for none: a place that would be too long is none.
func (t *Places) Unkeyed(p *Place) *Place {
	if p == nil || p.parent == nil {
		return p
	}
	s := p.step
	s.Key = nil
	return t.Extend(t.Unkeyed(p.parent), s)
}

// IsGlobal reports whether the place begins with a package-level variable.
func (p *Place) IsGlobal() bool {
	switch r := p.root.(type) {
	case *ssa.Global:
		return true
	case *types.Var:
		return !r.IsField() && r.Pkg() != nil && r.Parent() == r.Pkg().Scope()
	}
	return false
}

// Words renders the place for people: as Go does, and what a step up leads to as "what has it as child", or "what has
// it in children" where it is an element of those. The lock of the tree that a node is in the nodes of is "mu of what
// has it in nodes".
func (p *Place) Words() string {
	if p.ups == 0 {
		return p.String()
	}
	holder, element := "it", false
	down := &Place{root: p.root}
	for _, s := range p.Steps() {
		switch {
		case !s.Up:
			down = &Place{parent: down, root: down.root, step: s}
		case s.Field == Element:
			element = true
		case element:
			holder, element = "what has "+holder+" in "+s.Field.Name(), false
		default:
			holder = "what has " + holder + " as " + s.Field.Name()
		}
	}
	if element {
		holder = "what has " + holder
	}
	return down.String() + " of " + holder
}

// String renders the place as Go does, a step up as "^child", an element as "[]".
func (p *Place) String() string {
	var parts []string
	switch r := p.root.(type) {
	case nil:
	case *ssa.Alloc:
		parts = append(parts, r.Comment)
	case *ssa.Phi:
		parts = append(parts, cmp.Or(r.Comment, r.Name()))
	default:
		parts = append(parts, r.Name())
	}
	for _, s := range p.Steps() {
		name := s.Field.Name()
		if s.Up {
			name = "^" + name
		}
		parts = append(parts, name)
	}
	return strings.ReplaceAll(strings.Join(parts, "."), ".[]", "[]")
}
