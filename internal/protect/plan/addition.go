package plan

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/use"
)

// findAdditions finds them, when it is known which variables have copies.
func (p *planner) findAdditions(out *decision) {
	careless := p.carelessWrites(out)
	if len(careless) == 0 {
		return
	}
	for i, u := range p.units {
		for _, f := range out.packages[i].Files {
			f.Additions = u.additions(f, careless)
		}
	}
}

// A carelessLine is a line of a file that writes a variable without its lock.
type carelessLine struct {
	key  facts.Key
	file string
	line int
}

// carelessWrites returns where variables are written that a section publishes.
func (p *planner) carelessWrites(out *decision) map[carelessLine]bool {
	lines := make(map[carelessLine]bool)
	for _, pkg := range out.packages {
		for _, f := range pkg.Files {
			for _, g := range f.Groups {
				for _, v := range g.copied() {
					if v.Written {
						p.addCarelessWrites(lines, v)
					}
				}
			}
		}
	}
	return lines
}

func (p *planner) addCarelessWrites(lines map[carelessLine]bool, v *Variable) {
	for _, dev := range p.deviations(v) {
		if dev.Kind != guard.Write {
			continue
		}
		for _, k := range v.Footprint.Keys {
			lines[carelessLine{k, dev.At.Filename, dev.At.Line}] = true
		}
	}
}

// copied returns the variables and fields that a group has copies of.
func (g *Group) copied() []*Variable {
	var all []*Variable
	for _, v := range g.Vars {
		if v.OnPages == nil {
			all = append(all, v)
		}
	}
	for _, s := range g.Slots {
		all = append(all, s.Fields...)
	}
	return all
}

// additions returns those of a file that are not in sections.
func (u *unit) additions(f *File, careless map[carelessLine]bool) []use.Addition {
	var list []use.Addition
	for _, d := range f.Syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && facts.Directive(fn.Doc) != "" || u.leftAlone(d) != "" {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			a, ok := use.AdditionOf(u.info, n)
			if ok && u.isCareless(a.Target, careless) && !f.inSection(a.Stmt) {
				list = append(list, a)
			}
			return true
		})
	}
	return list
}

// isCareless reports whether an expression names a variable, or a part of one, on a line that
// writes it without its lock.
func (u *unit) isCareless(e ast.Expr, careless map[carelessLine]bool) bool {
	at := u.facts.Fset.PositionFor(e.Pos(), false)
	for {
		var id *ast.Ident
		var within ast.Expr // what has the variable as a part
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			id = x
		case *ast.SelectorExpr:
			id, within = x.Sel, x.X
		default:
			return false
		}
		v, ok := u.info.Uses[id].(*types.Var)
		if ok && careless[carelessLine{u.facts.KeyOf(v), at.Filename, at.Line}] {
			return true
		}
		if within == nil || facts.IsPointer(u.info.TypeOf(within)) {
			return false
		}
		e = within
	}
}

// inSection reports whether a node is in a section that is rewritten.
func (f *File) inSection(n ast.Node) bool {
	return slices.ContainsFunc(f.Groups, func(g *Group) bool {
		return slices.ContainsFunc(g.Steps, func(step *StepPlan) bool { return contains(step.Stmt, n) })
	})
}
