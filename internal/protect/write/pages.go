package write

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// The names of what is declared for data on pages.

func (u *packageWriter) pageName(what string, d *plan.PageDatum) string {
	return u.names + what + strconv.Itoa(d.Number)
}

func (u *packageWriter) guardName(d *plan.PageDatum) string  { return u.pageName("g", d) }
func (u *packageWriter) objectName(d *plan.PageDatum) string { return u.pageName("x", d) }
func (u *packageWriter) partName(d *plan.PageDatum) string   { return u.pageName("t", d) }
func (u *packageWriter) sharedName(d *plan.PageDatum) string { return u.pageName("p", d) }
func (u *packageWriter) ownName(d *plan.PageDatum) string    { return u.pageName("o", d) }
func (u *packageWriter) asideName() string                   { return u.names + "aside" }

// lockText writes what findings tell of a lock.
func lockText(d *plan.PageDatum) string {
	return fmt.Sprintf("%q, %q, %d", d.Lock, d.LockAt.Filename, d.LockAt.Line)
}

// own is how a section writes a variable: its copy, or its place in the own view.
func (w *sectionWriter) own(i int) string {
	v := w.group.Vars[i]
	switch d := v.OnPages; {
	case d == nil:
		return w.id("v", i)
	case d.Wicket != 0:
		return "(*" + w.id("p", i) + ")"
	case d.Owner == "":
		return "(*" + w.ownName(d) + ")"
	default:
		return w.id("g", i) + ".Own." + d.Field
	}
}

// loadEarly loads what a step needs of pages, before the section leaves its guards for the step.
//
//	log.Print(x.n)     e := x.n; g.RUnlock(); log.Print(e); g.RLock()
func (w *sectionWriter) loadEarly(s *plan.StepPlan) {
	for _, e := range s.Early {
		name, load := w.id("e", e.Number), w.file.TextOf(e.Node)
		if w.group.Vars[e.Var].OnPages.Wicket == 0 {
			load = w.own(e.Var) + e.Rest.Selectors()
		}
		w.edits.InsertBefore(s.Begin(), name+" := "+load+"; ")
		w.edits.Replace(e.Node, name)
	}
}

// findPages declares the way to the pages of the object that has the lock.
func (w *sectionWriter) findPages() []string {
	var list []string
	for i, v := range w.group.Vars {
		if v.OnPages == nil || v.OnPages.Owner == "" || v.OnPages.Node {
			continue
		}
		if v.OnPages.Wicket != 0 {
			list = append(list, w.findWicket(i, v)...)
			continue
		}
		list = append(list, fmt.Sprintf("%s := %s.%s.Get()", w.id("g", i), v.Parent(), w.objectName(v.OnPages)))
		if v.Passive {
			list = append(list, "_ = "+w.id("g", i))
		}
	}
	return append(list, w.declareStamping()...)
}

// reach rewrites sections that enter no guard, and only use data on pages.
func (w *sectionWriter) reach() {
	for _, d := range w.findPages() {
		w.edits.InsertAfter(w.group.First.End(), "; "+d)
	}
	for _, s := range w.group.Steps {
		w.redirect(s)
	}
}

// enter begins a section on pages.
func (w *sectionWriter) enter() []string { return w.callGuards("Lock", "RLock") }

// resume goes on with it.
func (w *sectionWriter) resume() []string {
	if w.group.Relents {
		return w.callGuards("Resume", "RLock")
	}
	return w.enter()
}

// leave ends it, or interrupts it.
func (w *sectionWriter) leave(why reason) []string {
	switch why {
	case beforeRelease:
		return w.callGuards("Leave", "RUnlock")
	case interrupting:
		return w.callGuards("Unlock", "RUnlock")
	case relenting:
		return w.callGuards("Relent", "RUnlock")
	default:
		panic(fmt.Sprintf("protect: unknown reason %d to publish", why))
	}
}

// leaveRelented ends the section of guards that were relented, where copies are published
// already. A panic or a return may have come between.
func (w *sectionWriter) leaveRelented(why reason) []string {
	if !w.group.Relents || why == relenting {
		return nil
	}
	return w.callGuards("LeaveMine", "")
}

// wake follows the release of the lock.
func (w *sectionWriter) wake() string {
	text := ""
	for _, call := range w.callGuards("Wake", "") {
		text += "; " + call
	}
	return text
}

// callGuards calls a method of the guards of the variables that are on pages, as the
// section writes them or only reads them.
func (w *sectionWriter) callGuards(writing, reading string) []string {
	var list []string
	for i, v := range w.group.Vars {
		if v.OnPages == nil || v.Passive || v.OnPages.Wicket != 0 {
			continue
		}
		name, method := w.id(w.handle, i), reading
		if v.OnPages.Owner == "" {
			name = w.guardName(v.OnPages)
		}
		if v.Written {
			method = writing
		}
		if method != "" {
			list = append(list, name+"."+method+"()")
		}
	}
	return slices.Concat(list, w.callWickets(writing, reading), w.callStamping(writing, reading))
}

