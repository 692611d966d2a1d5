package repair

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
)

// lockStmt is the operation of a statement that is nothing else.
func lockStmt(info *types.Info, s ast.Stmt) (op *lockOp, deferred bool) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		if c, ok := s.X.(*ast.CallExpr); ok {
			return lockCall(info, c), false
		}
	case *ast.DeferStmt:
		return lockCall(info, s.Call), true
	}
	return nil, false
}

// An opAt is a statement of a list that takes or releases a lock.
type opAt struct {
	i        int
	op       *lockOp
	deferred bool
}

// lockStmts are the statements of a region's list that take or release the lock.
func lockStmts(r *Region, l *lock) []opAt {
	var ops []opAt
	for i, s := range r.list {
		if op, deferred := lockStmt(r.info(), s); op != nil && op.object == l.object {
			ops = append(ops, opAt{i, op, deferred})
		}
	}
	return ops
}

// extent is how far a region reaches with the sections of the lock that it touches.
func extent(r *Region, ops []opAt) (from, to int) {
	from, to = r.from, r.to
	for k, o := range ops {
		if !o.op.takes {
			continue
		}
		end := len(r.list) - 1 // with a deferred unlock, or one deeper inside
		for _, u := range ops[k+1:] {
			if !u.op.takes && !u.deferred {
				end = u.i
				break
			}
		}
		if o.i <= r.to+1 && end >= r.from-1 {
			from, to = min(from, o.i), max(to, end)
		}
	}
	return from, to
}

// absorb makes one section of a region and of what already is a section of the lock in
// the statements around it: the old calls are taken out, the region grows to cover what
// they covered. done says that the region needs no change.
func (p *Program) absorb(e *edits, r *Region, l *lock) (done bool, err error) {
	if l.object == nil {
		return false, nil
	}
	ops := lockStmts(r, l)
	from, to := extent(r, ops)
	var inside []opAt
	for _, o := range ops {
		if from <= o.i && o.i <= to {
			inside = append(inside, o)
		}
	}
	if len(inside) == 2 && inside[0].op.takes && inside[0].i == from && (!inside[0].op.read || !r.write) && (inside[1].i == to || inside[1].deferred) {
		return true, nil // it is one section
	}
	grown := *r
	grown.from, grown.to = from, to
	if done, err := p.engulf(e, &grown, l); done || err != nil {
		if done {
			*r = grown
		}
		return false, err
	}
	if len(inside) > 0 && l.striped || grown.takesInside(l, func(s ast.Stmt) bool {
		return slices.ContainsFunc(inside, func(o opAt) bool { return r.list[o.i] == s })
	}) || p.calleesTakeBut(&grown, l) {
		return false, fmt.Errorf("%s takes %s in a way that cannot be made one section", describe(p, r), l.words)
	}
	for _, o := range inside {
		e.remove(r.file, r.list[o.i])
		r.write = r.write || o.op.takes && !o.op.read
		r.deferred = r.deferred || o.deferred
	}
	r.from, r.to = from, to
	r.trim(func(s ast.Stmt) bool {
		return slices.ContainsFunc(inside, func(o opAt) bool { return r.list[o.i] == s })
	})
	return false, nil
}

// trim makes a region begin and end with statements that stay.
func (r *Region) trim(gone func(ast.Stmt) bool) {
	for r.from < r.to && gone(r.first()) {
		r.from++
	}
	for r.to > r.from && gone(r.last()) {
		r.to--
	}
}

// engulf takes out the lock's calls deep inside a region that has all of the function's:
// as in double-checked locking, where the check is to be in the section. It reports
// whether it did.
func (p *Program) engulf(e *edits, r *Region, l *lock) (done bool, err error) {
	if l.striped {
		return false, nil
	}
	var calls []ast.Stmt
	deep, all, write := false, 0, false
	within(r.body.List, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			if op := lockCall(r.info(), n); op != nil && op.object == l.object {
				all++
			}
		case ast.Stmt:
			op, deferred := lockStmt(r.info(), n)
			if op == nil || op.object != l.object {
				return
			}
			if n.Pos() < r.first().Pos() || n.End() > r.last().End() {
				return
			}
			calls = append(calls, n)
			deep = deep || !slices.Contains(r.list, n)
			write = write || op.takes && !op.read
			r.deferred = r.deferred || deferred
		}
	})
	if !deep || len(calls) != all || p.calleesTakeBut(r, l) {
		return false, nil
	}
	for _, s := range calls {
		e.remove(r.file, s)
	}
	r.trim(func(s ast.Stmt) bool { return slices.Contains(calls, s) })
	r.write = r.write || write
	return true, nil
}

// takesInside reports whether a region takes or releases the lock elsewhere than in the
// statements that are let off.
func (r *Region) takesInside(l *lock, off func(ast.Stmt) bool) bool {
	found := false
	for _, s := range r.list[r.from : r.to+1] {
		if off(s) {
			continue
		}
		within([]ast.Stmt{s}, func(n ast.Node) {
			if c, ok := n.(*ast.CallExpr); ok {
				if op := lockCall(r.info(), c); op != nil && op.object == l.object {
					found = true
				}
			}
		})
	}
	return found
}

// calleesTakeBut reports whether a function of the program that a region calls takes the
// lock: it would wait for itself.
func (p *Program) calleesTakeBut(r *Region, l *lock) bool {
	found := false
	atOnce(&ast.BlockStmt{List: r.list[r.from : r.to+1]}, func(n ast.Node) {
		c, ok := n.(*ast.CallExpr)
		if !ok || lockCall(r.info(), c) != nil {
			return
		}
		fn, _ := r.info().Uses[calleeIdent(c)].(*types.Func)
		if fn == nil {
			return
		}
		if d := p.funcs[fn.Origin()]; d != nil && d.Body != nil {
			if f := p.fileOf(d); f != nil {
				inner := &Region{file: f, fn: d, body: d.Body, list: d.Body.List, to: len(d.Body.List) - 1}
				if len(d.Body.List) > 0 && p.calleesTake(inner, l) {
					found = true
				}
			}
		}
	})
	return found
}

// nested refuses a region that calls a function with another region of the same lock: it
// would wait for itself.
func (p *Program) nested(r *Region, all []*Region, l *lock) error {
	var err error
	seen := map[*types.Func]bool{}
	var look func(info *types.Info, stmts []ast.Stmt)
	look = func(info *types.Info, stmts []ast.Stmt) {
		atOnce(&ast.BlockStmt{List: stmts}, func(n ast.Node) {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return
			}
			fn, _ := info.Uses[calleeIdent(c)].(*types.Func)
			if fn == nil || seen[fn.Origin()] {
				return
			}
			seen[fn.Origin()] = true
			d := p.funcs[fn.Origin()]
			if d == nil || d.Body == nil {
				return
			}
			if slices.ContainsFunc(all, func(o *Region) bool { return o.fn == ast.Node(d) }) {
				err = fmt.Errorf("%s would hold %s while it calls %s, which takes it too", describe(p, r), l.words, d.Name.Name)
				return
			}
			if f := p.fileOf(d); f != nil {
				look(f.pkg.TypesInfo, d.Body.List)
			}
		})
	}
	look(r.info(), r.stmts())
	return err
}
