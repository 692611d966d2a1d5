package instrument

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
	return r.hook("A", pointer, strconv.Itoa(int(k)), r.site(k.String(), call))
}

// atomicCall returns the text of a call of package sync/atomic, in either style:
//
//	atomic.AddInt32(&n, 1)   ->   atomic.AddInt32(cofferdamrt.A(&n, 7, 9), 1)
//	x.Load()                 ->   cofferdamrt.A(&x, 5, 9).Load()
func (r *rewriter) atomicCall(e *ast.CallExpr) (string, bool) {
	if name := r.atomicFunc(e.Fun); name != "" && len(e.Args) > 0 {
		if sig, ok := r.typeOf(e.Fun).(*types.Signature); !ok || sig.Params().Len() != len(e.Args) {
			return "", false
		}
		parts := r.arguments(e)
		parts[0].text = r.atomicHook(parts[0].text, name, e)
		return r.spliced(e, parts...), true
	}
	sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	s := r.info.Selections[sel]
	if s == nil {
		return "", false
	}
	name := atomicMethod(s)
	if name == "" {
		return "", false
	}
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
	parts := append(r.arguments(e), part{sel.Pos(), sel.X.End(), r.atomicHook(text, name, e)})
	return r.spliced(e, parts...), true
}
