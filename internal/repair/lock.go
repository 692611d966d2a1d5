package repair

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli"
)

var lockKinds = []event.Kind{event.Lock, event.RLock}

// A lock is what covers the regions of a candidate.
type lock struct {
	words  string
	reason string
	// object is the mutex if it exists, rw whether it is an RWMutex.
	object types.Object
	rw     bool
	// owner is the struct that has it; nil if it is a variable.
	owner *types.Named
	// field is its name within the owner, "" if it is embedded; variable its name
	// if it has no owner.
	field    string
	variable string
	// striped says that it is one of several: an element of an array or slice, with the
	// index of the data that it guards.
	striped bool
	// scope is where the variable can be named: a function, or nil for everywhere in
	// the package.
	scope ast.Node
	pkg   *types.Package
	// declare adds it to the source.
	declare func(*edits) error
}

// A lockOp is a call of Lock, Unlock, RLock or RUnlock.
type lockOp struct {
	object types.Object
	takes  bool
	read   bool
}

// lockCall tells whether a call is one of a mutex.
func lockCall(info *types.Info, call *ast.CallExpr) *lockOp {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	s := info.Selections[sel]
	if s == nil || s.Obj().Pkg() == nil || s.Obj().Pkg().Path() != "sync" {
		return nil
	}
	op := &lockOp{}
	switch s.Obj().Name() {
	case "Lock":
		op.takes = true
	case "RLock":
		op.takes, op.read = true, true
	case "Unlock":
	case "RUnlock":
		op.read = true
	default:
		return nil
	}
	if !isMutex(s.Obj().(*types.Func).Signature().Recv().Type()) {
		return nil
	}
	// Through an embedded mutex the path to it is in the selection.
	if path := s.Index(); len(path) > 1 {
		t := s.Recv()
		for _, i := range path[:len(path)-1] {
			st, ok := deref(t).Underlying().(*types.Struct)
			if !ok {
				return nil
			}
			op.object = st.Field(i)
			t = st.Field(i).Type()
		}
		return op
	}
	op.object = lastObject(info, sel.X)
	if op.object == nil {
		return nil
	}
	return op
}

// lastObject is the variable or field that an expression ends with.
func lastObject(info *types.Info, e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return info.ObjectOf(e)
	case *ast.SelectorExpr:
		return info.ObjectOf(e.Sel)
	case *ast.UnaryExpr:
		return lastObject(info, e.X)
	case *ast.StarExpr:
		return lastObject(info, e.X)
	case *ast.IndexExpr:
		return lastObject(info, e.X)
	}
	return nil
}

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

