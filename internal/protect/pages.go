package protect

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/guard"
)

// The names of what the rewriter declares for data on pages; see isolate.go.

func (d *isolated) id(u *unit, what string) string { return u.names + what + strconv.Itoa(d.n) }

func (u *unit) guardName(d *isolated) string  { return d.id(u, "g") }
func (u *unit) objectName(d *isolated) string { return d.id(u, "x") }
func (u *unit) partName(d *isolated) string   { return d.id(u, "t") }
func (u *unit) sharedName(d *isolated) string { return d.id(u, "p") }
func (u *unit) ownName(d *isolated) string    { return d.id(u, "o") }
func (u *unit) asideName() string             { return u.names + "aside" }

// lockText writes what findings tell of a lock.
func (d *isolated) lockText() string {
	return fmt.Sprintf("%q, %q, %d", d.lock, d.at.Filename, d.at.Line)
}

// toIsolate returns the guards whose data is isolated if that is possible.
func (p *Plan) toIsolate() []*guard.Guard {
	if p.Mode != Isolate && p.Mode != Auto || p.Unprotected != "" {
		return nil
	}
	return p.Guards
}

// isIsolated reports whether a place is on pages.
func (u *unit) isIsolated(p place) bool {
	return slices.ContainsFunc(append([]*types.Var{p.root}, p.fields...), func(v *types.Var) bool {
		return u.isolation.data[keyOf(u.fset, v)] != nil
	})
}

// notIsolated returns why a place is not on pages.
func (u *unit) notIsolated(p place) string {
	for _, v := range append([]*types.Var{p.root}, p.fields...) {
		if why := u.isolation.why[keyOf(u.fset, v)]; why != "" {
			return why
		}
	}
	return "it is part of something that is not guarded as a whole"
}

// markUnsure notes the fields on pages that the sections of a group use, whether of the
// object that has the lock or of another. Those that are known to be of the first are
// redirected anyway.
func (u *unit) markUnsure(g *group) {
	if !slices.ContainsFunc(g.vars, func(v *variable) bool { return v.isolated != nil }) {
		return
	}
	for _, p := range g.parts {
		if p.opaque != "" {
			continue
		}
		for _, n := range p.nodes {
			ast.Inspect(n, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit:
					return false
				case *ast.SelectorExpr:
					u.unsure[n] = true
				}
				return true
			})
		}
	}
}

// noteSlow notes the variables on pages that a section uses through the shared view: each
// time the page has to be opened, and protected again by the next section.
func (u *unit) noteSlow(g *group) {
	for _, v := range g.vars {
		if v.isolated == nil {
			continue
		}
		for _, p := range g.parts {
			slow := p.opaque != "" && slices.ContainsFunc(p.calls, func(c call) bool { return u.effects.of[funcKeyOf(c.Func)].touchesAny(v.keys) })
			for _, n := range p.nodes {
				ast.Inspect(n, func(n ast.Node) bool {
					if l, ok := n.(*ast.FuncLit); ok && !slow {
						slow = u.touches(l.Body, v.isolated.key)
					}
					return true
				})
			}
			if slow {
				u.slow(v.isolated, p.stmt.Pos())
			}
		}
	}
}

// noteSlowBody does that for a body that is left alone.
func (u *unit) noteSlowBody(b *body, lock place) {
	for _, d := range u.isolation.of[keyOf(u.fset, lock.last())] {
		if u.touches(b.block, d.key) {
			u.slow(d, b.block.Pos())
		}
	}
}

func (u *unit) slow(d *isolated, at token.Pos) {
	if d.slow == "" {
		d.slow = "a section would have to open its page each time (" + u.short(u.fset.PositionFor(at, false)) + ")"
	}
}

// touches reports whether code names a variable or field, or calls what does.
func (u *unit) touches(n ast.Node, k key) bool {
	e := u.effects.direct(u.info, n)
	return e.touched[k] || slices.ContainsFunc(e.calls, func(c call) bool { return u.effects.of[funcKeyOf(c.Func)].touchesAny([]key{k}) })
}

// own is how a section writes a variable: its copy, or its place in the own view.
func (w *writer) own(i int) string {
	v := w.group.vars[i]
	switch d := v.isolated; {
	case d == nil:
		return w.id("v", i)
	case d.owner == nil:
		return "(*" + w.ownName(d) + ")"
	default:
		return w.id("g", i) + ".Own." + d.field
	}
}

// find declares the way to the pages of the object that has the lock.
func (w *writer) find() []string {
	var list []string
	for i, v := range w.group.vars {
		if v.isolated == nil || v.isolated.owner == nil {
			continue
		}
		list = append(list, fmt.Sprintf("%s := %s.%s.Get()", w.id("g", i), v.parent(), w.objectName(v.isolated)))
		if v.passive {
			list = append(list, "_ = "+w.id("g", i))
		}
	}
	return list
}

// enter begins a section on pages, or goes on with it.
func (w *writer) enter() []string { return w.each("Lock", "RLock") }

