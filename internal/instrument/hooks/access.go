package hooks

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// value returns the text of an expression whose value is asked for. A place that
// may be shared is loaded through a hook:
//
//	x.f   ->   cofferdamrt.R(&x.f, 7)
//
// One hook stands for the whole load, however long the path to it is: x.a.b is one
// load if x.a is a struct, two if it is a pointer.
func (r *rewriter) value(e ast.Expr) string {
	if r.aheadOf[e] && r.early != nil {
		delete(r.aheadOf, e)
		return r.bindEarly(e, r.value(e))
	}
	tv := r.info.Types[e]
	if tv.IsType() || tv.Value != nil || tv.IsNil() {
		return r.verbatim(e)
	}
	if r.isPlace(e) {
		if r.shared(e) {
			return r.hook("R", r.address(e), r.accessTo(r.typeOf(e), event.Load, e))
		}
		return r.place(e)
	}
	switch e := e.(type) {
	case *ast.Ident, *ast.BasicLit:
		return r.verbatim(e)
	case *ast.ParenExpr:
		return r.spliced(e, r.part(e.X, r.value(e.X)))
	case *ast.FuncLit:
		return r.funcLit(e)
	case *ast.CompositeLit:
		return r.composite(e)
	case *ast.SelectorExpr:
		return r.selector(e)
	case *ast.IndexExpr:
		if isMap(r.typeOf(e.X)) {
			return r.mapRead(e)
		}
		if sig, ok := r.typeOf(e.X).(*types.Signature); ok && sig.TypeParams().Len() > 0 || r.info.Types[e.Index].IsType() {
			return r.verbatim(e)
		}
		return r.spliced(e, r.part(e.X, r.value(e.X)), r.part(e.Index, r.value(e.Index)))
	case *ast.IndexListExpr:
		return r.verbatim(e)
	case *ast.SliceExpr:
		return r.slice(e)
	case *ast.TypeAssertExpr:
		return r.spliced(e, r.part(e.X, r.value(e.X)))
	case *ast.CallExpr:
		return r.call(e)
	case *ast.StarExpr:
		return r.spliced(e, r.part(e.X, r.value(e.X)))
	case *ast.UnaryExpr:
		return r.unary(e)
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			return r.shortCircuit(e)
		}
		return r.spliced(e, r.part(e.X, r.value(e.X)), r.part(e.Y, r.value(e.Y)))
	case *ast.KeyValueExpr:
		return r.spliced(e, r.part(e.Key, r.value(e.Key)), r.part(e.Value, r.value(e.Value)))
	}
	return r.verbatim(e)
}

// shortCircuit returns the text of && and ||, whose right side is evaluated or not.
func (r *rewriter) shortCircuit(e *ast.BinaryExpr) string {
	r.together(e.X)
	left := r.part(e.X, r.value(e.X))
	right := r.withoutEarly(func() string { return r.value(e.Y) })
	return r.spliced(e, left, r.part(e.Y, right))
}

// isPlace reports whether e denotes a variable, or a part of one.
func (r *rewriter) isPlace(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		x, ok := r.info.ObjectOf(e).(*types.Var)
		return ok && e.Name != "_" && !x.IsField()
	case *ast.SelectorExpr:
		if r.packageOf(e) == "C" {
			return false
		}
	}
	return r.info.Types[e].Addressable()
}

// shared reports whether a place may be shared: it is reached through a pointer or
// a slice, or is part of a variable that others may reach.
func (r *rewriter) shared(e ast.Expr) bool {
	if !r.accesses() {
		return false
	}
	switch e := e.(type) {
	case *ast.Ident:
		x, ok := r.info.ObjectOf(e).(*types.Var)
		return ok && r.sharedVar(x)
	case *ast.ParenExpr:
		return r.shared(e.X)
	case *ast.SelectorExpr:
		s := r.info.Selections[e]
		if s == nil {
			x, ok := r.info.Uses[e.Sel].(*types.Var)
			return ok && r.sharedVar(x)
		}
		return s.Indirect() || r.shared(e.X)
	case *ast.IndexExpr:
		return !isArray(r.typeOf(e.X)) || r.shared(e.X)
	case *ast.StarExpr:
		return true
	}
	return false
}