// redirectSites has uses of data on pages find it there.
//
//	n                (*aside.View(g, p, o))
//	t.n = v          t.x.Get().View().n = v
//	&T{n: 1}         &T{x: aside.Make(part{n: 1})}
func (f *fileWriter) redirectSites(edits *source.Edits, sites []plan.Site) {
	for _, s := range sites {
		d := s.Datum
		if d.Cell || d.Wicket != 0 {
			continue // see redirectCells and redirectWickets
		}
		switch n := s.Node.(type) {
		case *ast.KeyValueExpr:
			edits.ReplaceBetween(n.Pos(), n.Value.Pos(), fmt.Sprintf("%s: %s.Make(%s{%s: ", f.objectName(d), f.asideName(), f.partName(d), d.Field))
			edits.InsertBefore(n.End(), "})")
			f.importAside()
		case *ast.Ident:
			f.redirectVariable(edits, n, d)
		case *ast.SelectorExpr:
			if d.Owner == "" {
				f.redirectVariable(edits, n, d)
			} else {
				edits.Replace(n.Sel, f.objectName(d)+".Get().View()."+d.Field)
			}
		default:
			panic(fmt.Sprintf("protect: a use of data on pages that is a %T", n))
		}
	}
}

// redirectVariable has a use of a variable find it on pages.
func (f *fileWriter) redirectVariable(edits *source.Edits, n ast.Node, d *plan.PageDatum) {
	edits.Replace(n, fmt.Sprintf("(*%s.View(%s, %s, %s))", f.asideName(), f.guardName(d), f.sharedName(d), f.ownName(d)))
	f.importAside()
}

// declarePages declares what a package has on pages. A use that was forgotten does not
// compile, because the variable or field has lost its name.
func (u *packageWriter) declarePages() {
	for _, d := range u.plan.OnPages {
		if d.Home != u.pkg.PkgPath {
			continue
		}
		f := u.bySyntax[d.Declared.File]
		switch {
		case d.Wicket != 0:
			f.declareWicket(d)
			continue
		case d.Cell:
			u.declareCell(d)
		case d.Owner == "":
			u.declareVariable(d)
		default:
			f.declarePart(d)
		}
		f.edits.Replace(d.Declared.Name, "_")
	}
}

// importAside imports package aside into a file.
func (f *fileWriter) importAside() { f.edits.ImportInLine(f.asideName(), "cofferdamrt/protect/aside") }

// declareVariable declares a variable on pages. It comes before all other variables of
// the package, which might be initialised by functions that use it.
func (u *packageWriter) declareVariable(d *plan.PageDatum) {
	f := u.firstFile(d.InTest)
	f.importAside()
	typ := f.spell(d.Type)
	value := d.Value
	if value == "" {
		value = "*new(" + typ + ")"
	}
	f.edits.InsertBefore(f.afterImports(), fmt.Sprintf("; var %s = %s.NewGuard(%s); var %s, %s = %s.New[%s](%s, %q, %s)",
		u.guardName(d), u.asideName(), lockText(d), u.sharedName(d), u.ownName(d), u.asideName(), typ, u.guardName(d), d.Datum, value))
}

// firstFile returns the file of a package whose variables are initialised first.
func (u *packageWriter) firstFile(test bool) *fileWriter {
	var first *fileWriter
	for _, f := range u.files {
		if facts.IsTestFile(f.file.Name) == test && (first == nil || filepath.Base(f.file.Name) < filepath.Base(first.file.Name)) {
			first = f
		}
	}
	return first
}

// afterImports is where declarations can begin.
func (f *fileWriter) afterImports() token.Pos {
	at := f.file.Syntax.Name.End()
	for _, d := range f.file.Syntax.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			at = g.End()
		}
	}
	return at
}

// spell writes a type in a file that may not import its package yet.
func (f *fileWriter) spell(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p.Path() == f.pkg.Types.Path() {
			return ""
		}
		name := f.spelled[p.Path()]
		if name == "" {
			name = f.names + "i" + strconv.Itoa(len(f.spelled)+1)
			f.spelled[p.Path()] = name
			f.edits.ImportInLine(name, p.Path())
		}
		return name
	})
}

// declarePart moves a field of a type to a type of its own.
func (f *fileWriter) declarePart(d *plan.PageDatum) {
	f.importAside()
	fields := d.Declared.Struct.Fields
	i := slices.IndexFunc(fields.List, func(field *ast.Field) bool { return slices.Contains(field.Names, d.Declared.Name) })
	typ := f.file.TextOf(fields.List[i].Type)
	f.edits.InsertAfter(fields.Opening+1, fmt.Sprintf(" %s %s.Object[%s];", f.objectName(d), f.asideName(), f.partName(d)))
	f.tail = append(f.tail, fmt.Sprintf("type %s struct { %s %s }\n\nfunc (%s) CofferdamNames() (string, string, string, int) { return %q, %s }",
		f.partName(d), d.Field, typ, f.partName(d), d.Owner, lockText(d)))
}