// leave ends it, or interrupts it.
func (w *writer) leave() []string {
	if w.releases {
		return w.each("Leave", "RUnlock")
	}
	return w.each("Unlock", "RUnlock")
}

// wake follows the release of the lock.
func (w *writer) wake() string {
	text := ""
	for _, call := range w.each("Wake", "") {
		text += "; " + call
	}
	return text
}

// each calls a method of the guards of the variables that are on pages.
func (w *writer) each(writing, reading string) []string {
	var list []string
	for i, v := range w.group.vars {
		if v.isolated == nil || v.passive {
			continue
		}
		name, method := w.id("g", i), reading
		if v.isolated.owner == nil {
			name = w.guardName(v.isolated)
		}
		if v.written {
			method = writing
		}
		if method != "" {
			list = append(list, name+"."+method+"()")
		}
	}
	return list
}

// redirectOpaque has a part that must find the guards left use the own view all the
// same where it names a variable: the lock is held, and nothing has to be opened for it.
func (w *writer) redirectOpaque(p *part) {
	for _, a := range p.accesses {
		for i, v := range w.group.vars {
			if v.isolated != nil && a.place.root != nil && a.place.within(v.place) {
				w.replaceNode(a.node, w.own(i)+place{fields: a.place.fields[len(v.fields):]}.way())
			}
		}
	}
}

// look rewrites sections that only have parts of that kind.
func (w *writer) look() {
	for _, d := range w.find() {
		w.insert(w.group.first.End(), atEnd, "; "+d)
	}
	for _, p := range w.group.parts {
		w.redirectOpaque(p)
	}
}

// conflictOnPages returns why a group cannot use a variable that is on pages from there,
// and finds out whether it writes it.
func (u *unit) conflictOnPages(g *group, v *variable) (string, token.Pos) {
	v.written = false
	for _, p := range g.parts {
		if p.opaque != "" || u.obscured(g, p) != "" || !u.mayWrite(p, v, g.reading) {
			continue
		}
		if g.reading {
			return "it is written in a section that may only read", p.stmt.Pos()
		}
		v.written = true
	}
	return "", token.NoPos
}

// mayWrite reports whether a part writes a variable that is on pages, in the section's
// object or in another. What is done to the elements of arrays is not told apart: they
// are taken to be written, unless the section may only read.
func (u *unit) mayWrite(p *part, v *variable, reading bool) bool {
	seen := make(map[funcKey]bool)
	var writes func(p *part) bool
	writes = func(p *part) bool {
		for _, a := range p.accesses {
			if (a.write || !reading && hasArray(v.isolated.typ)) && u.passes(a, v.isolated.key) {
				return true
			}
		}
		for _, c := range p.calls {
			k := funcKeyOf(c.Func)
			if !u.effects.of[k].touchesAny(v.keys) || seen[k] {
				continue
			}
			seen[k] = true
			d, ok := u.decls[k]
			if !ok || writes(u.bodyOf(d)) {
				return true
			}
		}
		return false
	}
	return writes(p)
}

// passes reports whether an access is to a variable or field, or leads through it.
func (u *unit) passes(a *access, k key) bool {
	if a.place.root == nil {
		return keyOf(u.fset, a.last) == k
	}
	return slices.ContainsFunc(append([]*types.Var{a.place.root}, a.place.fields...), func(v *types.Var) bool { return keyOf(u.fset, v) == k })
}

// A site is a use of data on pages, and what becomes of it outside sections.
type site struct {
	from, to int
	text     string
}

// within reports whether an edit puts something else there.
func (s site) within(e edit) bool {
	if s.from == s.to {
		return e.from < s.from && s.to < e.to
	}
	return e.from < e.to && e.from <= s.from && s.to <= e.to
}

// sites returns the uses of data on pages in a file.
func (f *file) sites() []site {
	var all []site
	add := func(n ast.Node, text string) {
		lines := strings.Repeat("\n", f.line(n.End())-f.line(n.Pos()))
		all = append(all, site{f.tok.Offset(n.Pos()), f.tok.Offset(n.End()), text + lines})
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			// A literal that sets a field.
			id, _ := n.Key.(*ast.Ident)
			if v, ok := f.info.Uses[id].(*types.Var); ok && id != nil && v.IsField() {
				if d := f.isolation.data[keyOf(f.fset, v)]; d != nil {
					from, value, end := f.tok.Offset(n.Pos()), f.tok.Offset(n.Value.Pos()), f.tok.Offset(n.End())
					lines := strings.Repeat("\n", f.line(n.Value.Pos())-f.line(n.Pos()))
					text := fmt.Sprintf("%s: %s.Make(%s{%s: %s", f.objectName(d), f.asideName(), f.partName(d), d.field, lines)
					all = append(all, site{from, value, text}, site{end, end, "})"})
					f.importAside()
				}
			}
		case *ast.Ident:
			if v, ok := f.info.Uses[n].(*types.Var); ok && isGlobal(v) {
				if d := f.isolation.data[keyOf(f.fset, v)]; d != nil {
					add(n, "(*"+f.sharedName(d)+")")
				}
			}
		case *ast.SelectorExpr:
			s := f.info.Selections[n]
			if s == nil || s.Kind() != types.FieldVal {
				return true
			}
			d := f.isolation.data[keyOf(f.fset, s.Obj().(*types.Var))]
			switch {
			case d == nil:
			case d.owner == nil:
				add(n, "(*"+f.sharedName(d)+")")
			case f.unsure[n]:
				add(n.Sel, f.objectName(d)+".Get().View()."+d.field)
			default:
				add(n.Sel, f.objectName(d)+".Get().Shared."+d.field)
			}
		}
		return true
	})
	return all
}

