package cover

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// panics reports whether a region may panic in a way that a deferred unlock is good for:
// it calls something.
func panics(r *Region) bool {
	found := false
	within(r.statements(), func(n ast.Node) {
		if c, ok := n.(*ast.CallExpr); ok {
			if _, builtin := r.info().Uses[source.CalleeName(c)].(*types.Builtin); !builtin {
				found = true
			}
		}
	})
	return found
}

// recovers reports whether a region's function recovers from panics.
func recovers(r *Region) bool {
	found := false
	ast.Inspect(r.body, func(n ast.Node) bool {
		d, ok := n.(*ast.DeferStmt)
		if !ok {
			return true
		}
		ast.Inspect(d, func(m ast.Node) bool {
			if c, ok := m.(*ast.CallExpr); ok && isBuiltin(r.info(), c, "recover") {
				found = true
			}
			return true
		})
		return false
	})
	return found
}

// returns reports whether statements have a return in them.
func returns(stmts []ast.Stmt) bool {
	found := false
	within(stmts, func(n ast.Node) {
		if _, ok := n.(*ast.ReturnStmt); ok {
			found = true
		}
	})
	return found
}

// hasGoto reports whether a function has a goto, which may lead into a region.
func hasGoto(body *ast.BlockStmt) bool {
	found := false
	within(body.List, func(n ast.Node) {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
			found = true
		}
	})
	return found
}

// terminates reports whether control does not go on behind a statement.
func terminates(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		return panicOf(s) != nil
	case *ast.BlockStmt:
		return len(s.List) > 0 && terminates(s.List[len(s.List)-1])
	case *ast.IfStmt:
		return s.Else != nil && terminates(s.Body) && terminates(s.Else)
	case *ast.SwitchStmt:
		return clausesTerminate(s.Body)
	case *ast.TypeSwitchStmt:
		return clausesTerminate(s.Body)
	case *ast.ForStmt:
		return s.Cond == nil && !breaks(s.Body)
	}
	return false
}

// panicOf is the call of panic that a statement is, nil if it is none.
func panicOf(s *ast.ExprStmt) *ast.CallExpr {
	c, ok := s.X.(*ast.CallExpr)
	if !ok {
		return nil
	}
	if id, ok := c.Fun.(*ast.Ident); !ok || id.Name != "panic" || len(c.Args) != 1 {
		return nil
	}
	return c
}

func clausesTerminate(body *ast.BlockStmt) bool {
	all := false
	for _, c := range body.List {
		c := c.(*ast.CaseClause)
		if c.List == nil {
			all = true
		}
		if len(c.Body) == 0 || !terminates(c.Body[len(c.Body)-1]) || breaks(&ast.BlockStmt{List: c.Body}) {
			return false
		}
	}
	return all
}

// breaks reports whether statements break out of what is around them.
func breaks(body *ast.BlockStmt) bool {
	found := false
	within(body.List, func(n ast.Node) {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.BREAK {
			found = true
		}
	})
	return found
}

// labelInside reports whether a label stands inside the statements.
func labelInside(stmts []ast.Stmt, label *ast.Ident) bool {
	found := false
	within(stmts, func(n ast.Node) {
		if l, ok := n.(*ast.LabeledStmt); ok && label != nil && l.Label.Name == label.Name {
			found = true
		}
	})
	return found
}
