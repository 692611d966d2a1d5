package plan

import (
	"go/ast"
	"slices"
)

// A Site is a use of data on pages that is not known to be by the holder of its lock. Which view
// it goes through is decided at run time.
type Site struct {
	// Node is an identifier, a selector, or the element of a literal that sets a field.
	Node  ast.Node
	Datum *PageDatum
}

// findSites finds the uses of data on pages that no section redirects.
func (r *round) findSites() {
	if len(r.pages.list) == 0 {
		return
	}
	uses := r.usesOnPages()
	for _, f := range r.out.Files {
		var redirected []Redirect
		for _, g := range f.Groups {
			for _, s := range g.Steps {
				redirected = append(redirected, s.Redirects...)
				for _, use := range s.SlotUses {
					redirected = append(redirected, use.Redirects...)
				}
			}
		}
		f.Sites = sitesWithin(f.Syntax, uses, redirected)
	}
	for _, c := range r.out.Clones {
		c.Sites = sitesWithin(c.Decl, uses, c.Redirects)
	}
}

// usesOnPages returns all uses of data on pages in the package.
func (r *round) usesOnPages() []Site {
	var all []Site
	for _, d := range r.pages.list {
		for _, n := range r.facts.Uses(r.pkg, d.Key) {
			all = append(all, Site{n, d})
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
