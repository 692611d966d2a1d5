package cover

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// An object that is overwritten as a whole would lose a lock in it. Its fields are set instead:
//
//	func (s *Stats) Reset() {     func (s *Stats) Reset() {
//		*s = Stats{}              	s.mu.Lock()
//	}                             	s.requests, s.byCode = 0, nil
//	                              	s.mu.Unlock()
//	                              }

// An overwriting is a statement that sets all of an object by a literal.
type overwriting struct {
	file *source.File
	stmt *ast.AssignStmt
	text string // that sets its fields
}

// overwritings are the statements that set all of an object of a struct, as far as they can be written
// field by field.
func (code *Code) overwritings(n *types.Named) []overwriting {
	var all []overwriting
	for _, f := range code.Files() {
		ast.Inspect(f.Syntax, func(m ast.Node) bool {
			set, ok := m.(*ast.AssignStmt)
			if !ok || set.Tok != token.ASSIGN || len(set.Lhs) != 1 || len(set.Rhs) != 1 {
				return true
			}
			pointer, isPointer := ast.Unparen(set.Lhs[0]).(*ast.StarExpr)
			literal, isLiteral := ast.Unparen(set.Rhs[0]).(*ast.CompositeLit)
			if !isPointer || !isLiteral || named(f.Info.TypeOf(literal)) != n || strings.HasSuffix(f.Name, "_test.go") {
				return true
			}
			if id, ok := ast.Unparen(pointer.X).(*ast.Ident); ok && isGiven(f, id) {
				if text, ok := statement.FieldByField(f, id.Name, literal); ok {
					all = append(all, overwriting{f, set, text})
				}
			}
			return true
		})
	}
	return all
}

// isGiven reports whether a variable is a parameter or the receiver of the function around it. What a
// function has made itself has no lock that is held.
func isGiven(f *source.File, id *ast.Ident) bool {
	v := f.Info.Uses[id]
	fn, ok := enclosing(f, id.Pos()).(*ast.FuncDecl)
	return ok && v != nil && fn.Pos() <= v.Pos() && v.Pos() < fn.Body.Pos()
}

// Overwrites reports whether a position is in a statement that sets all of an object of a struct, which a
// new lock in the struct would have set its fields.
func (code *Code) Overwrites(n *types.Named, at token.Pos) bool {
	for _, o := range code.overwritings(n) {
		if o.stmt.Pos() <= at && at < o.stmt.End() {
			return true
		}
	}
	return false
}
