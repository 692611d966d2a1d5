package protect

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/packages"
)

// exposed has the variables and fields whose address somebody takes. A part that
// uses a pointer by which it might reach one of them must find it published.
type exposed map[key]exposure

// An exposure says which pointers might lead to a variable.
type exposure uint8

const (
	hidden  exposure = iota // none
	pointed                 // pointers to its type
	forged                  // any: one was made with package unsafe, or converted
)

func findExposed(pkgs []*packages.Package, borrowers borrowers) exposed {
	all := make(exposed)
	for _, p := range pkgs {
		x := &exposing{fset: p.Fset, info: p.TypesInfo, all: all, borrowers: borrowers, borrows: make(map[*ast.SelectorExpr]bool)}
		for _, f := range p.Syntax {
			ast.Inspect(f, x.node)
		}
	}
	return all
}

type exposing struct {
	fset      *token.FileSet
	info      *types.Info
	all       exposed
	borrowers borrowers
	borrows   map[*ast.SelectorExpr]bool // they call methods that borrow the receiver
}

func (x *exposing) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			x.memory(n.X, pointed)
		}
	case *ast.SliceExpr:
		if isArray(x.info.TypeOf(n.X)) {
			x.memory(n.X, forged)
		}
	case *ast.SelectorExpr:
		// A method with a pointer receiver, called on a variable.
		if s := x.info.Selections[n]; s != nil && s.Kind() == types.MethodVal && !x.borrows[n] {
			x.receiver(n, s)
		}
	case *ast.CallExpr:
		if e, ok := n.Fun.(*ast.SelectorExpr); ok && x.borrowers.of(x.info, e, n) != nil {
			x.borrows[e] = true
		}
		x.conversion(n)
	}
	return true
}

// receiver exposes what a method with a pointer receiver is called on.
func (x *exposing) receiver(n *ast.SelectorExpr, s *types.Selection) {
	f := s.Obj().(*types.Func)
	r := f.Signature().Recv()
	if r == nil || !isPointer(r.Type()) || isSync(deref(r.Type()), "Mutex", "RWMutex") {
		return
	}
	// The embedded fields on the way to the method, as far as they are values.
	t := x.info.TypeOf(n.X)
	index := s.Index()
	addressed := !isPointer(t)
	t = deref(t)
	var way []*types.Var
	for _, i := range index[:len(index)-1] {
		st, ok := t.Underlying().(*types.Struct)
		if !ok {
			return
		}
		v := st.Field(i)
		if isPointer(v.Type()) {
			way, addressed = nil, false
		} else {
			way = append(way, v)
		}
		t = deref(v.Type())
	}
	for _, v := range way {
		x.mark(v, pointed)
	}
	if addressed {
		x.memory(n.X, pointed)
	}
}

// memory exposes the variable or field that an expression denotes, and those that
// it is a part of.
func (x *exposing) memory(e ast.Expr, how exposure) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := x.info.ObjectOf(e).(*types.Var); ok {
			x.mark(v, how)
		}
	case *ast.SelectorExpr:
		s := x.info.Selections[e]
		if s == nil {
			if v, ok := x.info.ObjectOf(e.Sel).(*types.Var); ok {
				x.mark(v, how)
			}
			return
		}
		if s.Kind() != types.FieldVal {
			return
		}
		t := x.info.TypeOf(e.X)
		value := !isPointer(t)
		t = deref(t)
		for _, i := range s.Index() {
			st, ok := t.Underlying().(*types.Struct)
			if !ok {
				return
			}
			v := st.Field(i)
			x.mark(v, how)
			if isPointer(v.Type()) {
				value = false
			}
			t = deref(v.Type())
		}
		if value {
			x.memory(e.X, how)
		}
	case *ast.IndexExpr:
		if isArray(x.info.TypeOf(e.X)) {
			x.memory(e.X, how)
		}
	}
}

func (x *exposing) mark(v *types.Var, how exposure) {
	k := keyOf(x.fset, v)
	x.all[k] = max(x.all[k], how)
}

// conversion exposes what a pointer of another type is made for.
func (x *exposing) conversion(c *ast.CallExpr) {
	tv := x.info.Types[c.Fun]
	if !tv.IsType() || len(c.Args) != 1 {
		return
	}
	from := x.info.TypeOf(c.Args[0])
	switch {
	case from == nil:
	case isUnsafe(tv.Type):
		if a, ok := ast.Unparen(c.Args[0]).(*ast.UnaryExpr); ok && a.Op == token.AND {
			x.memory(a.X, forged)
		} else if isPointer(from) {
			x.fields(deref(from))
		}
	case isPointer(tv.Type) && isUnsafe(from):
		x.fields(deref(tv.Type))
	case isPointer(tv.Type) && isPointer(from) && !types.Identical(deref(tv.Type), deref(from)):
		x.fields(deref(tv.Type))
		x.fields(deref(from))
	}
}

func isUnsafe(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.UnsafePointer
}

func (x *exposing) fields(t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			x.mark(f, forged)
			x.fields(f.Type())
		}
	case *types.Array:
		x.fields(u.Elem())
	}
}
