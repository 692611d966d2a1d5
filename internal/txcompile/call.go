package txcompile

import (
	"go/ast"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/library"
)

// call is the value of a call.
//
//	x.push(v)      x.push_stm(tx, v)
//	f(v)           compiled.Function(tx, f)(v)
//	i.M(v)         compiled.Method[interface{ M_stmok() }, interface{ M_stmvalue() }](tx, i).M(v)
func (w *writer) call(e *ast.CallExpr) string {
	t := w.p.classify(w.info(), e)
	switch t.kind {
	case conversion:
		return w.conversion(e)
	case builtin:
		return w.builtin(e, t.name)
	case literalCall:
		lit := ast.Unparen(e.Fun).(*ast.FuncLit)
		return w.immediateLiteral(lit) + w.arguments(e)
	case nested:
		if lit := atomicLiteral(w.info(), e); lit != nil {
			return w.immediateLiteral(lit) + "()"
		}
		return w.compiled() + ".Function(" + w.tx() + ", " + w.expr(e.Args[0]) + ")()"
	case cloned:
		if w.p.closedCall(w.f, w.region, e, t.function) {
			return w.harmlessCall(e)
		}
		return w.clonedCall(e, t.function)
	case throughMethod:
		sel := ast.Unparen(e.Fun).(*ast.SelectorExpr)
		r := w.receiver(sel, w.info().Selections[sel])
		return w.compiled() + ".Method[" + w.markerInterfaces(sel.Sel.Name) + "](" + w.tx() + ", " + r + ")." + sel.Sel.Name + w.arguments(e)
	case throughValue:
		return w.compiled() + ".Function(" + w.tx() + ", " + w.expr(e.Fun) + ")" + w.arguments(e)
	case harmless, callingBack:
		return w.harmlessCall(e)
	case arranging:
		return w.arrangingCall(e, t)
	case byMethods:
		return w.callByMethods(e, t)
	case translated:
		return w.compiled() + "." + t.name + "(" + w.tx() + ", " + w.arguments(e)[1:]
	case iterating:
		return w.compiled() + "." + t.name + w.arguments(e)
	case appending:
		return w.appendingCall(e)
	case writingOut:
		return w.writingCall(e, t.written)
	case lookingThrough:
		return w.spliceNode(e, append([]piece{w.errorLookedThrough("Chain", e.Args[0])}, w.valuesOf(e.Args[1:])...)...)
	case assigningError:
		err := w.errorLookedThrough("As", e.Args[0])
		return strings.TrimSuffix(err.text, ")") + ", " + w.expr(e.Args[1]) + ")"
	}
	if w.p.ownFill(w.f, w.region, e) {
		if how, ok := library.Writes(w.info(), typeutil.Callee(w.info(), e).(*types.Func), e); ok {
			return w.writingCall(e, how)
		}
		return w.harmlessCall(e)
	}
	return w.plain(e) // the transaction works in place
}

// arguments are those of a call, in their parentheses.
func (w *writer) arguments(e *ast.CallExpr) string {
	var all []piece
	for _, a := range e.Args {
		all = append(all, w.value(a))
	}
	return w.splice(e.Lparen, e.End(), all...)
}

// clonedCall is a call of a function's clone, whose first argument is the transaction.
func (w *writer) clonedCall(e *ast.CallExpr, f *function) string {
	var fun string
	name := f.Name() + w.p.suffix
	switch x := ast.Unparen(e.Fun).(type) {
	case *ast.SelectorExpr:
		if s := w.info().Selections[x]; s != nil {
			fun = w.receiver(x, s) + "." + name
			break
		}
		fun = w.f.TextOf(x.X) + "." + name
	case *ast.Ident:
		fun = name
	case *ast.IndexExpr:
		fun = w.instance(x.X, name) + w.f.Between(x.X.End(), x.End())
	case *ast.IndexListExpr:
		fun = w.instance(x.X, name) + w.f.Between(x.X.End(), x.End())
	}
	tx := "(" + w.tx()
	if len(e.Args) > 0 {
		tx += ", "
	}
	return fun + tx + w.arguments(e)[1:]
}

