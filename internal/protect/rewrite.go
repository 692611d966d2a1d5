package protect

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/guard"
)

// A program is what is known of all packages.
type program struct {
	Config
	guards    *guard.Guards
	effects   *effects
	borrowers borrowers
	exposed   exposed
	assigned  map[key]bool
	aliased   map[key]bool // maps that may be known by another name
	isolation *isolation
}

// A unit is one package that is rewritten.
type unit struct {
	*program
	pkg   *packages.Package
	fset  *token.FileSet
	info  *types.Info
	sizes types.Sizes
	names string // how names of ours begin

	files    []*file
	decls    map[funcKey]declared
	clones   map[string]*clone
	bodies   map[*ast.FuncDecl]*part
	sections []Section
	unsure   map[ast.Node]bool      // uses of isolated fields that may be of the section's object
	cloned   map[*ast.CallExpr]bool // calls that are of clones for a lock's sections
}

// A Section is a place where a lock is taken, with what became of it.
type Section struct {
	At   token.Position
	Lock string
	// Protected are the guarded variables that the section has copies of, and
	// Isolated those that it reaches on pages, by the names that the guard has for
	// them.
	Protected, Isolated []string
	// Left are those that it uses as they are, with the reason.
	Left []Left
	// Why is the reason if the section as a whole was left alone.
	Why string
}

// A Left is something that was left alone.
type Left struct {
	Name string
	Why  string
}

// A file being rewritten.
type file struct {
	*unit
	syntax *ast.File
	source []byte
	tok    *token.File
	prefix string // of names
	groups int
	labels []string
	tail   []string // declarations to add
	// redirected are the accesses that are to a copy, with the slot that has it, or
	// withLock.
	redirected map[ast.Expr]*slot
	edits      []edit

	hasAside bool
	imported map[string]string // packages that were not, with their names
}

// An edit replaces a range of the source. Of several insertions at one place, those
// of lower order come first.
type edit struct {
	from, to int
	order    int
	text     string
}

const (
	atEnd   = iota // what belongs to the statement before
	atStart        // what belongs to the statement after
)

// collect finds the edits of a file.
func (f *file) collect() {
	for _, d := range f.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				f.all(d.Body, directive(d.Doc))
			}
		case *ast.GenDecl:
			f.literals(d, "")
		}
	}
	if len(f.labels) > 0 {
		f.insert(f.syntax.Name.End(), atEnd, `; import `+f.hooks()+` "cofferdamrt/tolerate"`)
	}
	f.watch()
}

// render returns the text of a file, and whether it differs from the source.
func (f *file) render() (string, bool) {
	if len(f.edits) == 0 && len(f.tail) == 0 {
		return "", false
	}
	text := splice(f.source, 0, len(f.source), f.edits)
	for _, l := range slices.Concat(f.labels, f.tail) {
		text += "\n" + l + "\n"
	}
	return text, true
}

// splice returns a range of the source with edits made to it.
func splice(source []byte, from, to int, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(a.from-b.from, a.order-b.order, a.to-b.to)
	})
	var b strings.Builder
	for _, e := range edits {
		b.Write(source[from:e.from])
		b.WriteString(e.text)
		from = e.to
	}
	b.Write(source[from:to])
	return b.String()
}

func (f *file) hooks() string { return f.names + "rt" }

// all rewrites a body and those of the function literals in it.
func (f *file) all(block *ast.BlockStmt, why string) {
	f.body(&body{f.unit, block}, why)
	f.literals(block, why)
}

func (f *file) literals(n ast.Node, why string) {
	ast.Inspect(n, func(n ast.Node) bool {
		l, ok := n.(*ast.FuncLit)
		if ok {
			f.all(l.Body, why)
		}
		return !ok
	})
}

// directive returns why a function with compiler directives is left alone.
func directive(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	for _, c := range doc.List {
		for _, d := range []string{"//go:nosplit", "//go:norace", "//go:nocheckptr", "//go:systemstack", "//go:linkname"} {
			if strings.HasPrefix(c.Text, d) {
				return "the function has " + d
			}
		}
	}
	return ""
}

// body rewrites the sections of one body.
func (f *file) body(b *body, why string) {
	var groups []*group
	for _, lock := range f.locks(b.block) {
		fl := follow(b, lock)
		switch {
		case fl.why != "" || why != "":
			f.leaveAlone(b, lock, fl, why)
		case !f.stable(lock.root):
			f.leaveAlone(b, lock, fl, lock.root.Name()+" is assigned to")
		default:
			groups = append(groups, fl.groups...)
		}
	}
	for _, g := range groups {
		f.choose(g)
		f.claim(g)
		f.claimCalls(g)
	}
	for _, g := range groups {
		f.slots(g)
		f.note(g)
		if len(g.vars)+len(g.slots) > 0 {
			f.group(g)
		}
	}
}

