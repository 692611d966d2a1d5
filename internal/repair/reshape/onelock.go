package reshape

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// oneLock makes one of two locks of a struct that are there for the same data: the sides of a race hold
// one each, and neither keeps the other out.
func (r *finder) oneLock() []*change.Change {
	for i := range r.Failures {
		race := &r.Failures[i]
		if race.Kind != event.FailureRace || len(race.Others) != 1 {
			continue
		}
		for _, one := range r.fieldsHeldAt(&race.Point) {
			for _, other := range r.fieldsHeldAt(&race.Others[0]) {
				if !syntax.Same(one, other) && syntax.Contains(r.FieldsBeside(one, isSingleMutex), other) {
					if merged := r.merge(one, other); merged != nil {
						return merged
					}
				}
			}
		}
	}
	return nil
}

// isSingleMutex reports whether a field is a mutex that is neither embedded nor pointed to.
func isSingleMutex(v *types.Var) bool {
	return locks.IsMutex(v.Type()) && !v.Embedded() && !isPointer(v.Type())
}

// fieldsHeldAt are the fields whose mutexes are held at a point of the run.
func (r *finder) fieldsHeldAt(at *trace.Point) []*types.Var {
	f, line := r.LineOf(at)
	if f == nil {
		return nil
	}
	var all []*types.Var
	syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
		s, ok := n.(ast.Stmt)
		if !ok || f.Line(s.Pos()) != line {
			return
		}
		function, _ := syntax.FunctionAround(around)
		flow := r.Code.Locks().Flow(function)
		if function == nil || flow == nil {
			return
		}
		for _, h := range flow.Held(s) {
			if v := r.Code.Locks().Places.Class(h.Lock); !h.Maybe && v != nil && v.IsField() && isSingleMutex(v) && !syntax.Contains(all, v) {
				all = append(all, v)
			}
		}
	})
	return all
}

// A lockUse is what the program does with a lock.
type lockUse struct {
	field *types.Var
	// names are where it is named, to be locked or unlocked.
	names []lockName
	// data are the fields that functions use which take it, in the order of their declaration.
	data []token.Pos
	// otherwise says that something else is done with it.
	otherwise bool
}

type lockName struct {
	file *source.File
	name *ast.Ident
}

// merge replaces one of two locks by the other, if the functions that take either use the same fields.
func (r *finder) merge(one, other *types.Var) []*change.Change {
	kept, given := r.useOf(one), r.useOf(other)
	if locks.IsRWMutex(given.field.Type()) && !locks.IsRWMutex(kept.field.Type()) ||
		locks.IsRWMutex(given.field.Type()) == locks.IsRWMutex(kept.field.Type()) && len(given.names) > len(kept.names) {
		kept, given = given, kept
	}
	if kept.otherwise || given.otherwise || !slices.Equal(kept.data, given.data) || r.takesWhileHeld(kept.field, given.field) {
		return nil
	}
	w := r.Rewrite()
	for _, n := range given.names {
		w.Of(n.file).Replace(n.name, kept.field.Name())
		w.Note(n.file, n.name)
	}
	if !r.deleteField(w, given.field) {
		return nil
	}
	gone, stays := given.field.Name(), kept.field.Name()
	return w.Finish(&change.Change{
		Words:   stays + " is the one lock for what " + gone + " guarded as well",
		Mistake: "two locks are there for the same data, and neither keeps the holder of the other out",
		Reason:  "whatever took one of the two locks takes the same one now",
	})
}

// useOf is what the program does with a lock.
func (r *finder) useOf(field *types.Var) *lockUse {
	u := &lockUse{field: field}
	operated := make(map[*ast.Ident]bool)
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			switch n := n.(type) {
			case *ast.CallExpr:
				op, ok := r.Code.Locks().Op(f.Info, n)
				if !ok || !syntax.Same(r.Code.Locks().Places.ClassOf(op), field) {
					return
				}
				if selector, ok := ast.Unparen(ast.Unparen(n.Fun).(*ast.SelectorExpr).X).(*ast.SelectorExpr); ok {
					operated[selector.Sel] = true
				}
			case *ast.Ident:
				if v, ok := f.Info.Uses[n].(*types.Var); ok && syntax.Same(v, field) {
					u.names = append(u.names, lockName{f, n})
					u.otherwise = u.otherwise || !operated[n]
					if function, _ := syntax.FunctionAround(around); function != nil {
						u.addData(r, f, function)
					}
				}
			}
		})
	}
	slices.Sort(u.data)
	u.data = slices.Compact(u.data)
	return u
}

// addData adds the fields beside the lock that a function uses.
func (u *lockUse) addData(r *finder, f *source.File, function ast.Node) {
	data := r.FieldsBeside(u.field, func(v *types.Var) bool { return !locks.IsLock(v.Type()) })
	ast.Inspect(function, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := f.Info.Uses[id].(*types.Var); ok && syntax.Contains(data, v) {
				u.data = append(u.data, v.Pos())
			}
		}
		return true
	})
}

// takesWhileHeld reports whether one of two locks is taken somewhere while the other is held: as one
// lock, it would be taken twice.
func (r *finder) takesWhileHeld(one, other *types.Var) bool {
	for _, flow := range r.Code.Locks().Flows() {
		for _, e := range flow.Edges {
			if syntax.Same(e.First, one) && syntax.Same(e.Second, other) || syntax.Same(e.First, other) && syntax.Same(e.Second, one) {
				return true
			}
		}
	}
	return false
}

// deleteField deletes a field with its comments; it reports whether the field stands by itself.
func (r *finder) deleteField(w *change.Rewriting, field *types.Var) bool {
	deleted := false
	for _, f := range r.Code.Files() {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			declared, ok := n.(*ast.Field)
			if !ok || len(declared.Names) != 1 || declared.Names[0].Pos() != field.Pos() || deleted {
				return true
			}
			deleted = true
			w.Of(f).Delete(commentedField{declared})
			return true
		})
	}
	return deleted
}

// A commentedField is a field with its comments.
type commentedField struct{ *ast.Field }

func (c commentedField) Pos() token.Pos {
	if c.Doc != nil {
		return c.Doc.Pos()
	}
	return c.Field.Pos()
}

func (c commentedField) End() token.Pos {
	if c.Comment != nil {
		return c.Comment.End()
	}
	return c.Field.End()
}
