package stmcheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// findLoaded finds the integers of transactional functions that may be what a transaction has
// read, or computed from that: in a doomed transaction they may be any number. What
// is passed on to helpers is found in their summaries.
func (c *checker) findLoaded() {
	c.loaded = make(map[*types.Var]bool)
	for grown := true; grown; {
		grown = false
		for _, f := range c.functions {
			if f.transaction != nil {
				grown = c.spread(f) || grown
			}
		}
	}
}

// spread adds to the integers that may have been read those that a function computes from them,
// and parameters of transactional functions of this package that it calls with them. It reports
// whether there were any.
func (c *checker) spread(f *function) (grown bool) {
	add := func(v *types.Var, from ast.Expr) {
		if v != nil && !c.loaded[v] && holdsInteger(v.Type()) && c.isLoaded(from) {
			c.loaded[v], grown = true, true
		}
	}
	ast.Inspect(f.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				add(c.variable(l), n.Rhs[min(i, len(n.Rhs)-1)])
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Values) > 0 {
					add(c.variable(name), n.Values[min(i, len(n.Values)-1)])
				}
			}
		case *ast.CallExpr:
			if g := c.functionOf(n.Fun); g != nil && g.transaction != nil {
				for i, arg := range n.Args[:min(len(n.Args), g.sig.Params().Len())] {
					add(g.sig.Params().At(i), arg)
				}
			}
		}
		return true
	})
	return grown
}

// A number is an integer that a helper is given, and what the helper computes from it.
type number struct {
	parameter uint64 // as in a summary
	computed  map[*types.Var]bool
}

// findNumbers finds the numbers of a helper, and what it does with them by itself.
func (c *checker) findNumbers(f *function) {
	loaded := c.loaded
	defer func() { c.loaded = loaded }()
	for v := range f.sig.Params().Variables() {
		if !holdsInteger(v.Type()) {
			continue
		}
		c.loaded = map[*types.Var]bool{v: true}
		for c.spread(f) {
		}
		n := number{1 << parameter(f.sig, v), c.loaded}
		f.numbers = append(f.numbers, n)
		if f.summary.Loop == "" && len(c.loops(f)) > 0 {
			f.summary.Counts |= n.parameter
		}
		c.allocations(f, func(*ast.CallExpr, *types.Func) { f.summary.Allocates |= n.parameter })
	}
}

// summariseNumbers adds what other helpers do with the numbers of one that it passes on.
func (c *checker) summariseNumbers(f *function) {
	loaded := c.loaded
	defer func() { c.loaded = loaded }()
	for _, n := range f.numbers {
		c.loaded = n.computed
		c.revocable(f, func(e event) {
			if e.kind != called {
				return
			}
			s, call := c.helper(e), e.node.(*ast.CallExpr)
			if c.isGivenLoaded(call, s.Counts) {
				f.summary.Counts |= n.parameter
			}
			if c.isGivenLoaded(call, s.Allocates) {
				f.summary.Allocates |= n.parameter
			}
		})
	}
}

// isGivenLoaded reports whether one of some parameters, as in a summary, is given a number that
// may have been read.
func (c *checker) isGivenLoaded(call *ast.CallExpr, parameters uint64) bool {
	for i, arg := range call.Args {
		if i < 63 && parameters&(2<<i) != 0 && c.isLoaded(arg) {
			return true
		}
	}
	return false
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
		case *ast.SelectorExpr:
			field := c.info.Selections[n]
			return field != nil && field.Kind() == types.FieldVal && !field.Indirect() // a field of what was read
		case *ast.IndexExpr, *ast.StarExpr:
			return false // read plainly, from something that is there
		case *ast.CallExpr:
			if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && (id.Name == "len" || id.Name == "cap") && c.info.Types[n.Fun].IsBuiltin() {
				return false
			}
			if c.info.Types[n.Fun].IsType() {
				return true // a conversion
			}
			if fn := c.callee(n); fn != nil && (reading[stmSymbol(fn)] || stmSymbol(fn) == "" && txParameter(fn.Signature()) != nil) {
				loaded = loaded || holdsInteger(c.info.TypeOf(n))
			}
			return false
		}
		return !loaded
	})
	return loaded
}

// holdsInteger reports whether values of a type are integers, or structs or results that have some. What
// has at most 16 bits is not too much of anything.
func holdsInteger(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Tuple:
		for v := range t.Variables() {
			if holdsInteger(v.Type()) {
				return true
			}
		}
	case *types.Basic:
		switch t.Kind() {
		case types.Int8, types.Uint8, types.Int16, types.Uint16:
			return false
		}
		return t.Info()&types.IsInteger != 0
	case *types.Struct:
		for f := range t.Fields() {
			if holdsInteger(f.Type()) {
				return true
			}
		}
	}
	return false
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
	c.allocations(f, func(call *ast.CallExpr, fn *types.Func) {
		instead := "use stm.Make, or call tx.Validate() before"
		if fn != nil {
			instead = "call tx.Validate() before"
		}
		c.reportf(allocationCategory, call, "this allocates as much as a number says that the transaction has read, and a doomed one can read any: "+instead)
	})
}

// allocations calls do with the calls of make, for which there is no function, and of functions
// of the library that allocate as much as a number says that may have been read.
func (c *checker) allocations(f *function, do func(*ast.CallExpr, *types.Func)) {
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
				do(call, nil)
			}
			return true
		}
		if fn := c.callee(call); fn != nil {
			if i, ok := allocating[fn.FullName()]; ok && i < len(call.Args) && c.isLoaded(call.Args[i]) && !c.validated(f, call.Pos()) {
				do(call, fn)
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
