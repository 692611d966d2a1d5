// Package outline finds the critical sections of a function along its structure, from Lock to
// Unlock, and the steps that each consists of.
//
//	x.mu.Lock()            a section begins
//	x.n++                  a step
//	if x.n > 9 {           a step: the condition alone
//		x.mu.Unlock()  the section ends on this way
//		return
//	}
//	x.n--                  a step
//	x.mu.Unlock()          and on this one
//
// A function whose sections have no such structure is not followed, with the reason: a lock that
// is held on some ways only, that is taken here and released elsewhere, a goto in a section.
//
//	outline.go  sections and steps
//	flow.go     following a lock through a function
//	branch.go   where its ways leave blocks and loops
//	release.go  releases that are deferred
package outline

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// An Outline is the sections of one lock that can have their copies in common, as they
// stand in the source: the copies are declared where the lock is taken first, and known
// in the rest of that block.
type Outline struct {
	Lock     facts.Place
	First    *ast.ExprStmt // where it is taken
	Acquires []*ast.ExprStmt
	Releases []*ast.ExprStmt
	Deferred *ast.DeferStmt // the release, or nil
	Reading  bool           // the sections only have it for reading
	// InLoop says that the first section may run again in the same call, DefersBetween
	// that a call is deferred between two of the sections.
	InLoop, DefersBetween bool
	Inside                []*Step // what is evaluated while the lock is held
}

// End is where the last section has ended, if its release is not deferred.
func (o *Outline) End() token.Pos {
	end := o.First.End()
	for _, r := range o.Releases {
		end = max(end, r.End())
	}
	for _, s := range o.Inside {
		end = max(end, s.Stmt.End())
	}
	return end
}

// DefersRelease reports whether a section ends by a call, or by a function literal, that is deferred.
func (o *Outline) DefersRelease() bool {
	return o.Deferred != nil || slices.ContainsFunc(o.Inside, func(s *Step) bool { return s.Defers })
}

// Shared reports whether other goroutines may have the lock at the same time.
func (o *Outline) Shared() bool { return o.Reading }

// A Step is what one statement evaluates by itself while the lock is held: all of a
// simple statement, the conditions of an if, the header of a loop.
type Step struct {
	Stmt  ast.Stmt
	label *ast.LabeledStmt // before it
	Nodes []ast.Node
	Spans []facts.Span // what of the source it is

	Defers    bool        // it defers a call that will run in the section
	Bodies    []token.Pos // where the blocks inside it begin
	Loop      bool
	BodyEnd   token.Pos // of a loop's body, if that is reached
	Continues []*ast.BranchStmt
	Ends      bool // what follows the statement is not reached
	Ranges    bool // it goes through something
	// ReleasesByPanic says that the release is deferred already, and publishes if the step panics.
	ReleasesByPanic bool

	Waits string           // why it may wait for another goroutine, whatever its nodes do
	Does  *facts.Statement // nil until the plan has asked for it
}

// Begin is where something can be inserted before a step.
func (s *Step) Begin() token.Pos {
	if s.label != nil {
		return s.label.Pos()
	}
	return s.Stmt.Pos()
}

// WhyOpaque returns why a step must find all published, whatever is copied.
func (s *Step) WhyOpaque() string {
	if s.Waits != "" {
		return s.Waits
	}
	return s.Does.Opaque
}

// Uses calls f with the accesses of a step to a place, until it returns true. It
// reports whether it did.
func (s *Step) Uses(p facts.Place, f func(*facts.Access) bool) bool {
	for _, a := range s.Does.Accesses {
		if a.Place.Within(p) && f(a) {
			return true
		}
	}
	return false
}

// Evaluates reports whether a step evaluates a node by itself, and not in a function literal
// that it has.
func (s *Step) Evaluates(n ast.Node) bool {
	return slices.ContainsFunc(s.Nodes, func(root ast.Node) bool {
		if !encloses(root, n) {
			return false
		}
		inLiteral := false
		ast.Inspect(root, func(m ast.Node) bool {
			l, ok := m.(*ast.FuncLit)
			inLiteral = inLiteral || ok && encloses(l, n)
			return !inLiteral
		})
		return !inLiteral
	})
}

// Has reports whether the source at a position is a step's.
func (s *Step) Has(at token.Pos) bool {
	return slices.ContainsFunc(s.Spans, func(span facts.Span) bool { return span.From <= at && at <= span.To })
}

// encloses reports whether a node is in the text of another.
func encloses(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}
