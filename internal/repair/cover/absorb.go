package cover

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// lockOperationOf returns the operation on a lock that a statement consists of, be it deferred; ok is false for a
// statement that does anything else, or only tries.
func (code *Code) lockOperationOf(info *types.Info, s ast.Stmt) (op operation, deferred, ok bool) {
	var call *ast.CallExpr
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, _ = s.X.(*ast.CallExpr)
	case *ast.DeferStmt:
		call, deferred = s.Call, true
	}
	if call == nil {
		return operation{}, false, false
	}
	op, ok = code.operationOf(info, call)
	return op, deferred, ok && op.verb != locks.Try
}

// A lockStatement is a statement of a list that takes or releases a lock.
type lockStatement struct {
	i        int // in the list
	op       operation
	deferred bool
}

// lockStatements are the statements of a region's list that take or release the lock.
func (code *Code) lockStatements(r *Region, l *Lock) []lockStatement {
	var all []lockStatement
	for i, s := range r.list {
		if op, deferred, ok := code.lockOperationOf(r.info(), s); ok && code.isOn(op, l) {
			all = append(all, lockStatement{i, op, deferred})
		}
	}
	return all
}

// extent is how far a region reaches with the sections of the lock that it touches.
func extent(r *Region, ops []lockStatement) (from, to int) {
	from, to = r.from, r.to
	for k, o := range ops {
		if !o.op.takes() {
			continue
		}
		end := len(r.list) - 1 // with a deferred unlock, or one deeper inside
		for _, u := range ops[k+1:] {
			if !u.op.takes() && !u.deferred {
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
func (code *Code) absorb(e *edits, r *Region, l *Lock) (done bool, err error) {
	if !l.Exists() || code.readsAhead(r, l) && !code.takesInside(r, l, func(ast.Stmt) bool { return false }) {
		return false, nil
	}
	ops := code.lockStatements(r, l)
	from, to := extent(r, ops)
	var inside []lockStatement
	for _, o := range ops {
		if from <= o.i && o.i <= to {
			inside = append(inside, o)
		}
	}
	if len(inside) == 2 && inside[0].op.takes() && inside[0].i == from && (!inside[0].op.read || !r.Write) && (inside[1].i == to || inside[1].deferred) {
		return true, nil // it is one section
	}
	grown := *r
	grown.from, grown.to = from, to
	if done, err := code.engulf(e, &grown, l); done || err != nil {
		if done {
			*r = grown
		}
		return false, err
	}
	if len(inside) > 0 && l.striped || code.takesInside(&grown, l, func(s ast.Stmt) bool {
		return slices.ContainsFunc(inside, func(o lockStatement) bool { return r.list[o.i] == s })
	}) || code.callsTake(&grown, l, e.variants...) {
		if why := code.regionBlocks(&grown, l, nil); why != "" {
			return false, code.cannotWait(r, why)
		}
		if r.unheld != nil {
			return false, fmt.Errorf("%s cannot hold %s throughout: %w", r.place(), l.Words, r.unheld)
		}
		return false, fmt.Errorf("%s takes %s in a way that cannot be made one section", r.place(), l.Words)
	}
	for _, o := range inside {
		e.of(r.file).Delete(r.list[o.i])
		r.Write = r.Write || o.op.takes() && !o.op.read
		r.unlockDeferred = r.unlockDeferred || o.deferred
	}
	r.from, r.to = from, to
	r.trim(func(s ast.Stmt) bool {
		return slices.ContainsFunc(inside, func(o lockStatement) bool { return r.list[o.i] == s })
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
func (code *Code) engulf(e *edits, r *Region, l *Lock) (done bool, err error) {
	if l.striped {
		return false, nil
	}
	var calls []ast.Stmt
	deep, all, write := false, 0, false
	statement.Each(r.body.List, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			if op, ok := code.operationOf(r.info(), n); ok && code.isOn(op, l) {
				all++
			}
		case ast.Stmt:
			op, deferred, ok := code.lockOperationOf(r.info(), n)
			if !ok || !code.isOn(op, l) {
				return
			}
			if n.Pos() < r.first().Pos() || n.End() > r.last().End() {
				return
			}
			calls = append(calls, n)
			deep = deep || !slices.Contains(r.list, n)
			write = write || op.takes() && !op.read
			r.unlockDeferred = r.unlockDeferred || deferred
		}
	})
	if !deep || len(calls) != all || code.callsTake(r, l, e.variants...) {
		return false, nil
	}
	for _, s := range calls {
		e.of(r.file).Delete(s)
	}
	r.trim(func(s ast.Stmt) bool { return slices.Contains(calls, s) })
	r.Write = r.Write || write
	return true, nil
}

// takesInside reports whether a region takes or releases the lock elsewhere than in the
// statements that are let off.
func (code *Code) takesInside(r *Region, l *Lock, off func(ast.Stmt) bool) bool {
	found := false
	for _, s := range r.statements() {
		if off(s) {
			continue
		}
		statement.Each([]ast.Stmt{s}, func(n ast.Node) {
			if c, ok := n.(*ast.CallExpr); ok {
				if op, ok := code.operationOf(r.info(), c); ok && code.isOn(op, l) {
					found = true
				}
			}
		})
	}
	return found
}

// nested refuses a region that calls a function with another region of the same lock: it
// would wait for itself. Function values and methods of interfaces may be any of the program's
// that fit.
func (code *Code) nested(r *Region, all []*Region, l *Lock) error {
	var err error
	seen, tails := map[ast.Node]bool{}, r.callsInTails()
	var look func(info *types.Info, stmts []ast.Stmt)
	look = func(info *types.Info, stmts []ast.Stmt) {
		code.locks.EachAtOnce(info, &ast.BlockStmt{List: stmts}, func(n ast.Node) {
			c, ok := n.(*ast.CallExpr)
			if !ok || slices.Contains(tails, c) {
				return
			}
			for _, callee := range code.locks.Callees(info, c) {
				if seen[callee] {
					continue
				}
				seen[callee] = true
				if slices.ContainsFunc(all, func(o *Region) bool { return o.fn == callee }) {
					err = fmt.Errorf("%s would hold %s while it calls %s, which takes it too", r.place(), l.Words, statement.FunctionWords(callee))
					return
				}
				if f := code.FileOf(callee); f != nil {
					look(f.Info, source.Body(callee).List)
				}
			}
		})
	}
	look(r.info(), r.heldStatements())
	return err
}
