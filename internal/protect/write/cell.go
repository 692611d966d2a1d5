package write

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"

	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// valueName is what the type of a cell's value is called.
func (u *packageWriter) valueName(d *plan.PageDatum) string { return u.pageName("v", d) }

// redirectCells has uses of pointers on pages call their cells. A store is an assignment as a
// whole. It has to be written before what comes ahead of the statement, and behind it.
//
//	use(p)              use(c.Load())
//	t.p = v             t.x.Get().Store(v)
//	t.p, q = q, t.p     { k, w := t.x.Get().Target(); w, q = q, t.x.Get().Load(); k.Store(w) }
//	&T{p: v}            &T{x: aside.MakeCell[names, type](v)}
func (f *fileWriter) redirectCells(edits *source.Edits, sites []plan.Site) {
	together := make(map[*ast.AssignStmt][]plan.Site)
	for _, s := range sites {
		if !s.Datum.Cell {
			continue
		}
		if n, ok := s.Node.(*ast.KeyValueExpr); ok {
			f.setCell(edits, n, s.Datum)
			continue
		}
		switch {
		case s.Store == nil:
			f.findCell(edits, s, "Load")
		case len(s.Store.Lhs) == 1:
			f.findCell(edits, s, "")
			value := s.Store.Rhs[0]
			edits.ReplaceBetween(s.Node.End(), value.Pos(), "."+inView(s, "Store")+"(")
			edits.InsertAfter(value.End(), ")")
		default:
			together[s.Store] = append(together[s.Store], s)
		}
	}
	for assign, stores := range together { // which have their loads redirected by now
		f.storeTogether(edits, assign, stores)
	}
}

// inView is the method for the view that a use goes through.
func inView(s plan.Site, method string) string {
	if s.Group > 0 {
		return method + "Own"
	}
	return method
}

// cellOf is the cell that a use is about, in terms of the object that it is a field of.
func (f *fileWriter) cellOf(s plan.Site) string {
	switch {
	case s.Datum.Owner == "":
		return f.sharedName(s.Datum)
	case s.Group > 0:
		return newSectionWriter(f, f.file.Groups[s.Group-1], s.Group).id("g", s.Var)
	default:
		return f.objectName(s.Datum) + ".Get()"
	}
}

// findCell puts the cell in the place of a use, with the call of a method if there is one.
func (f *fileWriter) findCell(edits *source.Edits, s plan.Site, method string) {
	text := f.cellOf(s)
	if method != "" {
		text += "." + inView(s, method) + "()"
	}
	if sel, ok := s.Node.(*ast.SelectorExpr); ok && s.Datum.Owner != "" && s.Group == 0 {
		edits.Replace(sel.Sel, text)
	} else {
		edits.Replace(s.Node, text)
	}
}

// setCell has a literal set the field that stands for a cell.
func (f *fileWriter) setCell(edits *source.Edits, n *ast.KeyValueExpr, d *plan.PageDatum) {
	edits.ReplaceBetween(n.Pos(), n.Value.Pos(), fmt.Sprintf("%s: %s.MakeCell[%s, %s](", f.objectName(d), f.asideName(), f.partName(d), f.valueName(d)))
	edits.InsertAfter(n.Value.End(), ")")
	f.importAside()
}

// storeTogether writes an assignment of several values, of which some are stored to cells.
func (f *fileWriter) storeTogether(edits *source.Edits, assign *ast.AssignStmt, stores []plan.Site) {
	slices.SortFunc(stores, func(a, b plan.Site) int { return int(a.Node.Pos() - b.Node.Pos()) })
	before, after := "{ ", ""
	for i, s := range stores {
		cell, value := f.names+"k"+strconv.Itoa(i), f.names+"w"+strconv.Itoa(i)
		found := f.cellOf(s)
		if sel, ok := s.Node.(*ast.SelectorExpr); ok && s.Datum.Owner != "" && s.Group == 0 {
			found = edits.ChangedText(sel.X) + "." + found
		}
		before += fmt.Sprintf("%s, %s := %s.Target(); ", cell, value, found)
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

// declareCellField has a field of a type stand for one that is a pointer.
func (f *fileWriter) declareCellField(d *plan.PageDatum) {
	f.importAside()
	fields := d.Declared.Struct.Fields
	i := slices.IndexFunc(fields.List, func(field *ast.Field) bool { return slices.Contains(field.Names, d.Declared.Name) })
	f.edits.InsertAfter(fields.Opening+1, fmt.Sprintf(" %s %s.CellField[%s, %s];", f.objectName(d), f.asideName(), f.partName(d), f.valueName(d)))
	f.tail = append(f.tail, fmt.Sprintf("type %s = %s\n\ntype %s struct{}\n\nfunc (%[3]s) CofferdamNames() (string, string, string, int) { return %q, %s }",
		f.valueName(d), f.file.TextOf(fields.List[i].Type), f.partName(d), d.Datum, lockText(d)))
}
