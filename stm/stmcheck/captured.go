package stmcheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"strings"
)

// checkCaptured reports an event that writes a variable from outside of the
// transaction.
func (c *checker) checkCaptured(f *function, e event) {
	const advice = " without stm.Store, which attempts that run at once race on and nobody undoes: "
	const result = "return it as the result of stm.Value, or set it in tx.OnCommit"
	seen := make(map[*types.Var]bool)
	if lhs, ok := e.node.(ast.Expr); ok && e.kind == written && isTx(c.info.TypeOf(lhs)) {
		return // reported as an escape
	}
	for v, direct := range c.targets(e) {
		if f.transaction.contains(v) || seen[v] {
			continue
		}
		seen[v] = true
		message := "this writes " + v.Name() + ", a variable from outside of the transaction," + advice + result
		if !direct {
			message = "this writes through " + v.Name() + ", a variable from outside of the transaction," + advice + "use stm.Store, or " + result
		}
		if e.kind == called {
			message = "this call may write " + strings.TrimPrefix(message, "this writes ")
		}
		c.reportf(capturedCategory, e.node, message)
	}
	if e.kind != called || e.passed || len(seen) > 0 {
		return
	}
	s := c.helper(e)
	if s.Writes == "" {
		return
	}
	if g := e.function; g != nil {
		outside := false
		for v := range g.writes {
			outside = outside || !f.transaction.contains(v)
		}
		if !outside {
			return
		}
	}
	c.reportf(capturedCategory, e.node, "this call writes "+s.Writes+", a variable from outside of the transaction,"+advice+result)
}

// root returns the variable that an expression starts from, and whether the memory
// that it stands for is in that variable, and not behind a pointer, map or slice.
func (c *checker) root(e ast.Expr) (v *types.Var, direct bool) {
	direct = true
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			v, _ := c.info.ObjectOf(x).(*types.Var)
			return v, direct
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok {
				if _, ok := c.info.Uses[id].(*types.PkgName); ok {
					v, _ := c.info.Uses[x.Sel].(*types.Var)
					return v, direct
				}
			}
			if s := c.info.Selections[x]; s == nil || s.Indirect() {
				direct = false
			}
			e = x.X
		case *ast.IndexExpr:
			if t := c.info.TypeOf(x.X); t == nil {
				direct = false
			} else if _, ok := t.Underlying().(*types.Array); !ok {
				direct = false
			}
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			direct, e = false, x.X
		case *ast.UnaryExpr:
			if x.Op != token.AND {
				return nil, false
			}
			e = x.X
		default:
			return nil, false
		}
	}
}

// targets yields the variables that an event writes, and whether it is the variable
// itself, or something that it leads to.
func (c *checker) targets(e event) iter.Seq2[*types.Var, bool] {
	return func(yield func(*types.Var, bool) bool) {
		switch e.kind {
		case written:
			if v, direct := c.root(e.node.(ast.Expr)); v != nil && v.Name() != "_" {
				yield(v, direct)
			}
		case called:
			if e.passed {
				return
			}
			call := e.node.(*ast.CallExpr)
			if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
				if s := c.info.Selections[sel]; s != nil && s.Kind() == types.MethodVal && c.mutates(e, 0, false) {
					if v, direct := c.argument(sel.X); v != nil && !yield(v, direct) {
						return
					}
				}
			}
			for i, arg := range call.Args {
				u, ok := ast.Unparen(arg).(*ast.UnaryExpr)
				if !c.mutates(e, i+1, ok && u.Op == token.AND) {
					continue
				}
				if v, direct := c.argument(arg); v != nil && !yield(v, direct) {
					return
				}
			}
		}
	}
}

// argument returns the variable whose memory a callee can write that was given this
// argument: its own if the address was taken (as of a receiver), or that which
// it points to.
func (c *checker) argument(e ast.Expr) (*types.Var, bool) {
	v, direct := c.root(e)
	switch c.info.TypeOf(e).Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
		if u, ok := ast.Unparen(e).(*ast.UnaryExpr); !ok || u.Op != token.AND {
			direct = false
		}
	}
	return v, direct
}

// mutates reports whether a call writes through an argument; 0 is the receiver. With
// its address taken, the argument of an unknown function counts as written, unless a
// Tx is passed as well: then it is most likely for Load and Store.
func (c *checker) mutates(e event, i int, address bool) bool {
	fn := e.callee
	if e.function == nil && (fn == nil || types.IsInterface(receiver(fn))) {
		call := e.node.(*ast.CallExpr)
		for _, arg := range call.Args {
			if isTx(c.info.TypeOf(arg)) {
				return false
			}
		}
		return address
	}
	if fn != nil && fn.Pkg() != nil {
		switch path := fn.Pkg().Path(); path {
		case stmPath, "sync/atomic", "fmt", "sync":
			return false
		case "sort":
			return i == 1 && !strings.HasPrefix(fn.Name(), "Search")
		case "slices":
			return i == 1 && (strings.HasPrefix(fn.Name(), "Sort") || fn.Name() == "Reverse")
		default:
			if fn.Pkg() != c.pass.Pkg && !c.pass.ImportPackageFact(fn.Pkg(), new(analyzed)) {
				return address || i == 0 && match(mutators, path+"."+symbol(fn)) && !harmless[fn.Name()]
			}
		}
	}
	if fn != nil && fn.Signature().Variadic() {
		i = min(i, fn.Signature().Params().Len())
	}
	return i < 64 && c.of(e).Mutates>>i&1 != 0
}

// mutators are methods of the standard library that write their receiver.
var mutators = []string{
	"bytes.Buffer.*", "strings.Builder.*", "math/rand.Rand.*", "math/rand/v2.Rand.*", "math/rand/v2.PCG.*",
	"container/list.List.*", "math/big.Int.Set*", "math/big.Int.Add", "math/big.Int.Sub", "math/big.Int.Mul",
}

func receiver(fn *types.Func) types.Type {
	if recv := fn.Signature().Recv(); recv != nil {
		return recv.Type()
	}
	return types.Typ[types.Invalid]
}

// parameter returns the place of a variable among the parameters: 0 for the receiver,
// -1 for none.
func parameter(sig *types.Signature, v *types.Var) int {
	if sig.Recv() == v {
		return 0
	}
	for i := range sig.Params().Len() {
		if sig.Params().At(i) == v {
			return i + 1
		}
	}
	return -1
}