func isMutex(t types.Type) bool {
	n, ok := deref(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "sync" && (n.Obj().Name() == "Mutex" || n.Obj().Name() == "RWMutex")
}

func isRW(t types.Type) bool {
	n, ok := deref(t).(*types.Named)
	return ok && n.Obj().Name() == "RWMutex"
}

// isStriped reports whether a type is an array or slice of mutexes.
func isStriped(t types.Type) bool { return elem(t) != nil && isMutex(elem(t)) }

// elem is the type of the elements of an array or slice, nil of anything else.
func elem(t types.Type) types.Type {
	switch t := t.Underlying().(type) {
	case *types.Array:
		return t.Elem()
	case *types.Slice:
		return t.Elem()
	}
	return nil
}

// named is the type with its name, without arguments.
func named(t types.Type) *types.Named {
	n, _ := types.Unalias(deref(t)).(*types.Named)
	if n == nil {
		return nil
	}
	return n.Origin()
}

// data is what a fix is about.
type data struct {
	owners  []*types.Named
	fields  map[*types.Named][]*types.Var
	globals []*types.Var
	locals  []*types.Var
}

// dataOf collects the variables that a fix's accesses touch.
func (p *Program) dataOf(f *sli.Fix) *data {
	d := &data{fields: map[*types.Named][]*types.Var{}}
	for _, s := range f.Sections {
		for _, x := range s.Accesses {
			at := p.lifted.Origin(x.Instr).Data
			switch {
			case at.Field != nil:
				if n := named(at.Struct); n != nil {
					if !slices.Contains(d.owners, n) {
						d.owners = append(d.owners, n)
					}
					if !slices.Contains(d.fields[n], at.Field.Origin()) {
						d.fields[n] = append(d.fields[n], at.Field.Origin())
					}
				}
			case at.Global != nil:
				if !slices.Contains(d.globals, at.Global) {
					d.globals = append(d.globals, at.Global)
				}
			case at.Local != nil:
				if v := p.variableAt(at.Local.Pos(), at.Local.Name()); v != nil && !slices.Contains(d.locals, v) {
					d.locals = append(d.locals, v)
				}
			}
		}
	}
	return d
}

// variableAt is the variable that is declared at a position.
func (p *Program) variableAt(pos token.Pos, name string) *types.Var {
	f := p.files[p.fset.PositionFor(pos, false).Filename]
	if f == nil {
		return nil
	}
	for id, o := range f.pkg.TypesInfo.Defs {
		if v, ok := o.(*types.Var); ok && id.Pos() == pos && id.Name == name {
			return v
		}
	}
	return nil
}

// locksFor lists the locks that may serve a fix, the best first.
func (p *Program) locksFor(f *sli.Fix, regions []*Region) []*lock {
	d := p.dataOf(f)
	// The struct that most regions can name comes first: usually the outermost.
	reach := map[*types.Named]int{}
	for _, n := range d.owners {
		for _, r := range regions {
			if p.ownerVar(r, n) != "" {
				reach[n]++
			}
		}
	}
	slices.SortStableFunc(d.owners, func(a, b *types.Named) int { return reach[b] - reach[a] })
	if n := receiver(regions); n != nil && !slices.Contains(d.owners, n) {
		d.owners = append(d.owners, n)
	}
	var all []*lock
	all = append(all, p.heldLocks(f)...)
	for _, n := range d.owners {
		all = append(all, p.fieldLocks(n)...)
	}
	for _, n := range d.owners {
		if l := p.newField(n, d.fields[n]); l != nil {
			all = append(all, l)
		}
	}
	if l := p.newLocal(d.locals); l != nil {
		all = append(all, l)
	}
	if l := p.newGlobal(regions, d); l != nil {
		all = append(all, l)
	}
	return unique(all)
}

// receiver is the struct whose methods all regions are in; nil if there is none. What its
// methods touch is likely to be its own, even if the accesses themselves do not say so:
// elements of maps that other functions return, nodes of a list.
func receiver(regions []*Region) *types.Named {
	var found *types.Named
	for _, r := range regions {
		d, ok := r.fn.(*ast.FuncDecl)
		if !ok || d.Recv == nil || len(d.Recv.List) != 1 {
			return nil
		}
		n := named(r.info().TypeOf(d.Recv.List[0].Type))
		if n == nil || found != nil && found != n {
			return nil
		}
		if _, ok := n.Underlying().(*types.Struct); !ok {
			return nil
		}
		found = n
	}
	return found
}

func unique(all []*lock) []*lock {
	var kept []*lock
	for _, l := range all {
		if !slices.ContainsFunc(kept, func(k *lock) bool { return k.object != nil && k.object == l.object }) {
			kept = append(kept, l)
		}
	}
	return kept
}

// heldLocks are the mutexes that some of the accesses hold already.
func (p *Program) heldLocks(f *sli.Fix) []*lock {
	var all []*lock
	for _, s := range f.Sections {
		for _, x := range s.Accesses {
			for _, h := range x.Locks {
				if l := p.existing(p.locks[h.Lock]); l != nil {
					l.reason = "it already guards the data in other places"
					all = append(all, l)
				}
			}
		}
	}
	return all
}

// existing is a mutex of the program as a lock.
func (p *Program) existing(o types.Object) *lock {
	v, ok := o.(*types.Var)
	if !ok || !isMutex(v.Type()) && !isStriped(v.Type()) {
		return nil
	}
	l := &lock{object: v, rw: isRW(v.Type()), words: "the mutex " + v.Name(), pkg: v.Pkg()}
	if !v.IsField() {
		if isStriped(v.Type()) {
			return nil // of which data they are is not known
		}
		l.variable = v.Name()
		if v.Parent() != v.Pkg().Scope() {
			return nil // whose scope it is would have to be known
		}
		return l
	}
	for _, f := range p.files {
		for _, t := range structTypes(f) {
			for i := range t.Underlying().(*types.Struct).NumFields() {
				if field := t.Underlying().(*types.Struct).Field(i); field == v {
					return fieldLock(t, field)
				}
			}
		}
	}
	return nil
}

func fieldLock(t *types.Named, field *types.Var) *lock {
	l := &lock{object: field, rw: isRW(field.Type()), owner: t, field: field.Name(), pkg: t.Obj().Pkg()}
	l.words = "the mutex " + t.Obj().Name() + "." + field.Name()
	if isStriped(field.Type()) {
		l.rw, l.striped, l.words = isRW(elem(field.Type())), true, "one of the mutexes "+t.Obj().Name()+"."+field.Name()
	}
	if field.Embedded() {
		l.field = ""
		l.words = "the mutex embedded in " + t.Obj().Name()
	}
	return l
}

// structTypes are the named struct types that a file declares.
func structTypes(f *file) []*types.Named {
	var all []*types.Named
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSpec); ok {
			if o, ok := f.pkg.TypesInfo.Defs[s.Name].(*types.TypeName); ok {
				if t, ok := o.Type().(*types.Named); ok {
					if _, ok := t.Underlying().(*types.Struct); ok {
						all = append(all, t)
					}
				}
			}
		}
		return true
	})
	return all
}

