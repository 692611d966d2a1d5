package write

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// useEntry has a use of one entry of a map behind a wicket call a method of the map's object, which waits for
// sections, and which sections wait for.
//
//	t.m[k]             t.e(k)
//	v, ok := t.m[k]    v, ok := t.f(k)
//	t.m[k] = v         t.w(k, v)
//	t.m[k] += n        t.u(k, func(e V) V { return e + n })
//	delete(t.m, k)     t.d(k)
//	len(t.m)           t.n()
func (f *fileWriter) useEntry(edits *source.Edits, s plan.Site) {
	n, use := s.Node.(*ast.SelectorExpr), s.Entry
	method := func(name string) { edits.Replace(n.Sel, f.pageName(name, s.Datum)) }
	if use.Call != nil {
		edits.ReplaceBetween(use.Call.Pos(), n.Pos(), "")
		if use.Key == nil {
			method("n")
			edits.InsertAfter(n.End(), "(")
		} else {
			method("d")
			edits.ReplaceBetween(n.End(), use.Key.Pos(), "(")
		}
		return
	}
	edits.ReplaceBetween(n.End(), use.Key.Pos(), "(")
	switch {
	case use.Put != nil:
		method("w")
		edits.ReplaceBetween(use.Key.End(), use.Put.Rhs[0].Pos(), ", ")
		edits.InsertAfter(use.Put.Rhs[0].End(), ")")
	case use.Update != nil:
		method("u")
		f.updateEntry(edits, s)
	case use.Found:
		method("f")
		edits.ReplaceBetween(use.Key.End(), use.Index.End(), ")")
	default:
		method("e")
		edits.ReplaceBetween(use.Key.End(), use.Index.End(), ")")
	}
}

// updateEntry writes the function by which an entry is updated.
func (f *fileWriter) updateEntry(edits *source.Edits, s plan.Site) {
	use, entry := s.Entry, f.names+"e"
	typ := f.spell(f.pkg.TypesInfo.TypeOf(use.Index))
	begin := fmt.Sprintf(", func(%s %s) %s { return %s ", entry, typ, typ, entry)
	switch u := use.Update.(type) {
	case *ast.IncDecStmt:
		edits.ReplaceBetween(use.Key.End(), u.End(), begin+u.Tok.String()[:1]+" 1 })")
	case *ast.AssignStmt:
		edits.ReplaceBetween(use.Key.End(), u.Rhs[0].Pos(), begin+strings.TrimSuffix(u.Tok.String(), "=")+" ")
		edits.InsertAfter(u.End(), " })")
	default:
		panic(fmt.Sprintf("protect: an entry is updated by a %T", u))
	}
}

// declareEntries declares the methods for the entries of a map. What they do may panic, for a nil map say.
func (f *fileWriter) declareEntries(d *plan.PageDatum, field string, method func(name, params, result, body string)) {
	m := d.Type.Underlying().(*types.Map)
	key, value, names, self := f.spell(m.Key()), f.spell(m.Elem()), f.partName(d), f.names+"t"
	k, v, at := f.names+"k", f.names+"w", self+"."+d.Field
	begin := func(how string) string {
		return fmt.Sprintf("defer %s.%s[%s](%s).End(); ", f.wicketName(), how, names, field)
	}
	method("e", k+" "+key, " "+value, fmt.Sprintf("%sreturn %s[%s]", begin("Looking"), at, k))
	method("f", k+" "+key, fmt.Sprintf(" (%s, bool)", value), fmt.Sprintf("%s%s, %sok := %s[%s]; return %[2]s, %[3]sok", begin("Looking"), v, f.names, at, k))
	method("n", "", " int", fmt.Sprintf("%sreturn len(%s)", begin("Looking"), at))
	method("w", k+" "+key+", "+v+" "+value, "", fmt.Sprintf("%s%s[%s] = %s", begin("Changing"), at, k, v))
	method("u", fmt.Sprintf("%s %s, %s func(%s) %s", k, key, v, value, value), "", fmt.Sprintf("%s%s[%s] = %s(%s[%s])", begin("Changing"), at, k, v, at, k))
	method("d", k+" "+key, "", fmt.Sprintf("%sdelete(%s, %s)", begin("Changing"), at, k))
}
