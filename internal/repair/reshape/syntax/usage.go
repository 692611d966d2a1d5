package syntax

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A Usage is one use of a variable.
type Usage struct {
	ID *ast.Ident
	// Set is the assignment that does nothing with the variable but set it; nil for another use.
	Set *ast.AssignStmt
	// Block is what Set is a statement of, without an if statement that it begins.
	Block ast.Node
	// Goroutine is the literal that the use is in, if a goroutine runs it.
	Goroutine *ast.FuncLit
	// Statement is the statement of the literal, or of the loop around it, that the use is in.
	Statement ast.Stmt
	Loop      ast.Node // the innermost loop around the goroutine's start
}

// Usages are the uses of a variable in the order of the source. It is false if one of them is
// none that can be judged.
func Usages(f *source.File, v *types.Var) ([]Usage, bool) {
	var all []Usage
	ok := true
	Inspect(f, func(n ast.Node, around []ast.Node) {
		id, isIdent := n.(*ast.Ident)
		if isIdent && f.Info.Defs[id] == types.Object(v) && slices.ContainsFunc(around, func(n ast.Node) bool { _, is := n.(*ast.FuncType); return is }) {
			ok = false // a result: what is in it at the end is returned
		}
		if !isIdent || f.Info.Uses[id] != types.Object(v) {
			return
		}
		u := Usage{ID: id}
		for i := range around {
			lit, isLit := around[i].(*ast.FuncLit)
			if !isLit || DeclaredIn(v, lit) {
				continue
			}
			if !RunByGoroutine(around[:i], lit) {
				ok = false
				return
			}
			u.Goroutine = lit
			for _, outer := range slices.Backward(around[:i]) {
				switch outer.(type) {
				case *ast.ForStmt, *ast.RangeStmt:
					if u.Loop == nil {
						u.Loop = outer
					}
				}
			}
			if i+2 < len(around) {
				u.Statement, _ = around[i+2].(ast.Stmt)
			}
			break
		}
		switch parent := around[len(around)-1].(type) {
		case *ast.UnaryExpr:
			ok = ok && parent.Op != token.AND
		case *ast.AssignStmt:
			if slices.Contains(parent.Lhs, ast.Expr(id)) && (parent.Tok == token.ASSIGN || parent.Tok == token.DEFINE) && !slices.ContainsFunc(parent.Rhs, func(e ast.Expr) bool { return Mentions(f, e, v) }) {
				u.Set, u.Block = parent, around[len(around)-2]
				if branch, ok := u.Block.(*ast.IfStmt); ok && branch.Init == ast.Stmt(parent) {
					u.Block = around[len(around)-3]
				}
			}
		}
		all = append(all, u)
	})
	return all, ok
}

// OfLoop reports whether a node is a loop that declares a variable.
func OfLoop(f *source.File, n ast.Node, v *types.Var) bool {
	switch n := n.(type) {
	case *ast.RangeStmt:
		return DeclaredIn(v, n) && v.Pos() < n.X.Pos()
	case *ast.ForStmt:
		return n.Init != nil && DeclaredIn(v, n.Init)
	}
	return false
}

// SetIn are the variables that a literal sets, or of whose elements it sets one; each once.
func SetIn(f *source.File, lit *ast.FuncLit) []*ast.Ident {
	var all []*ast.Ident
	ast.Inspect(lit, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || assign.Tok != token.ASSIGN {
			return true
		}
		for _, left := range assign.Lhs {
			if element, ok := left.(*ast.IndexExpr); ok {
				left = element.X
			}
			id, ok := ast.Unparen(left).(*ast.Ident)
			if !ok {
				continue
			}
			v, ok := f.Info.Uses[id].(*types.Var)
			if ok && !slices.ContainsFunc(all, func(other *ast.Ident) bool { return f.Info.Uses[other] == types.Object(v) }) {
				all = append(all, id)
			}
		}
		return true
	})
	return all
}
