package hooks

import (
	"go/ast"
	"go/types"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// atomicKind returns what an operation of package sync/atomic does, by its name.
func atomicKind(name string) event.Kind {
	switch {
	case strings.HasPrefix(name, "Load"):
		return event.AtomicLoad
	case strings.HasPrefix(name, "Store"):
		return event.AtomicStore
	case strings.HasPrefix(name, "CompareAndSwap"):
		return event.AtomicCompare
	}
	return event.AtomicUpdate
}

// atomicMethod returns the name of the method if a selection is one of the types
// of package sync/atomic.
func atomicMethod(s *types.Selection) string {
	f, ok := s.Obj().(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != "sync/atomic" || s.Kind() != types.MethodVal {
		return ""
	}
	return f.Name()
}

// atomicFunc returns the name of the function if an expression is one of package
// sync/atomic.
func (r *rewriter) atomicFunc(e ast.Expr) string {
	s, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok || r.packageOf(s) != "sync/atomic" {
		return ""
	}
	if _, ok := r.info.Uses[s.Sel].(*types.Func); !ok {
		return ""
	}
	return s.Sel.Name
}

// atomicHook wraps the text of a pointer to what an atomic operation is about.
func (r *rewriter) atomicHook(pointer, name string, call ast.Node) string {
	k := atomicKind(name)
	return r.hook("A", pointer, strconv.Itoa(int(k)), r.site(k, call))
}

// atomicCall returns the text of a call of package sync/atomic, in either style. The
// operation is announced right before it is done, after its arguments have been evaluated:
//
//	x.Load()                       ->   cofferdamrt.A(&x, 5, 9).Load()
//	x.Store(x.Load() + 1)          ->   cofferdamrt.AtomicStore(&x, 9).Store(cofferdamrt.A(&x, 5, 8).Load() + 1)
//	atomic.AddInt32(&n, 1)         ->   atomic.AddInt32(cofferdamrt.A(&n, 7, 9), 1)
//	atomic.StoreInt32(&n, y.f)     ->   cofferdamrt.AtomicStoreBy(atomic.StoreInt32, &n, cofferdamrt.R(&y.f, 8), 9)
func (r *rewriter) atomicCall(e *ast.CallExpr) (string, bool) {
	if !r.isAtomic(e) {
		return "", false
	}
	r.together(append([]ast.Expr{e.Fun}, e.Args...)...)
	if name := r.atomicFunc(e.Fun); name != "" {
		return r.atomicFuncCall(e, name), true
	}
	pointer, ok := r.atomicPointer(e)
	if !ok {
		return "", false
	}
	sel := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	hooks := r.hooks
	parts := r.arguments(e, 0)
	hook := r.atomicHook(pointer, sel.Sel.Name, e)
	if r.hooks-1 > hooks || r.hasCallIn(e.Args) {
		hook = r.hook("Atomic"+sel.Sel.Name, pointer, r.lastSite())
	}
	return r.spliced(e, append(parts, part{sel.Pos(), sel.X.End(), hook})...), true
}

// atomicFuncCall returns the text of a call of a function of package sync/atomic.
func (r *rewriter) atomicFuncCall(e *ast.CallExpr, name string) string {
	pointer := r.value(e.Args[0])
	hooks := r.hooks
	parts := r.arguments(e, 1)
	hook := r.atomicHook(pointer, name, e)
	if r.hooks-1 == hooks && !r.hasCallIn(e.Args[1:]) {
		return r.spliced(e, append(parts, r.part(e.Args[0], hook))...)
	}
	by := map[event.Kind]string{event.AtomicStore: "AtomicStoreBy", event.AtomicUpdate: "AtomicUpdateBy", event.AtomicCompare: "AtomicCompareBy"}[atomicKind(name)]
	last := e.Args[len(e.Args)-1].End()
	begin := part{e.Pos(), e.Args[0].Pos(), r.rt + "." + by + "(" + r.verbatim(e.Fun) + ", " + r.newlines(e.Lparen, e.Args[0].Pos())}
	end := part{last, e.End(), ", " + r.lastSite() + r.closing(last, e.Rparen)}
	return r.spliced(e, append(parts, begin, r.part(e.Args[0], pointer), end)...)
}

// isAtomic reports whether a call is one of package sync/atomic.
func (r *rewriter) isAtomic(e *ast.CallExpr) bool {
	if r.atomicFunc(e.Fun) != "" {
		sig, ok := r.typeOf(e.Fun).(*types.Signature)
		return ok && len(e.Args) > 0 && sig.Params().Len() == len(e.Args)
	}
	sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	return ok && r.info.Selections[sel] != nil && atomicMethod(r.info.Selections[sel]) != ""
}

// atomicPointer returns the text of a pointer to what a method of package sync/atomic is
// called on.
func (r *rewriter) atomicPointer(e *ast.CallExpr) (string, bool) {
	sel := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	s := r.info.Selections[sel]
	path := s.Index()
	path = path[:len(path)-1]
	if !r.reachable(r.typeOf(sel.X), path) {
		r.miss(e, "atomic operation "+r.verbatim(e), "the name of an embedded field on the way cannot be written in this package")
		return "", false
	}
	text, t := r.base(sel.X), r.typeOf(sel.X)
	for _, i := range path {
		if p, ok := core(t).(*types.Pointer); ok {
			t = p.Elem()
		}
		f := core(t).(*types.Struct).Field(i)
		text += "." + f.Name()
		t = f.Type()
	}
	if !isPointer(t) {
		text = "&" + text
	}
	return text, true
}
