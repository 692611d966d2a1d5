package write

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"

	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// redirectCells has uses of pointers on pages call their cells. A store is an assignment as a
// whole. It has to be written before what comes ahead of the statement, and behind it.
//
//	use(p)              use(c.Load())
//	p = v               c.Store(v)
//	p, q = q, p         { k, w := c.Target(); w, q = q, c.Load(); k.Store(w) }
//
// What is behind a wicket has methods instead, and is used as it is in sections:
//
//	use(t.n)            use(t.l())
//	t.n = v             t.s(v)
//	t.n += v            { k := t.a(); w := v; p := k.Begin(); *k.P += w; p.End() }
func (f *fileWriter) redirectCells(edits *source.Edits, sites []plan.Site) {
	together := make(map[*ast.AssignStmt][]plan.Site)
	var updates []plan.Site
	for _, s := range sites {
		if !s.Datum.Cell && s.Datum.Wicket == 0 || s.Datum.Wicket != 0 && s.IsPlain() {
			continue
		}
		switch {
		case s.IsStamped():
			f.stamp(edits, s)
		case s.Part != nil:
			f.usePart(edits, s)
		case s.Entry != nil:
			f.useEntry(edits, s)
		case s.Update != nil:
			updates = append(updates, s)
		case s.Store == nil:
			f.findCell(edits, s, f.callCell(s, "Load")+")")
		case len(s.Store.Lhs) == 1:
			value := s.Store.Rhs[0]
			f.findCell(edits, s, f.callCell(s, "Store"))
			edits.ReplaceBetween(s.Node.End(), value.Pos(), "")
			edits.InsertAfter(value.End(), ")")
		default:
			together[s.Store] = append(together[s.Store], s)
		}
	}
	for _, s := range updates {
		f.update(edits, s)
	}
	for assign, stores := range together { // which have their loads redirected by now
		f.storeTogether(edits, assign, stores)
	}
}

// callCell begins the call of a cell's method, for the view that a use goes through, in terms of the
// object that the cell is a field of.
func (f *fileWriter) callCell(s plan.Site, method string) string {
	if s.Group > 0 && method != "Target" {
		method += "Own"
	}
	if s.Datum.Wicket != 0 {
		return f.callWicket(s.Datum, method)
	}
	return f.sharedName(s.Datum) + "." + method + "("
}

// selected reports whether the cell of a use is a field of the object that the source names.
func selected(s plan.Site) bool { return s.Datum.Owner != "" }

// findCell puts the call of a cell's method in the place of a use.
func (f *fileWriter) findCell(edits *source.Edits, s plan.Site, call string) {
	if selected(s) {
		edits.Replace(s.Node.(*ast.SelectorExpr).Sel, call)
	} else {
		edits.Replace(s.Node, call)
	}
}

// storeTogether writes an assignment of several values, of which some are stored to cells.
func (f *fileWriter) storeTogether(edits *source.Edits, assign *ast.AssignStmt, stores []plan.Site) {
	slices.SortFunc(stores, func(a, b plan.Site) int { return int(a.Node.Pos() - b.Node.Pos()) })
	before, after := "{ ", ""
	for i, s := range stores {
		cell, value := f.names+"k"+strconv.Itoa(i), f.names+"w"+strconv.Itoa(i)
		target := f.callCell(s, "Target") + ")"
		if selected(s) {
			target = edits.ChangedText(s.Node.(*ast.SelectorExpr).X) + "." + target
		}
		before += fmt.Sprintf("%s, %s := %s; ", cell, value, target)
		edits.Supersede(s.Node, value)
		after += fmt.Sprintf("; %s.Store(%s)", cell, value)
	}
	edits.InsertBefore(assign.Pos(), before)
	edits.InsertAfter(assign.End(), after+" }")
}

// declareCell declares a variable on pages that is a pointer.
func (u *packageWriter) declareCell(d *plan.PageDatum) {
	f := u.firstFile(d.InTest)
	f.importAside()
	f.edits.InsertBefore(f.afterImports(), fmt.Sprintf("; var %s = %s.NewGuard(%s); var %s = %s.NewCell[%s](%s, %q, nil)",
		u.guardName(d), u.asideName(), lockText(d), u.sharedName(d), u.asideName(), f.spell(d.Type), u.guardName(d), d.Datum))
}

// fieldType is how the source writes the type of a field.
func (f *fileWriter) fieldType(d *plan.PageDatum) string {
	fields := d.Declared.Struct.Fields.List
	i := slices.IndexFunc(fields, func(field *ast.Field) bool { return slices.Contains(field.Names, d.Declared.Name) })
	return f.file.TextOf(fields[i].Type)
}
