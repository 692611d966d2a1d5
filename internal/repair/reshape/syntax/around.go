package syntax

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// Inspect calls f for every node of a file with the nodes around it, the outermost first.
func Inspect(f *source.File, visit func(n ast.Node, around []ast.Node)) {
	ast.PreorderStack(f.Syntax, nil, func(n ast.Node, stack []ast.Node) bool {
		visit(n, stack)
		return true
	})
}

// Within reports whether a node is inside another, or is it.
func Within(inner, outer ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}

// ListAround returns the statements that a statement is one of, and its index; nil if it is
// no element of a list.
func ListAround(s ast.Stmt, around []ast.Node) ([]ast.Stmt, int) {
	if len(around) == 0 {
		return nil, 0
	}
	list := Statements(around[len(around)-1])
	for i, other := range list {
		if other == s {
			return list, i
		}
	}
	return nil, 0
}

// Statements are those that a node is a list of.
func Statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// FunctionAround returns the innermost function among nodes, with its body.
func FunctionAround(around []ast.Node) (ast.Node, *ast.BlockStmt) {
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.FuncLit:
			return n, n.Body
		case *ast.FuncDecl:
			return n, n.Body
		}
	}
	return nil, nil
}

// LoopAround is the innermost loop around a node, in its function.
func LoopAround(around []ast.Node) (ast.Stmt, bool) {
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.ForStmt:
			return n, true
		case *ast.RangeStmt:
			return n, true
		case *ast.FuncLit, *ast.FuncDecl:
			return nil, false
		}
	}
	return nil, false
}

// SelectOf is the select statement of which a node is a case's operation; nil if it is none.
func SelectOf(around []ast.Node) *ast.SelectStmt {
	if len(around) < 3 {
		return nil
	}
	if _, ok := around[len(around)-1].(*ast.CommClause); !ok {
		return nil
	}
	s, _ := around[len(around)-3].(*ast.SelectStmt)
	return s
}

// EndsFunction reports whether a statement is the last of its function.
func EndsFunction(s ast.Stmt, around []ast.Node) bool {
	_, body := FunctionAround(around)
	return body != nil && len(body.List) > 0 && body.List[len(body.List)-1] == s
}

// GoroutineAround is the literal that a goroutine runs, around a node and inside of what
// declares a variable; nil if there is none.
func GoroutineAround(around []ast.Node, v *types.Var) *ast.FuncLit {
	for i, n := range around {
		if lit, ok := n.(*ast.FuncLit); ok && !DeclaredIn(v, lit) && RunByGoroutine(around[:i], lit) {
			return lit
		}
	}
	return nil
}

// RunByGoroutine reports whether a literal is started by a go statement, or given to a method
// Go, as those of sync.WaitGroup and errgroup.Group are called.
func RunByGoroutine(around []ast.Node, lit *ast.FuncLit) bool {
	call, ok := around[len(around)-1].(*ast.CallExpr)
	if !ok {
		return false
	}
	if start, ok := around[len(around)-2].(*ast.GoStmt); ok && start.Call == call {
		return call.Fun == ast.Expr(lit)
	}
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && selector.Sel.Name == "Go" && slices.Contains(call.Args, ast.Expr(lit))
}
