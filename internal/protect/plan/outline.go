package plan

import (
	"go/ast"
	"go/token"

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
	reading  bool           // the sections only have it for reading
	// inLoop says that the first section may run again in the same call, defersBetween
	// that a call is deferred between two of the sections.
	inLoop, defersBetween bool
	steps                 []*Step
}

// Shared reports whether other goroutines may have the lock at the same time.
func (o *Outline) Shared() bool { return o.reading }

// A Step is what one statement evaluates by itself while the lock is held: all of a
// simple statement, the conditions of an if, the header of a loop.
type Step struct {
	Stmt  ast.Stmt
	label *ast.LabeledStmt // before it
	nodes []ast.Node
	spans []facts.Span // what of the source it is

	Defers    bool        // it defers a call that will run in the section
	Bodies    []token.Pos // where the blocks inside it begin
	Loop      bool
	BodyEnd   token.Pos // of a loop's body, if that is reached
	Continues []*ast.BranchStmt
	ends      bool // what follows the statement is not reached
	ranges    bool // it goes through something

	waits string // why it may wait for another goroutine, whatever its nodes do
	does  *facts.Statement
}

// Begin is where something can be inserted before a step.
func (s *Step) Begin() token.Pos {
	if s.label != nil {
		return s.label.Pos()
	}
	return s.Stmt.Pos()
}

// opaque returns why a step must find all published, whatever is copied.
func (s *Step) opaque() string {
	if s.waits != "" {
		return s.waits
	}
	return s.does.Opaque
}

// accesses calls f with the accesses of a step to a place, until it returns true. It
// reports whether it did.
func (s *Step) accesses(p facts.Place, f func(*facts.Access) bool) bool {
	for _, a := range s.does.Accesses {
		if a.Place.Within(p) && f(a) {
			return true
		}
	}
	return false
}
