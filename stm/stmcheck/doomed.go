package stmcheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// findLoaded finds the integers of transactional functions that may be what a transaction has
// read, or computed from that: in a doomed transaction they may be any number. What
// is passed on to helpers is not followed.
func (c *checker) findLoaded() {
	c.loaded = make(map[*types.Var]bool)
	for grown := true; grown; {
		grown = false
		note := func(target ast.Expr, from ast.Expr) {
			if v := c.variable(target); v != nil && !c.loaded[v] && isInteger(v.Type()) && c.isLoaded(from) {
				c.loaded[v], grown = true, true
			}
		}
		for _, f := range c.functions {
			if f.transaction == nil {
				continue
			}
			ast.Inspect(f.body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for i, l := range n.Lhs {
						note(l, n.Rhs[min(i, len(n.Rhs)-1)])
					}
				case *ast.ValueSpec:
					for i, name := range n.Names {
						if len(n.Values) > 0 {
							note(name, n.Values[min(i, len(n.Values)-1)])
						}
					}
				}
				return true
			})
		}
	}
}

// isLoaded reports whether an expression is a number that may have been read by the
// transaction. The length of something that is there is no larger than memory.
func (c *checker) isLoaded(e ast.Expr) (loaded bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.Ident:
			v, ok := c.info.Uses[n].(*types.Var)
			loaded = loaded || ok && c.loaded[v]
		case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
			return false // read plainly, from something that is there
		case *ast.CallExpr:
			if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && (id.Name == "len" || id.Name == "cap") && c.info.Types[n.Fun].IsBuiltin() {
				return false
			}
			if c.info.Types[n.Fun].IsType() {
				return true // a conversion
			}
			if fn := c.callee(n); fn != nil && (reading[stmSymbol(fn)] || stmSymbol(fn) == "" && txParameter(fn.Signature()) != nil) {
				loaded = true
			}
			return false
		}
		return !loaded
	})
	return loaded
}

func isInteger(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

// reading are the functions of package stm that return what is in memory.
var reading = map[string]bool{"Load": true, "Var.Load": true, "MapLoad": true, "MapLen": true}

// allocating are functions that allocate as much as an argument says, and which one it is.
var allocating = map[string]int{
	"strings.Repeat": 1, "bytes.Repeat": 1, "slices.Repeat": 1, "slices.Grow": 1, "(*strings.Builder).Grow": 0, "(*bytes.Buffer).Grow": 0,
}

// checkAllocations reports what allocates as much as a number says that the transaction has
// read: in a doomed one there may not be as much memory, and Go cannot recover from that.
func (c *checker) checkAllocations(f *function) {
	ast.Inspect(f.body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false // a function of its own
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && id.Name == "make" && c.info.Types[call.Fun].IsBuiltin() {
			if slices.ContainsFunc(call.Args[1:], c.isLoaded) && !c.validated(f, call.Pos()) {
				c.reportf(allocationCategory, call, "this allocates as much as a number says that the transaction has read, and a doomed one can read any: use stm.Make, or call tx.Validate() before")
			}
			return true
		}
		if fn := c.callee(call); fn != nil {
			if i, ok := allocating[fn.FullName()]; ok && i < len(call.Args) && c.isLoaded(call.Args[i]) && !c.validated(f, call.Pos()) {
				c.reportf(allocationCategory, call, "this allocates as much as a number says that the transaction has read, and a doomed one can read any: call tx.Validate() before")
			}
		}
		return true
	})
}

// validated reports whether the number of a call is validated before it: the statement in
// front of it, in the same list, calls Tx.Validate or makes the transaction irrevocable.
func (c *checker) validated(f *function, at token.Pos) (ok bool) {
	ast.Inspect(f.body, func(n ast.Node) bool {
		list := statementsOf(n)
		for i, s := range list {
			if i == 0 || at < s.Pos() || s.End() <= at {
				continue
			}
			for _, before := range list[:i] {
				if call, isCall := before.(*ast.ExprStmt); isCall {
					if x, isCall := call.X.(*ast.CallExpr); isCall {
						switch stmSymbol(c.callee(x)) {
						case "Tx.Validate", "Tx.Irrevocable", "Tx.Perform":
							ok = true
						}
					}
				}
			}
		}
		return true
	})
	return ok
}

func statementsOf(n ast.Node) []ast.Stmt {
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
