package stmcheck

import (
	"go/ast"
	"go/types"
)

// checkEscapes reports each Tx that leaves its goroutine or its transaction.
func (c *checker) checkEscapes() {
	const (
		elsewhere  = "this uses the Tx in another goroutine than its transaction's: run a transaction of its own there"
		later      = "this uses the Tx when its transaction is over: run a transaction of its own there"
		stored     = "this keeps the Tx in a place that outlives its transaction: pass it as a parameter"
		sent       = "this sends the Tx to whom may use it in another goroutine or when its transaction is over: run a transaction of its own there"
		returned   = "this returns the Tx from its transaction, which is over then: return values that were loaded"
		returnedIn = "this returns a function that uses the Tx from its transaction, which is over then: return values that were loaded"
	)
	for _, f := range c.functions {
		switch f.role {
		case goroutine:
			c.usesOutside(f.node, elsewhere)
		case afterward:
			c.usesOutside(f.node, later)
		}
		ast.Inspect(f.body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return n == f.node
			case *ast.GoStmt:
				for _, arg := range n.Call.Args {
					c.usesOutside(arg, elsewhere)
				}
			case *ast.SendStmt:
				if isTx(c.info.TypeOf(n.Value)) {
					c.reportf(escapeCategory, n, sent)
				}
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					if f.transaction == nil || len(n.Lhs) != len(n.Rhs) || !c.carries(n.Rhs[i]) {
						continue
					}
					v, direct := c.root(lhs)
					if v != nil && v.Name() != "_" && (!f.transaction.contains(v) || !direct && parameter(f.sig, v) >= 0) {
						c.reportf(escapeCategory, n, stored)
					}
				}
			case *ast.ReturnStmt:
				if f.transaction != f || f.fn != nil {
					break
				}
				for _, e := range n.Results {
					if isTx(c.info.TypeOf(e)) {
						c.reportf(escapeCategory, e, returned)
					} else if c.carries(e) && !isIterator(c.info.TypeOf(e)) {
						c.reportf(escapeCategory, e, returnedIn)
					}
				}
			}
			return true
		})
	}
}

// carries reports whether a value is a Tx, a method of one, or a function
// literal that uses one from around it.
func (c *checker) carries(e ast.Expr) bool {
	if isTx(c.info.TypeOf(e)) {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return !ok || id.Name != "nil"
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		return len(c.outsideUses(e)) > 0
	case *ast.SelectorExpr: // tx.Check as a value
		s := c.info.Selections[e]
		return s != nil && s.Kind() == types.MethodVal && isTx(s.Recv())
	}
	return false
}

func (c *checker) usesOutside(n ast.Node, message string) {
	for _, id := range c.outsideUses(n) {
		c.reportf(escapeCategory, id, message)
	}
}

// outsideUses returns where a node uses a Tx that is not declared in it.
func (c *checker) outsideUses(n ast.Node) []*ast.Ident {
	var uses []*ast.Ident
	ast.Inspect(n, func(m ast.Node) bool {
		id, ok := m.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := c.info.Uses[id].(*types.Var)
		if ok && isTx(v.Type()) && !v.IsField() && (v.Pos() < n.Pos() || n.End() <= v.Pos()) {
			uses = append(uses, id)
		}
		return true
	})
	return uses
}