// locks returns the locks that a body takes.
func (f *file) locks(block *ast.BlockStmt) []place {
	var all []place
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			o, ok := operationOf(f.info, n)
			if ok && o.lock.root != nil && (o.acquires() || strings.HasPrefix(o.name, "Try")) && !slices.ContainsFunc(all, o.lock.equal) {
				all = append(all, o.lock)
			}
		}
		return true
	})
	return all
}

// leaveAlone notes that a body's sections of a lock stay as they are.
func (f *file) leaveAlone(b *body, lock place, fl *flow, why string) {
	at := fl.at
	if why == "" {
		why = fl.why
	}
	first := b.block.Pos()
	ast.Inspect(b.block, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if o, ok := operationOf(f.info, c); ok && o.lock.root != nil && o.lock.equal(lock) && first == b.block.Pos() {
				first = c.Pos()
			}
		}
		return true
	})
	if at.IsValid() && f.line(at) != f.line(first) {
		why += fmt.Sprintf(" (line %d)", f.line(at))
	}
	f.sections = append(f.sections, Section{At: f.fset.PositionFor(first, false), Lock: f.lockName(lock), Why: why})
	f.noteSlowBody(b, lock)
}

func (f *file) line(p token.Pos) int { return f.fset.PositionFor(p, false).Line }

// note remembers what became of a group.
func (f *file) note(g *group) {
	if len(g.vars)+len(g.slots)+len(g.dropped) == 0 {
		return // the lock guards nothing that the section uses
	}
	s := Section{At: f.fset.PositionFor(g.first.Pos(), false), Lock: f.lockName(g.lock)}
	vars := g.vars
	for _, s := range g.slots {
		vars = slices.Concat(vars, s.vars)
	}
	for _, v := range vars {
		if v.isolated != nil {
			if !v.passive {
				s.Isolated = append(s.Isolated, v.datum)
			}
			continue
		}
		for _, name := range append([]string{v.datum}, f.guardedIn(g, v.last().Type())...) {
			if !slices.Contains(s.Protected, name) {
				s.Protected = append(s.Protected, name)
			}
		}
	}
	for _, d := range g.dropped {
		if l := (Left{d.datum, d.why}); !slices.Contains(s.Left, l) && !slices.Contains(s.Protected, d.datum) {
			s.Left = append(s.Left, l)
		}
	}
	f.sections = append(f.sections, s)
}

// lockName names a lock as its guard does.
func (u *unit) lockName(lock place) string {
	for _, g := range u.guards.List {
		if keyOf(u.fset, g.Lock.Object.(*types.Var)) == keyOf(u.fset, lock.last()) {
			return g.Lock.Name
		}
	}
	return lock.String()
}

// short writes a place in the source without the directory.
func (u *unit) short(p token.Position) string {
	return filepath.Base(p.Filename) + ":" + strconv.Itoa(p.Line)
}

func (f *file) insert(at token.Pos, order int, text string) {
	off := f.tok.Offset(at)
	f.edits = append(f.edits, edit{off, off, order, text})
}

func (f *file) replace(from, to token.Pos, text string) {
	f.edits = append(f.edits, edit{f.tok.Offset(from), f.tok.Offset(to), atStart, text})
}

// group rewrites the sections of a group.
//
//	x.mu.Lock()       x.mu.Lock(); on := true; v := x.n; b := v
//	x.n++             v++
//	f()               if on { on = false; Put(&x.n, v, b) }; f(); if !on { on = true; v = x.n; b = v }
//	x.mu.Unlock()     if on { on = false; Put(&x.n, v, b) }; x.mu.Unlock()
func (f *file) group(g *group) {
	w := newWriter(f, g)
	if len(g.slots) == 0 && !slices.ContainsFunc(g.vars, func(v *variable) bool { return !v.passive }) {
		w.look()
		return
	}
	w.label()
	for i, a := range g.acquires {
		if i == 0 {
			f.insert(a.End(), atEnd, "; "+w.declare())
		} else if take := w.take(); take != "" {
			f.insert(a.End(), atEnd, "; "+take)
		}
	}
	w.releases = true
	for _, r := range g.releases {
		f.insert(r.Pos(), atStart, w.publish()+"; ")
		f.insert(r.End(), atEnd, w.wake())
	}
	if d := g.deferred; d != nil {
		f.insert(d.Call.Pos(), atStart, "func() { "+w.publish()+"; ")
		f.insert(d.Call.End(), atEnd, w.wake()+" }()")
	}
	w.releases = false
	for _, p := range g.parts {
		w.part(p)
	}
}

