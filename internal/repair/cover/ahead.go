package cover

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A section need not hold its lock while its first statement calls what may wait, as
// in
//
//	out = append(out, fetch(i))   ->   value := fetch(i)
//	                                   mu.Lock()
//	                                   out = append(out, value)
//	                                   mu.Unlock()
//
// The calls and receives of a statement are made in the order in which they are written;
// when its variables are read in between is not specified. So a call can be made ahead of
// the statement if all before it are, and if it contains none of the accesses that the
// section is for. Whether what it calls had to be inside after all, the proof shows.

// ahead are the calls to make before the lock is taken, so that nothing in the section
// waits: the outermost ones, in order. It is empty if there are none, or if they cannot
// be moved.
func (code *Code) ahead(r *Region, l *Lock) []*ast.CallExpr {
	switch r.first().(type) {
	case *ast.AssignStmt, *ast.ExprStmt:
	default:
		return nil
	}
	calls := evaluated(r.first())
	last := -1
	for i, c := range calls {
		w := &waitFinder{Code: code, lock: l, seen: make(map[ast.Node]bool)}
		if w.callWaits(r.info(), c) != "" {
			last = i
		}
	}
	var moved []*ast.CallExpr
	for _, c := range calls[:last+1] {
		if _, builtin := r.info().Uses[source.CalleeName(c)].(*types.Builtin); builtin || r.info().Types[c.Fun].IsType() {
			continue
		}
		if !r.movable(c) {
			return nil
		}
		for len(moved) > 0 && statement.Encloses(c, moved[len(moved)-1]) {
			moved = moved[:len(moved)-1]
		}
		moved = append(moved, c)
	}
	return moved
}

// evaluated are the calls that a statement always makes, in their order, up to the first
// receive.
func evaluated(s ast.Stmt) []*ast.CallExpr {
	var all []*ast.CallExpr
	received := false
	var visit func(n ast.Node)
	visit = func(n ast.Node) {
		ast.Inspect(n, func(m ast.Node) bool {
			if m == n || received {
				return !received
			}
			switch m := m.(type) {
			case *ast.FuncLit:
				return false
			case *ast.UnaryExpr:
				received = received || m.Op == token.ARROW
			case *ast.BinaryExpr:
				if m.Op == token.LAND || m.Op == token.LOR {
					visit(m.X)
					return false
				}
			case *ast.CallExpr:
				visit(m)
				if !received {
					all = append(all, m)
				}
				return false
			}
			return true
		})
	}
	visit(&ast.BlockStmt{List: []ast.Stmt{s}})
	return all
}

// movable reports whether a call has one value, is not the whole statement, and contains
// no access that the region is for.
func (r *Region) movable(c *ast.CallExpr) bool {
	if s, ok := r.first().(*ast.ExprStmt); ok && ast.Unparen(s.X) == c {
		return false
	}
	t := r.info().TypeOf(c)
	if _, several := t.(*types.Tuple); several || t == nil {
		return false
	}
	for _, n := range r.Data {
		if statement.Encloses(c, n) {
			return false
		}
	}
	return true
}

// move writes the calls ahead of the region's statement. It returns their lines.
func (r *Region) move(edits *source.Edits, calls []*ast.CallExpr) string {
	var b strings.Builder
	free := source.NamesIn(r.fn)
	for _, c := range calls {
		name := ""
		if len(calls) == 1 {
			name = free.Free("value")
		} else {
			name = free.Numbered("value")
		}
		fmt.Fprintf(&b, "%s := %s\n", name, r.file.TextOf(c))
		edits.Replace(c, name)
	}
	return b.String()
}