func (r *rewriter) sharedVar(x *types.Var) bool {
	switch {
	case x.Pkg() == nil:
		return false
	case x.Parent() == x.Pkg().Scope():
		return r.vars.global(x)
	}
	return r.vars.local(x)
}

// place returns the text of an expression as a place: what is on the way to it is
// loaded, it itself is not.
func (r *rewriter) place(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return r.spliced(e, r.part(e.X, r.place(e.X)))
	case *ast.SelectorExpr:
		if r.info.Selections[e] == nil {
			return r.verbatim(e)
		}
		return r.field(e)
	case *ast.IndexExpr:
		return r.spliced(e, r.part(e.X, r.base(e.X)), r.part(e.Index, r.value(e.Index)))
	case *ast.StarExpr:
		return r.spliced(e, r.part(e.X, r.value(e.X)))
	}
	return r.verbatim(e)
}

// base returns the text of what a field is selected from or an element taken of:
// part of the same place if that is not behind a pointer.
func (r *rewriter) base(e ast.Expr) string {
	if t := r.typeOf(e); r.isPlace(e) && !isPointer(t) && !isSlice(t) && !isMap(t) {
		return r.place(e)
	}
	return r.value(e)
}

// address returns the text of a pointer to a place.
func (r *rewriter) address(e ast.Expr) string {
	if s, ok := ast.Unparen(e).(*ast.StarExpr); ok {
		return r.value(s.X)
	}
	return "&" + r.place(e)
}

// selector returns the text of a selector that is no place: a field of a value
// that has no address, a function of a package, or a method.
func (r *rewriter) selector(e *ast.SelectorExpr) string {
	s := r.info.Selections[e]
	switch {
	case s == nil:
		return r.qualified(e)
	case s.Kind() == types.MethodExpr:
		return r.verbatim(e)
	case s.Kind() == types.MethodVal:
		if what := atomicMethod(s); what != "" {
			r.miss(e, "method value "+r.verbatim(e), "an atomic operation is under control only where it is called")
		}
		return r.receiver(e, s) + r.source(e.X.End(), e.End())
	}
	return r.field(e)
}

// qualified returns the text of a name of another package.
func (r *rewriter) qualified(e *ast.SelectorExpr) string {
	if r.packageOf(e) == "runtime" && (e.Sel.Name == "Gosched" || e.Sel.Name == "GOMAXPROCS" || e.Sel.Name == "GC") {
		r.used = true
		r.hooks++
		// The file's import must stay in use.
		r.tail = append(r.tail, "var _ = "+r.verbatim(e))
		return r.rt + "." + e.Sel.Name
	}
	return r.verbatim(e)
}

// field returns the text of a field as a place, or of a field of a value.
func (r *rewriter) field(e *ast.SelectorExpr) string {
	s := r.info.Selections[e]
	if s == nil {
		return r.base(e.X) + r.source(e.X.End(), e.End())
	}
	path := s.Index()
	text, _, _ := r.through(e, path[:len(path)-1])
	return text + r.source(e.X.End(), e.Sel.Pos()) + e.Sel.Name
}

// through returns the text of what is selected from, extended by the embedded
// fields that the path goes through, with a hook for each pointer among them that
// is loaded on the way. It also returns the type that the text has and whether it
// is a place that may be shared.
//
//	x.f   ->   cofferdamrt.R(&x.Inner, 7).f    for struct{ *Inner }
func (r *rewriter) through(e *ast.SelectorExpr, path []int) (text string, t types.Type, shared bool) {
	text, t = r.base(e.X), r.typeOf(e.X)
	shared = r.accesses() && (isPointer(t) || r.isPlace(e.X) && r.shared(e.X))
	if len(path) == 0 {
		return text, t, shared && !isPointer(t)
	}
	if !r.accesses() || !r.reachable(t, path) {
		if r.accesses() && r.loads(t, path) {
			r.miss(e, "load of an embedded pointer", "its name cannot be written in this package")
		}
		return text, t, false
	}
	dot := "."
	for _, i := range path {
		if p, ok := core(t).(*types.Pointer); ok {
			if shared && dot != "." {
				text = r.hook("R", "&"+text, r.accessTo(t, event.Load, e.X))
			}
			t, shared = p.Elem(), true
		}
		f := core(t).(*types.Struct).Field(i)
		text += "." + f.Name()
		t = f.Type()
		dot = ""
	}
	if isPointer(t) && shared {
		text = r.hook("R", "&"+text, r.accessTo(t, event.Load, e.X))
	}
	return text, t, shared && !isPointer(t)
}

