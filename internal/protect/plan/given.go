package plan

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// findGivenLocks notes a function that takes a lock which it is given. No guard is known for the parameter, so the section counts where the
// function is called.
//
//	func with(mu *sync.Mutex, f func()) { mu.Lock(); defer mu.Unlock(); f() }
func (u *unit) findGivenLocks(b *body) {
	d := u.declarationOf(b.block)
	if d == nil {
		return
	}
	params := d.Signature().Params()
	ast.Inspect(b.block, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if s, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr); ok && (s.Sel.Name == "Lock" || s.Sel.Name == "RLock") {
			root, _ := ast.Unparen(s.X).(*ast.Ident)
			for i := range params.Len() {
				k := facts.FuncKeyOf(d)
				if root != nil && u.info.Uses[root] == params.At(i) && !slices.Contains(u.givenLocks[k], i) {
					u.givenLocks[k] = append(u.givenLocks[k], i)
				}
			}
		}
		return true
	})
}

// lockAt returns the lock that a call has for an argument, nil if it is none that has a name.
func (u *unit) lockAt(c *ast.CallExpr, argument int) *types.Var {
	if argument >= len(c.Args) {
		return nil
	}
	e := ast.Unparen(c.Args[argument])
	if address, ok := e.(*ast.UnaryExpr); ok && address.Op == token.AND {
		e = ast.Unparen(address.X)
	}
	var v *types.Var
	switch e := e.(type) {
	case *ast.Ident:
		v, _ = u.info.Uses[e].(*types.Var)
	case *ast.SelectorExpr:
		v, _ = u.info.Uses[e.Sel].(*types.Var)
	}
	if v == nil || !locks.IsLock(facts.Deref(v.Type())) {
		return nil
	}
	return v.Origin()
}
