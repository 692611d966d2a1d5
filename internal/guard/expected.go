package guard

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// expected returns the locks that a function asks its caller to hold: by a name such as
// fooLocked, by an annotation, or by a comment. A method asks for the locks of its receiver;
// if it has none, it asks for some that are not named.
//
//	// flush writes the rows. The caller holds t.mu.
//	func (t *Table) flush() { ... }         asks for t.mu
func (s *declarations) expected(fn *ssa.Function) (held []*locks.Place, asks bool) {
	doc := ""
	if d, ok := fn.Syntax().(*ast.FuncDecl); ok {
		doc = comments(d.Doc)
	}
	if !isLockedName(fn.Name()) && len(functionAnnotations(doc)) == 0 && !callerHolds(doc) {
		return nil, false
	}
	if fn.Signature.Recv() == nil || len(fn.Params) == 0 || !locks.IsReference(fn.Params[0].Type()) {
		return nil, true
	}
	p, ok := fn.Params[0].Type().Underlying().(*types.Pointer)
	if !ok {
		return nil, true
	}
	if t, ok := p.Elem().Underlying().(*types.Struct); ok {
		held = s.locksIn(s.places.Root(fn.Params[0]), t)
	}
	return held, true
}

// locksIn returns the locks in a struct, those in its unnamed structs too.
func (s *declarations) locksIn(at *locks.Place, t *types.Struct) []*locks.Place {
	var all []*locks.Place
	for f := range t.Fields() {
		p := s.places.Field(at, f)
		if p == nil {
			continue
		}
		if locks.IsLock(f.Type()) {
			all = append(all, p)
		} else if inner, ok := types.Unalias(f.Type()).(*types.Struct); ok {
			all = append(all, s.locksIn(p, inner)...)
		}
	}
	return all
}