// fieldLocks are the mutexes that a struct has.
func (p *Program) fieldLocks(n *types.Named) []*lock {
	st, ok := n.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var all []*lock
	for i := range st.NumFields() {
		if f := st.Field(i); isMutex(f.Type()) {
			l := fieldLock(n, f)
			l.reason = "it stands beside the data"
			all = append(all, l)
		}
	}
	return all
}

// newField is a new mutex above the fields of a struct.
func (p *Program) newField(n *types.Named, fields []*types.Var) *lock {
	f, spec := p.typeSpec(n)
	if f == nil {
		return nil
	}
	st, ok := spec.Type.(*ast.StructType)
	if !ok || len(st.Fields.List) == 0 {
		return nil
	}
	other := "dataMu"
	if len(fields) > 0 {
		other = fields[0].Name() + "Mu"
	}
	name := freeField(n, "mu", other)
	var names []string
	for _, v := range fields {
		names = append(names, v.Name())
	}
	return &lock{
		words: "a new mutex " + n.Obj().Name() + "." + name, reason: "no mutex of the program guards the data",
		owner: n, field: name, pkg: n.Obj().Pkg(),
		declare: func(e *edits) error {
			switch {
			case p.compared(n):
				return fmt.Errorf("values of %s are compared: with a mutex in them, two that were equal may differ", n.Obj().Name())
			case p.positional(n):
				return fmt.Errorf("%s is written without the names of its fields, and takes no further one", n.Obj().Name())
			}
			sync, err := e.imported(f, "sync")
			if err != nil {
				return err
			}
			if len(names) == 0 {
				e.before(f, declared(st.Fields.List[0]), name+" "+sync+".Mutex")
				return nil
			}
			for _, field := range st.Fields.List {
				for _, id := range field.Names {
					if slices.Contains(names, id.Name) {
						e.before(f, declared(field), fmt.Sprintf("%s %s.Mutex // guards %s", name, sync, strings.Join(names, ", ")))
						return nil
					}
				}
			}
			return fmt.Errorf("the fields %s are not where %s is declared", strings.Join(names, ", "), n.Obj().Name())
		},
	}
}

// compared reports whether values of a struct type are compared, as they are or as keys of
// a map: with a mutex in it, two that were equal may differ.
func (p *Program) compared(n *types.Named) bool {
	for _, f := range p.files {
		for e, tv := range f.pkg.TypesInfo.Types {
			switch e := e.(type) {
			case *ast.BinaryExpr:
				if (e.Op == token.EQL || e.Op == token.NEQ) && contains(f.pkg.TypesInfo.TypeOf(e.X), n) {
					return true
				}
			default:
				if m, ok := tv.Type.(*types.Map); ok && contains(m.Key(), n) {
					return true
				}
			}
		}
	}
	return false
}

