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

// atomicStmt returns the text of a statement that is an atomic operation on the result of
// a call, which may well be one of another: the operation's hook is to come after it.
//
//	n.Store(n.Load() + 1)   ->   { v := cofferdamrt.A(&n, 5, 8).Load() + 1; cofferdamrt.A(&n, 6, 9).Store(v) }
func (r *rewriter) atomicStmt(s *ast.ExprStmt) (string, bool) {
	e, ok := s.X.(*ast.CallExpr)
	if !ok || len(e.Args) == 0 || r.line(s.Pos()) != r.line(s.End()) {
		return "", false
	}
	last := e.Args[len(e.Args)-1]
	if tv := r.info.Types[last]; !r.hasCall(last) || tv.Value != nil || tv.IsNil() {
		return "", false
	}
	if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); !ok || r.hasCall(sel.X) || !r.isAtomic(e) {
		return "", false
	}
	for _, a := range e.Args[:len(e.Args)-1] {
		if r.hasCall(a) {
			return "", false
		}
	}
	name := r.name()
	parts := r.arguments(e)
	value := parts[len(parts)-1].text
	parts[len(parts)-1].text = name
	text, ok := r.atomicText(e, parts)
	if !ok {
		return "", false
	}
	return "{ " + name + " := " + value + "; " + text + " }", true
}

// atomicCall returns the text of a call of package sync/atomic, in either style:
//
//	atomic.AddInt32(&n, 1)   ->   atomic.AddInt32(cofferdamrt.A(&n, 7, 9), 1)
//	x.Load()                 ->   cofferdamrt.A(&x, 5, 9).Load()
func (r *rewriter) atomicCall(e *ast.CallExpr) (string, bool) {
	if !r.isAtomic(e) {
		return "", false
	}
	return r.atomicText(e, r.arguments(e))
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

// atomicText is atomicCall with the arguments as given.
func (r *rewriter) atomicText(e *ast.CallExpr, parts []part) (string, bool) {
	if name := r.atomicFunc(e.Fun); name != "" {
		parts[0].text = r.atomicHook(parts[0].text, name, e)
		return r.spliced(e, parts...), true
	}
	sel := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	s := r.info.Selections[sel]
	name := atomicMethod(s)
	path := s.Index()
	path = path[:len(path)-1]
	text, t := r.base(sel.X), r.typeOf(sel.X)
	if len(path) > 0 {
		if !r.reachable(t, path) {
			r.miss(e, "atomic operation "+r.verbatim(e), "the name of an embedded field on the way cannot be written in this package")
			return "", false
		}
		for _, i := range path {
			if p, ok := core(t).(*types.Pointer); ok {
				t = p.Elem()
			}
			f := core(t).(*types.Struct).Field(i)
			text += "." + f.Name()
			t = f.Type()
		}
	}
	if !isPointer(t) {
		text = "&" + text
	}
	parts = append(parts, part{sel.Pos(), sel.X.End(), r.atomicHook(text, name, e)})
	return r.spliced(e, parts...), true
}