func (w *writer) instance(x ast.Expr, name string) string {
	if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok {
		return w.f.TextOf(sel.X) + "." + name
	}
	return name
}

// harmlessCall is a call that stays what it is, with its arguments read in the transaction.
//
//	slices.Contains(x.s, v)                slices.Contains(compiled.Elements(tx, stm.Load(tx, &x.s)), v)
//	sort.Search(n, func(i int) bool {})    sort.Search(n, compiled.Function(tx, compiled.Value(func(i int) bool {})))
func (w *writer) harmlessCall(e *ast.CallExpr) string {
	var all []piece
	if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok && w.info().Selections[sel] != nil {
		all = append(all, piece{e.Fun.Pos(), e.Fun.End(), w.receiver(sel, w.info().Selections[sel]) + "." + sel.Sel.Name})
	}
	for i, a := range e.Args {
		v := w.argument(e, i)
		switch w.info().TypeOf(a).Underlying().(type) {
		case *types.Slice:
			if !w.p.isFresh(w.info(), a) {
				v.text = w.compiled() + ".Elements(" + w.tx() + ", " + v.text + ")"
			}
		case *types.Signature:
			v.text = w.compiled() + ".Function(" + w.tx() + ", " + v.text + ")"
		}
		all = append(all, v)
	}
	return w.spliceNode(e, all...)
}

// argument is one of a call's. If it says how much the function allocates, it is looked at before
// it is believed.
func (w *writer) argument(e *ast.CallExpr, i int) piece {
	v := w.value(e.Args[i])
	if f, ok := typeutil.Callee(w.info(), e).(*types.Func); ok && w.info().Types[e.Args[i]].Value == nil {
		if sized, ok := library.Allocates(f); ok && sized == i {
			v.text = w.length(v.text, 1)
		}
	}
	return v
}

// arrangingCall is a call that changes the order of a slice: that of a copy, which is stored
// then. A function that is given places in the slice has to see the slice itself.
//
//	slices.SortFunc(x.s, f)    compiled.ArrangeBy(tx, stm.Load(tx, &x.s), slices.SortFunc, compiled.Function(tx, f))
//	sort.Slice(x.s, less)      compiled.SortPlaces(tx, stm.Load(tx, &x.s), compiled.Function(tx, less), sort.Sort)
//
// The package is named in each, as it may be imported for this call alone.
func (w *writer) arrangingCall(e *ast.CallExpr, t target) string {
	slice := w.expr(e.Args[0])
	if t.conversion != "" {
		slice = t.conversion + "(" + slice + ")"
	}
	given := "(" + w.tx() + ", " + slice + ", "
	if len(e.Args) == 1 {
		return w.compiled() + ".Arrange" + given + w.f.TextOf(e.Fun) + ")"
	}
	by := w.compiled() + ".Function(" + w.tx() + ", " + w.expr(e.Args[1]) + ")"
	switch t.name {
	case "Slice":
		return w.compiled() + ".SortPlaces" + given + by + ", " + w.instance(e.Fun, "Sort") + ")"
	case "SliceStable":
		return w.compiled() + ".SortPlaces" + given + by + ", " + w.instance(e.Fun, "Stable") + ")"
	}
	return w.compiled() + ".ArrangeBy" + given + w.f.TextOf(e.Fun) + ", " + by + ")"
}

// appendingCall is a call of a function that appends to a slice what it makes of numbers or text.
//
//	strconv.AppendInt(b, n, 10)    compiled.On(tx, []byte(b)).AppendSlice(strconv.AppendInt(nil, n, 10))
func (w *writer) appendingCall(e *ast.CallExpr) string {
	made := []piece{{e.Args[0].Pos(), e.Args[0].End(), "nil"}}
	for i := 1; i < len(e.Args); i++ {
		made = append(made, w.argument(e, i))
	}
	return w.compiled() + ".On(" + w.tx() + ", []byte(" + w.expr(e.Args[0]) + ")).AppendSlice(" + w.spliceNode(e, made...) + ")"
}

