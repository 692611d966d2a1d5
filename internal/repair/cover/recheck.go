package cover

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A function that looks whether a map has a key, and otherwise makes what is missing by a call that may
// wait, cannot hold the lock meanwhile. It looks again before it stores: what another has stored by then
// stays, and is what both return. The first look may have a section already.
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

// A recheck is a look that is made again before a store.
type recheck struct {
	*statement.Look
	store ast.Stmt
}

// checkedAgain are the two regions of one that looks, waits and stores, with a second look in the
// latter; the region itself if it does nothing of the kind. What is done to the data between waiting and
// storing is done whatever the second look finds, because what was made is counted, and not what was kept.
func (code *Code) checkedAgain(r *Region, l *Lock) []*Region {
	if !r.Write || code.regionBlocks(r, l, code.ahead(r, l)) == "" {
		return []*Region{r}
	}
	look := statement.LookOf(r.file, r.statements(), func(s ast.Stmt) bool {
		op, deferred, ok := code.lockOperationOf(r.info(), s)
		return ok && !deferred && code.isOn(op, l)
	})
	if look == nil || look.IsNeededLater(r.info(), r.body) {
		return []*Region{r}
	}
	acts := r.from + look.Length // the first statement behind the look that has to do with the data
	for acts <= r.to && len(r.part(acts, acts).Data) == 0 {
		acts++
	}
	for at := acts; at <= r.to; at++ {
		store, ok := r.list[at].(*ast.AssignStmt)
		if !ok || len(store.Lhs) != 1 || store.Tok != token.ASSIGN || r.file.TextOf(store.Lhs[0]) != r.file.TextOf(look.Element) {
			continue
		}
		first, second := r.part(r.from, r.from+look.Reading-1), r.part(acts, r.to)
		again := &recheck{look, store}
		if len(first.Data) == 0 || len(first.Data)+len(second.Data) < len(r.Data) || !code.canRepeat(r, again, l) {
			break // something of the data lies between, or the look cannot be made again
		}
		first.Write, second.recheck = false, again
		return []*Region{first, second}
	}
	return []*Region{r}
}

// canRepeat reports whether a look that a region begins with means the same before the store, and needs
// no wait.
func (code *Code) canRepeat(r *Region, again *recheck, l *Lock) bool {
	can := true
	isFound := again.IsFound(r.info())
	check := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if v, ok := r.info().Uses[n].(*types.Var); ok && !v.IsField() && !isFound(n) {
				can = can && code.meansTheSame(r, v) && r.file.Lookup(v.Name(), again.store.Pos()) == v
			}
		}
		return can
	}
	ast.Inspect(again.Element, check)
	ast.Inspect(again.Condition, check)
	ast.Inspect(again.Back, check)
	return can && code.onlyAsks(r.info(), again.Element, 0) && code.onlyAsks(r.info(), again.Condition, maxAsked) &&
		code.whatMayWait([]ast.Stmt{&ast.ExprStmt{X: again.Condition}}, l) == ""
}

// maxAsked is how many functions deep a question may go.
const maxAsked = 2

// onlyAsks reports whether an expression can be evaluated again: it calls nothing but quick functions of
// the standard library, and functions of the program that return what such an expression gives.
func (code *Code) onlyAsks(info *types.Info, x ast.Expr, depth int) bool {
	asks := true
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			asks = false
		case *ast.UnaryExpr:
			asks = asks && n.Op != token.ARROW
		case *ast.CallExpr:
			asks = asks && depth > 0 && code.returnsAtOnce(info, n)
			if d, f := code.callee(info, n); d != nil && asks {
				back, ok := d.Body.List[0].(*ast.ReturnStmt) // it has a result, and so a statement
				asks = ok && !slices.ContainsFunc(back.Results, func(x ast.Expr) bool { return !code.onlyAsks(f.Info, x, depth-1) })
			}
		}
		return asks
	})
	return asks
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

// lookAgain writes the look that comes before the region's store, if there is one. It leaves the section
// by a statement that may be empty.
func (r *Region) lookAgain(edits *source.Edits, leave string) {
	if r.recheck == nil {
		return
	}
	if leave != "" {
		leave += "\n"
	}
	text := r.file.TextOf
	edits.LineBefore(r.recheck.store, "if "+text(r.recheck.Init)+"; "+text(r.recheck.Condition)+" {\n"+leave+text(r.recheck.Back)+"\n}")
}
