package guard

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A chooser picks each variable's lock.
type chooser struct {
	places       *locks.Places
	fset         *token.FileSet
	declarations *declarations
	guards       *Guards
	analysis     *lockset.Analysis
	known        map[*types.Var]Known
	roots        map[*lockset.Context][]lockset.Root
	subjects     []*subject
	releases     map[releaseKey]bool
	habits       map[habitKey]*habit                 // of locks, once they are asked for
	interfaces   map[*types.Named][]*types.Interface // that values of a type are made, once they are asked for
}

// A choice is the lock of a variable, with what speaks for it.
type choice struct {
	datum *Datum
	lock  *types.Var
}

// choose picks a lock for each variable that has one.
func (c *chooser) choose(variables []*lockset.Variable) {
	g := c.guards
	byLock := make(map[types.Object]*Guard)
	c.subjects = c.subjectsOf(variables)
	chosen := make(map[*lockset.Variable]*choice)
	for _, s := range c.subjects {
		_, isKnown := c.known[s.Object]
		if s.Atomic || len(s.sites) == 0 && c.declarations.of[s.Object] == nil {
			continue
		}
		if c.declarations.of[s.Object] == nil && s.Object.IsField() && len(c.known) > 0 && !isKnown {
			continue // of another package, which says nothing of it
		}
		if d, lock := c.best(s); d != nil {
			chosen[s.Variable] = &choice{d, lock}
		}
	}
	for _, s := range c.subjects {
		c.preferParts(s, chosen)
	}
	for _, v := range variables {
		if chosen[v] == nil {
			continue
		}
		d, lock := chosen[v].datum, chosen[v].lock
		x := byLock[lock]
		if x == nil {
			x = &Guard{Lock: Lock{Object: lock, Name: c.name(lock), Type: typeName(lock.Type()), At: c.fset.Position(lock.Pos())}}
			byLock[lock] = x
			g.List = append(g.List, x)
		}
		x.Data = append(x.Data, d)
		g.byPosition[v.Object.Pos()] = guarded{x, d}
	}
	for _, x := range g.List {
		slices.SortFunc(x.Data, func(d, e *Datum) int { return comparePositions(d.At, e.At) })
	}
	slices.SortFunc(g.List, func(x, y *Guard) int { return comparePositions(x.Lock.At, y.Lock.At) })
}

func comparePositions(p, q token.Position) int {
	return cmp.Or(strings.Compare(p.Filename, q.Filename), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// best weighs the candidates for a variable's lock.
func (c *chooser) best(v *subject) (*Datum, *types.Var) {
	if k, ok := c.known[v.Object]; ok {
		if w := c.weigh(v, c.besideWay(k.Lock)); w != nil {
			return c.describeDeviations(v, w), k.Lock
		}
		return nil, nil
	}
	var best *weighing
	for _, way := range c.candidates(v) {
		w := c.weigh(v, way)
		if w != nil && (best == nil || w.datum.Confidence > best.datum.Confidence+1e-9) {
			best = w
		}
	}
	if best == nil {
		return nil, nil
	}
	return c.describeDeviations(v, best), c.places.Variable(best.way)
}

// candidates are the locks that may guard a variable, by the ways that lead to them.
func (c *chooser) candidates(v *subject) []*locks.Place {
	var all []*locks.Place
	add := func(way *locks.Place) {
		if way != nil && c.places.Variable(way) != nil && !slices.Contains(all, way) {
			all = append(all, way)
		}
	}
	for _, s := range v.sites {
		for _, o := range s.Observations {
			for _, r := range o.Held {
				if !r.Maybe {
					add(r.Lock)
				}
			}
		}
	}
	for _, l := range c.declarations.locksBeside(v.Object) {
		if l.IsField() {
			add(c.besideWay(l))
		}
	}
	return all
}

// besideWay is the way from data to a lock that is a field of the same struct.
func (c *chooser) besideWay(lock *types.Var) *locks.Place {
	return c.places.Extend(c.places.Here(), locks.Step{Field: lock})
}

// distance counts what separates a lock from the data: a step up, a step more than one
// down, being another variable.
func distance(way *locks.Place) int {
	n := way.Ups()
	if way.Root() != nil {
		n++
	}
	if way.Depth()-way.Ups() > 1 {
		n++
	}
	return n
}

// canBeNamed reports whether an annotation of the data can name the lock: the way starts at
// the data's own object or at a package-level variable, and goes down only.
func canBeNamed(way *locks.Place) bool {
	return way.Ups() == 0 && (way.Root() == nil || way.IsGlobal())
}

// name names a field with its type, a variable with its package.
func (c *chooser) name(o types.Object) string {
	if d := c.declarations.of[o]; d != nil {
		return d.owner + "." + o.Name()
	}
	for field, k := range c.known {
		if o == field || o == k.Lock {
			return k.Owner + "." + o.Name()
		}
	}
	return o.Name()
}

// typeName names a lock's type.
func typeName(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

// functionName names a function as a reader of its package would.
func functionName(fn *ssa.Function) string {
	fn = lockset.Outermost(fn)
	if fn.Pkg != nil {
		return fn.RelString(fn.Pkg.Pkg)
	}
	return fn.Name()
}