// writingCall is a call of a function that writes out what it is given.
//
//	fmt.Errorf("get: %w", err)    fmt.Errorf("get: %w", compiled.Error[interface{ Error_stmok() }, ...](tx, err))
//	fmt.Sprint(v, list)           fmt.Sprint(compiled.Text[...](tx, v), compiled.Elements(tx, list))
func (w *writer) writingCall(e *ast.CallExpr, how []library.Written) string {
	var all []piece
	for i, a := range e.Args {
		v := w.value(a)
		switch how[i] {
		case library.AsError:
			v.text = w.compiled() + ".Error[" + w.markerInterfaces("Error") + "](" + w.tx() + ", " + v.text + ")"
		case library.AsMethods:
			v.text = w.compiled() + ".Text[" + w.markerInterfaces("Error") + ", " + w.markerInterfaces("String") + "](" + w.tx() + ", " + v.text + ")"
		case library.AsValue:
			v.text = w.compiled() + ".Flat(" + w.tx() + ", " + v.text + ")"
		case library.AsValues:
			v.text = w.compiled() + ".Flats(" + w.tx() + ", " + v.text + ")"
		case library.AsElements:
			if !w.p.isFresh(w.info(), a) {
				v.text = w.compiled() + ".Elements(" + w.tx() + ", " + v.text + ")"
			}
		}
		all = append(all, v)
	}
	return w.spliceNode(e, all...)
}

// errorLookedThrough is an error that a function of package compiled looks through, with all that it wraps.
//
//	errors.Is(err, ErrGone)       errors.Is(compiled.Chain[...](tx, err), ErrGone)
//	errors.As(err, &missing)      compiled.As[...](tx, err, &missing)
func (w *writer) errorLookedThrough(by string, err ast.Expr) piece {
	v := w.value(err)
	v.text = w.compiled() + "." + by + "[" + w.markerInterfaces("Is") + ", " + w.markerInterfaces("Unwrap") + "](" + w.tx() + ", " + v.text + ")"
	return v
}

// markerInterfaces are the two interfaces that types have whose method of a name was compiled.
func (w *writer) markerInterfaces(method string) string {
	pointer, value := w.markers(method)
	return "interface{ " + pointer + "() }, interface{ " + value + "() }"
}

// length is a length of something that is about to be allocated.
func (w *writer) length(n string, size int64) string {
	return w.compiled() + ".Length(" + w.tx() + ", " + n + ", " + strconv.FormatInt(size, 10) + ")"
}

// conversion is a conversion. One of a slice to something else than a slice reads its
// elements.
//
//	string(b)      string(compiled.Elements(tx, b))
func (w *writer) conversion(e *ast.CallExpr) string {
	arg := e.Args[0]
	v := w.value(arg)
	from, to := w.info().TypeOf(arg).Underlying(), w.info().TypeOf(e).Underlying()
	if _, ok := from.(*types.Slice); ok {
		_, isSlice := to.(*types.Slice)
		_, isPointer := to.(*types.Pointer)
		if !isSlice && !isPointer {
			v.text = w.compiled() + ".Elements(" + w.tx() + ", " + v.text + ")"
		}
	}
	return w.spliceNode(e, v)
}

