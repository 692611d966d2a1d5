package cover

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A section that begins with a check of the pointer that leads to its lock would take the lock
// before the check. The check is made ahead of it instead:
//
//	if c == nil || c.closed {     if c == nil {
//		return errClosed          	return errClosed
//	}                             }
//	                              c.mu.Lock()
//	                              if c.closed {
//	                              	...

// afterNilCheck has a region whose lock goes by a name begin behind a check of the variable that
// the name begins with. It is an error if the region has such a check elsewhere.
func (code *Code) afterNilCheck(edits *source.Edits, r *Region, name string) error {
	variable, _, isField := strings.Cut(name, ".")
	if !isField {
		return nil
	}
	checks := 0
	statement.Each(r.statements(), func(n ast.Node) {
		if x, ok := n.(*ast.BinaryExpr); ok && r.isNilCheck(x, variable) {
			checks++
		}
	})
	if checks == 0 {
		return nil
	}
	s, ok := r.first().(*ast.IfStmt)
	if !ok || checks > 1 || s.Init != nil || s.Else != nil || !statement.Terminates(s.Body) || len(s.Body.List) != 1 {
		return fmt.Errorf("%s may be nil where a section in %s would take its lock", variable, r.place())
	}
	first, rest := statement.FirstOperand(s.Cond)
	check, ok := first.(*ast.BinaryExpr)
	if !ok || check.Op != token.EQL || !r.isNilCheck(check, variable) {
		return fmt.Errorf("%s may be nil where a section in %s would take its lock", variable, r.place())
	}
	if rest == token.NoPos { // it checks nothing else
		if r.from == r.to {
			return nil
		}
		r.from++
		return nil
	}
	edits.LineBefore(s, "if "+r.file.TextOf(check)+" {\n\t"+r.file.TextOf(s.Body.List[0])+"\n}")
	edits.Buffer().Delete(r.file.Offset(check.Pos()), r.file.Offset(rest))
	return nil
}

// isNilCheck reports whether an expression compares a variable with nil.
func (r *Region) isNilCheck(x *ast.BinaryExpr, variable string) bool {
	id, ok := ast.Unparen(x.X).(*ast.Ident)
	return ok && id.Name == variable && (x.Op == token.EQL || x.Op == token.NEQ) && r.info().Types[x.Y].IsNil()
}
