package plan

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/outline"
)

// isSettled reports whether the variable that leads to a lock stands for one object from where the sections of an outline
// begin to where the last of them has ended. It may be assigned to before and behind.
//
//	s := shards[k]
//	if s == nil {
//		s = add(k)
//	}
//	s.mu.Lock()
//	s.n++
//	s.mu.Unlock()
//	s = s.next
//
// A release that is deferred has the variable to the end of the function, where the lock is taken once.
func (u *unit) isSettled(block *ast.BlockStmt, o *outline.Outline) bool {
	root := o.Lock.Root
	if u.facts.Stable(root) {
		return true
	}
	if u.facts.Exposure(root) != facts.Hidden || !u.isLocal(block, root) {
		return false
	}
	from, to := o.First.Pos(), o.End()
	if o.DefersRelease() {
		if to = block.End(); o.InLoop {
			return false
		}
	}
	settled := true
	ast.PreorderStack(block, nil, func(n ast.Node, around []ast.Node) bool {
		inLiteral := slices.ContainsFunc(around, func(n ast.Node) bool { _, ok := n.(*ast.FuncLit); return ok })
		for _, at := range u.assigns(n, root) {
			settled = settled && !inLiteral && (at < from || to < at)
		}
		return true
	})
	return settled
}

// assigns returns where a statement assigns to a variable by itself.
func (u *unit) assigns(n ast.Node, v *types.Var) (at []token.Pos) {
	var to []ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		to = n.Lhs
	case *ast.RangeStmt:
		to = []ast.Expr{n.Key, n.Value}
	}
	for _, e := range to {
		if id, ok := e.(*ast.Ident); ok && u.info.Uses[id] == v {
			at = append(at, id.Pos())
		}
	}
	return at
}

// isLocal reports whether a variable is declared in a body, or is a parameter of its function. A result is none: a return
// assigns to it.
func (u *unit) isLocal(block *ast.BlockStmt, v *types.Var) bool {
	if block.Pos() < v.Pos() && v.Pos() < block.End() {
		return true
	}
	fn := u.declarationOf(block)
	if fn == nil {
		return false
	}
	s := fn.Signature()
	return v == s.Recv() || slices.Contains(slices.Collect(s.Params().Variables()), v)
}
