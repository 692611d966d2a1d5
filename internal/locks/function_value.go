package locks

import (
	"go/ast"
	"go/types"
	"slices"
)

// functionValues are the functions of a program that are used as values: what a call of a
// function value may run, if its type is the same.
//
//	c.onChange = c.refresh              a method value
//	go watch(func() { c.refresh() })    a literal that is handed on
//	c.onChange()                        may run both
type functionValues struct {
	literals []*function
	declared []declaredValue
	// open are the types of functions, and the program's own interfaces, that code outside the program
	// can hand in: parameters of exported functions and of the functions that these return, exported
	// fields and variables.
	open []types.Type
	// handedOut are the types of functions that code outside the program can call.
	handedOut []types.Type
}

// A declaredValue is a declared function or a method that is used as a value.
type declaredValue struct {
	object *types.Func
	t      types.Type // of the expression: without the receiver for a method value
}

// noteFunctionValue notes what a node has to do with functions as values. around are the
// nodes that it is in, the nearest last.
func (p *Program) noteFunctionValue(info *types.Info, n ast.Node, around []ast.Node) {
	switch n := n.(type) {
	case *ast.FuncLit:
		if !isCalled(n, around) {
			p.values.literals = append(p.values.literals, p.functions[n])
		}
	case *ast.Ident:
		switch o := info.ObjectOf(n).(type) {
		case *types.Func:
			expr, rest := ast.Expr(n), around
			if s, ok := around[len(around)-1].(*ast.SelectorExpr); ok && s.Sel == n {
				expr, rest = s, around[:len(around)-1]
			}
			if info.Defs[n] == nil && !isCalled(expr, rest) {
				p.values.declared = append(p.values.declared, declaredValue{o.Origin(), info.TypeOf(expr)})
			}
			if info.Defs[n] != nil {
				p.noteOpenParameters(o)
			}
		case *types.Var:
			if info.Defs[n] != nil && o.Exported() && (o.IsField() || o.Parent() == o.Pkg().Scope()) && !isMain(o.Pkg()) {
				p.noteOpen(o.Type())
			}
		}
	}
}

// isCalled reports whether an expression is what a call calls.
func isCalled(e ast.Expr, around []ast.Node) bool {
	for _, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.ParenExpr:
			e = n
		case *ast.IndexExpr:
			if n.X != e {
				return false
			}
			e = n
		case *ast.IndexListExpr:
			if n.X != e {
				return false
			}
			e = n
		case *ast.CallExpr:
			return n.Fun == e
		default:
			return false
		}
	}
	return false
}

// noteOpenParameters notes the functions that code outside the program can hand to an
// exported function, or to one that it returns.
func (p *Program) noteOpenParameters(fn *types.Func) {
	if fn.Exported() && !isMain(fn.Pkg()) {
		p.noteHandedOut(fn.Signature())
	}
}

// noteOpen notes that code outside the program can hand in values of a type, also as the elements or
// entries of others:
//
//	func New(handlers map[string]Handler) *Router
//
// The functions that such a function is given are the program's, those that it returns are not.
func (p *Program) noteOpen(t types.Type) {
	t = handedIn(t)
	if named, ok := types.Unalias(t).(*types.Named); ok && isImplementable(t) && !isAmong(p.values.open, named.Origin()) {
		p.values.open = append(p.values.open, named.Origin())
	}
	fn, ok := t.Underlying().(*types.Signature)
	if !ok || isComparison(fn) || isAmong(p.values.open, fn) {
		return
	}
	p.values.open = append(p.values.open, fn)
	for v := range fn.Results().Variables() {
		p.noteOpen(v.Type())
	}
}

