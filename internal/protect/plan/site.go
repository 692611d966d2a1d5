package plan

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// A Site is a use of data on pages that is not known to be by the holder of its lock, or of a cell.
// Which view it goes through is decided at run time.
type Site struct {
	// Node is an identifier, a selector, or the element of a literal that sets a field.
	Node  ast.Node
	Datum *PageDatum
	// Store is the assignment to a cell that the use is part of; nil for a load.
	Store *ast.AssignStmt
	// Group is the one of the file's that has the use of a cell in a section, which has the own
	// view, counted from 1, and Var the variable of the group; 0 for a use elsewhere.
	Group, Var int
}

// findSites finds the uses of data on pages that no section redirects.
func (r *round) findSites() {
	if len(r.pages.list) == 0 {
		return
	}
	uses := r.usesOnPages()
	for _, f := range r.out.Files {
		var redirected []Redirect
		var cells []Site
		for i, g := range f.Groups {
			for _, s := range g.Steps {
				cells = append(cells, takeCells(g, i+1, s)...)
				cells = append(cells, r.nodesIn(g, i+1, s)...)
				redirected = append(redirected, s.Redirects...)
				for _, use := range s.SlotUses {
					redirected = append(redirected, use.Redirects...)
				}
			}
		}
		f.Sites = sitesWithin(f.Syntax, uses, redirected)
		for i := range f.Sites {
			f.Sites[i].findSection(cells)
		}
		r.noteKept(f.Syntax, f.Sites)
	}
	for _, c := range r.out.Clones {
		c.Sites = sitesWithin(c.Decl, uses, c.Redirects)
		r.noteKept(c.Decl, c.Sites)
	}
}

// noteKept finds the fields whose pages cannot be given back when their object is garbage. A use
// finds the page first, by a pointer that the collector does not know, and then loads or stores.
// In between the object may become garbage. Mostly that is a matter of instructions, and package
// aside waits for longer; but a statement may call other code there, which may take for ever.
//
//	return t.n         a few instructions
//	log(t.n)           has the value before log begins
//	t.n = <-c          has the page for as long as c is empty
//	use(t.n, f())      the same for f
//
// A section, which is to release the lock that is in the object, keeps the object alive.
func (r *round) noteKept(root ast.Node, sites []Site) {
	data := make(map[ast.Node]*PageDatum)
	for _, s := range sites {
		if _, sets := s.Node.(*ast.KeyValueExpr); s.Datum.Owner != "" && !s.Datum.Cell && !sets {
			data[s.Node] = s.Datum
		}
	}
	if len(data) == 0 {
		return
	}
	ast.PreorderStack(root, nil, func(n ast.Node, around []ast.Node) bool {
		if d := data[n]; d != nil && r.runsOtherCode(n, around) {
			d.Keeps = true
		}
		return true
	})
}

// runsOtherCode reports whether the statement with a use may run other code between finding the
// data and using it.
func (r *round) runsOtherCode(use ast.Node, around []ast.Node) bool {
	for _, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.CaseClause:
			return slices.ContainsFunc(n.List, func(e ast.Expr) bool { return r.callsBeside(use, e) })
		case *ast.RangeStmt:
			_, number := r.info.TypeOf(n.X).Underlying().(*types.Basic)
			return !number || !contains(n.X, use) || r.callsBeside(use, n.X)
		case ast.Stmt:
			return r.callsBeside(use, n)
		}
	}
	return true // the first value of a variable
}

// callsBeside reports whether a node calls a function, or receives, other than with the use as
// an operand. What is in blocks is not a part of the statement that has them.
func (r *round) callsBeside(use, in ast.Node) (calls bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.BlockStmt:
			return false
		case *ast.CallExpr:
			f := ast.Unparen(n.Fun)
			calls = calls || !contains(n, use) && !r.info.Types[f].IsType() && facts.BuiltinOf(r.info, f) == ""
		case *ast.UnaryExpr:
			calls = calls || n.Op == token.ARROW && !contains(n, use)
		}
		return !calls
	})
	return calls
}

// takeCells takes the cells out of a step's redirections: what the other data on pages becomes can
// be assigned to, and what a cell becomes cannot.
func takeCells(g *Group, number int, s *StepPlan) []Site {
	var cells []Site
	s.Redirects = slices.DeleteFunc(s.Redirects, func(r Redirect) bool {
		v := g.Vars[r.Var]
		if v.isCell() {
			cells = append(cells, Site{Node: r.Node, Datum: v.OnPages, Group: number, Var: r.Var})
		}
		return v.isCell()
	})
	return cells
}

// nodesIn returns the uses in a step of the cells of other objects than that with the lock.
func (r *round) nodesIn(g *Group, number int, s *StepPlan) []Site {
	var cells []Site
	for i, v := range g.Vars {
		if v.OnPages == nil || !v.OnPages.Node || v.Passive {
			continue
		}
		for _, a := range s.does.Accesses {
			if r.facts.KeyOf(a.Last) == v.OnPages.Key {
				cells = append(cells, Site{Node: a.Node, Datum: v.OnPages, Group: number, Var: i})
			}
		}
	}
	return cells
}

// findSection finds out whether a use of a cell is in a section, of all uses that are.
func (s *Site) findSection(cells []Site) {
	for _, c := range cells {
		if c.Datum == s.Datum && contains(c.Node, s.Node) {
			s.Group, s.Var = c.Group, c.Var
		}
	}
}

// usesOnPages returns all uses of data on pages in the package.
func (r *round) usesOnPages() []Site {
	var all []Site
	for _, d := range r.pages.list {
		for _, n := range r.facts.Uses(r.pkg, d.Key) {
			all = append(all, Site{Node: n, Datum: d, Store: r.facts.StoreOf(n)})
		}
	}
	return all
}

// sitesWithin returns the uses in a node that are not redirected.
func sitesWithin(root ast.Node, uses []Site, redirected []Redirect) []Site {
	var list []Site
	for _, s := range uses {
		if contains(root, s.Node) && !slices.ContainsFunc(redirected, func(r Redirect) bool { return contains(r.Node, s.Node) }) {
			list = append(list, s)
		}
	}
	return list
}

func contains(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}
