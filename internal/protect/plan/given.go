package plan

import (
	"go/ast"
	"slices"

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
