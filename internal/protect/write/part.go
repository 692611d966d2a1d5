package write

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A partForm is what uses have in common that call the same method: the way to the part, and what is done with it.
type partForm struct {
	way     string // with k0, k1 for indices
	indices string // their types
	does    string // "load", "=", "append" or how the part is updated
	typ     types.Type
}

// formOf returns the form of a use.
func (u *packageWriter) formOf(s plan.Site) partForm {
	var way, indices strings.Builder
	n := 0
	for _, step := range s.Part.Steps {
		if step.Index == nil {
			way.WriteString("." + step.Field)
			continue
		}
		name := fmt.Sprintf("%sk%d", u.names, n)
		fmt.Fprintf(&way, "[%s]", name)
		fmt.Fprintf(&indices, "%s %s, ", name, step.Type)
		n++
	}
	form := partForm{way: way.String(), indices: indices.String(), does: "load", typ: s.Part.TypeIn(s.Datum.Type, u.pkg.Types)}
	switch update := s.Part.Update.(type) {
	case *ast.IncDecStmt:
		form.does = map[token.Token]string{token.INC: "+=", token.DEC: "-="}[update.Tok]
	case *ast.AssignStmt:
		form.does = update.Tok.String()
	}
	switch {
	case s.Part.Put != nil:
		form.does = "="
	case s.Part.Append != nil:
		form.does = "append"
	}
	return form
}

// same reports whether two forms are one.
func (f partForm) same(g partForm) bool {
	return f.way == g.way && f.indices == g.indices && f.does == g.does
}

// partForms returns the forms of all uses of a datum's parts in the package.
func (u *packageWriter) partForms(d *plan.PageDatum) []partForm {
	list, known := u.forms[d]
	if known {
		return list
	}
	defer func() { u.forms[d] = list }()
	add := func(sites []plan.Site) {
		for _, s := range sites {
			if s.Datum == d && s.Part != nil && !s.Part.Absorbed && !s.IsPlain() {
				if form := u.formOf(s); !slices.ContainsFunc(list, form.same) {
					list = append(list, form)
				}
			}
		}
	}
	for _, f := range u.pkg.Files {
		add(f.Sites)
	}
	for _, c := range u.pkg.Clones {
		add(c.Sites)
	}
	return list
}

// partMethod is the name of the method for a form.
func (u *packageWriter) partMethod(d *plan.PageDatum, number int) string {
	return fmt.Sprintf("%sx%d", u.pageName("m", d), number)
}

// usePart has a use of a part of what is behind a wicket call a method of its object, which waits for sections, and
// which sections wait for.
//
//	t.rows[i].n             t.m(i)
//	t.rows[i].n = v         t.m(i, v)
//	t.rows[i].n += v        t.m(i, v)
//	t.s = append(t.s, v)    t.m(v)
func (f *fileWriter) usePart(edits *source.Edits, s plan.Site) {
	p := s.Part
	if p.Absorbed {
		return
	}
	number := slices.IndexFunc(f.partForms(s.Datum), f.formOf(s).same)
	from, text := s.Node.(*ast.SelectorExpr).Sel.Pos(), f.partMethod(s.Datum, number)+"("
	for _, step := range p.Steps {
		if step.Index != nil {
			edits.ReplaceBetween(from, step.Index.Pos(), text)
			from, text = step.Index.End(), ", "
		}
	}
	last := func(value ast.Expr) {
		edits.ReplaceBetween(from, value.Pos(), text)
		edits.InsertAfter(value.End(), ")")
	}
	switch update := p.Update.(type) {
	case *ast.IncDecStmt:
		edits.ReplaceBetween(from, update.End(), text+"1)")
		return
	case *ast.AssignStmt:
		last(update.Rhs[0])
		return
	}
	switch {
	case p.Put != nil:
		last(p.Put.Rhs[0])
	case p.Append != nil: // its parenthesis stays
		edits.ReplaceBetween(from, p.Append.Args[1].Pos(), text)
	default:
		edits.ReplaceBetween(from, p.Whole.End(), strings.TrimSuffix(text, ", ")+")")
	}
}

// declareParts declares the methods for parts of a datum. What they do may panic, for an index say.
func (f *fileWriter) declareParts(d *plan.PageDatum, field string, method func(name, params, result, body string)) {
	names, self, value := f.partName(d), f.names+"t", f.names+"w"
	begin := func(how string) string {
		return fmt.Sprintf("defer %s.%s[%s](%s).End(); ", f.wicketName(), how, names, field)
	}
	for i, form := range f.partForms(d) {
		part, typ := self+"."+d.Field+form.way, f.spell(form.typ)
		name := strings.TrimPrefix(f.partMethod(d, i), f.names)
		switch form.does {
		case "load":
			method(name, strings.TrimSuffix(form.indices, ", "), " "+typ, begin("Looking")+"return "+part)
		case "append":
			elem := f.spell(form.typ.Underlying().(*types.Slice).Elem())
			method(name, value+" ..."+elem, "", fmt.Sprintf("%s%s = append(%s, %s...)", begin("Changing"), part, part, value))
		default:
			method(name, form.indices+value+" "+typ, "", fmt.Sprintf("%s%s %s %s", begin("Changing"), part, form.does, value))
		}
	}
}