// positional reports whether the program writes values of a struct type without the names
// of its fields.
func (p *Program) positional(n *types.Named) bool {
	for _, f := range p.files {
		found := false
		ast.Inspect(f.syntax, func(m ast.Node) bool {
			if c, ok := m.(*ast.CompositeLit); ok && len(c.Elts) > 0 && named(f.pkg.TypesInfo.TypeOf(c)) == n {
				if _, keyed := c.Elts[0].(*ast.KeyValueExpr); !keyed {
					found = true
				}
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// contains reports whether values of a type have ones of a struct type in them.
func contains(t types.Type, n *types.Named) bool {
	if isPointer(t) {
		return false
	}
	if named(t) == n {
		return true
	}
	switch t := t.Underlying().(type) {
	case *types.Struct:
		for i := range t.NumFields() {
			if contains(t.Field(i).Type(), n) {
				return true
			}
		}
	case *types.Array:
		return contains(t.Elem(), n)
	}
	return false
}

// freeField is a name that neither a field nor a method of a struct has.
func freeField(n *types.Named, names ...string) string {
	for i := 2; ; i++ {
		for _, name := range names {
			if o, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, n.Obj().Pkg(), name); o == nil {
				return name
			}
		}
		names = []string{fmt.Sprintf("mu%d", i)}
	}
}

// typeSpec is where a type is declared.
func (p *Program) typeSpec(n *types.Named) (*file, *ast.TypeSpec) {
	f := p.files[p.fset.PositionFor(n.Obj().Pos(), false).Filename]
	if f == nil {
		return nil, nil
	}
	var found *ast.TypeSpec
	ast.Inspect(f.syntax, func(m ast.Node) bool {
		if s, ok := m.(*ast.TypeSpec); ok && s.Name.Pos() == n.Obj().Pos() {
			found = s
		}
		return found == nil
	})
	if found == nil {
		return nil, nil
	}
	return f, found
}

// newLocal is a new mutex beside a variable that closures share.
func (p *Program) newLocal(vars []*types.Var) *lock {
	if len(vars) == 0 {
		return nil
	}
	v := vars[0]
	f := p.files[p.fset.PositionFor(v.Pos(), false).Filename]
	if f == nil {
		return nil
	}
	fn := enclosing(f, v.Pos())
	if fn == nil {
		return nil
	}
	list, at, _ := innermost(bodyOf(fn), v.Pos(), v.Pos()+1)
	if list == nil {
		return nil // a parameter or a result
	}
	name := freeName(&Region{fn: fn}, v.Name()+"Mu", 0, true)
	return &lock{
		words: "a new mutex " + name + " beside the variable " + v.Name(), reason: "the data is a variable that closures share",
		variable: name, scope: fn, pkg: v.Pkg(),
		declare: func(e *edits) error {
			sync, err := e.imported(f, "sync")
			if err != nil {
				return err
			}
			e.before(f, list[at], fmt.Sprintf("var %s %s.Mutex", name, sync))
			return nil
		},
	}
}

// enclosing is the outermost function around a position.
func enclosing(f *file, pos token.Pos) ast.Node {
	for _, d := range f.syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && fn.Pos() <= pos && pos < fn.End() {
			return fn
		}
	}
	return nil
}

// newGlobal is a new mutex of the package.
func (p *Program) newGlobal(regions []*Region, d *data) *lock {
	r := regions[0]
	for _, o := range regions {
		if o.file.pkg.Types.Path() != r.file.pkg.Types.Path() {
			return nil // another package cannot name it
		}
		if r.test && !o.test {
			r = o
		}
	}
	word := "shared"
	f, after := r.file, ast.Node(nil)
	switch {
	case len(d.globals) > 0:
		word = d.globals[0].Name()
	case len(d.owners) > 0:
		word = d.owners[0].Obj().Name()
	}
	name := freeVariable(f.pkg, strings.ToLower(word[:1])+word[1:]+"Mu")
	for _, decl := range f.syntax.Decls {
		if g, ok := decl.(*ast.GenDecl); !ok || g.Tok != token.IMPORT {
			after = decl
			break
		}
	}
	return &lock{
		words: "a new mutex " + name + " of the package", reason: "no struct has all of the data, or not every place can name the one that has",
		variable: name, pkg: r.file.pkg.Types,
		declare: func(e *edits) error {
			sync, err := e.imported(f, "sync")
			if err != nil {
				return err
			}
			e.before(f, declared(after), fmt.Sprintf("var %s %s.Mutex\n", name, sync))
			return nil
		},
	}
}

// freeVariable is a name that nothing in a package has.
func freeVariable(pkg *packages.Package, word string) string {
	used := map[string]bool{}
	for id := range pkg.TypesInfo.Defs {
		used[id.Name] = true
	}
	name := word
	for i := 2; used[name]; i++ {
		name = fmt.Sprintf("%s%d", word, i)
	}
	return name
}

// declared is a declaration with its comment.
func declared(n ast.Node) ast.Node {
	switch d := n.(type) {
	case *ast.FuncDecl:
		if d.Doc != nil {
			return d.Doc
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			return d.Doc
		}
	case *ast.Field:
		if d.Doc != nil {
			return d.Doc
		}
	}
	return n
}

// name is how a region names the lock; "" if it cannot.
func (p *Program) name(l *lock, r *Region) string {
	if l.owner == nil {
		if l.pkg != nil && l.pkg.Path() != r.file.pkg.Types.Path() {
			return ""
		}
		if l.scope != nil && !(l.scope.Pos() <= r.fn.Pos() && r.fn.End() <= l.scope.End()) {
			return ""
		}
		if lookup(r.file, l.variable, r.first().Pos()) != l.object {
			return "" // the name means something else there
		}
		return l.variable
	}
	if l.pkg.Path() != r.file.pkg.Types.Path() && !token.IsExported(l.field) {
		return ""
	}
	v := p.ownerVar(r, l.owner)
	switch {
	case v == "" || l.field == "":
		return v
	case l.striped:
		i := p.stripe(r, l)
		if i == "" {
			return ""
		}
		return v + "." + l.field + "[" + i + "]"
	}
	return v + "." + l.field
}

// stripe is the index that a region has for the other fields of a lock's struct; "" if
// there is none, or no single one that stays the same.
func (p *Program) stripe(r *Region, l *lock) string {
	info := r.info()
	found := map[string]bool{}
	within(r.list[r.from:r.to+1], func(n ast.Node) {
		x, ok := n.(*ast.IndexExpr)
		if !ok {
			return
		}
		sel, ok := ast.Unparen(x.X).(*ast.SelectorExpr)
		if !ok || named(info.TypeOf(sel.X)) != l.owner {
			return
		}
		switch i := x.Index.(type) {
		case *ast.Ident:
			v, ok := info.Uses[i].(*types.Var)
			if ok && v.Pos() < r.first().Pos() && p.means(r, v) {
				found[i.Name] = true
				return
			}
		case *ast.BasicLit:
			found[i.Value] = true
			return
		}
		found[""] = true // an index that may mean another in the end
	})
	if len(found) != 1 {
		return ""
	}
	for i := range found {
		return i
	}
	return ""
}

// ownerVar is the expression by which a region reaches a struct, such as a variable or a
// field of one; "" if there is none, or no single one. It must mean the same throughout
// the region.
func (p *Program) ownerVar(r *Region, n *types.Named) string {
	info := r.info()
	found := map[string]bool{}
	see := func(e ast.Expr) bool {
		for _, h := range p.handles(info, e) {
			if named(h.t) == n && (h.pointer || p.original(h.root)) && h.root.Pos() < r.first().Pos() && p.means(r, h.root) {
				found[h.text] = true
			}
		}
		return true
	}
	for _, node := range r.nodes {
		ast.Inspect(node, func(m ast.Node) bool {
			e, ok := m.(ast.Expr)
			return !ok || see(e)
		})
	}
	if len(found) == 0 {
		for _, id := range parameters(r.fn) {
			see(id)
		}
	}
	if len(found) == 0 {
		within(r.list[r.from:r.to+1], func(m ast.Node) {
			if e, ok := m.(ast.Expr); ok {
				see(e)
			}
		})
	}
	if len(found) != 1 {
		return ""
	}
	for text := range found {
		return text
	}
	return ""
}

// A handle is an expression that leads from a variable to something, over fields.
type handle struct {
	root    *types.Var
	text    string
	t       types.Type
	pointer bool // it leads over a pointer, so that a copy of the variable will do
}

// handles are the handles that an expression, a variable or a field, has in it: of what
// it selects from and of fields that it leads over without naming them.
func (p *Program) handles(info *types.Info, e ast.Expr) []handle {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := info.ObjectOf(e).(*types.Var); ok && !v.IsField() {
			return []handle{{root: v, text: v.Name(), t: v.Type(), pointer: isPointer(v.Type())}}
		}
	case *ast.SelectorExpr:
		s := info.Selections[e]
		if s == nil {
			return nil
		}
		all := p.handles(info, e.X)
		if len(all) == 0 {
			return nil
		}
		h := all[len(all)-1]
		path := s.Index()
		if s.Kind() != types.FieldVal {
			path = path[:len(path)-1]
		}
		for _, i := range path {
			st, ok := deref(h.t).Underlying().(*types.Struct)
			if !ok {
				return nil
			}
			f := st.Field(i)
			if isPointer(f.Type()) && p.assigned(f.Origin()) {
				break // it may lead elsewhere when the section ends
			}
			h = handle{root: h.root, text: h.text + "." + f.Name(), t: f.Type(), pointer: h.pointer || isPointer(f.Type())}
			all = append(all, h)
		}
		return all
	}
	return nil
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// assigned reports whether the program assigns to a field, other than in a literal of its
// struct.
func (p *Program) assigned(field *types.Var) bool {
	for _, f := range p.files {
		found := false
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok {
				for _, l := range a.Lhs {
					if s, ok := ast.Unparen(l).(*ast.SelectorExpr); ok {
						v, ok := f.pkg.TypesInfo.Uses[s.Sel].(*types.Var)
						found = found || ok && v.Origin() == field
					}
				}
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// original reports whether a variable of a struct type is the struct that is shared, and
// not a copy of it as a parameter, a receiver or v := *p is: a lock in a copy locks
// nothing.
func (p *Program) original(v *types.Var) bool {
	if v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		return true
	}
	f := p.files[p.fset.PositionFor(v.Pos(), false).Filename]
	if f == nil {
		return false
	}
	made := false
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if id.Pos() == v.Pos() {
					made = len(n.Values) == 0 || len(n.Values) == len(n.Names) && isLiteral(n.Values[i])
				}
			}
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if l.Pos() == v.Pos() {
					made = n.Tok == token.DEFINE && len(n.Rhs) == len(n.Lhs) && isLiteral(n.Rhs[i])
				}
			}
		}
		return true
	})
	return made
}

