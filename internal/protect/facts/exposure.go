package facts

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// An Exposure says which pointers might lead to a variable or field. Code that uses such
// a pointer must find the variable published.
type Exposure uint8

const (
	// Hidden is what no pointer leads to.
	Hidden Exposure = iota
	// Pointed is what pointers to its type may lead to: its address is taken.
	Pointed
	// Forged is what any pointer may lead to: one was made with package unsafe, or
	// converted.
	Forged
)

// exposureByMethod is a variable that a method with a pointer receiver is called on. It
// is exposed unless the method only borrows it, which is known when all are looked at.
type exposureByMethod struct {
	key    Key
	method FuncKey // "" if the variable is exposed in any case
}

// Exposure returns how a variable or field is exposed.
func (f *Facts) Exposure(v *types.Var) Exposure { return f.exposures[f.KeyOf(v)] }

// ExposedWithin reports whether the address of a field that values of a type have is
// taken anywhere.
func (f *Facts) ExposedWithin(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return f.ExposedWithin(u.Elem())
	case *types.Struct:
		for v := range u.Fields() {
			if f.Exposure(v) != Hidden || f.ExposedWithin(v.Type()) {
				return true
			}
		}
	}
	return false
}

func (f *Facts) expose(v *types.Var, how Exposure) {
	k := f.KeyOf(v)
	f.exposures[k] = max(f.exposures[k], how)
}

// exposeKeptReceivers exposes what methods are called on that keep their receivers.
func (f *Facts) exposeKeptReceivers() {
	for _, m := range f.byMethod {
		if f.borrowers[m.method] == nil {
			f.exposures[m.key] = max(f.exposures[m.key], Pointed)
		}
	}
}

func (o *observer) observeExposure(c inspector.Cursor) {
	switch n := c.Node().(type) {
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			o.exposeMemory(n.X, Pointed)
		}
	case *ast.SliceExpr:
		if IsArray(o.info.TypeOf(n.X)) {
			o.exposeMemory(n.X, Forged)
		}
	case *ast.SelectorExpr:
		if s := o.info.Selections[n]; s != nil && s.Kind() == types.MethodVal {
			o.exposeReceiver(c, n, s)
		}
	case *ast.CallExpr:
		o.exposeConverted(n)
	}
}

// exposeReceiver exposes what a method with a pointer receiver is called on.
func (o *observer) exposeReceiver(c inspector.Cursor, n *ast.SelectorExpr, s *types.Selection) {
	f := s.Obj().(*types.Func)
	r := f.Signature().Recv()
	if r == nil || !IsPointer(r.Type()) || locks.IsMutex(r.Type()) {
		return
	}
	var method FuncKey
	if calledOnVariable(o.info, n, c.Parent().Node()) != nil {
		method = FuncKeyOf(f)
	}
	expose := func(v *types.Var) { o.byMethod = append(o.byMethod, exposureByMethod{o.KeyOf(v), method}) }
	// The embedded fields on the way to the method, as far as they are values.
	t := o.info.TypeOf(n.X)
	index := s.Index()
	addressed := !IsPointer(t)
	t = Deref(t)
	var way []*types.Var
	for _, i := range index[:len(index)-1] {
		st, ok := t.Underlying().(*types.Struct)
		if !ok {
			return
		}
		v := st.Field(i)
		if IsPointer(v.Type()) {
			way, addressed = nil, false
		} else {
			way = append(way, v)
		}
		t = Deref(v.Type())
	}
	for _, v := range way {
		expose(v)
	}
	if addressed {
		o.eachOfMemory(n.X, expose)
	}
}

// exposeMemory exposes the variable or field that an expression denotes, and the variables
// and fields that have it as a part.
func (o *observer) exposeMemory(e ast.Expr, how Exposure) {
	o.eachOfMemory(e, func(v *types.Var) { o.expose(v, how) })
}

// eachOfMemory calls f with the variable or field that an expression denotes, and with the
// variables and fields that have it as a part.
func (o *observer) eachOfMemory(e ast.Expr, f func(*types.Var)) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := o.info.ObjectOf(e).(*types.Var); ok {
			f(v)
		}
	case *ast.SelectorExpr:
		o.eachOfSelection(e, f)
	case *ast.IndexExpr:
		if IsArray(o.info.TypeOf(e.X)) {
			o.eachOfMemory(e.X, f)
		}
	}
}

func (o *observer) eachOfSelection(e *ast.SelectorExpr, f func(*types.Var)) {
	s := o.info.Selections[e]
	if s == nil {
		if v, ok := o.info.ObjectOf(e.Sel).(*types.Var); ok {
			f(v)
		}
		return
	}
	if s.Kind() != types.FieldVal {
		return
	}
	t := o.info.TypeOf(e.X)
	value := !IsPointer(t)
	t = Deref(t)
	for _, i := range s.Index() {
		st, ok := t.Underlying().(*types.Struct)
		if !ok {
			return
		}
		v := st.Field(i)
		f(v)
		if IsPointer(v.Type()) {
			value = false
		}
		t = Deref(v.Type())
	}
	if value {
		o.eachOfMemory(e.X, f)
	}
}

// exposeConverted exposes what a pointer of another type is made for.
//
//	(*B)(unsafe.Pointer(&a))      a is reached as a B
//	(*B)(p)                       the fields of what p points to are
func (o *observer) exposeConverted(c *ast.CallExpr) {
	tv := o.info.Types[c.Fun]
	if !tv.IsType() || len(c.Args) != 1 {
		return
	}
	from := o.info.TypeOf(c.Args[0])
	switch {
	case from == nil:
	case isUnsafePointer(tv.Type):
		if a, ok := ast.Unparen(c.Args[0]).(*ast.UnaryExpr); ok && a.Op == token.AND {
			o.exposeMemory(a.X, Forged)
		} else if IsPointer(from) {
			o.exposeFields(Deref(from))
		}
	case IsPointer(tv.Type) && isUnsafePointer(from):
		o.exposeFields(Deref(tv.Type))
	case IsPointer(tv.Type) && IsPointer(from) && !types.Identical(Deref(tv.Type), Deref(from)):
		o.exposeFields(Deref(tv.Type))
		o.exposeFields(Deref(from))
	}
}

func (o *observer) exposeFields(t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			o.expose(f, Forged)
			o.exposeFields(f.Type())
		}
	case *types.Array:
		o.exposeFields(u.Elem())
	}
}