// builtin is a call of a function of the language.
func (w *writer) builtin(e *ast.CallExpr, name string) string {
	typ := func(i int) types.Type { return w.info().TypeOf(e.Args[i]).Underlying() }
	all := w.arguments
	with := func(function string) string { return w.compiled() + "." + function + "(" + w.tx() + ", " + all(e)[1:] }
	switch name {
	case "len", "cap":
		switch typ(0).(type) {
		case *types.Map:
			return w.stm() + ".MapLen(" + w.tx() + ", " + all(e)[1:]
		case *types.Chan:
			if name == "len" {
				return "len(" + w.compiled() + ".Channel(" + w.tx() + ", " + all(e)[1:] + ")"
			}
		}
	case "append":
		return w.appendCall(e)
	case "copy":
		if w.p.isFresh(w.info(), e.Args[0]) {
			return w.f.TextOf(e.Fun) + w.spread(e)
		}
		if _, ok := typ(1).(*types.Basic); ok {
			return with("CopyText")
		}
		return with("Copy")
	case "delete":
		return w.compiled() + ".In(" + w.tx() + ", " + w.expr(e.Args[0]) + ").Delete(" + w.expr(e.Args[1]) + ")"
	case "clear":
		if _, ok := typ(0).(*types.Map); ok {
			return w.stm() + ".MapClear(" + w.tx() + ", " + all(e)[1:]
		}
		if w.p.isFresh(w.info(), e.Args[0]) {
			break
		}
		return with("Clear")
	case "make":
		return w.makeCall(e)
	case "recover":
		return w.compiled() + ".Recover(" + w.tx() + ", recover())"
	case "new":
		if w.info().Types[e.Args[0]].IsType() {
			return w.f.TextOf(e)
		}
	case "print", "println", "close":
		return w.plain(e)
	}
	return w.f.TextOf(e.Fun) + all(e)
}

// appendCall is a call of append.
func (w *writer) appendCall(e *ast.CallExpr) string {
	if len(e.Args) == 1 {
		return w.expr(e.Args[0])
	}
	slice := w.expr(e.Args[0])
	if w.p.isFresh(w.info(), e.Args[0]) {
		if e.Ellipsis.IsValid() {
			return w.f.TextOf(e.Fun) + w.spread(e)
		}
		return w.f.TextOf(e.Fun) + w.arguments(e)
	}
	if w.info().Types[e.Args[0]].IsNil() { // append([]T(nil), ...) is the other way to write it
		return w.f.TextOf(e.Fun) + w.arguments(e)
	}
	function := "Append("
	rest := w.splice(e.Args[1].Pos(), e.End(), w.valuesOf(e.Args[1:])...)
	if e.Ellipsis.IsValid() {
		function = "AppendSlice("
		if _, ok := w.info().TypeOf(e.Args[1]).Underlying().(*types.Basic); ok {
			function = "AppendText("
		}
		rest = w.expr(e.Args[1]) + ")"
	}
	return w.compiled() + ".On(" + w.tx() + ", " + slice + ")." + function + rest
}

// spread is the arguments of append(s, more...) and copy(s, more): the elements are read.
func (w *writer) spread(e *ast.CallExpr) string {
	first, more := w.value(e.Args[0]), w.value(e.Args[1])
	if _, ok := w.info().TypeOf(e.Args[1]).Underlying().(*types.Slice); ok && !w.p.isFresh(w.info(), e.Args[1]) {
		more.text = w.compiled() + ".Elements(" + w.tx() + ", " + more.text + ")"
	}
	return w.splice(e.Lparen, e.End(), first, more)
}

func (w *writer) valuesOf(exprs []ast.Expr) []piece {
	var all []piece
	for _, e := range exprs {
		all = append(all, w.value(e))
	}
	return all
}

// makeCall is a call of make, whose numbers are looked at before they are believed.
func (w *writer) makeCall(e *ast.CallExpr) string {
	size := int64(1)
	switch t := w.info().TypeOf(e).Underlying().(type) {
	case *types.Slice:
		size = w.sizeOf(t.Elem())
	case *types.Map:
		size = w.sizeOf(t.Elem()) + w.sizeOf(t.Key())
	case *types.Chan:
		size = w.sizeOf(t.Elem())
	}
	var all []piece
	for _, a := range e.Args[1:] {
		v := w.value(a)
		if w.info().Types[a].Value == nil {
			v.text = w.length(v.text, size)
		}
		all = append(all, v)
	}
	return w.spliceNode(e, all...)
}

// sizeOf is the size of a type, or of what is likely enough a type parameter.
func (w *writer) sizeOf(t types.Type) int64 {
	if source.HasTypeParam(t) {
		return 64
	}
	return w.f.Package.TypesSizes.Sizeof(t)
}
