package cover

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A section may end with a call that must not be made with the lock held, on some of its ways. The lock is
// released on each way where that ends, and before the call:
//
//	if len(b.buf) >= b.max {          if len(b.buf) >= b.max {
//		b.flush()                     	b.mu.Unlock()
//	} else {                          	b.flush()
//		b.wake()                      } else {
//	}                                 	b.wake()
//	                                  	b.mu.Unlock()
//	                                  }
//
//	if b.full() {                     if b.full() {
//		return b.flush()              	b.mu.Unlock()
//	}                                 	return b.flush()
//	                                  }
//
// What such a call does to the data belongs to the section all the same, and is told if it is torn.

// withTails returns the region with the calls that are made after the lock was released; nil if it cannot hold
// the lock for what is left, or if there are none.
func (code *Code) withTails(r *Region, all []*Region, l *Lock) *Region {
	short := r.clone()
	short.tails = code.tailsOf(r, l)
	if len(short.tails) == 0 || code.mayHold(short, all, l, nil) != nil {
		return nil
	}
	return short
}

// tailsOf are the statements at the end of ways through a region that may wait: the region cannot hold the
// lock for them.
func (code *Code) tailsOf(r *Region, l *Lock) []ast.Stmt {
	if code.regionBlocks(r, l, nil) == "" {
		return nil
	}
	var tails []ast.Stmt
	add := func(s ast.Stmt) {
		if code.whatMayWait([]ast.Stmt{s}, l) != "" && !r.hasDataIn(s) {
			tails = append(tails, s)
		}
	}
	for _, b := range statement.Branches(r.last()) {
		if last, ok := statement.Last(b).(*ast.ExprStmt); ok {
			add(last)
		}
	}
	statement.Each(r.statements(), func(n ast.Node) {
		if s, ok := n.(*ast.ReturnStmt); ok {
			add(s)
		}
	})
	return tails
}

// hasDataIn reports whether a statement accesses what the region is there for, but by what it calls.
func (r *Region) hasDataIn(s ast.Stmt) bool {
	return slices.ContainsFunc(r.nodes, func(n ast.Node) bool {
		if !statement.Encloses(s, n) {
			return false
		}
		called := false
		ast.Inspect(s, func(m ast.Node) bool {
			if c, ok := m.(*ast.CallExpr); ok {
				_, declared := r.info().Uses[source.CalleeName(c)].(*types.Func)
				called = called || n == ast.Node(c) || declared && statement.Encloses(c.Fun, n)
			}
			return true
		})
		return !called
	})
}

// releaseInBranches writes the end of a section into the branches of its last statement: before a tail, or at
// the end.
func (r *Region) releaseInBranches(edits *source.Edits, unlock string) {
	branches := statement.Branches(r.last())
	for _, b := range branches {
		switch last := statement.Last(b); {
		case b == nil:
			edits.InsertAfter(r.last().End(), " else {\n"+unlock+"\n}")
		case last == nil:
			edits.InsertAfter(b.Lbrace+1, "\n"+unlock+"\n")
		case slices.Contains(r.tails, last):
			edits.LineBefore(last, unlock)
		case !statement.Terminates(last):
			edits.LineAfter(last, unlock)
		}
	}
}

// endsInBranches reports whether a tail stands at the end of a branch, so that the section ends in the
// branches.
func (r *Region) endsInBranches() bool {
	return slices.ContainsFunc(statement.Branches(r.last()), func(b *ast.BlockStmt) bool {
		_, calls := statement.Last(b).(*ast.ExprStmt)
		return calls && slices.Contains(r.tails, statement.Last(b))
	})
}

// callsInTails are the calls that are made after the lock was released.
func (r *Region) callsInTails() []*ast.CallExpr {
	var all []*ast.CallExpr
	statement.Each(r.tails, func(n ast.Node) {
		if c, ok := n.(*ast.CallExpr); ok {
			all = append(all, c)
		}
	})
	return all
}
