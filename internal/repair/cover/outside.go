package cover

import (
	"go/ast"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/outside"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A lock may be held while its holder reads or writes what is outside the program, and had better not be:
// others wait as long as what is at the other end likes. What stands before a return is done after the lock
// was released, and of the rest the report tells:
//
//	if !p.open {                                 if !p.open {
//		http.Error(w, "closed", http.StatusGone) 	p.mu.Unlock()
//		return                                   	http.Error(w, "closed", http.StatusGone)
//	}                                            	return
//	                                             }

// ReachesOutside reports whether a region reads or writes files, connections or the like, which takes
// as long as whatever is at the other end likes. A lock may be held meanwhile, and had better not be.
func (code *Code) ReachesOutside(r *Region) bool {
	found := false
	code.locks.EachAtOnce(r.info(), &ast.BlockStmt{List: r.statements()}, func(n ast.Node) {
		if c, ok := n.(*ast.CallExpr); ok {
			found = found || outside.Reaches(r.info(), c)
		}
	})
	return found
}

// outsideCalls are the calls in statements by which a goroutine waits for another program or machine, also
// in functions of the program that are called.
func (code *Code) outsideCalls(stmts []ast.Stmt) []Place {
	var all []Place
	for _, c := range outside.Calls(code.Program, code.locks, stmts) {
		line := c.File.LineBefore(c.Call.Pos())
		all = append(all, Place{Function: source.CalleeName(c.Call).Name, File: c.File.Name, From: line, To: line})
	}
	return all
}

// releasedEarly are the ways out of a region that end with such calls and an empty return, by the return: the
// lock is released before the first of the calls, which are the last in the list.
func (code *Code) releasedEarly(r *Region) map[*ast.ReturnStmt][]ast.Stmt {
	early := make(map[*ast.ReturnStmt][]ast.Stmt)
	statement.Each(r.statements(), func(n ast.Node) {
		b, ok := n.(*ast.BlockStmt)
		if !ok {
			return
		}
		s, _ := statement.Last(b).(*ast.ReturnStmt)
		if s == nil || len(s.Results) > 0 {
			return
		}
		for i := len(b.List) - 2; i >= 0; i-- {
			call, ok := b.List[i].(*ast.ExprStmt)
			if !ok || r.hasDataIn(call) || len(code.outsideCalls(b.List[i:i+1])) == 0 {
				break
			}
			early[s] = append(early[s], call)
		}
	})
	return early
}
