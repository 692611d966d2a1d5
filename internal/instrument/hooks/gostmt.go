package hooks

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// goStmt returns the text of a go statement. The function and its arguments are
// evaluated first, as the language has it, by the goroutine that starts the other:
//
//	go func() { ... }()   ->   cofferdamrt.Go(7, func() { ... })
//	go x.f(a, 1)          ->   { f := x.f; v := a; cofferdamrt.GoCall(7, func() { f(v, 1) }) }
func (r *rewriter) goStmt(s *ast.GoStmt) string {
	if lit, ok := s.Call.Fun.(*ast.FuncLit); ok && len(s.Call.Args) == 0 && lit.Type.Params.NumFields() == 0 && lit.Type.Results.NumFields() == 0 {
		r.calls++
		return r.hook("Go", r.site(event.Go, s), r.newlines(s.Pos(), lit.Pos())+r.value(lit)) + r.newlines(lit.End(), s.End())
	}
	before, call, ok := r.hoistCall(s.Call)
	if !ok {
		r.miss(s, "go statement", "an argument takes its type from the parameter")
		return r.spliced(s, r.part(s.Call, r.call(s.Call)))
	}
	return "{ " + before + r.hook("GoCall", r.site(event.Go, s), "func() { "+call+" }") + " }" + r.newlines(r.lastOf(s.Call), s.End())
}

// deferStmt returns the text of a defer statement. Nothing may come between the
// deferred function and the panic it recovers, so the call stays as it is, unless
// it is one that is itself an access: the access is made when the call is.
func (r *rewriter) deferStmt(s *ast.DeferStmt) string {
	if !r.isAccess(s.Call) {
		return r.spliced(s, r.part(s.Call, r.call(s.Call)))
	}
	before, call, ok := r.hoistCall(s.Call)
	if !ok {
		r.miss(s, "defer statement", "an argument takes its type from the parameter")
		return r.verbatim(s)
	}
	return "{ " + before + "defer func() { " + call + " }() }" + r.newlines(r.lastOf(s.Call), s.End())
}

// lastOf returns the end of a call's last operand.
func (r *rewriter) lastOf(e *ast.CallExpr) token.Pos {
	if len(e.Args) > 0 {
		return e.Args[len(e.Args)-1].End()
	}
	return e.Fun.End()
}

// isAccess reports whether a call becomes a plain one on what a hook returns, so
// that the hook would run when the call is only being prepared.
func (r *rewriter) isAccess(e *ast.CallExpr) bool {
	switch r.builtin(e.Fun) {
	case "delete", "clear":
		return r.accesses()
	case "":
	default:
		return false
	}
	if r.atomicFunc(e.Fun) != "" {
		return true
	}
	sel, ok := e.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	s := r.info.Selections[sel]
	return s != nil && atomicMethod(s) != ""
}

// hoistCall returns statements that evaluate the operands of a call, and the call
// on what they evaluated. It fails if an operand has no type of its own.
func (r *rewriter) hoistCall(e *ast.CallExpr) (before, call string, ok bool) {
	r.together(append([]ast.Expr{e.Fun}, e.Args...)...)
	var b strings.Builder
	bind := func(value string) string {
		v := r.name()
		b.WriteString(v + " := " + value + "; ")
		return v
	}
	fun := ""
	pos := e.Fun.End()
	access := r.isAccess(e)
	switch f := ast.Unparen(e.Fun).(type) {
	case *ast.SelectorExpr:
		s := r.info.Selections[f]
		switch {
		case s == nil && !r.isPlace(f):
			fun = r.value(f)
		case access:
			// Bound to the address of what the operation is about.
			fun, ok = r.hoistAtomic(e, f, s, bind)
			if !ok {
				return "", "", false
			}
		case s != nil && s.Kind() == types.MethodExpr:
			fun = r.verbatim(f)
		default:
			fun = bind(r.callee(f))
		}
	default:
		if r.plainFunc(f) {
			fun = r.verbatim(e.Fun)
		} else {
			fun = bind(r.value(e.Fun))
		}
	}
	var args []string
	for i, a := range e.Args {
		b.WriteString(r.newlines(pos, a.Pos()))
		pos = a.End()
		tv := r.info.Types[a]
		switch {
		case r.constant(a) || tv.IsType():
			args = append(args, r.verbatim(a))
			continue
		case r.untypedShift(a):
			return "", "", false
		}
		tuple, many := r.typeOf(a).(*types.Tuple)
		if many {
			var names []string
			for range tuple.Len() {
				names = append(names, r.name())
			}
			b.WriteString(strings.Join(names, ", ") + " := " + r.value(a) + "; ")
			args = append(args, names...)
			continue
		}
		v := r.use(bind(r.value(a)), a)
		if e.Ellipsis.IsValid() && i == len(e.Args)-1 {
			v += "..."
		}
		args = append(args, v)
	}
	r.calls++
	if access && r.builtin(e.Fun) == "" && r.atomicFunc(e.Fun) != "" {
		args[0] = r.atomicHook(args[0], r.atomicFunc(e.Fun), e)
	}
	switch name := r.builtin(e.Fun); {
	case name == "delete" && r.accesses():
		fun = r.hook("Map", args[0]) + ".Delete"
		args = []string{args[1], r.entrySite(event.MapWrite, e, e.Args[0])}
	case name == "clear" && isMap(r.typeOf(e.Args[0])):
		if r.accesses() {
			args[0] = r.hook("ClearMap", args[0], r.site(event.MapWrite, e))
		}
	case name == "clear" && r.accesses():
		args[0] = r.hook("Clear", args[0], r.site(event.Store, e))
	case name == "close":
		fun = r.rt + ".Close"
		args = append(args, r.site(event.Close, e))
	case name == "copy" && r.accesses():
		fun = r.rt + ".Copy"
		if !isSlice(r.typeOf(e.Args[1])) {
			fun = r.rt + ".CopyString"
		}
		args = append(args, r.site(event.Store, e))
	}
	return b.String(), fun + "(" + strings.Join(args, ", ") + ")", true
}

// hoistAtomic binds what an atomic operation is about, and returns the function to
// call on it.
func (r *rewriter) hoistAtomic(e *ast.CallExpr, f *ast.SelectorExpr, s *types.Selection, bind func(string) string) (string, bool) {
	if s == nil {
		return r.verbatim(f), true
	}
	if len(s.Index()) > 1 {
		return "", false
	}
	text := r.base(f.X)
	if !isPointer(r.typeOf(f.X)) {
		text = "&" + text
	}
	return r.atomicHook(bind(text), f.Sel.Name, e) + "." + f.Sel.Name, true
}

// plainFunc reports whether e names a declared or built-in function, which
// evaluates to itself at any time.
func (r *rewriter) plainFunc(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		switch r.info.Uses[e].(type) {
		case *types.Func, *types.Builtin:
			return true
		}
	case *ast.IndexExpr:
		return r.plainFunc(e.X) && r.info.Types[e.Index].IsType()
	case *ast.IndexListExpr:
		return r.plainFunc(e.X)
	case *ast.SelectorExpr:
		_, ok := r.info.Uses[e.Sel].(*types.Func)
		return ok && r.info.Selections[e] == nil
	}
	return false
}
