package reshape

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// lockElements has loops go over the elements of a slice themselves, if the run failed where one of them
// takes the lock of a copy. All loops over such elements: one that has a copy reads the lock, and all that
// it guards.
func (r *finder) lockElements() []*change.Change {
	element := r.copiedElement()
	if element == nil {
		return nil
	}
	w := r.Rewrite()
	for _, f := range r.Code.Files() {
		for _, loop := range loopsOverCopies(f, element) {
			if why := r.overElements(w, f, loop); why != "" {
				r.Decline(f, loop, "this loop has copies of "+element.Obj().Name()+", with its lock, and "+why)
				return nil
			}
		}
	}
	name := element.Obj().Name()
	return w.Finish(&change.Change{
		Words:   "loops go over each " + name + " itself, and not over copies",
		Mistake: "a loop takes the lock of a copy of a " + name,
		Reason:  "all goroutines take the lock of the same " + name + ", and none has a copy of it",
	})
}

// copiedElement is the struct of which a loop takes the lock of a copy, where the run failed; nil if there
// is none.
func (r *finder) copiedElement() *types.Named {
	var places []change.Line
	note := func(f *source.File, line int) {
		if f != nil {
			places = append(places, change.Line{File: f.Name, Line: line})
		}
	}
	for i := range r.Failures {
		failure := &r.Failures[i]
		for _, at := range append(failure.Others[:len(failure.Others):len(failure.Others)], failure.Point) {
			note(r.LineOf(&at))
		}
		for j := range failure.Waiting {
			note(r.LineOf(&failure.Waiting[j].Point))
		}
	}
	for _, f := range r.Code.Files() {
		for _, loop := range loopsOverCopies(f, nil) {
			shown := slices.ContainsFunc(places, func(p change.Line) bool {
				return p.File == f.Name && f.Line(loop.Pos()) <= p.Line && p.Line <= f.Line(loop.End())
			})
			if shown && r.takesLockOf(f, loop) {
				return elementOf(f, loop)
			}
		}
	}
	return nil
}

// loopsOverCopies are the loops over a slice or an array that have a copy of each element, which is a struct
// with a name: a certain one, or any.
func loopsOverCopies(f *source.File, element *types.Named) []*ast.RangeStmt {
	var all []*ast.RangeStmt
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if loop, ok := n.(*ast.RangeStmt); ok {
			if e := elementOf(f, loop); e != nil && (element == nil || e == element) {
				all = append(all, loop)
			}
		}
		return true
	})
	return all
}

// elementOf is the struct of which a loop declares a variable that has a copy of each element; nil if it has
// none.
func elementOf(f *source.File, loop *ast.RangeStmt) *types.Named {
	id, ok := loop.Value.(*ast.Ident)
	if !ok || id.Name == "_" || loop.Tok != token.DEFINE {
		return nil
	}
	switch f.Info.TypeOf(loop.X).Underlying().(type) {
	case *types.Slice, *types.Array:
	default:
		return nil
	}
	t := f.Info.TypeOf(id)
	n := syntax.NamedType(t)
	if n == nil || isPointer(t) {
		return nil
	}
	if _, isStruct := n.Underlying().(*types.Struct); !isStruct {
		return nil
	}
	return n.Origin()
}

// takesLockOf reports whether a loop takes a lock that its variable has, itself or by a method.
func (r *finder) takesLockOf(f *source.File, loop *ast.RangeStmt) bool {
	v, _ := f.Info.Defs[loop.Value.(*ast.Ident)].(*types.Var)
	found := false
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok || !isPartOf(f.Info, selector.X, v) {
			return true
		}
		op, isOp := r.Code.Locks().Op(f.Info, call)
		found = isOp && op.Verb == locks.Acquire
		if d, file := r.Declaration(f, call); d != nil && d.Body != nil {
			ast.Inspect(d.Body, func(n ast.Node) bool {
				if inner, ok := n.(*ast.CallExpr); ok {
					op, isOp := r.Code.Locks().Op(file.Info, inner)
					found = found || isOp && op.Verb == locks.Acquire
				}
				return true
			})
		}
		return true
	})
	return found
}

// overElements rewrites a loop; it says why it cannot be.
//
//	for _, s := range r.sensors {     for i := range r.sensors {
//		s.mu.Lock()                   	s := &r.sensors[i]
//	                                  	s.mu.Lock()
func (r *finder) overElements(w *change.Rewriting, f *source.File, loop *ast.RangeStmt) (why string) {
	id := loop.Value.(*ast.Ident)
	v, _ := f.Info.Defs[id].(*types.Var)
	p, ok := syntax.PathOf(f.Info, loop.X)
	switch {
	case !ok || p.Variable == nil:
		return "what it goes over is not a variable"
	case syntax.Mentions(f, loop.Body, p.Variable):
		return "uses what it goes over"
	}
	if _, isArray := f.Info.TypeOf(loop.X).Underlying().(*types.Array); isArray && !f.Info.Types[loop.X].Addressable() {
		return "what it goes over is a copy itself"
	}
	if changes(f, loop.Body, v) {
		return "changes the copies, or needs them as a whole"
	}
	index := source.NamesIn(loop).Free("i")
	over := f.TextOf(loop.X)
	if key, ok := loop.Key.(*ast.Ident); ok && key.Name != "_" {
		index = key.Name
	}
	w.Of(f).SupersedeBetween(loop.Key.Pos(), loop.Value.End(), index)
	w.Of(f).InsertAfter(loop.Body.Lbrace+1, fmt.Sprintf("\n%s := &%s[%s]", id.Name, over, index))
	w.Note(f, loop)
	return ""
}

// changes reports whether code does with a variable anything but read what it has, and call its methods.
func changes(f *source.File, body *ast.BlockStmt, v *types.Var) bool {
	var selected []*ast.Ident
	changed := false
	assigned := func(e ast.Expr) { changed = changed || isPartOf(f.Info, e, v) }
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				assigned(e)
			}
		case *ast.IncDecStmt:
			assigned(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				assigned(n.X)
			}
		case *ast.FuncLit:
			changed = changed || syntax.Mentions(f, n, v)
		case *ast.SelectorExpr:
			if id, ok := ast.Unparen(n.X).(*ast.Ident); ok {
				selected = append(selected, id)
			}
		case *ast.Ident:
			changed = changed || f.Info.Uses[n] == v && !slices.Contains(selected, n)
		}
		return !changed
	})
	return changed
}
