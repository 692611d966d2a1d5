package cover

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
)

// aroundLoops makes a region in a loop cover all of the loop, and of the loops around that one, if
// the loop comes to an end and does nothing that takes long or waits; of rounds that are known to
// belong together, if nothing waits. What the rounds do together is then done at once, as it is
// when nothing else runs:
//
//	for range 2 {      with a section in each round, another goroutine may come
//		c.n++          in between and see, or use, what is done by half
//	}
func (code *Code) aroundLoops(r *Region, l *Lock) {
	for {
		list, at := r.loopAround()
		if list == nil {
			return
		}
		grown := *r
		grown.list, grown.from, grown.to = list, at, at
		together := r.AcrossRounds && code.whatMayWait(grown.statements(), l) == ""
		if !statement.EndsByItself(r.info(), list[at]) || !together && !code.IsBrief(&grown, l, nil) || code.name(l, &grown) == "" {
			return
		}
		r.list, r.from, r.to, r.AcrossRounds = grown.list, grown.from, grown.to, false
	}
}

// loopAround is the innermost loop that the region lies in the body of, as a list of statements and
// a place in it; nil if there is none in the function.
func (r *Region) loopAround() (list []ast.Stmt, at int) {
	var loop ast.Stmt
	ast.Inspect(r.body, func(n ast.Node) bool {
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt:
			body = n.Body
		case *ast.RangeStmt:
			body = n.Body
		default:
			return true
		}
		if body.Pos() <= r.first().Pos() && r.last().End() <= body.End() {
			loop = n.(ast.Stmt)
		}
		return true
	})
	if loop == nil {
		return nil, 0
	}
	list, at, to := statement.Innermost(r.body, loop.Pos(), loop.End())
	if list == nil || at != to || list[at] != loop {
		return nil, 0 // it has a label
	}
	return list, at
}

// IsBrief reports whether a region does nothing that waits or may take long, and nothing with a
// lock. What a function that it calls does in other regions, which are to hold the same lock, makes it no
// longer:
//
//	func (l *Loader) Bytes() []byte {     func (l *Loader) load() {
//		l.load()                          	if l.data == nil {
//		return l.data                     		l.data = read(l.path)     has the lock anyway
//	}                                     	}
//	                                      }
func (code *Code) IsBrief(r *Region, l *Lock, others []*Region) bool {
	return code.whatMayWait(r.statements(), l) == "" && code.areBrief(r.info(), r.statements(), true, others)
}

// areBrief reports whether statements call nothing but what takes no time to speak of: functions
// of the program if these have no loops and call nothing else of the program, but for what some regions
// contain.
func (code *Code) areBrief(info *types.Info, stmts []ast.Stmt, callsOwn bool, but []*Region) bool {
	brief := true
	statement.Each(stmts, func(n ast.Node) {
		if !callsOwn && slices.ContainsFunc(but, func(r *Region) bool { return r.Contains(n.Pos()) }) {
			return
		}
		switch n := n.(type) {
		case *ast.GoStmt, *ast.DeferStmt:
			brief = false
		case *ast.ForStmt, *ast.RangeStmt:
			brief = brief && callsOwn
		case *ast.CallExpr:
			d, f := code.callee(info, n)
			if d != nil {
				brief = brief && callsOwn && code.areBrief(f.Info, d.Body.List, false, but)
			} else {
				brief = brief && code.returnsAtOnce(info, n) && !statement.IsBuiltin(info, n, "print") && !statement.IsBuiltin(info, n, "println")
			}
		}
	})
	return brief
}
