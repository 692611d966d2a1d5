package protect

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard"
)

// Isolation puts guarded data on pages that only the lock's holder can reach. Data for
// that has no pointers, because the collector does not look there, and its address is
// taken nowhere, because the kernel does not wait at such pages. There are two kinds.
//
// A variable of a package, or a field of one that is a struct without a name, is
// declared anew as two pointers, one for each view:
//
//	var n int       var p, o = aside.New[int](guard, "n", 0)
//	n++             (*p)++      where the lock is not known to be held
//	n++             (*o)++      in a section
//
// The fields of a type that has its lock in itself move to another object. The type has
// a field that leads there:
//
//	type T struct {         type T struct { x aside.Object[parts];
//		mu sync.Mutex           mu sync.Mutex
//		n  int                  _  int
//	}                       }; type parts struct { n int }
//	&T{n: 1}                &T{x: aside.Make(parts{n: 1})}
//	t.n++                   t.x.Get().Shared.n++
//	t.n++                   s.Own.n++       in a section of t, where s is t.x.Get()
//	u.n++                   u.x.Get().View().n++      in one of t: it may be u, or not
//
// The lock stays what it is. A section enters the guard after it has the lock, and leaves
// it before all that must find its data reachable: the same places at which copies are
// taken and published.

// Each variable and field has a guard of its own, which a section enters for writing or
// for reading as it does the one or the other: a correct program may read what a section
// reads, and do as it likes with what the section does not use.

// An isolated is a variable or field that lives on pages.
type isolated struct {
	n     int // tells them apart
	key   key
	datum string         // how the guard calls it
	lock  string         // how the guard calls its lock
	at    token.Position // of the lock
	home  string         // the path of the package
	test  bool           // it is declared in a test file
	owner *ast.Ident     // the name of the type that has it as a field
	root  string         // the variable, or the one that has it as a field
	field string         // the field; "" for a variable
	typ   types.Type
	value string // the constant that a variable begins with; "" for zero
	slow  string // why it would make a correct program slow
}

// isolation is what is isolated of a program.
type isolation struct {
	list []*isolated
	of   map[key][]*isolated // by the lock
	data map[key]*isolated   // by the variable or field
	why  map[key]string      // guarded data that is not isolated, with the reason
}

// A declaration is where a variable or field is declared.
type declaration struct {
	pkg   *packages.Package
	file  string
	typ   *ast.Ident // the type that has the field
	root  string     // the variable, or the one that has the field
	field bool
	value ast.Expr
	loose string // why it cannot be declared anew
}

// findIsolated decides what is isolated.
func findIsolated(pkgs []*packages.Package, guards []*guard.Guard, prog *ssa.Program, exposed exposed) *isolation {
	all := &isolation{of: make(map[key][]*isolated), data: make(map[key]*isolated), why: make(map[key]string)}
	if len(guards) == 0 {
		return all
	}
	declared := findDeclarations(pkgs)
	keeps := findStays(pkgs)
	keeps.keepReflected(pkgs, prog)
	fset := pkgs[0].Fset
	for _, g := range guards {
		lock := g.Lock.Object.(*types.Var)
		where, known := declared[keyOf(fset, lock)]
		for _, d := range g.Data {
			v := d.Object.(*types.Var)
			k := keyOf(fset, v)
			at, ok := declared[k]
			why := ""
			switch {
			case !isSync(lock.Type(), "Mutex", "RWMutex"):
				why = "its lock is not of package sync"
			case !known || !ok:
				why = "it or its lock is declared inside a function or another struct"
			case at.pkg.PkgPath != where.pkg.PkgPath || isTest(at.file) != isTest(where.file):
				why = "it is declared elsewhere than its lock"
			case !at.besides(where), at.typ != nil && d.Way != lock.Name():
				why = "its lock belongs to another object"
			case hasPointers(v.Type()) != "":
				why = "it holds " + hasPointers(v.Type())
			case uncopyable(v.Type()) != "":
				why = "it is or has " + uncopyable(v.Type())
			case at.tooLarge(v):
				why = "it is too large"
			case at.loose != "":
				why = at.loose
			case exposed[k] != hidden:
				why = "its address is taken"
			case exposed.within(fset, v.Type()):
				why = "the address of a part of it may be taken"
			case keeps.data[k] != "":
				why = keeps.data[k]
			case at.typ != nil && keeps.of[at.typeKey(fset)] != "":
				why = keeps.of[at.typeKey(fset)]
			case at.typ != nil && keeps.unnamed[typeName(at.pkg.Types.Scope().Lookup(at.typ.Name).Type().Underlying())]:
				why = "another struct is written like its own"
			case at.typ == nil && at.field && exposed[at.rootKey(fset)] != hidden:
				why = "the address of its struct is taken"
			}
			if why != "" {
				all.why[k] = why
				continue
			}
			all.add(g, d, at, fset)
		}
	}
	return all
}

