package plan

import (
	"go/ast"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/use"
)

// findVisits finds the uses that are not in sections, of the variables that some section has an exact
// copy of.
func (p *planner) findVisits(out *decision) {
	exact := make(map[facts.Key]bool)
	for _, pkg := range out.packages {
		for _, f := range pkg.Files {
			for _, g := range f.Groups {
				for _, v := range g.Vars {
					if v.Exact {
						exact[p.facts.KeyOf(v.Last())] = true
					}
				}
			}
		}
	}
	for i, u := range p.units {
		uses := make(map[ast.Node]facts.Key)
		for k := range exact {
			for _, n := range p.facts.Uses(u.pkg, k) {
				uses[n] = k
			}
		}
		for _, f := range out.packages[i].Files {
			f.Visits = u.visits(f, uses)
		}
	}
}

// visits returns those of a file. A section of another lock has texts of its own before and behind its
// statements, and is left as it is.
func (u *unit) visits(f *File, uses map[ast.Node]facts.Key) []use.Visit {
	var list []use.Visit
	for _, d := range f.Syntax.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || facts.Directive(fn.Doc) != "" || u.leftAlone(d) != "" {
			continue
		}
		outside := make(map[ast.Node]facts.Key)
		for n, k := range uses {
			if contains(fn, n) && !f.inSection(n) {
				outside[n] = k
			}
		}
		list = append(list, use.Visits(u.info, fn, outside)...)
	}
	return list
}
