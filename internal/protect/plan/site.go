package plan

import (
	"go/ast"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/use"
)

// A Site is a use of data on pages that is not known to be by the holder of its lock, or of a cell.
// Which view it goes through is decided at run time.
type Site struct {
	// Node is an identifier, a selector, or the element of a literal that sets a field.
	Node  ast.Node
	Datum *PageDatum
	// Store is the assignment to a cell that the use is part of; nil for a load.
	Store *ast.AssignStmt
	// Way is how a use of an object's field holds on to the object.
	use.Way
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
			r.keepUnreleased(g)
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
		r.holdObjects(f.Syntax, f.Sites)
		r.keepPointedTo(f.Syntax, uses)
	}
	for _, c := range r.out.Clones {
		c.Sites = sitesWithin(c.Decl, uses, c.Redirects)
		r.holdObjects(c.Decl, c.Sites)
	}
}

// holdObjects finds out how uses of the fields of objects hold on to the object. The pages of fields
// with a use that does not are kept when their object is garbage.
func (r *round) holdObjects(root ast.Node, sites []Site) {
	fields := make(map[ast.Node]*Site)
	for i, s := range sites {
		if _, sets := s.Node.(*ast.KeyValueExpr); s.Datum.isPart() && !sets {
			fields[s.Node] = &sites[i]
		}
	}
	if len(fields) == 0 {
		return
	}
	ast.PreorderStack(root, nil, func(n ast.Node, around []ast.Node) bool {
		if s := fields[n]; s != nil {
			s.Way = use.WayOf(r.facts, r.info, n, around)
			s.Datum.Keeps = s.Datum.Keeps || s.Way == use.Way{}
		}
		return true
	})
}

// keepPointedTo has pages kept that a pointer leads to, be it in a section or not: the pointer may be
// used when nothing else holds on to the object.
func (r *round) keepPointedTo(root ast.Node, uses []Site) {
	data := make(map[ast.Node]*PageDatum)
	for _, s := range uses {
		if s.Datum.isPart() {
			data[s.Node] = s.Datum
		}
	}
	ast.PreorderStack(root, nil, func(n ast.Node, around []ast.Node) bool {
		if d := data[n]; d != nil && use.TakesAddress(r.info, n, around) {
			d.Keeps = true
		}
		return true
	})
}

// keepUnreleased has pages kept of objects whose lock a section may not come to release. Such a section
// has nothing left to do that would hold on to the object.
//
//	t.mu.Lock()
//	t.n = 1
//	select {}
func (r *round) keepUnreleased(g *Group) {
	if g.Deferred != nil || !slices.ContainsFunc(g.Steps, func(s *StepPlan) bool { return use.NeverEnds(r.info, s.Stmt) }) {
		return
	}
	for _, v := range g.Vars {
		if v.OnPages != nil && v.OnPages.isPart() {
			v.OnPages.Keeps = true
		}
	}
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
