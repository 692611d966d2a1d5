// Package holding finds out how the use of an object's field that is on pages can be written so that
// it holds on to the object until it is done.
//
// A use finds the page first, by a pointer that the collector does not know, and then loads or stores.
// If the object became garbage in between, and gave its page back, that would end the program.
//
//	return t.n         can be a call, which holds on to the object until it has the value
//	t.n = v            can be a block, which names the object behind the statement
//	t.n = <-c          has the page for as long as c is empty, and loads other variables after
//	use(t.n, f())      that: to write these in another way would change their order
//	t.a[i]             may be all that is used of t.a by this goroutine: a call would load more
//	for ; ; t.n++ {    has no room for a block
//	p := &t.n          has a pointer that is used later; so has t.a[:]
//
// A section, which is to release the lock that is in the object, holds on to the object, unless the
// compiler may know that it never does.
package holding

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// A Way is how a use holds on to its object. The zero value says that it does not.
type Way struct {
	Loads bool     // it loads all of the field, by a call
	Holds ast.Stmt // it is in what this statement stores to, which becomes a block
}

// Of returns the way of a use, from the nodes around it.
func Of(f *facts.Facts, info *types.Info, use ast.Node, around []ast.Node) Way {
	whole, i := wholeOf(info, use, around)
	parent := around[i-1]
	switch {
	case takesAddress(info, parent, whole), runsOtherCode(info, use, around):
		return Way{}
	case storesTo(parent, whole):
		if !isListed(parent, around[i-2]) || storesPointers(f, parent) {
			return Way{}
		}
		return Way{Holds: parent.(ast.Stmt)}
	default:
		return Way{Loads: ast.Unparen(whole.(ast.Expr)) == use}
	}
}

// TakesAddress reports whether a use takes the address of the field or of a part of it, from the nodes
// around it. Where that is only done to load and store by the address, the field is on pages all the
// same.
func TakesAddress(info *types.Info, use ast.Node, around []ast.Node) bool {
	whole, i := wholeOf(info, use, around)
	return takesAddress(info, around[i-1], whole)
}

func takesAddress(info *types.Info, parent, whole ast.Node) bool {
	switch n := parent.(type) {
	case *ast.UnaryExpr:
		return n.Op == token.AND
	case *ast.SliceExpr:
		return n.X == whole
	case *ast.SelectorExpr:
		m, ok := info.Selections[n].Obj().(*types.Func)
		return ok && facts.IsPointer(m.Signature().Recv().Type())
	}
	return false
}

// wholeOf returns the expression for the part of a field that is used, or for all of it, and how many
// of the nodes are around that.
func wholeOf(info *types.Info, use ast.Node, around []ast.Node) (whole ast.Node, outside int) {
	whole, i := use, len(around)
	for isPartOf(info, around[i-1], whole) {
		i--
		whole = around[i]
	}
	return whole, i
}

// isPartOf reports whether a node is an expression for a part of a variable, or for all of it, and
// another node is the expression for the variable.
func isPartOf(info *types.Info, n, variable ast.Node) bool {
	switch n := n.(type) {
	case *ast.ParenExpr:
		return true
	case *ast.SelectorExpr:
		return n.X == variable && info.Selections[n].Kind() == types.FieldVal
	case *ast.IndexExpr:
		return n.X == variable
	}
	return false
}

// storesTo reports whether a statement stores to a variable.
func storesTo(n, variable ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return e == variable })
	case *ast.IncDecStmt:
		return true
	}
	return false
}

// storesPointers reports whether a statement stores to pointers as well, which may be cells: such a
// statement has a block of its own already.
func storesPointers(f *facts.Facts, n ast.Node) bool {
	a, ok := n.(*ast.AssignStmt)
	return ok && slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return f.StoreOf(e) != nil })
}

// isListed reports whether a statement is one of a block's, before and behind which others can stand.
func isListed(n, parent ast.Node) bool {
	switch b := parent.(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	case *ast.CommClause:
		return b.Comm != n
	}
	return false
}

// NeverEnds reports whether the compiler may know that nothing comes after a statement.
func NeverEnds(info *types.Info, s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.SelectStmt:
		return len(s.Body.List) == 0
	case *ast.ForStmt:
		return s.Cond == nil || info.Types[s.Cond].Value != nil
	}
	return facts.Panics(info, s)
}

// runsOtherCode reports whether the statement with a use may run other code between finding the
// data and using it.
func runsOtherCode(info *types.Info, use ast.Node, around []ast.Node) bool {
	for _, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.CaseClause:
			return slices.ContainsFunc(n.List, func(e ast.Expr) bool { return callsBeside(info, use, e) })
		case *ast.RangeStmt:
			_, number := info.TypeOf(n.X).Underlying().(*types.Basic)
			return !number || !contains(n.X, use) || callsBeside(info, use, n.X)
		case ast.Stmt:
			return callsBeside(info, use, n)
		}
	}
	return true // the first value of a variable
}

// callsBeside reports whether a node calls a function, or receives, other than with the use as
// an operand. What is in blocks is not a part of the statement that has them.
func callsBeside(info *types.Info, use, in ast.Node) (calls bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.BlockStmt:
			return false
		case *ast.CallExpr:
			f := ast.Unparen(n.Fun)
			calls = calls || !contains(n, use) && !info.Types[f].IsType() && facts.BuiltinOf(info, f) == ""
		case *ast.UnaryExpr:
			calls = calls || n.Op == token.ARROW && !contains(n, use)
		}
		return !calls
	})
	return calls
}

func contains(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}