// loads reports whether one of the embedded fields of a path is a pointer.
func (r *rewriter) loads(t types.Type, path []int) bool {
	for _, i := range path {
		if p, ok := core(t).(*types.Pointer); ok {
			t = p.Elem()
		}
		s, ok := core(t).(*types.Struct)
		if !ok {
			return false
		}
		if t = s.Field(i).Type(); isPointer(t) {
			return true
		}
	}
	return false
}

// reachable reports whether the embedded fields of a path can be named here.
func (r *rewriter) reachable(t types.Type, path []int) bool {
	for _, i := range path {
		if p, ok := core(t).(*types.Pointer); ok {
			t = p.Elem()
		}
		s, ok := core(t).(*types.Struct)
		if !ok {
			return false
		}
		f := s.Field(i)
		if !f.Exported() && f.Pkg().Path() != r.pkg.PkgPath {
			return false
		}
		t = f.Type()
	}
	return true
}

// receiver returns the text of what a method is called on, or bound to. A method
// with a value receiver copies it, which is a load.
func (r *rewriter) receiver(e *ast.SelectorExpr, s *types.Selection) string {
	path := s.Index()
	path = path[:len(path)-1]
	recv := s.Obj().(*types.Func).Signature().Recv()
	byValue := recv != nil && !isPointer(recv.Type())
	if len(path) == 0 {
		t := r.typeOf(e.X)
		switch {
		case !byValue || types.IsInterface(t):
			if isPointer(t) || types.IsInterface(t) || !r.isPlace(e.X) {
				return r.value(e.X)
			}
			return r.place(e.X)
		case isPointer(t) && r.accesses():
			return r.hook("R", r.value(e.X), r.accessTo(pointee(t), event.Load, e.X))
		}
		return r.value(e.X)
	}
	text, t, shared := r.through(e, path)
	if !r.accesses() {
		return text
	}
	switch {
	case types.IsInterface(t) && shared:
		return r.hook("R", "&"+text, r.accessTo(t, event.Load, e.X))
	case !byValue || types.IsInterface(t):
		return text
	case isPointer(t):
		return r.hook("R", text, r.accessTo(pointee(t), event.Load, e.X))
	case shared:
		return r.hook("R", "&"+text, r.accessTo(t, event.Load, e.X))
	}
	return text
}

// slice returns the text of a slice expression. Slicing an array takes its address
// and loads nothing.
func (r *rewriter) slice(e *ast.SliceExpr) string {
	operand := r.value
	if isArray(r.typeOf(e.X)) && r.isPlace(e.X) {
		operand = r.place
	}
	parts := []part{r.part(e.X, operand(e.X))}
	for _, i := range []ast.Expr{e.Low, e.High, e.Max} {
		if i != nil {
			parts = append(parts, r.part(i, r.value(i)))
		}
	}
	return r.spliced(e, parts...)
}

func (r *rewriter) unary(e *ast.UnaryExpr) string {
	switch e.Op {
	case token.AND:
		if _, ok := ast.Unparen(e.X).(*ast.CompositeLit); ok {
			return r.allocated(e)
		}
		if r.isPlace(e.X) {
			return r.spliced(e, r.part(e.X, r.place(e.X)))
		}
		return r.verbatim(e)
	case token.ARROW:
		return r.receive(e, "Recv")
	}
	return r.spliced(e, r.part(e.X, r.value(e.X)))
}

// composite returns the text of a composite literal. The keys of a struct's are
// names of fields.
func (r *rewriter) composite(e *ast.CompositeLit) string {
	t := r.typeOf(e)
	if p, ok := core(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	var parts []part
	for _, x := range e.Elts {
		kv, ok := x.(*ast.KeyValueExpr)
		if ok && !isMap(t) {
			parts = append(parts, r.part(kv.Value, r.value(kv.Value)))
			continue
		}
		parts = append(parts, r.part(x, r.value(x)))
	}
	return r.spliced(e, parts...)
}