func (all *isolation) add(g *guard.Guard, d *guard.Datum, at declaration, fset *token.FileSet) {
	v := d.Object.(*types.Var)
	i := &isolated{
		n: len(all.list) + 1, key: keyOf(fset, v), datum: d.Name, lock: g.Lock.Name, at: g.Lock.At,
		home: at.pkg.PkgPath, test: isTest(at.file), owner: at.typ, root: at.root, typ: v.Type(),
	}
	if at.field {
		i.field = v.Name()
	}
	if at.value != nil {
		i.value, _ = constantText(at.pkg.TypesInfo.Types[at.value].Value)
	}
	lock := keyOf(fset, g.Lock.Object.(*types.Var))
	all.list = append(all.list, i)
	all.of[lock] = append(all.of[lock], i)
	all.data[i.key] = i
}

// withoutSlow leaves out what would make a correct program slow.
func (all *isolation) withoutSlow() *isolation {
	kept := &isolation{of: make(map[key][]*isolated), data: make(map[key]*isolated), why: all.why}
	for lock, list := range all.of {
		kept.of[lock] = slices.DeleteFunc(slices.Clone(list), func(i *isolated) bool { return i.slow != "" })
	}
	for _, i := range all.list {
		if i.slow != "" {
			kept.why[i.key] = i.slow
			continue
		}
		kept.list = append(kept.list, i)
		kept.data[i.key] = i
	}
	return kept
}

// The largest data that is put on pages, in bytes. Memory of pages is taken when they
// are made, not when it is used.
const (
	largestVariable = 64 << 10
	largestField    = 4 << 10 // there may be many
)

func (d declaration) tooLarge(v *types.Var) bool {
	size := d.pkg.TypesSizes.Sizeof(v.Type())
	return size > largestVariable || d.typ != nil && size > largestField
}

// besides reports whether two declarations are of fields of one type, or both of
// variables.
func (d declaration) besides(e declaration) bool {
	if d.typ == nil || e.typ == nil {
		return d.typ == e.typ
	}
	return d.typ.Name == e.typ.Name && d.file == e.file
}

func isTest(file string) bool { return strings.HasSuffix(file, "_test.go") }

func (d declaration) typeKey(fset *token.FileSet) key {
	return key(fset.PositionFor(d.typ.Pos(), false).Filename + ":" + d.typ.Name)
}

func (d declaration) rootKey(fset *token.FileSet) key {
	return keyOf(fset, d.pkg.Types.Scope().Lookup(d.root).(*types.Var))
}

// findDeclarations returns the declarations of package-level variables, and of the
// fields of package-level types and of variables that are structs without a name.
func findDeclarations(pkgs []*packages.Package) map[key]declaration {
	all := make(map[key]declaration)
	for _, p := range pkgs {
		for _, f := range p.Syntax {
			d := declaration{pkg: p, file: p.Fset.File(f.FileStart).Name()}
			for _, decl := range f.Decls {
				g, ok := decl.(*ast.GenDecl)
				if !ok {
					continue
				}
				for _, spec := range g.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						d.typed(all, spec)
					case *ast.ValueSpec:
						d.variables(all, spec)
					}
				}
			}
		}
	}
	return all
}

func (d declaration) typed(all map[key]declaration, spec *ast.TypeSpec) {
	s, ok := spec.Type.(*ast.StructType)
	if !ok || spec.Assign.IsValid() {
		return
	}
	d.typ, d.field = spec.Name, true
	d.fields(all, s)
}

