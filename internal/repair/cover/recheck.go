package cover

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
)

// A function that looks whether a map has a key, and otherwise makes what is missing by a call that may
// wait, cannot hold the lock meanwhile. It looks again before it stores: what another has stored by then
// stays, and is what both return.
//
//	if v, ok := m.values[k]; ok {     m.mu.Lock()
//		return v                      if v, ok := m.values[k]; ok {
//	}                                 	m.mu.Unlock()
//	v := m.compute(k)                 	return v
//	m.values[k] = v                   }
//	return v                          m.mu.Unlock()
//	                                  v := m.compute(k)
//	                                  m.mu.Lock()
//	                                  defer m.mu.Unlock()
//	                                  if v, ok := m.values[k]; ok {
//	                                  	return v
//	                                  }
//	                                  m.values[k] = v
//	                                  return v

// checkedAgain are the two regions of one that looks, waits and stores, with a second look in the
// latter; the region itself if it does nothing of the kind.
func (code *Code) checkedAgain(r *Region, l *Lock) []*Region {
	if !r.Write || code.regionBlocks(r, l, code.ahead(r, l)) == "" {
		return []*Region{r}
	}
	look := statement.LookOf(r.statements())
	if look == nil || !code.staysSame(r, look.Element) {
		return []*Region{r}
	}
	for at := r.from + look.Length; at <= r.to; at++ {
		store, ok := r.list[at].(*ast.AssignStmt)
		if !ok || len(store.Lhs) != 1 || store.Tok != token.ASSIGN || r.file.TextOf(store.Lhs[0]) != r.file.TextOf(look.Element) {
			continue
		}
		first, second := r.part(r.from, r.from+look.Length-1), r.part(at, r.to)
		if len(first.Data) == 0 || len(first.Data)+len(second.Data) < len(r.Data) {
			break // something of the data lies between
		}
		first.Write, second.recheck = false, look
		return []*Region{first, second}
	}
	return []*Region{r}
}

// part is the region of some of the statements, for what of it lies in them.
func (r *Region) part(from, to int) *Region {
	p := r.clone()
	p.from, p.to, p.Update = from, to, false
	outside := func(n ast.Node) bool { return n.Pos() < p.first().Pos() || p.last().End() < n.End() }
	p.nodes, p.Data = slices.DeleteFunc(p.nodes, outside), slices.DeleteFunc(p.Data, outside)
	p.Copied = slices.DeleteFunc(p.Copied, func(x ast.Expr) bool { return outside(x) })
	p.Accesses = nil // of which part they are is not known
	return p
}

// staysSame reports whether an expression means the same throughout a region: the variables in it do, and
// nothing is called.
func (code *Code) staysSame(r *Region, e ast.Expr) bool {
	same := true
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := r.info().Uses[id].(*types.Var); ok && !v.IsField() {
				same = same && code.means(r, v)
			}
		}
		_, call := n.(*ast.CallExpr)
		same = same && !call
		return same
	})
	return same
}

// lookAgain is the look that the region begins with, which leaves the section by a statement that may be
// empty; "" if there is none.
func (r *Region) lookAgain(leave string) string {
	if r.recheck == nil {
		return ""
	}
	if leave != "" {
		leave += "\n"
	}
	return "\nif " + r.file.TextOf(r.recheck.Init) + "; " + r.recheck.Found.Name + " {\n" + leave + r.file.TextOf(r.recheck.Back) + "\n}"
}
