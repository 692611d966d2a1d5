package cover

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/dataname"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A Lock is what covers regions: one that the program has, or a new one.
type Lock struct {
	Words  string // such as "the mutex T.mu"
	Reason string // why it is this one
	// HeldOver says of sends that the lock may be held while they wait: what receives does not need
	// it. Nil stands for none.
	HeldOver func(*ast.SendStmt) bool
	// object is the mutex, or the array or slice of mutexes, if the program has it; rw says
	// that it is an RWMutex.
	object *types.Var
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
	// declare adds it to the source, with a comment that names the data that it guards.
	declare func(e *edits, guarded []dataname.Name) error
}

// Exists reports whether the program has the lock.
func (l *Lock) Exists() bool { return l.object != nil }

// Owner returns the struct that has the lock, nil if the lock is a variable.
func (l *Lock) Owner() *types.Named { return l.owner }

// Scope returns the function that the lock is a variable of, nil if there is none.
func (l *Lock) Scope() ast.Node { return l.scope }

// Package returns the package that declares the lock.
func (l *Lock) Package() *types.Package { return l.pkg }

// Object returns the field or variable that declares the lock, nil if the program does not
// have it.
func (l *Lock) Object() *types.Var { return l.object }

// Is reports whether the lock is another, of the same program or of one that was changed.
func (l *Lock) Is(other *Lock) bool { return l.declared() == other.declared() }

// declared is the lock's name with its package and struct, which is the same before and
// after it was added to the program.
func (l *Lock) declared() string {
	name := l.field
	if l.owner == nil {
		name = l.variable
	} else {
		name = l.owner.Obj().Name() + "." + name
	}
	if l.scope != nil {
		name += " in a function"
	}
	return l.pkg.Path() + "." + name
}

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// isStriped reports whether a type is an array or slice of mutexes.
func isStriped(t types.Type) bool { return elem(t) != nil && locks.IsMutex(elem(t)) }

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

// LocksFor returns the locks that may cover regions with some data, the best first.
func (code *Code) LocksFor(d *Data, regions []*Region) []*Lock {
	// The struct that most regions can name comes first: usually the outermost.
	reach := map[*types.Named]int{}
	for _, n := range d.owners {
		for _, r := range regions {
			if code.reachOwner(r, n) != "" {
				reach[n]++
			}
		}
	}
	slices.SortStableFunc(d.owners, func(a, b *types.Named) int { return reach[b] - reach[a] })
	if n := receiverOf(regions); n != nil {
		add(&d.owners, n)
		// What only the receiver leads to has the receiver's lock, which guards the way there too.
		if parts := locks.PartsOf(n); !slices.ContainsFunc(d.owners, func(o *types.Named) bool { return !slices.Contains(parts, o) }) {
			d.owners = slices.DeleteFunc(d.owners, func(o *types.Named) bool { return o == n })
			d.owners = slices.Insert(d.owners, 0, n)
		}
	}
	var all []*Lock
	for _, held := range d.held {
		if l := code.existing(held); l != nil {
			l.Reason = "it already guards the data in other places"
			all = append(all, l)
		}
	}
	for _, n := range d.owners {
		all = append(all, code.fieldLocks(n)...)
	}
	for _, n := range d.owners {
		if l := code.newField(n, d.fields[n]); l != nil {
			all = append(all, l)
		}
	}
	if l := code.newLocal(d.locals); l != nil {
		all = append(all, l)
	}
	if l := code.newGlobal(regions, d); l != nil {
		all = append(all, l)
	}
	return unique(all)
}

// receiverOf is the struct whose methods all regions are in; nil if there is none. What its
// methods touch is likely to be its own, even if the accesses themselves do not say so:
// elements of maps that other functions return, nodes of a list.
func receiverOf(regions []*Region) *types.Named {
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

func unique(all []*Lock) []*Lock {
	var kept []*Lock
	for _, l := range all {
		if !slices.ContainsFunc(kept, func(k *Lock) bool { return k.object != nil && k.object == l.object }) {
			kept = append(kept, l)
		}
	}
	return kept
}

// existing is a mutex of the program as a lock.
func (code *Code) existing(v *types.Var) *Lock {
	if v == nil || !locks.IsMutex(v.Type()) && !isStriped(v.Type()) {
		return nil
	}
	l := &Lock{object: v, rw: locks.IsRWMutex(v.Type()), Words: "the mutex " + v.Name(), pkg: v.Pkg()}
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
	for _, f := range code.Files() {
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

func fieldLock(t *types.Named, field *types.Var) *Lock {
	l := &Lock{object: field, rw: locks.IsRWMutex(field.Type()), owner: t, field: field.Name(), pkg: t.Obj().Pkg()}
	l.Words = "the mutex " + t.Obj().Name() + "." + field.Name()
	if isStriped(field.Type()) {
		l.rw, l.striped, l.Words = locks.IsRWMutex(elem(field.Type())), true, "one of the mutexes "+t.Obj().Name()+"."+field.Name()
	}
	if field.Embedded() {
		l.field = ""
		l.Words = "the mutex embedded in " + t.Obj().Name()
	}
	return l
}

// structTypes are the named struct types that a file declares.
func structTypes(f *source.File) []*types.Named {
	var all []*types.Named
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSpec); ok {
			if o, ok := f.Info.Defs[s.Name].(*types.TypeName); ok {
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
func (code *Code) fieldLocks(n *types.Named) []*Lock {
	st, ok := n.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var all []*Lock
	for i := range st.NumFields() {
		if f := st.Field(i); locks.IsMutex(f.Type()) {
			l := fieldLock(n, f)
			l.Reason = "it stands beside the data"
			all = append(all, l)
		}
	}
	return all
}
