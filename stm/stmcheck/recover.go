package stmcheck

import (
	"go/ast"
	"go/types"
)

// checkRecover reports the deferred functions that would stop the panic by which an
// attempt is given up. Around code that has no Tx there is no such panic.
func (c *checker) checkRecover(f *function) {
	if f.tx == nil && len(c.outsideUses(f.body)) == 0 {
		return
	}
	c.revocable(f, func(e event) {
		if e.kind == called && e.deferred && c.of(e).Recovers {
			c.reportf(recoverCategory, e.node, "this recover also stops the panic by which package stm gives an attempt up: panic again with what is not yours, or recover in a function without the Tx")
		}
	})
}

// recovers reports whether a body calls recover itself and does not panic again with
// what it got.
func recovers(c *checker, body *ast.BlockStmt) bool {
	calls, again := false, false
	got := make(map[types.Object]bool)
	is := func(e ast.Expr, name string) (*ast.CallExpr, bool) {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok {
			return nil, false
		}
		id, ok := ast.Unparen(call.Fun).(*ast.Ident)
		if !ok {
			return nil, false
		}
		b, ok := c.info.Uses[id].(*types.Builtin)
		return call, ok && b.Name() == name
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if len(n.Lhs) != len(n.Rhs) {
					break
				}
				if _, ok := is(n.Rhs[i], "recover"); ok {
					if id, ok := lhs.(*ast.Ident); ok {
						got[c.info.ObjectOf(id)] = true
					}
				}
			}
		case *ast.CallExpr:
			if _, ok := is(n, "recover"); ok {
				calls = true
			}
			if call, ok := is(n, "panic"); ok {
				if id, ok := ast.Unparen(call.Args[0]).(*ast.Ident); ok && got[c.info.ObjectOf(id)] {
					again = true
				}
			}
		}
		return true
	})
	return calls && !again
}
