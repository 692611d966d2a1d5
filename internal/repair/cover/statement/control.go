package statement

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// CallsAny reports whether statements call something, and so may panic in a way that a deferred
// unlock is good for.
func CallsAny(info *types.Info, stmts []ast.Stmt) bool {
	found := false
	Each(stmts, func(n ast.Node) {
		if c, ok := n.(*ast.CallExpr); ok {
			if _, builtin := info.Uses[source.CalleeName(c)].(*types.Builtin); !builtin {
				found = true
			}
		}
	})
	return found
}

// Recovers reports whether a function recovers from panics.
func Recovers(info *types.Info, body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		d, ok := n.(*ast.DeferStmt)
		if !ok {
			return true
		}
		ast.Inspect(d, func(m ast.Node) bool {
			if c, ok := m.(*ast.CallExpr); ok && IsBuiltin(info, c, "recover") {
				found = true
			}
			return true
		})
		return false
	})
	return found
}

// Returns reports whether statements have a return in them.
func Returns(stmts []ast.Stmt) bool {
	found := false
	Each(stmts, func(n ast.Node) {
		if _, ok := n.(*ast.ReturnStmt); ok {
			found = true
		}
	})
	return found
}

// HasGoto reports whether a function has a goto, which may lead into a region.
func HasGoto(body *ast.BlockStmt) bool {
	found := false
	Each(body.List, func(n ast.Node) {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
			found = true
		}
	})
	return found
}

// Terminates reports whether control does not go on behind a statement.
func Terminates(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		return PanicOf(s) != nil
	case *ast.BlockStmt:
		return len(s.List) > 0 && Terminates(s.List[len(s.List)-1])
	case *ast.IfStmt:
		return s.Else != nil && Terminates(s.Body) && Terminates(s.Else)
	case *ast.SwitchStmt:
		return clausesTerminate(s.Body)
	case *ast.TypeSwitchStmt:
		return clausesTerminate(s.Body)
	case *ast.ForStmt:
		return s.Cond == nil && !breaks(s.Body)
	}
	return false
}

// PanicOf is the call of panic that a statement is, nil if it is none.
func PanicOf(s *ast.ExprStmt) *ast.CallExpr {
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
		if len(c.Body) == 0 || !Terminates(c.Body[len(c.Body)-1]) || breaks(&ast.BlockStmt{List: c.Body}) {
			return false
		}
	}
	return all
}

// breaks reports whether statements break out of what is around them.
func breaks(body *ast.BlockStmt) bool {
	found := false
	Each(body.List, func(n ast.Node) {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.BREAK {
			found = true
		}
	})
	return found
}

// HasLabel reports whether a label stands inside the statements.
func HasLabel(stmts []ast.Stmt, label *ast.Ident) bool {
	found := false
	Each(stmts, func(n ast.Node) {
		if l, ok := n.(*ast.LabeledStmt); ok && label != nil && l.Label.Name == label.Name {
			found = true
		}
	})
	return found
}

// IsBuiltin reports whether a call is of a builtin function.
func IsBuiltin(info *types.Info, c *ast.CallExpr, name string) bool {
	b, ok := info.Uses[source.CalleeName(c)].(*types.Builtin)
	return ok && b.Name() == name
}

// Encloses reports whether a node is within another, or is it.
func Encloses(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}

// Each calls f for the nodes of a function's statements, without those of functions
// inside it.
func Each(stmts []ast.Stmt, f func(ast.Node)) {
	for _, s := range stmts {
		ast.Inspect(s, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncLit); ok {
				return false
			}
			if n != nil {
				f(n)
			}
			return true
		})
	}
}

// Innermost is the innermost list of statements, not of another function, of which
// some cover the range.
func Innermost(body *ast.BlockStmt, lo, hi token.Pos) (list []ast.Stmt, from, to int) {
	look := func(l []ast.Stmt) {
		i, j := -1, -1
		for k, s := range l {
			if s.Pos() <= lo && lo < s.End() {
				i = k
			}
			if s.Pos() < hi && hi <= s.End() {
				j = k
			}
		}
		if i >= 0 && j >= i {
			list, from, to = l, i, j
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BlockStmt:
			if !HasClauses(n) {
				look(n.List)
			}
		case *ast.CaseClause:
			look(n.Body)
		case *ast.CommClause:
			look(n.Body)
		}
		return true
	})
	return list, from, to
}

// HasClauses reports whether a block is that of a switch or select, between whose clauses no
// statement can be.
func HasClauses(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch b.List[0].(type) {
	case *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

// TriedOperations are the sends and receives in a statement that are made only if they need not
// wait, as cases of a select with a default.
func TriedOperations(s ast.Stmt) []ast.Node {
	var all []ast.Node
	ast.Inspect(s, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectStmt); ok && HasDefault(sel) {
			for _, clause := range sel.Body.List {
				switch comm := clause.(*ast.CommClause).Comm.(type) {
				case *ast.SendStmt:
					all = append(all, comm)
				case *ast.ExprStmt:
					all = append(all, ast.Unparen(comm.X))
				case *ast.AssignStmt:
					all = append(all, ast.Unparen(comm.Rhs[0]))
				}
			}
		}
		return true
	})
	return all
}

// HasDefault reports whether a select waits for nothing.
func HasDefault(s *ast.SelectStmt) bool {
	return slices.ContainsFunc(s.Body.List, func(clause ast.Stmt) bool { return clause.(*ast.CommClause).Comm == nil })
}

// EndsByItself reports whether a loop goes over something that has an end, or counts.
func EndsByItself(info *types.Info, loop ast.Stmt) bool {
	switch loop := loop.(type) {
	case *ast.RangeStmt:
		switch info.TypeOf(loop.X).Underlying().(type) {
		case *types.Chan, *types.Signature:
			return false
		}
		return true
	case *ast.ForStmt:
		return loop.Cond != nil && loop.Post != nil
	}
	return false
}

// CallsValue reports whether a call that names no declared function is of a function value, and no
// conversion.
func CallsValue(info *types.Info, c *ast.CallExpr) bool {
	if info.Types[c.Fun].IsType() {
		return false
	}
	if _, ok := info.Uses[source.CalleeName(c)].(*types.Builtin); ok {
		return false
	}
	_, literal := ast.Unparen(c.Fun).(*ast.FuncLit)
	return !literal
}

// Branches are the blocks that a statement goes on to, of which one is that of the last else; nil for no
// else. A statement that is no if statement has none.
func Branches(s ast.Stmt) []*ast.BlockStmt {
	var all []*ast.BlockStmt
	for {
		switch next := s.(type) {
		case *ast.IfStmt:
			all = append(all, next.Body)
			if s = next.Else; s == nil {
				return append(all, nil)
			}
		case *ast.BlockStmt:
			return append(all, next)
		default:
			return all
		}
	}
}

// Last is the last statement of a block, nil if there is none.
func Last(b *ast.BlockStmt) ast.Stmt {
	if b == nil || len(b.List) == 0 {
		return nil
	}
	return b.List[len(b.List)-1]
}

// FirstOperand is the condition that is looked at first of several of which one is enough, and
// where the rest begins; token.NoPos if there is only one.
func FirstOperand(cond ast.Expr) (first ast.Expr, rest token.Pos) {
	first = cond
	for {
		x, ok := first.(*ast.BinaryExpr)
		if !ok || x.Op != token.LOR {
			return first, rest
		}
		first, rest = x.X, x.Y.Pos()
	}
}
