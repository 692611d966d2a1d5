package repair

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A Region is a run of statements that a lock is to cover.
type Region struct {
	file *file
	fn   ast.Node // the *ast.FuncDecl or *ast.FuncLit
	body *ast.BlockStmt
	list []ast.Stmt // the statements that it is a part of
	from int        // the first of them
	to   int        // the last
	// write says that it stores, which a read lock is not enough for.
	write bool
	// nodes are the expressions that it is there for, data those of them that access what
	// is to be guarded, as far as they are in this function.
	nodes, data []ast.Node
	// test says that it is in test code, where sections are a last resort.
	test bool
	// section is what it was found for; nil if it is a call of a function with one.
	section *sli.Section
	// elements says that it is there for elements of what a loop goes over.
	elements bool
	// deferred says that it replaces a section whose unlock was deferred.
	deferred bool
}

func (r *Region) first() ast.Stmt { return r.list[r.from] }
func (r *Region) last() ast.Stmt  { return r.list[r.to] }

// stmts are what the lock is held for: of a loop over a slice of which only that is meant,
// what gives the slice.
func (r *Region) stmts() []ast.Stmt {
	if s := r.header(); s != nil {
		return []ast.Stmt{&ast.ExprStmt{X: s.X}}
	}
	return r.list[r.from : r.to+1]
}

// header is the loop over a slice that a region is, if the region is there only for what
// gives the slice: that is computed once, so the lock need not be held during the loop.
func (r *Region) header() *ast.RangeStmt {
	s, ok := r.first().(*ast.RangeStmt)
	if !ok || r.from != r.to || len(r.nodes) == 0 || r.elements {
		return nil
	}
	if _, slice := r.info().TypeOf(s.X).Underlying().(*types.Slice); !slice {
		return nil
	}
	for _, n := range r.nodes {
		if n.Pos() < s.X.Pos() || s.X.End() < n.End() {
			return nil
		}
	}
	return s
}

func (r *Region) info() *types.Info {
	return r.file.pkg.TypesInfo
}

// regions turns the sections of a fix into regions. It returns nil if a section is not
// in the source.
func (p *Program) regions(f *sli.Fix) []*Region {
	var all []*Region
	for _, s := range f.Sections {
		fn := p.lifted.Function(s.Func)
		if fn == nil || fn.Syntax() == nil {
			return nil
		}
		var nodes []ast.Node
		write, elements := false, false
		for _, in := range s.Instrs {
			o := p.lifted.Origin(in)
			if o.Node == nil || in.Op != ir.Load && in.Op != ir.Store && in.Op != ir.Call {
				continue
			}
			nodes = append(nodes, o.Node)
			elements = elements || ofLoop(o.Instr)
		}
		var data []ast.Node
		for _, x := range s.Accesses {
			write = write || x.Store
			if o := p.lifted.Origin(x.Instr); o.Node != nil {
				data = append(data, o.Node)
			}
		}
		r := p.region(fn.Syntax(), nodes)
		if r == nil {
			return nil
		}
		r.data = data
		r.write, r.test, r.section, r.elements = write || s.Role != sli.Reading, s.Func.TestCode, s, elements
		all = append(all, r)
	}
	return all
}

// ofLoop reports whether an instruction loads the element that a loop has come to.
func ofLoop(in ssa.Instruction) bool {
	load, ok := in.(*ssa.UnOp)
	if !ok {
		return false
	}
	at, ok := load.X.(*ssa.IndexAddr)
	return ok && !at.Pos().IsValid() // an index expression has a position
}

// region is the smallest run of statements in a function that has all nodes.
func (p *Program) region(fn ast.Node, nodes []ast.Node) *Region {
	body := bodyOf(fn)
	f := p.fileOf(fn)
	if body == nil || f == nil {
		return nil
	}
	lo, hi := token.Pos(1<<62), token.NoPos
	for _, n := range nodes {
		if n.Pos() >= body.Pos() && n.End() <= body.End() {
			lo, hi = min(lo, n.Pos()), max(hi, n.End())
		}
	}
	if hi == token.NoPos {
		return nil
	}
	r := &Region{file: f, fn: fn, body: body, nodes: nodes, data: nodes}
	r.list, r.from, r.to = innermost(body, lo, hi)
	if r.list == nil {
		return nil
	}
	return r
}

func bodyOf(fn ast.Node) *ast.BlockStmt {
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		return fn.Body
	case *ast.FuncLit:
		return fn.Body
	}
	return nil
}

// innermost is the innermost list of statements, not of another function, of which
// some cover the range.
func innermost(body *ast.BlockStmt, lo, hi token.Pos) (list []ast.Stmt, from, to int) {
	look := func(l []ast.Stmt) {
		i, j := -1, -1
		for k, s := range l {
			if s.Pos() <= lo && lo < s.End() {
				i = k
			}
			if s.Pos() < hi && hi <= s.End() {
				j = k
			}
		}
		if i >= 0 && j >= i {
			list, from, to = l, i, j
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BlockStmt:
			if !clauses(n) {
				look(n.List)
			}
		case *ast.CaseClause:
			look(n.Body)
		case *ast.CommClause:
			look(n.Body)
		}
		return true
	})
	return list, from, to
}

// clauses reports whether a block is that of a switch or select, between whose clauses no
// statement can be.
func clauses(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch b.List[0].(type) {
	case *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

// merge joins regions of one function that overlap, or lie in each other.
func merge(regions []*Region) []*Region {
	var all []*Region
	for _, r := range regions {
		joined := false
		for _, o := range all {
			if o.fn != r.fn {
				continue
			}
			if j := o.join(r); j {
				joined = true
				break
			}
		}
		if !joined {
			all = append(all, r)
		}
	}
	if len(all) < len(regions) {
		return merge(all)
	}
	return all
}

// join makes r cover o too, if they overlap.
func (r *Region) join(o *Region) bool {
	lo, hi := min(r.first().Pos(), o.first().Pos()), max(r.last().End(), o.last().End())
	apart := r.last().End() <= o.first().Pos() || o.last().End() <= r.first().Pos()
	if apart && (&r.list[0] != &o.list[0] || !r.near(o)) {
		return false
	}
	list, from, to := innermost(r.body, lo, hi)
	if list == nil {
		return false
	}
	r.list, r.from, r.to = list, from, to
	r.write = r.write || o.write
	r.nodes = append(r.nodes, o.nodes...)
	r.data = append(r.data, o.data...)
	r.elements = r.elements || o.elements
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
	within(r.list[from:to], func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			_, builtin := r.info().Uses[calleeIdent(n)].(*types.Builtin)
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

// within calls f for the nodes of a function's statements, without those of functions
// inside it.
func within(stmts []ast.Stmt, f func(ast.Node)) {
	for _, s := range stmts {
		ast.Inspect(s, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncLit); ok {
				return false
			}
			if n != nil {
				f(n)
			}
			return true
		})
	}
}