// A writer writes the code of one group.
type writer struct {
	*file
	group  *group
	name   string
	detect bool
	// fixed says that where something is published or taken it is known whether there
	// are copies, so that no variable has to say it.
	fixed bool
	// named says for each variable that its name means the same wherever it is
	// published or taken, so that no pointer to it has to be kept.
	named []bool
	// releases says that what is written comes before the release of the lock.
	releases bool
}

func newWriter(f *file, g *group) *writer {
	f.groups++
	w := &writer{file: f, group: g, name: f.prefix + "s" + strconv.Itoa(f.groups), detect: f.Mode == Detect}
	w.fixed = g.deferred == nil || len(g.releases) == 0 || len(g.vars) == 0
	var places []token.Pos
	for _, st := range slices.Concat(g.acquires, g.releases) {
		places = append(places, st.Pos())
	}
	if g.deferred != nil {
		places = append(places, g.deferred.Pos())
	}
	for _, p := range g.parts {
		if !p.defers && !w.opaque(p) {
			continue
		}
		w.fixed = len(g.vars) == 0
		places = append(places, p.stmt.Pos(), p.stmt.End())
		places = append(places, p.bodies...)
		if p.end.IsValid() {
			places = append(places, p.end)
		}
		for _, c := range p.continues {
			places = append(places, c.Pos())
		}
	}
	for _, v := range g.vars {
		w.named = append(w.named, !slices.ContainsFunc(places, func(at token.Pos) bool { return !f.means(v.root, at) }))
	}
	return w
}

// opaque reports whether copies are published before a part.
func (w *writer) opaque(p *part) bool { return p.opaque != "" || w.detect && w.writes(p) }

func (w *writer) id(what string, i int) string { return w.name + what + strconv.Itoa(i) }

// shared is the expression for the variable itself, and address that for its address.
func (w *writer) shared(i int) string {
	if w.named[i] {
		return w.group.vars[i].place.String()
	}
	return "*" + w.id("p", i)
}

func (w *writer) address(i int) string {
	if w.named[i] {
		return "&" + w.group.vars[i].place.String()
	}
	return w.id("p", i)
}

// label adds the labels of the variables to the file.
func (w *writer) label() {
	for i, v := range w.group.vars {
		if v.isolated == nil {
			w.addLabel(w.id("l", i), v)
		}
	}
}

func (w *writer) addLabel(name string, v *variable) {
	more := ""
	if v.blind && v.written && !w.detect {
		more = ", Blind: true"
	}
	if v.suspects != "" {
		more += fmt.Sprintf(", Suspects: %q", v.suspects)
	}
	w.labels = append(w.labels, fmt.Sprintf("var %s = %s.Label{Name: %q%s}", name, w.hooks(), v.datum, more))
}

// declare begins the first section.
func (w *writer) declare() string {
	var list []string
	add := func(name, value string) { list = append(list, fmt.Sprintf("%s := %s; _ = %s", name, value, name)) }
	if !w.fixed {
		add(w.name, "true")
	}
	for i, v := range w.group.vars {
		if v.isolated != nil {
			continue
		}
		if !w.named[i] {
			list = append(list, fmt.Sprintf("%s := &%s", w.id("p", i), v.place))
		}
		switch {
		case w.detect:
			add(w.id("b", i), w.load(i, v))
		case v.written:
			add(w.id("v", i), w.load(i, v))
			add(w.id("b", i), w.id("v", i))
		default:
			add(w.id("v", i), w.load(i, v))
		}
		if v.copied {
			add(w.id("n", i), "-1")
		}
	}
	return strings.Join(slices.Concat(list, w.find(), w.enter(), w.declareSlots()), "; ")
}

func (w *writer) load(i int, v *variable) string { return w.loadAs(v, w.shared(i), w.address(i)) }

func (w *writer) loadAs(v *variable, shared, address string) string {
	if w.leaves(v) == nil {
		return w.hooks() + ".Take(" + address + ")"
	}
	return shared
}

// take begins a section, or goes on with it after what had to find all published.
func (w *writer) take() string {
	var list []string
	set := func(name, value string) { list = append(list, name+" = "+value) }
	if !w.fixed {
		set(w.name, "true")
	}
	for i, v := range w.group.vars {
		switch {
		case v.isolated != nil:
		case w.detect:
			set(w.id("b", i), w.load(i, v))
		case v.written:
			set(w.id("v", i), w.load(i, v))
			set(w.id("b", i), w.id("v", i))
		default:
			set(w.id("v", i), w.load(i, v))
		}
		if v.copied {
			set(w.id("n", i), "-1")
		}
	}
	list = append(list, w.enter()...)
	switch {
	case len(w.group.vars) == 0:
		return ""
	case w.fixed:
		return strings.Join(list, "; ")
	}
	return fmt.Sprintf("if !%s { %s }", w.name, strings.Join(list, "; "))
}

