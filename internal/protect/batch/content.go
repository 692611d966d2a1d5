package batch

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// HasContent reports whether a variable leads to elements or entries that batches can have copies of.
func HasContent(v *types.Var) bool {
	switch t := v.Type().Underlying().(type) {
	case *types.Slice, *types.Map:
		return true
	case *types.Pointer:
		_, isNode := t.Elem().Underlying().(*types.Struct)
		return !isNode
	}
	return false
}

// Content reports whether the section uses elements or entries of a variable, and returns why and where as they are, "" if it does
// not do that. What it uses once is not disturbed, and of opaque steps package plan knows.
func (s *Section) Content(v *types.Var) (used bool, why string, at ast.Stmt) {
	uses := 0
	for _, step := range s.Steps {
		n, open := s.contentIn(step, v)
		uses += n
		if why == "" && open != "" {
			why, at = open, step.Stmt
		}
	}
	if uses < 2 {
		return uses > 0, "", nil
	}
	return true, why, at
}

// many is how often a name for all elements may be used.
const many = 2

// contentIn counts the uses of a variable's content in a step, and returns why one of them is not by way of a batch.
func (s *Section) contentIn(step *Step, v *types.Var) (uses int, open string) {
	for _, a := range step.Does.Accesses {
		if !s.isSame(a.Last, v) || s.isHeader(step.Stmt, a.Node) {
			continue
		}
		elements := slices.DeleteFunc(slices.Clone(step.elements), func(e *Element) bool { return e.Holder != a.Node })
		switch {
		case step.Opaque != "":
			uses += step.times(a.Node)
		case s.entryOf(a) != nil:
			uses += step.times(a.Node)
			open = cmp.Or(s.openEntry(v), open)
		case len(elements) > 0:
			uses += step.times(a.Node)
			for _, e := range elements {
				open = cmp.Or(s.openElement(e), open)
			}
		default:
			uses, open = uses+many, "a statement uses it as a whole"
		}
	}
	for _, c := range step.Does.Calls {
		e := s.Facts.EffectOf(c.Func)
		if step.Opaque == "" && e.NamesKey(s.Facts.KeyOf(v)) && s.touchesContent(e, v) {
			uses, open = uses+many, "a statement "+c.String()+", which may use it"
		}
	}
	return uses, open
}

// openElement returns why the section has no copy of an element, "" if it has one, or if nothing else uses the element. A step that uses
// the element in another way is a gap then.
func (s *Section) openElement(e *Element) string {
	return s.open(func(b *Batch) bool { return !b.ofMap && b.base == e.Base && b.path == s.units[e] })
}

// openEntry is openElement for an entry of a map.
func (s *Section) openEntry(v *types.Var) string {
	return s.open(func(b *Batch) bool { return b.ofMap && s.isSame(b.Holder, v) })
}

// open returns why the section does not have a batch.
func (s *Section) open(is func(*Batch) bool) string {
	if i := slices.IndexFunc(s.Left, func(l Left) bool { return is(l.Batch) }); i >= 0 && s.Left[i].Why != UsedOnce {
		return s.Left[i].Why
	}
	return ""
}

// touchesContent reports whether code may use what a variable leads to.
func (s *Section) touchesContent(e *facts.Effect, v *types.Var) bool {
	var t types.Type
	switch u := v.Type().Underlying().(type) {
	case *types.Slice:
		t = u.Elem()
	case *types.Pointer:
		t = u.Elem()
	default:
		return true
	}
	m := s.Facts.FootprintBehind(v.Name(), t)
	return e.Names(m) || e.MayPointTo(m) != ""
}

// A Gap is a statement for which copies of a batch are published on the way.
type Gap struct {
	Stmt ast.Stmt
	Why  string
	Of   *Batch
}

// crowded is why copies are published that there is no more room for.
const crowded = "goes through more elements than a section has copies of at a time"

// Gaps returns the statements, apart from opaque ones, for which copies are published between two uses of them.
func (s *Section) Gaps() []Gap {
	var list []Gap
	for i, b := range s.Batches {
		uses := make([]bool, len(s.Steps))
		for j, step := range s.Steps {
			uses[j] = step.Uses[i].Count() > 0
			if uses[j] && s.varies(step, step.Uses[i]) {
				list = append(list, Gap{step.Stmt, crowded, b})
			}
		}
		for j, step := range s.Steps {
			if step.Opaque != "" || !step.Uses[i].Publishes {
				continue
			}
			around := 0
			for _, use := range []bool{slices.Contains(uses[:j], true), s.mentions(step, b), slices.Contains(uses[j+1:], true)} {
				if use {
					around++
				}
			}
			if around > 1 || around > 0 && len(step.Loops) > 0 {
				list = append(list, Gap{step.Stmt, step.Uses[i].Why, b})
			}
		}
	}
	return list
}

// mentions reports whether a step may use memory of a batch as it is.
func (s *Section) mentions(step *Step, b *Batch) bool {
	return step.Does.NamesKey(s.Facts.KeyOf(b.Holder))
}

// varies reports whether a step in a loop may use another element each time.
func (s *Section) varies(step *Step, use Use) bool {
	varies := func(at ast.Expr, parts ...ast.Expr) bool {
		return slices.ContainsFunc(step.loopsAround(at), func(loop ast.Stmt) bool {
			assigned := s.assignedIn(loop)
			return slices.ContainsFunc(parts, func(x ast.Expr) bool { return s.variesWith(x, assigned) })
		})
	}
	return slices.ContainsFunc(use.Units, func(x ast.Expr) bool { return varies(x, x) }) ||
		slices.ContainsFunc(use.Entries, func(e EntryOf) bool { return varies(e.Map, e.Map, e.Use.Key) })
}

// assignedIn returns the variables and fields that a loop assigns to by name.
func (s *Section) assignedIn(loop ast.Node) map[types.Object]bool {
	all := make(map[types.Object]bool)
	note := func(x ast.Expr) {
		if x != nil {
			if v := s.variable(x); v != nil {
				all[v] = true
			}
		}
	}
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				note(x)
			}
		case *ast.IncDecStmt:
			note(n.X)
		case *ast.RangeStmt:
			note(n.Key)
			note(n.Value)
		}
		return true
	})
	return all
}

// variesWith reports whether an expression may have another value where some variables are assigned to, or calls a function.
func (s *Section) variesWith(x ast.Expr, assigned map[types.Object]bool) bool {
	varies := false
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			f := ast.Unparen(n.Fun)
			varies = varies || !s.Info.Types[f].IsType() && facts.BuiltinOf(s.Info, f) == ""
		case *ast.Ident:
			v, ok := s.Info.ObjectOf(n).(*types.Var)
			varies = varies || ok && assigned[v.Origin()]
		}
		return !varies
	})
	return varies
}
