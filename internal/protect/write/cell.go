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
//
// Where the lock is a variable, and not beside the field, the cell has to know the guard:
//
//	n.p = v             n.x.Store(g, v)
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
			f.findCell(edits, s, f.callCell(s, "Load")+")")
		case len(s.Store.Lhs) == 1:
			value := s.Store.Rhs[0]
			f.findCell(edits, s, f.callCell(s, "Store"))
			edits.ReplaceBetween(s.Node.End(), value.Pos(), f.beforeValue(s))
			edits.InsertAfter(value.End(), ")")
		default:
			together[s.Store] = append(together[s.Store], s)
		}
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
	switch {
	case s.Datum.Node:
		return f.objectName(s.Datum) + "." + method + "(" + f.guardName(s.Datum)
	case s.Datum.Owner == "":
		return f.sharedName(s.Datum) + "." + method + "("
	case s.Group > 0:
		return newSectionWriter(f, f.file.Groups[s.Group-1], s.Group).id("g", s.Var) + "." + method + "("
	default:
		return f.objectName(s.Datum) + ".Get()." + method + "("
	}
}

// beforeValue stands before the value that is stored.
func (f *fileWriter) beforeValue(s plan.Site) string {
	if s.Datum.Node {
		return ", "
	}
	return ""
}

// selected reports whether the cell of a use is a field of the object that the source names.
func selected(s plan.Site) bool { return s.Datum.Node || s.Datum.Owner != "" && s.Group == 0 }

// findCell puts the call of a cell's method in the place of a use.
func (f *fileWriter) findCell(edits *source.Edits, s plan.Site, call string) {
	if selected(s) {
		edits.Replace(s.Node.(*ast.SelectorExpr).Sel, call)
	} else {
		edits.Replace(s.Node, call)
	}
}

// setCell has a literal set the field that stands for a cell.
func (f *fileWriter) setCell(edits *source.Edits, n *ast.KeyValueExpr, d *plan.PageDatum) {
	make := fmt.Sprintf("MakeCell[%s, %s]", f.partName(d), f.valueName(d))
	if d.Node {
		make = fmt.Sprintf("MakeNode[%s]", f.valueName(d))
	}
	edits.ReplaceBetween(n.Pos(), n.Value.Pos(), fmt.Sprintf("%s: %s.%s(", f.objectName(d), f.asideName(), make))
	edits.InsertAfter(n.Value.End(), ")")
	f.importAside()
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

// declareCellField has a field of a type stand for one that is a pointer.
func (f *fileWriter) declareCellField(d *plan.PageDatum) {
	f.importAside()
	fields := d.Declared.Struct.Fields
	i := slices.IndexFunc(fields.List, func(field *ast.Field) bool { return slices.Contains(field.Names, d.Declared.Name) })
	f.tail = append(f.tail, fmt.Sprintf("type %s = %s", f.valueName(d), f.file.TextOf(fields.List[i].Type)))
	if d.Node {
		f.edits.InsertAfter(fields.Opening+1, fmt.Sprintf(" %s %s.NodeField[%s];", f.objectName(d), f.asideName(), f.valueName(d)))
		first := f.firstFile(d.InTest)
		first.importAside()
		first.edits.InsertBefore(first.afterImports(), fmt.Sprintf("; var %s = %s.NewNodeGuard(%q, %s)", f.guardName(d), f.asideName(), d.Datum, lockText(d)))
		return
	}
	f.edits.InsertAfter(fields.Opening+1, fmt.Sprintf(" %s %s.CellField[%s, %s];", f.objectName(d), f.asideName(), f.partName(d), f.valueName(d)))
	f.tail = append(f.tail, fmt.Sprintf("type %s struct{}\n\nfunc (%[1]s) CofferdamNames() (string, string, string, int, bool) { return %q, %s, false }",
		f.partName(d), d.Datum, lockText(d)))
}
