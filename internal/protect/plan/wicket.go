package plan

import (
	"go/ast"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/use"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// fieldsOfWicket is how many fields one guard in an object can be for: see package wicket.
const fieldsOfWicket = 8

// unfitForWicket returns why a field cannot stay in its object, behind a guard that every use of it outside of
// sections asks, "" if it can, as far as that is known before sections are: see refusedUses.
func (p *planner) unfitForWicket(v *types.Var, at facts.Declaration) string {
	switch {
	case at.Type == nil:
		return "its lock is not beside it in an object"
	case p.leadsToLock(v):
		return "a lock is reached by way of it"
	}
	return ""
}

// decideBehindWickets decides, and again without the wickets of fields that have a use outside of sections that
// cannot be written as a call.
func (p *planner) decideBehindWickets(pages *pageData) (*pageData, *decision) {
	for {
		out := p.decide(pages)
		refused := p.refusedUses(out)
		open := p.openContent(out)
		if len(refused)+len(open) == 0 {
			return pages, out
		}
		for d, why := range open {
			d.Entries, d.Elements, d.Open = false, false, why
			if p.Mode == Auto { // a copy of the header costs less
				refused[d] = why
			}
		}
		pages = p.withoutWickets(pages, refused)
	}
}

// eachSite calls f with the uses of what is isolated that no section redirects.
func (d *decision) eachSite(f func(Site)) {
	for _, pkg := range d.packages {
		for _, file := range pkg.Files {
			for _, s := range file.Sites {
				f(s)
			}
		}
		for _, c := range pkg.Clones {
			for _, s := range c.Sites {
				f(s)
			}
		}
	}
}

// refusedUses returns the fields behind wickets that have such a use, with the reason.
func (p *planner) refusedUses(out *decision) map[*PageDatum]string {
	refused := make(map[*PageDatum]string)
	out.eachSite(func(s Site) {
		if s.IsStamped() && s.comesEarlier {
			refused[s.Datum] = "a statement finds its object, and calls what may change that (" + short(p.facts.Fset.PositionFor(s.Node.Pos(), false)) + ")"
		}
		if s.Datum.Wicket == 0 || s.IsPlain() || s.IsStamped() || s.Part != nil || refused[s.Datum] != "" {
			return
		}
		if why := p.facts.Refused(s.Node, s.Datum.Key); why != "" {
			refused[s.Datum] = why + " (" + short(p.facts.Fset.PositionFor(s.Node.Pos(), false)) + ", where the lock is not known to be held)"
		}
	})
	for _, pkg := range out.packages {
		for _, f := range pkg.Files {
			p.refusePointedTo(pkg, f, refused)
		}
	}
	return refused
}

// refusePointedTo refuses fields of which a pointer is used, be it in a section: it may be used when the section has
// ended.
//
//	t.mu.Lock()
//	p := &t.n
//	t.mu.Unlock()
//	*p = 1
func (p *planner) refusePointedTo(pkg *Package, f *File, refused map[*PageDatum]string) {
	data := make(map[ast.Node]*PageDatum)
	for _, d := range pkg.behindWickets {
		for _, n := range p.facts.Uses(pkg.Package, d.Key) {
			if _, sets := n.(*ast.KeyValueExpr); !sets {
				data[n] = d
			}
		}
	}
	if len(data) == 0 {
		return
	}
	ast.PreorderStack(f.Syntax, nil, func(n ast.Node, around []ast.Node) bool {
		if d := data[n]; d != nil && use.TakesAddress(pkg.TypesInfo, n, around) {
			refused[d] = "its address is taken (" + short(p.facts.Fset.PositionFor(n.Pos(), false)) + ")"
		}
		return true
	})
}

// withoutWickets puts fields on pages that can be there, and leaves out the others.
func (p *planner) withoutWickets(pages *pageData, refused map[*PageDatum]string) *pageData {
	out := make(map[*PageDatum]string)
	for d, why := range refused {
		d.Wicket, d.Bit, d.Entries, d.Elements = 0, 0, false, false
		v := fieldOf(p.ownerOf(d), d.Field)
		at, _ := p.facts.Declaration(v)
		switch {
		case d.Node, facts.HeapReference(v.Type()) != "":
			out[d] = why
		case tooLarge(at, v):
			out[d] = "it is too large for a page of its own, and " + why
		case p.facts.Immovable(v) != "":
			out[d] = p.facts.Immovable(v)
		}
	}
	return pages.without(out)
}

// ownerOf returns the type that has a field.
func (p *planner) ownerOf(d *PageDatum) types.Type {
	return d.Declared.Package.Types.Scope().Lookup(d.Owner).Type()
}

// putBehindWicket has a datum share a guard with the fields of its type that have the same lock.
func (all *pageData) putBehindWicket(d *PageDatum, lock facts.Key) {
	d.Wicket = d.Number
	for _, other := range all.byLock[lock] {
		if other.Wicket == 0 || other.Owner != d.Owner || other.Home != d.Home {
			continue
		}
		if other.Bit+1 < fieldsOfWicket {
			d.Wicket, d.Bit = other.Wicket, other.Bit+1
		} else {
			d.Wicket, d.Bit = d.Number, 0
		}
	}
}

// hasOwnEntries reports whether a field is a map that no other name exists for, of a type that can be written out; why not,
// if it is a map.
func hasOwnEntries(f *facts.Facts, v *types.Var) (bool, string) {
	m, ok := v.Type().Underlying().(*types.Map)
	switch {
	case !ok:
		return false, ""
	case f.AliasedMap(v):
		return false, "the map is also known by another name: it is assigned, handed on or returned"
	case !source.Spellable(m.Key(), v.Pkg().Path()) || !source.Spellable(m.Elem(), v.Pkg().Path()):
		return false, "the type of its entries cannot be written out"
	}
	return true, ""
}

// Mask is the bit of a datum behind a wicket.
func (d *PageDatum) Mask() uint64 { return 1 << d.Bit }
