// Package nodes finds the objects that guarded data leads to and that have no lock of their own: nodes of lists and
// trees, entries behind maps, elements behind slices. Their fields are guarded by the lock that guards the way to them.
//
//	type Queue struct {
//		mu    sync.Mutex
//		first *item            guarded by mu, and leads to items
//	}
//	type item struct {
//		value int              a field of a node: behind Queue.mu
//		next  *item
//	}
//
// Only types are looked at, and only structs of the lock's own package; nodes.go is all of it.
package nodes

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// Behind returns a guard with the fields of nodes added that are wanted, and these.
func Behind(g *guard.Guard, fset *token.FileSet, wanted func(*types.Var) bool) (extended *guard.Guard, added []*guard.Datum) {
	var structs []*types.Named
	for _, d := range g.Data {
		structs = nodesBehind(structs, d.Object.(*types.Var).Type(), g.Lock.Object.Pkg())
	}
	for _, n := range structs {
		for f := range n.Underlying().(*types.Struct).Fields() {
			if wanted(f) {
				added = append(added, &guard.Datum{
					Object: f, Name: n.Obj().Name() + "." + f.Name(), At: fset.PositionFor(f.Pos(), false),
					Way: "^" + g.Lock.Object.Name(), Confidence: g.Data[0].Confidence,
				})
			}
		}
	}
	extended = &guard.Guard{Lock: g.Lock, Data: slices.Concat(g.Data, added)}
	slices.SortStableFunc(extended.Data, func(a, b *guard.Datum) int {
		return cmp.Or(cmp.Compare(a.At.Filename, b.At.Filename), cmp.Compare(a.At.Offset, b.At.Offset))
	})
	return extended, added
}

// nodesBehind adds the structs of a package, without a lock of their own, that values of a type lead to.
func nodesBehind(found []*types.Named, t types.Type, in *types.Package) []*types.Named {
	switch u := types.Unalias(t).(type) {
	case *types.Pointer:
		n, ok := types.Unalias(u.Elem()).(*types.Named)
		if !ok || n.Obj().Pkg() != in {
			return found
		}
		s, ok := n.Underlying().(*types.Struct)
		if !ok || slices.Contains(found, n.Origin()) || hasLock(s) {
			return found
		}
		found = append(found, n.Origin())
		for f := range n.Origin().Underlying().(*types.Struct).Fields() {
			found = nodesBehind(found, f.Type(), in)
		}
	case *types.Slice:
		return nodesBehind(found, u.Elem(), in)
	case *types.Array:
		return nodesBehind(found, u.Elem(), in)
	case *types.Map:
		return nodesBehind(nodesBehind(found, u.Key(), in), u.Elem(), in)
	}
	return found
}

func hasLock(s *types.Struct) bool {
	for f := range s.Fields() {
		if locks.IsLock(f.Type()) {
			return true
		}
	}
	return false
}

// FieldsBehind returns the fields of the struct that a pointer of a type leads to, none if it leads to something else.
func FieldsBehind(t types.Type) []*types.Var {
	p, ok := t.Underlying().(*types.Pointer)
	if !ok {
		return nil
	}
	s, ok := p.Elem().Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var all []*types.Var
	for f := range s.Fields() {
		all = append(all, f.Origin())
	}
	return all
}