// throughShared returns edits that have a range of the file use the shared view wherever other
// edits do not put something else.
func (f *file) throughShared(edits []edit, from, to int) []edit {
	if len(f.isolation.data) == 0 {
		return nil
	}
	var more []edit
	for _, s := range f.sites() {
		covered := slices.ContainsFunc(edits, s.within)
		if from <= s.from && s.to <= to && !covered {
			more = append(more, edit{s.from, s.to, atStart, s.text})
		}
	}
	return more
}

// putAside declares what a package has on pages, and redirects all uses of it that are
// not in sections.
func (u *unit) putAside() {
	for _, d := range u.isolation.list {
		if d.home != u.pkg.PkgPath {
			continue
		}
		f, id := u.declarationOf(d)
		if d.owner == nil {
			u.declareVariable(d)
		} else {
			f.declarePart(d, id)
		}
		// A use that was forgotten shall not compile.
		f.replace(id.Pos(), id.End(), "_")
	}
	for _, f := range u.files {
		f.edits = append(f.edits, f.throughShared(f.edits, 0, len(f.source))...)
	}
}

// declarationOf returns where a variable or field is declared.
func (u *unit) declarationOf(d *isolated) (in *file, name *ast.Ident) {
	for _, f := range u.files {
		for _, decl := range f.syntax.Decls {
			if g, ok := decl.(*ast.GenDecl); ok {
				ast.Inspect(g, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						if v, ok := f.info.Defs[id].(*types.Var); ok && keyOf(f.fset, v) == d.key {
							in, name = f, id
						}
					}
					return true
				})
			}
		}
	}
	return in, name
}

// importAside imports package aside into a file, once.
func (f *file) importAside() {
	if !f.hasAside {
		f.hasAside = true
		f.insert(f.syntax.Name.End(), atEnd, "; import "+f.asideName()+` "cofferdamrt/protect/aside"`)
	}
}

// declareVariable declares a variable on pages. It comes before all other variables of
// the package, which might be initialised by functions that use it.
func (u *unit) declareVariable(d *isolated) {
	f := u.firstFile(d.test)
	f.importAside()
	typ := f.spellAnywhere(d.typ)
	value := d.value
	if value == "" {
		value = "*new(" + typ + ")"
	}
	f.insert(f.afterImports(), atStart, fmt.Sprintf("; var %s = %s.NewGuard(%s); var %s, %s = %s.New[%s](%s, %q, %s)",
		u.guardName(d), u.asideName(), d.lockText(), u.sharedName(d), u.ownName(d), u.asideName(), typ, u.guardName(d), d.datum, value))
}

// afterImports is where declarations can begin.
func (f *file) afterImports() token.Pos {
	at := f.syntax.Name.End()
	for _, d := range f.syntax.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			at = g.End()
		}
	}
	return at
}

// spellAnywhere writes a type in a file that may not import its package yet.
func (f *file) spellAnywhere(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p.Path() == f.pkg.Types.Path() {
			return ""
		}
		if f.imported == nil {
			f.imported = make(map[string]string)
		}
		name := f.imported[p.Path()]
		if name == "" {
			name = f.names + "i" + strconv.Itoa(len(f.imported)+1)
			f.imported[p.Path()] = name
			f.insert(f.syntax.Name.End(), atEnd, fmt.Sprintf("; import %s %q", name, p.Path()))
		}
		return name
	})
}

// declarePart moves a field of a type.
func (f *file) declarePart(d *isolated, name *ast.Ident) {
	f.importAside()
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		s, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range s.Fields.List {
			if slices.Contains(field.Names, name) {
				typ := f.source[f.tok.Offset(field.Type.Pos()):f.tok.Offset(field.Type.End())]
				f.insert(s.Fields.Opening+1, atEnd, fmt.Sprintf(" %s %s.Object[%s];", f.objectName(d), f.asideName(), f.partName(d)))
				f.tail = append(f.tail, fmt.Sprintf("type %s struct { %s %s }\n\nfunc (%s) CofferdamNames() (string, string, string, int) { return %q, %s }",
					f.partName(d), d.field, typ, f.partName(d), d.owner.Name, d.lockText()))
			}
		}
		return true
	})
}
