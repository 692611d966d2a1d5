package outline

import (
	"go/ast"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/shape"
)

func (f *Flow) deferOperation(st *ast.DeferStmt, o facts.Operation, s state) state {
	switch {
	case s.dead:
	case !o.Releases() || s.outline == nil || s.read != reads(o):
		f.fail(st, "a deferred call releases what is not held")
	case s.deferred != nil:
		f.fail(st, "the release is deferred twice")
	case s.outline.Deferred != nil:
		f.fail(st, "the release is deferred in two places")
	case f.jumps.Skips(st):
		f.fail(st, "a goto jumps over where the release is deferred")
	case f.inIterator():
		f.fail(st, "the release is deferred in a range over a function")
	default:
		s.outline.Deferred = st
		s.deferred = s.outline
	}
	return s
}

// deferLiteral follows a deferred function literal that releases the lock. Sections are interrupted
// before the literal runs, as before any deferred call, so nothing in it has to be known but that the
// lock is released on each of its ways.
//
//	defer func() {
//		x.mu.Unlock()
//		log(time.Since(start))
//	}()
func (f *Flow) deferLiteral(st *ast.DeferStmt, l *ast.FuncLit, p *Step, s state) state {
	if s.dead {
		return s
	}
	switch {
	case s.outline == nil:
		f.fail(st, "a deferred call releases what is not held")
	case s.deferred != nil:
		f.fail(st, "the release is deferred twice")
	case f.inIterator():
		f.fail(st, "the release is deferred in a range over a function")
	case f.followLiteral(l, state{outline: &Outline{Reading: s.read}, read: s.read}) != "":
		f.fail(st, "a deferred function literal releases the lock, on some ways only or more than once")
	default:
		p.Defers = true
		p.Waits = "defers a function literal that releases the lock"
		s.deferred = s.outline
	}
	return s
}

// releases reports whether a function literal releases a lock that it has not taken.
func (f *Flow) releases(l *ast.FuncLit) bool {
	found := false
	ast.Inspect(l.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			o, ok := f.operation(n)
			found = found || ok && o.Releases()
		}
		return !found
	})
	return found && f.followLiteral(l, state{}) != ""
}

// followLiteral follows the lock through a function literal, and returns why the literal does not return without the lock.
func (f *Flow) followLiteral(l *ast.FuncLit, begin state) string {
	inner := &Flow{facts: f.facts, pkg: f.pkg, info: f.info, lock: f.lock, last: true, jumps: shape.FindJumps(l.Body), steps: make(map[ast.Stmt]*Step)}
	if begin.outline != nil {
		inner.known = append(inner.known, begin.outline)
	}
	inner.returns(l.Body, inner.list(l.Body.List, begin))
	return inner.Why
}

// releasesInLiteral reports whether a function literal in a body, or in another one, does so.
func (f *Flow) releasesInLiteral(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		l, ok := n.(*ast.FuncLit)
		found = found || ok && f.releases(l)
		return !found
	})
	return found
}
