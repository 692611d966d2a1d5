package repair

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

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