func isLiteral(e ast.Expr) bool {
	_, ok := ast.Unparen(e).(*ast.CompositeLit)
	return ok
}

// means reports whether a variable's name means it where the region begins, and the
// variable is not changed in it.
func (p *Program) means(r *Region, v *types.Var) bool {
	if lookup(r.file, v.Name(), r.first().Pos()) != v {
		return false
	}
	same := true
	for _, s := range r.list[r.from : r.to+1] {
		ast.Inspect(s, func(n ast.Node) bool {
			var changed []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				changed = n.Lhs
			case *ast.RangeStmt:
				changed = []ast.Expr{n.Key, n.Value}
			}
			for _, l := range changed {
				if id, ok := l.(*ast.Ident); ok && r.info().ObjectOf(id) == v {
					same = false
				}
			}
			return true
		})
	}
	return same
}

// parameters are the names of a function's receiver and parameters.
func parameters(fn ast.Node) []*ast.Ident {
	var lists []*ast.FieldList
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		lists = []*ast.FieldList{fn.Recv, fn.Type.Params}
	case *ast.FuncLit:
		lists = []*ast.FieldList{fn.Type.Params}
	}
	var all []*ast.Ident
	for _, l := range lists {
		if l == nil {
			continue
		}
		for _, f := range l.List {
			all = append(all, f.Names...)
		}
	}
	return all
}
