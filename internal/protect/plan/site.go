package plan

import (
	"go/ast"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/use"
)

// A Site is a use of data on pages that is not known to be by the holder of its lock, or of a cell.
// Which view it goes through is decided at run time.
type Site struct {
	// Node is an identifier, a selector, or the element of a literal that sets a field.
	Node  ast.Node
	Datum *PageDatum
	// Store is the assignment to a cell, or to what is behind a wicket, that the use is part of, and Update the
	// statement that updates what is behind a wicket; nil for a load.
	Store  *ast.AssignStmt
	Update ast.Stmt
	// Entry is what the use does with an entry of a map that is isolated with its entries; nil if it is something else.
	Entry *facts.EntryUse
	// Part is what the use does with a part of what is behind a wicket, or with an element of a slice that is isolated
	// with its elements; nil if it is something else.
	Part *use.Part
	// Held says that the lock is held wherever the use runs, as far as its guard was inferred from that.
	Held bool
	// Unread says that the use is only there for its type.
	Unread bool
	// Group is the one of the file's that has the use of a cell in a section, which has the own
	// view, or of a node, counted from 1, and Var the variable of the group; 0 for a use elsewhere.
	Group, Var int
	// Writes says that a use of a node in a section stores to it.
	Writes bool

	comesEarlier bool // the node would be found before what the statement calls
}

// IsPlain reports whether a use is written as it is in the source: one in a section, of a field behind a
// wicket, a literal that sets such a field, its length if that is a constant, or one that cannot be a call where the lock is
// held anyway.
func (s Site) IsPlain() bool {
	_, sets := s.Node.(*ast.KeyValueExpr)
	return s.Datum.Wicket != 0 && (sets || s.Unread || (s.Held || s.Group > 0) && !s.Datum.Node)
}

// findSites finds the uses of data on pages that no section redirects.
func (r *round) findSites() {
	if len(r.pages.list) == 0 {
		return
	}
	for _, d := range r.pages.list {
		if d.Wicket != 0 && d.Home == r.pkg.PkgPath {
			r.out.behindWickets = append(r.out.behindWickets, d)
		}
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
		r.findWrites(f)
	}
	for _, c := range r.out.Clones {
		c.Sites = sitesWithin(c.Decl, uses, c.Redirects)
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
			all = append(all, Site{Node: n, Datum: d, Store: r.facts.StoreOf(n), Update: r.facts.UpdateOf(n), Unread: r.facts.IsUnread(n), Entry: r.entryUse(d, n)})
		}
	}
	r.findParts(all)
	return all
}

func (r *round) entryUse(d *PageDatum, n ast.Node) *facts.EntryUse {
	if !d.Entries {
		return nil
	}
	return r.facts.EntryUseOf(n)
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
