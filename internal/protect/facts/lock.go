package facts

import (
	"cmp"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// mutexMethod says what a method of sync.Mutex or sync.RWMutex does to its lock. The
// methods of other locks are code like any other: what they do besides is not known.
func mutexMethod(f *types.Func) (locks.Method, bool) {
	m, ok := locks.MethodOf(f)
	return m, ok && locks.IsStandard(f)
}

// An Operation is a call of a mutex's method, or the method itself.
type Operation struct {
	// Op says what is done, and to which lock, whatever it is called here.
	locks.Op
	// Place is how the source names the lock, or what its name stands for.
	Place Place
}

// On reports whether the operation is one of a lock.
func (o Operation) On(lock *locks.Place) bool { return o.Lock != nil && o.Lock == lock }

// Operation recognises a call of a mutex's method on a lock that has a place.
func (f *Facts) Operation(p *packages.Package, c *ast.CallExpr) (Operation, bool) {
	e, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return Operation{}, false
	}
	return f.SelectedOperation(p, e)
}

// SelectedOperation recognises a mutex's method, whether it is called or not.
func (f *Facts) SelectedOperation(p *packages.Package, e *ast.SelectorExpr) (Operation, bool) {
	s := p.TypesInfo.Selections[e]
	if s == nil || s.Kind() != types.MethodVal {
		return Operation{}, false
	}
	if _, ok := mutexMethod(s.Obj().(*types.Func)); !ok {
		return Operation{}, false
	}
	op, ok := f.lockProgram(p).Op(p.TypesInfo, &ast.CallExpr{Fun: e})
	if !ok || op.Lock == nil {
		return Operation{}, false
	}
	o := Operation{Op: op}
	if at, ok := PlaceOf(p.TypesInfo, e.X); ok {
		index := s.Index()
		o.Place, _ = at.Extend(index[:len(index)-1])
	}
	if !o.Place.Known() || len(o.Place.Fields) == 0 {
		// The name may be one for a lock that stands elsewhere: mu := &x.mu. If a section cannot name that, as with
		// mu := &x.o.mu, the lock has no place.
		o.Place, _ = placeOfLock(op.Lock)
	}
	return o, o.Place.Known()
}

// LockField returns the variable or field that is the lock which a call takes or releases,
// however the object is reached that has it, and whatever kind of lock it is; nil if the call does
// neither, or the lock has no name at all.
//
//	shards[i].mu.Lock()                  the field mu
//	l := sync.Locker(&x.mu); l.Lock()    the same
func (f *Facts) LockField(p *packages.Package, c *ast.CallExpr) (lock *types.Var, release bool) {
	e, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil, false
	}
	s := p.TypesInfo.Selections[e]
	if s == nil || s.Kind() != types.MethodVal {
		return nil, false
	}
	program := f.lockProgram(p)
	op, ok := program.Op(p.TypesInfo, c)
	if m, isMutex := mutexMethod(s.Obj().(*types.Func)); isMutex {
		return cmp.Or(program.Places.ClassOf(op), lockField(p, e, s)), m.Verb == locks.Release
	}
	if !ok {
		return nil, false
	}
	return program.Places.ClassOf(op), op.Releases()
}

// LockOf returns the variable or field that is the lock which an expression is, or points to; nil if that cannot be told.
//
//	&x.mu    x.mu.RLocker()    mu, if that is x.mu
func (f *Facts) LockOf(p *packages.Package, e ast.Expr) *types.Var {
	return f.lockProgram(p).ClassOf(p.TypesInfo, e)
}

// lockField returns the lock of which a method is selected.
func lockField(p *packages.Package, e *ast.SelectorExpr, s *types.Selection) *types.Var {
	if index := s.Index(); len(index) > 1 { // an embedded lock
		var field *types.Var
		t := p.TypesInfo.TypeOf(e.X)
		for _, i := range index[:len(index)-1] {
			st, ok := Deref(t).Underlying().(*types.Struct)
			if !ok {
				return nil
			}
			field = st.Field(i).Origin()
			t = field.Type()
		}
		return field
	}
	switch x := ast.Unparen(e.X).(type) {
	case *ast.Ident:
		v, _ := p.TypesInfo.ObjectOf(x).(*types.Var)
		return v
	case *ast.SelectorExpr:
		v, _ := p.TypesInfo.ObjectOf(x.Sel).(*types.Var)
		if v != nil {
			v = v.Origin()
		}
		return v
	}
	return nil
}

// lockProgram returns what is known of the locks of a package.
func (f *Facts) lockProgram(p *packages.Package) *locks.Program {
	program := f.lockPrograms[p]
	if program == nil {
		program = locks.NewProgram(locks.Unit{Info: p.TypesInfo, Files: p.Syntax})
		f.lockPrograms[p] = program
	}
	return program
}

// placeOfLock returns the place that a lock has, if a section can name it.
func placeOfLock(lock *locks.Place) (Place, bool) {
	root, ok := lock.Root().(*types.Var)
	if !ok {
		return Place{}, false
	}
	p := Place{Root: root}
	for i, s := range lock.Steps() {
		if s.Field == locks.Element || s.Up || i > 0 && IsPointer(p.Last().Type()) {
			return Place{}, false
		}
		p.Fields = append(p.Fields, s.Field)
	}
	return p, true
}