// isComparison reports whether a function is given two of one type and says how they compare, as less in
// sort.Slice does: it knows of these two alone.
func isComparison(fn *types.Signature) bool {
	if fn.Params().Len() != 2 || fn.Results().Len() != 1 || !types.Identical(fn.Params().At(0).Type(), fn.Params().At(1).Type()) {
		return false
	}
	result, ok := fn.Results().At(0).Type().Underlying().(*types.Basic)
	return ok && (result.Kind() == types.Bool || result.Kind() == types.Int)
}

// handedIn is the type of what a slice, map, array, channel or pointer leads to, at any depth; another type is
// itself. A defined type may lead to itself, and so to nothing that could be called.
func handedIn(t types.Type) types.Type {
	for range maxLeading {
		switch u := t.Underlying().(type) {
		case *types.Slice: // also of a variadic parameter
			t = u.Elem()
		case *types.Array:
			t = u.Elem()
		case *types.Map:
			t = u.Elem()
		case *types.Chan:
			t = u.Elem()
		case *types.Pointer:
			t = u.Elem()
		default:
			return t
		}
	}
	return t
}

// maxLeading bounds how many types that lead to others are followed.
const maxLeading = 8

// noteHandedOut notes that code outside the program can call a function of the program.
//
//	func (r *Ring) All() iter.Seq[int] {
//		return func(yield func(int) bool) { ... }     yield is the body of a loop elsewhere
//	}
func (p *Program) noteHandedOut(fn *types.Signature) {
	if isAmong(p.values.handedOut, fn) {
		return
	}
	p.values.handedOut = append(p.values.handedOut, fn)
	for v := range fn.Params().Variables() {
		p.noteOpen(v.Type())
	}
	for v := range fn.Results().Variables() {
		if result, ok := v.Type().Underlying().(*types.Signature); ok {
			p.noteHandedOut(result)
		}
	}
}

func isMain(pkg *types.Package) bool { return pkg == nil || pkg.Name() == "main" }

// of are the functions of the program that a value of a function type may be.
func (v *functionValues) of(p *Program, t types.Type) []*function {
	t = t.Underlying()
	var all []*function
	for _, f := range v.literals {
		if mayBeIdentical(f.info.TypeOf(f.node.(*ast.FuncLit)).Underlying(), t) {
			all = append(all, f)
		}
	}
	for _, d := range v.declared {
		if f := p.declared[d.object]; f != nil && mayBeIdentical(d.t.Underlying(), t) {
			all = append(all, f)
		}
	}
	return all
}

// IsOpen reports whether a call may run code that is not in the program but that the program
// is given: a function value, or an implementation of an interface of the program. One of other
// interfaces, such as error and io.Writer, knows nothing of the program, but for those with methods that
// are free to do anything.
func (p *Program) IsOpen(info *types.Info, call *ast.CallExpr) bool {
	if t, ok := p.target(info, call.Fun); ok && t.parameter == nil {
		return false
	}
	if fn := calleeOf(info, call); fn != nil {
		method, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok || isProperty(fn) {
			return false
		}
		return p.isOpenInterface(info.TypeOf(method.X)) || freeToDoAnything[fn.FullName()] && p.isHandedIn(info.TypeOf(method.X))
	}
	return p.isOpenType(info.TypeOf(call.Fun))
}

// freeToDoAnything are methods of the standard library's interfaces that people write for their own
// ends. A Close ends what uses the object, and waits for it; a handler or a transport runs a program.
var freeToDoAnything = map[string]bool{
	"(io.Closer).Close": true, "(net/http.Handler).ServeHTTP": true, "(net/http.RoundTripper).RoundTrip": true,
}

// IsOpenRange reports whether a loop may run such code: it goes over what a function hands it.
func (p *Program) IsOpenRange(info *types.Info, loop *ast.RangeStmt) bool {
	if t, ok := p.target(info, loop.X); ok && t.parameter == nil {
		return false
	}
	return p.isOpenType(info.TypeOf(loop.X))
}

func (p *Program) isOpenType(t types.Type) bool {
	return t != nil && hasType(p.values.open, t.Underlying())
}