// publish ends a section, or interrupts it.
func (w *writer) publish() string {
	var list []string
	if !w.fixed {
		list = append(list, w.name+" = false")
	}
	list = append(list, w.leave()...)
	for i, v := range w.group.vars {
		if v.isolated == nil {
			list = append(list, w.put(i, v))
		}
	}
	if !w.fixed {
		list = []string{fmt.Sprintf("if %s { %s }", w.name, strings.Join(list, "; "))}
	}
	for i := range w.group.slots {
		list = append(list, w.slotID(i, "f")+"()")
	}
	return strings.Join(list, "; ")
}

// part rewrites one part.
func (w *writer) part(p *part) {
	opaque := w.opaque(p)
	if p.defers {
		// Deferred calls run in the reverse order: this one before that.
		w.insert(p.stmt.End(), atEnd, "; defer func() { "+w.publish()+" }()")
	}
	before := p.begin()
	if !opaque {
		if !w.detect {
			w.useSlots(p)
			w.copyMaps(p, before)
			w.redirect(p)
		}
		return
	}
	w.redirectOpaque(p)
	w.insert(before, atStart, w.publish()+"; ")
	take := w.take()
	if take != "" {
		for _, at := range p.bodies {
			w.insert(at, atEnd, " "+take+"; ")
		}
	}
	if p.loop {
		for _, c := range p.continues {
			w.insert(c.Pos(), atStart, w.publish()+"; ")
		}
		if p.end.IsValid() {
			w.insert(p.end, atStart, "; "+w.publish()+" ")
		}
	}
	if take != "" && !p.ends && !isReturn(p.stmt) && !panics(w.info, p.stmt) {
		w.insert(p.stmt.End(), atEnd, "; "+take)
	}
}

func isReturn(s ast.Stmt) bool {
	_, ok := s.(*ast.ReturnStmt)
	return ok
}

// panics reports whether a statement is a call of panic: nothing may follow it where
// a function has to end.
func panics(info *types.Info, s ast.Stmt) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	c, ok := ast.Unparen(e.X).(*ast.CallExpr)
	return ok && builtinOf(info, ast.Unparen(c.Fun)) == "panic"
}

// writes reports whether a part may assign to a variable of the group.
func (w *writer) writes(p *part) bool {
	for _, c := range p.calls {
		if len(w.touched(w.group.vars, c)) > 0 {
			return true
		}
	}
	for _, a := range p.accesses {
		if a.write && a.place.root != nil && slices.ContainsFunc(w.group.vars, func(v *variable) bool { return a.place.within(v.place) }) {
			return true
		}
	}
	return false
}

// copyMaps copies the entries of the maps that a part changes, if that has not been
// done. It is done before a part goes through a map too: a loop has to see what its
// body does to it.
//
//	x.m[k] = 1     if n < 0 { n = len(v); v = maps.Clone(v) }; v[k] = 1
func (w *writer) copyMaps(p *part, at token.Pos) {
	for i, v := range w.group.vars {
		if !v.copied {
			continue
		}
		changes := slices.ContainsFunc(p.accesses, func(a *access) bool { return a.entries && a.place.root != nil && a.place.equal(v.place) }) ||
			slices.ContainsFunc(p.calls, func(c call) bool { return w.effects.of[funcKeyOf(c.Func)].touchesAny(v.reach()) })
		if changes {
			n, own := w.id("n", i), w.id("v", i)
			w.insert(at, atStart, fmt.Sprintf("if %s < 0 { %s = len(%s); %s = %s.CloneMap(%s) }; ", n, n, own, own, w.hooks(), own))
		}
	}
}

// redirect has a part use the copies.
func (w *writer) redirect(p *part) {
	for _, c := range p.calls {
		w.edits = append(w.edits, w.redirectCall(w.tok, w.group.vars, c, func(i int) string { return "&" + w.own(i) })...)
	}
	for _, a := range p.accesses {
		if a.place.root == nil {
			continue
		}
		for i, v := range w.group.vars {
			if a.place.within(v.place) {
				w.replaceNode(a.node, w.own(i)+place{fields: a.place.fields[len(v.fields):]}.way())
			}
		}
	}
}
