package cover

import (
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A Region is a run of statements that a lock is to cover.
type Region struct {
	file *source.File
	fn   ast.Node // the *ast.FuncDecl or *ast.FuncLit
	body *ast.BlockStmt
	list []ast.Stmt // the statements that it is a part of
	from int        // the first of them
	to   int        // the last
	// nodes are the expressions that it is there for.
	nodes []ast.Node

	// Data are the expressions that access what is to be guarded, as far as they are in this
	// function.
	Data []ast.Node
	// Write says that it stores, which a read lock is not enough for.
	Write bool
	// Test says that it is in test code, where sections are a last resort.
	Test bool
	// Elements says that it is there for elements of what a loop goes over.
	Elements bool
	// AcrossRounds says that several rounds of the loop that it is in belong together.
	AcrossRounds bool
	// Copied are maps and slices among the data that code without the lock is given: it gets copies.
	Copied []ast.Expr
	// Update says that it has a load and a store that depends on it, and so may not be taken
	// apart.
	Update bool
	// Accesses are what a run was seen to do there; none if the region is a call of a
	// function that accesses the data.
	Accesses []Access

	// recheck is a look that is made again; nil if there is none.
	recheck *recheck
	// tails are statements at the end of ways through the region that are made after the lock was released.
	tails []ast.Stmt
	// releasedBy is the statement that releases the lock in a region that another lies right
	// before which keeps the lock for it; "" if the region takes the lock itself.
	releasedBy string
	// unheld is why what it calls cannot run with the lock held; nil if it can.
	unheld error
	// unlockDeferred says that it replaces a section whose unlock was deferred.
	unlockDeferred bool
}

// An Access is a load or store that a run was seen to make.
type Access struct {
	Held []HeldLock
}

// A HeldLock is a lock that was held at an access.
type HeldLock struct {
	Lock *types.Var // the field or variable that declares it
	Read bool
}

// isTest reports whether the region is in a file of tests.
func (r *Region) isTest() bool { return strings.HasSuffix(r.file.Name, "_test.go") }

func (r *Region) first() ast.Stmt { return r.list[r.from] }
func (r *Region) last() ast.Stmt  { return r.list[r.to] }

// statements are the statements of the region.
func (r *Region) statements() []ast.Stmt { return r.list[r.from : r.to+1] }

// heldStatements are what the lock is held for: of a loop that the region is in only for the
// slice, the expression that gives the slice.
func (r *Region) heldStatements() []ast.Stmt {
	if s := r.header(); s != nil {
		return []ast.Stmt{&ast.ExprStmt{X: s.X}}
	}
	return r.statements()
}

// header is the loop over a slice that a region is, if the region is there only for what
// gives the slice: that is computed once, so the lock need not be held during the loop.
func (r *Region) header() *ast.RangeStmt {
	s := r.loopOver()
	if s == nil || r.Elements {
		return nil
	}
	if _, slice := r.info().TypeOf(s.X).Underlying().(*types.Slice); !slice {
		return nil
	}
	return s
}

// loopOver is the loop that a region is, if the region is there only for what the loop goes
// over.
func (r *Region) loopOver() *ast.RangeStmt {
	s, ok := r.first().(*ast.RangeStmt)
	if !ok || r.from != r.to || len(r.nodes) == 0 {
		return nil
	}
	for _, n := range r.nodes {
		if n.Pos() < s.X.Pos() || s.X.End() < n.End() {
			return nil
		}
	}
	return s
}

// GoesOverTaken reports whether the region is a loop that reads elements of what the function took from the
// data before: a lock that is taken for the loop does not say whether they are still those.
//
//	subs := h.subs[topic]
//	h.mu.Unlock()
//	for _, s := range subs {
func (r *Region) GoesOverTaken() bool {
	loop := r.loopOver()
	if loop == nil || !r.Elements || r.Write {
		return false
	}
	name, _ := ast.Unparen(loop.X).(*ast.Ident)
	v, ok := r.info().Uses[name].(*types.Var)
	return ok && r.body.Pos() <= v.Pos() && v.Pos() < r.body.End()
}

// snapshot is the map or slice that the loop of a region goes over, if the loop can go over a copy
// of it instead, and the package that copies it, "" if it cannot: the lock need not be held during the loop then.
func (r *Region) snapshot() (values ast.Expr, pkg string) {
	s := r.loopOver()
	if s == nil {
		return nil, ""
	}
	values = s.X
	if call, ok := ast.Unparen(s.X).(*ast.CallExpr); ok && statement.MakesIterator(r.info(), call) {
		values = call.Args[0]
	}
	return values, source.CopierOf(r.info().TypeOf(values))
}

func (r *Region) info() *types.Info { return r.file.Info }

// Covers reports whether a line of a file is within the region's lines.
func (r *Region) Covers(file string, line int) bool {
	return file == r.file.Name && r.file.Line(r.first().Pos()) <= line && line <= r.file.Line(r.last().End())
}

// Contains reports whether a position is within the region.
func (r *Region) Contains(pos token.Pos) bool {
	return r.first().Pos() <= pos && pos < r.last().End()
}

// throughout is the region of all statements of the function.
func (r *Region) throughout() *Region {
	whole := *r
	whole.list, whole.from, whole.to = r.body.List, 0, len(r.body.List)-1
	return &whole
}

// clone is a region that can be changed without changing this one.
func (r *Region) clone() *Region {
	c := *r
	c.nodes, c.Data, c.Copied = slices.Clone(r.nodes), slices.Clone(r.Data), slices.Clone(r.Copied)
	return &c
}

// Region returns the smallest run of statements in a function that has all nodes,
// nil if none has.
func (code *Code) Region(fn ast.Node, nodes []ast.Node) *Region {
	fn = code.runningFunction(fn)
	body := source.Body(fn)
	f := code.FileOf(fn)
	if body == nil || f == nil {
		return nil
	}
	lo, hi := token.Pos(math.MaxInt), token.NoPos
	for _, n := range nodes {
		if n.Pos() >= body.Pos() && n.End() <= body.End() {
			lo, hi = min(lo, n.Pos()), max(hi, n.End())
		}
	}
	if hi == token.NoPos {
		return nil
	}
	r := &Region{file: f, fn: fn, body: body, nodes: nodes, Data: nodes}
	r.list, r.from, r.to = statement.Innermost(body, lo, hi)
	if r.list == nil {
		return nil
	}
	return r
}

// Merge joins regions of one function that overlap, lie in each other, or lie near each other.
func Merge(regions []*Region) []*Region {
	return mergeBut(regions, func(r, with *Region) bool { return false })
}

// merge is Merge for regions of a lock. A region in which something may wait joins no other that
// it does not overlap with, and none in a loop that it is only the head of: it may be one that need
// not hold the lock throughout. What is waited for ahead of the lock is no hindrance for a region that comes
// behind.
func (code *Code) merge(regions []*Region, l *Lock) []*Region {
	return mergeBut(regions, func(r, with *Region) bool {
		if code.whatMayWait(r.statements(), l) == "" || r.Update && code.regionBlocks(r, l, nil) == "" {
			return false
		}
		comesFirst := r.last().End() <= with.first().Pos()
		return !comesFirst || code.regionBlocks(r, l, code.ahead(r, l)) != ""
	})
}

// mergeBut joins regions, but not near ones of which one is to be left alone by the other.
func mergeBut(regions []*Region, leaveAlone func(r, with *Region) bool) []*Region {
	var all []*Region
	for _, r := range regions {
		joined := false
		for _, o := range all {
			if o.fn == r.fn && o.join(r, leaveAlone) {
				joined = true
				break
			}
		}
		if !joined {
			all = append(all, r)
		}
	}
	if len(all) < len(regions) {
		return mergeBut(all, leaveAlone)
	}
	return all
}

// isHeadOf reports whether the region is there only for what a loop goes over, and another lies in
// the loop.
func (r *Region) isHeadOf(o *Region) bool {
	loop := r.loopOver()
	return loop != nil && loop.Body.Pos() <= o.first().Pos() && o.last().End() <= loop.Body.End()
}

// join makes r cover o too, if they overlap, or are near each other and not to be left alone.
func (r *Region) join(o *Region, leaveAlone func(r, with *Region) bool) bool {
	lo, hi := min(r.first().Pos(), o.first().Pos()), max(r.last().End(), o.last().End())
	apart := r.last().End() <= o.first().Pos() || o.last().End() <= r.first().Pos()
	if apart && (&r.list[0] != &o.list[0] || !r.near(o) || leaveAlone(r, o) || leaveAlone(o, r)) {
		return false
	}
	if r.isHeadOf(o) && leaveAlone(r, o) || o.isHeadOf(r) && leaveAlone(o, r) {
		return false
	}
	list, from, to := statement.Innermost(r.body, lo, hi)
	if list == nil {
		return false
	}
	r.list, r.from, r.to = list, from, to
	r.Write = r.Write || o.Write
	r.nodes = append(r.nodes, o.nodes...)
	r.Data = append(r.Data, o.Data...)
	r.Elements = r.Elements || o.Elements
	r.Update = r.Update || o.Update
	r.AcrossRounds = r.AcrossRounds || o.AcrossRounds
	for _, c := range o.Copied {
		add(&r.Copied, c)
	}
	return true
}

// nearby is how many statements may lie between two regions that become one.
const nearby = 3

// near reports whether little lies between two regions of one list, and nothing that calls
// or goes elsewhere: to release the lock and take it again is then more to read and to do
// than to keep it.
func (r *Region) near(o *Region) bool {
	from, to := r.to+1, o.from
	if o.from < r.from {
		from, to = o.to+1, r.from
	}
	if to-from > nearby {
		return false
	}
	quiet := true
	statement.Each(r.list[from:to], func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			_, builtin := r.info().Uses[source.CalleeName(n)].(*types.Builtin)
			quiet = quiet && (builtin || r.info().Types[n.Fun].IsType())
		case *ast.ReturnStmt, *ast.BranchStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.SelectStmt, *ast.ForStmt, *ast.RangeStmt:
			quiet = false
		case *ast.UnaryExpr:
			quiet = quiet && n.Op != token.ARROW
		}
	})
	return quiet
}

// inLoop reports whether the region is in a loop of its function.
func (r *Region) inLoop() bool {
	found := false
	ast.Inspect(r.body, func(n ast.Node) bool {
		var body ast.Node
		switch n := n.(type) {
		case *ast.ForStmt:
			body = n.Body
		case *ast.RangeStmt:
			body = n.Body
		default:
			return true
		}
		found = found || body.Pos() <= r.first().Pos() && r.last().End() <= body.End()
		return true
	})
	return found
}
