package cover

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A statement that reads guarded data and then waits, or calls what the package's users have
// handed in, need not hold the lock for more than the reading:
//
//	if f := m.hooks[k]; f != nil {     m.mu.Lock()
//		f()                            f := m.hooks[k]
//	}                                  m.mu.Unlock()
//	                                   if f != nil {
//
//	if m.hook != nil {                 m.mu.Lock()
//		m.hook()                       hook := m.hook
//	}                                  m.mu.Unlock()
//	                                   if hook != nil {
//	                                   	hook()
//	                                   }
//
//	return c.conn.Send(msg)            c.mu.Lock()
//	                                   conn := c.conn
//	                                   c.mu.Unlock()
//	                                   return conn.Send(msg)

// A hoist is what a statement reads first, and can read ahead of itself.
type hoist struct {
	region *Region
	// init is the statement's own initialisation, if that is what reads.
	init ast.Stmt
	// exprs are the expressions that read, otherwise.
	exprs []ast.Expr
}

// hoistOf is the hoist for a region of one statement that does not write, nil if there is none.
func (code *Code) hoistOf(r *Region, l *Lock) *hoist {
	if r.Write || r.from != r.to || len(r.nodes) == 0 {
		return nil
	}
	h := &hoist{region: r}
	if uses := r.readsOnlyOne(); uses != nil {
		h.exprs = uses
		return h
	}
	var init ast.Stmt
	var heads []ast.Expr
	switch s := r.first().(type) {
	case *ast.IfStmt:
		init, heads = s.Init, []ast.Expr{s.Cond}
	case *ast.SwitchStmt:
		init = s.Init
		if s.Tag != nil {
			heads = []ast.Expr{s.Tag}
		}
	case *ast.ReturnStmt:
		return h.reading(s.Results)
	case *ast.ExprStmt:
		return h.reading([]ast.Expr{s.X})
	case *ast.AssignStmt:
		return h.reading(s.Rhs)
	case *ast.SendStmt:
		return h.reading([]ast.Expr{s.Chan, s.Value})
	case *ast.GoStmt:
		return h.reading([]ast.Expr{s.Call})
	case *ast.DeferStmt:
		return h.reading([]ast.Expr{s.Call})
	default:
		return nil
	}
	if init != nil {
		if a, ok := init.(*ast.AssignStmt); ok && a.Tok == token.DEFINE && r.isReadIn(init) && code.whatMayWait([]ast.Stmt{init}, l) == "" {
			h.init = init
			return h
		}
		return nil
	}
	return h.reading(heads)
}

// isReadIn reports whether all that a region is there for lies in one of some nodes.
func (r *Region) isReadIn(nodes ...ast.Node) bool {
	for _, n := range r.nodes {
		found := false
		for _, outer := range nodes {
			found = found || statement.Encloses(outer, n)
		}
		if !found {
			return false
		}
	}
	return true
}

// reading looks for the expressions that read the data in those that a statement evaluates
// first. It returns nil if one of them cannot be read ahead.
func (h *hoist) reading(of []ast.Expr) *hoist {
	var nodes []ast.Node
	for _, e := range of {
		h.collect(e)
	}
	for _, e := range h.exprs {
		nodes = append(nodes, e)
	}
	if len(nodes) == 0 || !h.region.isReadIn(nodes...) {
		return nil
	}
	return h
}

// collect adds the largest expressions in one that only read, and have data of the region in
// them.
func (h *hoist) collect(e ast.Expr) {
	r := h.region
	has := func(outer ast.Node) bool {
		for _, n := range r.nodes {
			if statement.Encloses(outer, n) {
				return true
			}
		}
		return false
	}
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		switch {
		case !ok:
			return true
		case !has(x):
			return false
		case statement.OnlyReads(r.info(), x) && statement.CanCopy(r.info().TypeOf(x)):
			h.exprs = append(h.exprs, x)
			return false
		}
		switch x := x.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BinaryExpr:
			return x.Op != token.LAND && x.Op != token.LOR
		case *ast.UnaryExpr:
			return x.Op != token.AND
		}
		return true
	})
}

// write has the statement read ahead.
func (h *hoist) write(edits *source.Edits, lock, unlock string) error {
	r := h.region
	if h.init != nil {
		return h.writeInit(edits, lock, unlock)
	}
	var b strings.Builder
	free := source.NamesIn(r.fn)
	nameOfFirst := ""
	used := make(map[string]bool)
	for i, e := range h.exprs {
		if i > 0 && source.SameExpression(r.info(), h.exprs[0], e) {
			edits.Replace(e, nameOfFirst)
			continue
		}
		name := statement.NameFor(e)
		if used[name] || !statement.IsUnused(r.info(), r.fn, name) {
			name = free.Free(name)
		}
		used[name] = true
		if i == 0 {
			nameOfFirst = name
		}
		text, err := r.textWithCopies(edits, e)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s := %s\n", name, text)
		edits.Replace(e, name)
	}
	edits.LineBefore(r.first(), lock+b.String()+unlock)
	return nil
}

// writeInit moves the initialisation of a statement ahead of it, in a block of its own if the
// names that it declares are used for something else too.
func (h *hoist) writeInit(edits *source.Edits, lock, unlock string) error {
	r := h.region
	block := !statement.DeclaresFreeNames(r.info(), r.fn, h.init.(*ast.AssignStmt))
	init, err := r.textWithCopies(edits, h.init)
	if err != nil {
		return err
	}
	text := lock + init + "\n" + unlock
	if block {
		text = "{\n" + text
	}
	edits.LineBefore(r.first(), text)
	next := r.file.Offset(h.init.End())
	for r.file.Text[next] != ';' {
		next++
	}
	for next++; r.file.Text[next] == ' '; next++ {
	}
	edits.Buffer().Delete(r.file.Offset(h.init.Pos()), next)
	if block {
		edits.LineAfter(r.first(), "}")
	}
	return nil
}
