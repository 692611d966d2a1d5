package plan

import (
	"go/ast"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/shape"
)

// resumeLater has the sections of a body not go on between two steps that they are interrupted
// for, if they use nothing in between. To take the copies there is not only useless: the first
// step may have had another goroutine begin to work on the data, which the second waits for.
// A correct program does so, and the section would take that goroutine's writes for careless
// ones.
//
//	go func() { x.n++; done <- true }()      no copy is taken here
//	<-done
//	x.n++                                    the copy is taken before this
func (r *round) resumeLater(block *ast.BlockStmt, groups []*Group) {
	for _, g := range groups {
		steps := make(map[ast.Stmt]*StepPlan)
		for _, s := range g.Steps {
			steps[s.Stmt] = s
		}
		ast.Inspect(block, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt:
				r.resumeLaterIn(g, n.List, steps)
			case *ast.CaseClause:
				r.resumeLaterIn(g, n.Body, steps)
			case *ast.CommClause:
				r.resumeLaterIn(g, n.Body, steps)
			}
			return true
		})
	}
}

func (r *round) resumeLaterIn(g *Group, list []ast.Stmt, steps map[ast.Stmt]*StepPlan) {
	for i, st := range list {
		s := steps[st]
		if s == nil || s.Opaque == "" || s.Relents || len(s.Bodies) > 0 {
			continue // a section that relents has its data on pages to itself, before and after
		}
		// What is not a step, such as a release, ends the search.
		next := i + 1
		for next < len(list) && steps[list[next]] != nil && r.usesNothing(g, steps[list[next]]) {
			next++
		}
		if next == len(list) {
			continue
		}
		if n := steps[list[next]]; n != nil && n.Opaque != "" && !n.Relents && !n.NeedsCopies {
			s.Resumes = false
		}
	}
}

// usesNothing reports whether the statement of a step, with all that is in it, uses none of what
// the sections of a group have to themselves, and goes on to the next: a jump out of it may lead past the step that the
// section is interrupted for next, to one that needs the copies.
//
//	f()
//	if done { continue }      the copies are taken before this
//	f()
func (r *round) usesNothing(g *Group, s *StepPlan) bool {
	inside := func(st *ast.ExprStmt) bool { return contains(s.Stmt, st) }
	if s.Ends || shape.JumpsOut(s.Stmt) || slices.ContainsFunc(g.Acquires, inside) || slices.ContainsFunc(g.Releases, inside) {
		return false
	}
	return !slices.ContainsFunc(g.Steps, func(t *StepPlan) bool {
		return contains(s.Stmt, t.Stmt) && (t.Interrupts || t.Defers || isReturn(t.Stmt) || r.usesAny(g, t))
	})
}
