package stmcheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// checkPlain reports an access without Load or Store to a variable or field that the
// package sets by Store: a read misses what the transaction has stored, and can be
// torn; a write is undone by nobody. That is not so of copies, nor of what the
// transaction has just made and nobody else has.
func (c *checker) checkPlain(f *function, e event) {
	if e.kind != read && e.kind != written {
		return
	}
	place := e.node.(ast.Expr)
	v := c.placeOf(place)
	if !c.stored[v] {
		return
	}
	if v.IsField() {
		root, direct := c.root(place)
		switch {
		case root == nil || f.transaction.contains(root) && (direct || c.fresh[root]):
			return
		case e.kind == written && !f.transaction.contains(root):
			return // reported as captured
		}
	} else if e.kind == written || f.transaction.contains(v) {
		return
	}
	if e.kind == written {
		c.reportf(plainCategory, place, "this writes "+types.ExprString(place)+" without stm.Store, although it is set by that elsewhere: store it")
		return
	}
	c.reportf(plainCategory, place, "this reads "+types.ExprString(place)+" without stm.Load, although it is set by stm.Store elsewhere: load it")
}

// placeOf returns the variable or field that an expression names.
func (c *checker) placeOf(e ast.Expr) *types.Var {
	var id *ast.Ident
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
	default:
		return nil
	}
	v, ok := c.info.Uses[id].(*types.Var)
	if !ok {
		return nil
	}
	return v.Origin()
}

// findStored finds the variables and fields that package stm's Store is given.
func (c *checker) findStored() {
	for _, file := range c.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 3 || stmSymbol(c.callee(call)) != "Store" {
				return true
			}
			if u, ok := ast.Unparen(call.Args[1]).(*ast.UnaryExpr); ok && u.Op == token.AND {
				if v := c.placeOf(u.X); v != nil {
					c.stored[v] = true
				}
			}
			return true
		})
	}
}

// isNew reports whether a value has just been made: by a literal, by new or make, or
// by a function that says so with its name.
func (c *checker) isNew(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		_, ok := ast.Unparen(e.X).(*ast.CompositeLit)
		return ok && e.Op == token.AND
	case *ast.CallExpr:
		name := ""
		switch fun := ast.Unparen(e.Fun).(type) {
		case *ast.Ident:
			name = fun.Name
		case *ast.SelectorExpr:
			name = fun.Sel.Name
		}
		name = strings.ToLower(name)
		return strings.HasPrefix(name, "new") || strings.HasPrefix(name, "make")
	}
	return false
}
