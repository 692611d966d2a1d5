package plan

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/outline"
	"github.com/cofferdam-go/cofferdam/internal/protect/use"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// isWithContent reports whether the entries of a map, or the elements of a slice, are isolated with it.
func (d *PageDatum) isWithContent() bool { return d.Entries || d.Elements }

// hasOwnElements reports whether a field is a slice whose elements no other name leads to for good, of a type that can be
// written out, and if not why.
func hasOwnElements(f *facts.Facts, v *types.Var) (own bool, why string) {
	s, ok := v.Type().Underlying().(*types.Slice)
	if !ok {
		return false, ""
	}
	if why, at := f.SharedElements(v); why != "" {
		return false, why + " (" + short(at) + ")"
	}
	if !source.Spellable(s.Elem(), v.Pkg().Path()) {
		return false, "the type of its elements has no name"
	}
	return true, ""
}

// ownsContent reports whether a field is such a slice, or a map like that.
func (p *planner) ownsContent(v *types.Var) bool {
	elements, _ := hasOwnElements(p.facts, v)
	entries, _ := hasOwnEntries(p.facts, v)
	return elements || entries
}

// findParts finds out which uses of what is behind wickets are of a part or of an element, and of which it does not matter that
// they cannot be calls. Fields of nodes are used as a whole.
func (r *round) findParts(all []Site) {
	byNode := make(map[ast.Node]*Site)
	for i := range all {
		if all[i].Datum.Wicket != 0 && !all[i].Datum.Node {
			byNode[all[i].Node] = &all[i]
		}
	}
	if len(byNode) == 0 {
		return
	}
	for _, f := range r.out.Files {
		ast.PreorderStack(f.Syntax, nil, func(n ast.Node, around []ast.Node) bool {
			s := byNode[n]
			if s == nil || s.Unread {
				return true
			}
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			part := use.PartOf(r.info, r.facts.Fset, e, around, s.Datum.Elements)
			if part != nil && !r.facts.CallsBehind(n, s.Datum.Key, part.Arguments()...) && r.canWrite(s.Datum, part) {
				s.Part = part
			}
			s.Held = s.Part == nil && s.Entry == nil && s.Datum.isWithContent() && r.isHeld(s.Datum, n)
			return true
		})
	}
}

// canWrite reports whether the package can write the type of a part.
func (r *round) canWrite(d *PageDatum, p *use.Part) bool {
	return source.Spellable(p.TypeIn(d.Type, r.pkg.Types), d.Home)
}

// isHeld reports whether the lock of a datum is held wherever a use of it runs: the guard is inferred from all accesses, and
// this is not one that deviates. In a body that takes or releases the lock itself that is not known for what comes after.
func (r *round) isHeld(d *PageDatum, n ast.Node) bool {
	v := fieldOf(r.ownerOf(d), d.Field)
	gd, datum := r.guards.Of(v)
	if gd == nil || datum.Evidence.Unknown > 0 {
		return false
	}
	at := r.facts.Fset.PositionFor(n.Pos(), false)
	for _, dev := range datum.Deviations {
		if dev.At.Filename == at.Filename && dev.At.Line == at.Line {
			return false
		}
	}
	return !slices.ContainsFunc(r.unit.all, func(b *body) bool {
		return contains(b.block, n) && (slices.ContainsFunc(b.outlines, func(o *outline.Outline) bool { return r.facts.KeyOf(o.Lock.Last()) == d.lock }) || len(b.alone) > 0)
	})
}

// openContent returns the maps and slices that code outside of sections uses in more than one step, or by a name that
// outlives a section, with the reason: only the header is isolated of these.
func (p *planner) openContent(out *decision) map[*PageDatum]string {
	open := make(map[*PageDatum]string)
	sites := make(map[*PageDatum][]Site)
	out.eachSite(func(s Site) {
		switch d := s.Datum; {
		case d.Entries && s.Entry == nil && s.Store == nil && !s.IsPlain() && open[d] == "":
			open[d] = "it is used as a whole where the lock is not known to be held" + p.at(s.Node.Pos())
		case d.Elements:
			sites[d] = append(sites[d], s)
		}
	})
	for _, pkg := range out.packages {
		for _, d := range pkg.behindWickets {
			if d.Elements && open[d] == "" {
				if why := p.openElements(d, sites[d]); why != "" {
					open[d] = why
				}
			}
		}
	}
	return open
}

func (p *planner) at(pos token.Pos) string {
	return " (" + short(p.facts.Fset.PositionFor(pos, false)) + ")"
}

// openElements returns why the elements of a slice are used where no section and no call is, "" if they are not.
func (p *planner) openElements(d *PageDatum, sites []Site) string {
	for _, name := range p.facts.ElementNames(d.Key) {
		u := p.unitAt(name.At)
		if u == nil || u.isWithinSection(d, name) {
			continue // another variant of a package that is looked at
		}
		i := slices.IndexFunc(sites, func(s Site) bool { return s.names(name.At) })
		switch {
		case len(name.Uses) == 0: // the header
		case i < 0:
			return "a name for its elements is used where the lock is not known to be held" + p.at(name.At)
		case sites[i].Held, sites[i].Part != nil && sites[i].Part.Covers(name.Uses):
		default:
			return "its elements are used where the lock is not known to be held" + p.at(name.At)
		}
	}
	return ""
}

// names reports whether the expression at a position is that of a site.
func (s Site) names(at token.Pos) bool {
	if sel, ok := s.Node.(*ast.SelectorExpr); ok {
		return sel.Sel.Pos() == at
	}
	return s.Node.Pos() == at
}

// unitAt returns the package that has a position.
func (p *planner) unitAt(at token.Pos) *unit {
	i := slices.IndexFunc(p.units, func(u *unit) bool {
		return slices.ContainsFunc(u.files, func(f *source.File) bool { return f.Syntax.FileStart <= at && at < f.Syntax.FileEnd })
	})
	if i < 0 {
		return nil
	}
	return p.units[i]
}

// isWithinSection reports whether a name is made and used in one section, or in sections of one group.
func (u *unit) isWithinSection(d *PageDatum, name facts.ElementName) bool {
	return slices.ContainsFunc(u.all, func(b *body) bool {
		return slices.ContainsFunc(b.outlines, func(o *outline.Outline) bool {
			if u.facts.KeyOf(o.Lock.Last()) != d.lock || !slices.ContainsFunc(o.Inside, func(s *outline.Step) bool { return s.Evaluates(&ast.Ident{NamePos: name.At}) }) {
				return false
			}
			return !slices.ContainsFunc(name.Uses, func(at token.Pos) bool {
				return !slices.ContainsFunc(o.Inside, func(s *outline.Step) bool { return s.Has(at) })
			})
		})
	})
}

// usesElements reports whether a step uses elements of a slice that is isolated with them, be it by another name.
func (r *round) usesElements(v *Variable, s *StepPlan) bool {
	if v.OnPages == nil || !v.OnPages.Elements {
		return false
	}
	return slices.ContainsFunc(r.facts.ElementNames(v.OnPages.Key), func(name facts.ElementName) bool {
		return slices.ContainsFunc(name.Uses, s.Has)
	})
}
