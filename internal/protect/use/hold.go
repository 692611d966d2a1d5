package use

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// A Way is how a use holds on to its object. The zero value says that it does not.
type Way struct {
	Loads bool     // it loads all of the field, by a call
	Holds ast.Stmt // it is in what this statement stores to, which becomes a block
}

// WayOf returns the way of a use, from the nodes around it.
func WayOf(f *facts.Facts, info *types.Info, use ast.Node, around []ast.Node) Way {
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

// storesPointers reports whether a statement stores to pointers as well, which may be cells: such a
// statement has a block of its own already.
func storesPointers(f *facts.Facts, n ast.Node) bool {
	a, ok := n.(*ast.AssignStmt)
	return ok && slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return f.StoreOf(e) != nil })
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