func (d declaration) fields(all map[key]declaration, s *ast.StructType) {
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			if v, ok := d.pkg.TypesInfo.Defs[name].(*types.Var); ok && name.Name != "_" {
				all[keyOf(d.pkg.Fset, v)] = d
			}
		}
		if len(f.Names) > 0 {
			continue
		}
		// An embedded field: it may be the lock.
		if id := embeddedName(f.Type); id != nil {
			if v, ok := d.pkg.TypesInfo.Defs[id].(*types.Var); ok {
				e := d
				e.loose = "it is embedded"
				all[keyOf(d.pkg.Fset, v)] = e
			}
		}
	}
}

// embeddedName returns the name that an embedded field has.
func embeddedName(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	return nil
}

func (d declaration) variables(all map[key]declaration, spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		v, ok := d.pkg.TypesInfo.Defs[name].(*types.Var)
		if !ok || name.Name == "_" {
			continue
		}
		one := d
		one.root = name.Name
		if len(spec.Values) == len(spec.Names) {
			one.value = spec.Values[i]
		}
		if len(spec.Values) > 0 {
			if one.value == nil {
				one.loose = "its first value is computed"
			} else if _, ok := constantText(d.pkg.TypesInfo.Types[one.value].Value); !ok {
				one.loose = "its first value is computed"
			}
		}
		all[keyOf(d.pkg.Fset, v)] = one
		if s, ok := spec.Type.(*ast.StructType); ok && len(spec.Names) == 1 {
			one.field = true
			one.fields(all, s)
		}
	}
}

// constantText writes the value of a constant.
func constantText(v constant.Value) (string, bool) {
	if v == nil {
		return "", false
	}
	switch v.Kind() {
	case constant.Bool, constant.Int:
		return v.ExactString(), true
	}
	return "", false
}

// hasPointers returns what in a type the collector would have to see, "" if there is
// nothing.
func hasPointers(t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return "a string"
		case u.Kind() == types.UnsafePointer:
			return "a pointer"
		}
		return ""
	case *types.Array:
		return hasPointers(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if what := hasPointers(f.Type()); what != "" {
				return what
			}
		}
		return ""
	case *types.Slice:
		return "a slice"
	case *types.Map:
		return "a map"
	case *types.Chan:
		return "a channel"
	case *types.Signature:
		return "a function"
	case *types.Interface:
		return "an interface"
	default:
		return "a pointer"
	}
}

// firstFile returns the file of a package whose variables are initialised first.
func (u *unit) firstFile(test bool) *file {
	var first *file
	for _, f := range u.files {
		if isTest(f.tok.Name()) == test && (first == nil || filepath.Base(f.tok.Name()) < filepath.Base(first.tok.Name())) {
			first = f
		}
	}
	return first
}

// onPages returns the isolated variables of a group's lock, in terms of the group.
func (u *unit) onPages(g *group) []*variable {
	var all []*variable
	for _, d := range u.isolation.of[keyOf(u.fset, g.lock.last())] {
		if d.home != u.pkg.PkgPath {
			continue
		}
		v := &variable{datum: d.datum, isolated: d, keys: []key{d.key}, types: []string{typeName(d.typ)}}
		switch {
		case d.owner == nil:
			v.root = u.pkg.Types.Scope().Lookup(d.root).(*types.Var)
			if d.field != "" {
				v.fields = []*types.Var{fieldOf(v.root.Type(), d.field)}
			}
		default:
			v.place = g.lock.parent()
			v.fields = append(v.fields, fieldOf(deref(v.last().Type()), d.field))
		}
		all = append(all, v)
	}
	return all
}

// parent is what a field belongs to.
func (p place) parent() place {
	return place{p.root, slices.Clone(p.fields[:len(p.fields)-1])}
}

// fieldOf returns a field of a struct, as it is declared.
func fieldOf(t types.Type, name string) *types.Var {
	for f := range t.Underlying().(*types.Struct).Fields() {
		if f.Name() == name {
			return f.Origin()
		}
	}
	return nil
}

// within reports whether somebody takes the address of a field that values of a type have.
func (x exposed) within(fset *token.FileSet, t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return x.within(fset, u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if x[keyOf(fset, f)] != hidden || x.within(fset, f.Type()) {
				return true
			}
		}
	}
	return false
}

// hasArray reports whether a type is or has an array.
func hasArray(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if hasArray(f.Type()) {
				return true
			}
		}
	}
	return false
}
