package batch

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/use"
)

// An Assignment is one that is written as a call of a function literal, so that what is assigned is evaluated before the
// addresses of what it is assigned to.
type Assignment struct {
	*ast.AssignStmt
}

// rewritten finds out whether the elements of a statement can be calls, and which assignments have to be written in another
// way for that. It returns why they cannot.
func (s *Section) rewritten(stmt ast.Stmt, elements []*Element) (assignments []Assignment, why string) {
	for _, e := range elements {
		if r, ok := stmt.(*ast.RangeStmt); ok && (isIn(r.Key, e) || isIn(r.Value, e)) {
			return nil, "assigns to it in the header of a loop"
		}
		assigned := assignmentTo(e)
		alone := assigned != nil && len(assigned.Lhs) == 1
		switch {
		case !alone && s.callsBehindElement(stmt, e), alone && callsBehind(s.Info, e.Whole().Expr, e.Whole().Expr):
			return nil, "calls a function"
		case assigned == nil, alone && use.IsPlain(assigned.Rhs[0]), !alone && areExchanged(assigned, elements):
		case assigned.Tok == token.SHL_ASSIGN || assigned.Tok == token.SHR_ASSIGN:
			return nil, "shifts it by what may panic"
		case !alone || !s.canBeLiteral(assigned):
			return nil, "assigns to it together with something else"
		default:
			assignments = append(assignments, Assignment{assigned})
		}
	}
	return assignments, ""
}

func isIn(x ast.Expr, e *Element) bool { return x != nil && ast.Unparen(x) == e.Whole().Expr }

// assignmentTo returns the assignment to an element, nil if it is only used.
func assignmentTo(e *Element) *ast.AssignStmt {
	a, ok := e.root.(*ast.AssignStmt)
	if ok && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return isIn(x, e) }) {
		return a
	}
	return nil
}

// callsBehindElement reports whether a step calls a function behind an element. The conditions of a statement are evaluated one by one,
// the results of a return together.
func (s *Section) callsBehindElement(stmt ast.Stmt, e *Element) bool {
	if r, ok := stmt.(*ast.ReturnStmt); ok {
		return slices.ContainsFunc(r.Results, func(x ast.Expr) bool { return callsBehind(s.Info, e.Whole().Expr, x) })
	}
	return callsBehind(s.Info, e.Whole().Expr, e.root)
}

// callsBehind reports whether a node calls a function behind an expression, other than with the expression as an operand.
func callsBehind(info *types.Info, x ast.Expr, in ast.Node) (calls bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			f := ast.Unparen(n.Fun)
			calls = calls || n.Pos() >= x.Pos() && !contains(n, x) && !info.Types[f].IsType() && facts.BuiltinOf(info, f) == ""
		}
		return !calls
	})
	return calls
}

func contains(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}

// canBeLiteral reports whether an assignment of one value can be a call of a function literal.
func (s *Section) canBeLiteral(a *ast.AssignStmt) bool {
	line := func(at token.Pos) int { return s.Facts.Fset.PositionFor(at, false).Line }
	_, ok := s.Spell(s.Info.TypeOf(a.Lhs[0]))
	return ok && line(a.Lhs[0].End()) == line(a.Rhs[0].Pos())
}

// areExchanged reports whether all elements that are assigned to are loaded first, so that nothing has been assigned if the address of one
// panics.
func areExchanged(a *ast.AssignStmt, elements []*Element) bool {
	return !slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool {
		isElement := slices.ContainsFunc(elements, func(e *Element) bool { return isIn(x, e) })
		isLoaded := slices.ContainsFunc(a.Rhs, func(y ast.Expr) bool { return types.ExprString(x) == types.ExprString(y) })
		return isElement && !isLoaded
	})
}

// isHeader reports whether a use of a slice or map in a statement is only of what the variable itself holds.
//
//	x.s == nil; x.s = v; len(x.s); for i := range x.s; x.s = append(x.s, v); x.s = x.s[1:]
func (s *Section) isHeader(stmt ast.Stmt, x ast.Expr) (header bool) {
	ast.PreorderStack(stmt, nil, func(n ast.Node, around []ast.Node) bool {
		if n != ast.Node(x) {
			return contains(n, x)
		}
		for len(around) > 1 && isParen(around[len(around)-1]) {
			n, around = around[len(around)-1], around[:len(around)-1]
		}
		isSlice := facts.IsSlice(s.Info.TypeOf(x))
		switch p := around[len(around)-1].(type) {
		case *ast.BinaryExpr:
			header = p.Op == token.EQL || p.Op == token.NEQ
		case *ast.AssignStmt:
			header = slices.Contains(p.Lhs, n.(ast.Expr))
		case *ast.RangeStmt:
			header = isSlice && p.X == n && p.Value == nil
		case *ast.CallExpr:
			b := facts.BuiltinOf(s.Info, ast.Unparen(p.Fun))
			header = isSlice && (b == "len" || b == "cap" || b == "append" && p.Args[0] == n && isAssignedTo(x, p, around))
		case *ast.SliceExpr:
			header = isSlice && p.X == n && isAssignedTo(x, p, around)
		}
		return false
	})
	return header
}

func isParen(n ast.Node) bool {
	_, ok := n.(*ast.ParenExpr)
	return ok
}

// isAssignedTo reports whether a value, the last of the nodes, is assigned to a variable by itself.
func isAssignedTo(x, value ast.Expr, around []ast.Node) bool {
	if len(around) < 2 {
		return false
	}
	a, ok := around[len(around)-2].(*ast.AssignStmt)
	return ok && a.Tok == token.ASSIGN && len(a.Lhs) == 1 && len(a.Rhs) == 1 && a.Rhs[0] == value && types.ExprString(a.Lhs[0]) == types.ExprString(x)
}