// isOpenInterface reports whether a type is an interface of the program that code outside it can
// implement, and hand in.
func (p *Program) isOpenInterface(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && p.interfaces[named.Origin().Obj()] && p.isHandedIn(named)
}

// isHandedIn reports whether a type is an interface of which code outside the program can hand in an
// implementation.
func (p *Program) isHandedIn(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && hasType(p.values.open, named.Origin())
}

// isProperty reports whether a method is given nothing and returns a number, a text or the like, as
// Name() string does: it tells something of its own.
func isProperty(fn *types.Func) bool {
	results := fn.Signature().Results()
	if fn.Signature().Params().Len() > 0 || results.Len() != 1 {
		return false
	}
	_, basic := results.At(0).Type().Underlying().(*types.Basic)
	return basic
}

// isImplementable reports whether a type is an interface that any package can implement.
func isImplementable(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 {
		return false
	}
	for m := range i.Methods() {
		if !m.Exported() {
			return false
		}
	}
	return true
}

func isAmong(all []types.Type, t types.Type) bool {
	return slices.ContainsFunc(all, func(o types.Type) bool { return types.Identical(o, t) })
}

// hasType reports whether a type may be one of others.
func hasType(all []types.Type, t types.Type) bool {
	return slices.ContainsFunc(all, func(o types.Type) bool { return mayBeIdentical(o, t) })
}

// mayBeIdentical reports whether two types are identical if their type parameters stand for the same:
// each method of a generic type has parameters of its own.
func mayBeIdentical(t, u types.Type) bool {
	t, u = types.Unalias(t), types.Unalias(u)
	_, free := t.(*types.TypeParam)
	_, otherFree := u.(*types.TypeParam)
	if free || otherFree {
		return true
	}
	switch t := t.(type) {
	case *types.Signature:
		u, ok := u.(*types.Signature)
		return ok && t.Variadic() == u.Variadic() && tuplesMayBeIdentical(t.Params(), u.Params()) && tuplesMayBeIdentical(t.Results(), u.Results())
	case *types.Named:
		u, ok := u.(*types.Named)
		if !ok || t.Origin() != u.Origin() || t.TypeArgs().Len() != u.TypeArgs().Len() {
			return false
		}
		for i := range t.TypeArgs().Len() {
			if !mayBeIdentical(t.TypeArgs().At(i), u.TypeArgs().At(i)) {
				return false
			}
		}
		return true
	case *types.Pointer:
		u, ok := u.(*types.Pointer)
		return ok && mayBeIdentical(t.Elem(), u.Elem())
	case *types.Slice:
		u, ok := u.(*types.Slice)
		return ok && mayBeIdentical(t.Elem(), u.Elem())
	case *types.Array:
		u, ok := u.(*types.Array)
		return ok && t.Len() == u.Len() && mayBeIdentical(t.Elem(), u.Elem())
	case *types.Map:
		u, ok := u.(*types.Map)
		return ok && mayBeIdentical(t.Key(), u.Key()) && mayBeIdentical(t.Elem(), u.Elem())
	case *types.Chan:
		u, ok := u.(*types.Chan)
		return ok && t.Dir() == u.Dir() && mayBeIdentical(t.Elem(), u.Elem())
	}
	return types.Identical(t, u)
}

func tuplesMayBeIdentical(t, u *types.Tuple) bool {
	if t.Len() != u.Len() {
		return false
	}
	for i := range t.Len() {
		if !mayBeIdentical(t.At(i).Type(), u.At(i).Type()) {
			return false
		}
	}
	return true
}

// Callees returns the functions of the program, *ast.FuncDecl or *ast.FuncLit, that a call
// may run.
func (p *Program) Callees(info *types.Info, call *ast.CallExpr) []ast.Node {
	var all []ast.Node
	for _, f := range p.callees(info, call) {
		all = append(all, f.node)
	}
	return all
}
