package hooks

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// What assembly does to memory, and what the packages at the bottom of the standard library
// do, which have no hooks, is announced by the packages of the library that call them:
//
//	bytealg.Count(b, c)       ->   bytealg.Count(cofferdamrt.RS(b, 0), c)
//	addVV(z, x, y)            ->   addVV(cofferdamrt.Clear(z, 0), cofferdamrt.RS(x, 0), cofferdamrt.RS(y, 0))
//	strconv.AppendInt(dst, i) ->   cofferdamrt.AppendSlice(dst, strconv.AppendInt(nil, i), 0)
//	clone(m)                  ->   clone(cofferdamrt.MR(m, 0))
//
// Slices are taken to be read as a whole, but for those whose parameters have the names by
// which the library calls what is written.

// bodiless returns the functions of a package that are written in assembly, or are another
// package's.
func bodiless(info *types.Info, files []*source.File) map[*types.Func]bool {
	all := map[*types.Func]bool{}
	for _, f := range files {
		for _, d := range f.Syntax.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok && fd.Body == nil {
				if fn, ok := info.Defs[fd.Name].(*types.Func); ok {
					all[fn] = true
				}
			}
		}
	}
	return all
}

// isBottom reports whether a package of the standard library is one of those without hooks
// that work on the slices that they are given.
func isBottom(path string) bool {
	return strings.HasPrefix(path, "internal/") || strings.HasPrefix(path, "crypto/internal/")
}

// announced returns the arguments of a call with hooks for what the function does to them, if
// that is not seen otherwise.
func (r *rewriter) announced(e *ast.CallExpr, args []part) []part {
	first := len(e.Args) - len(args)
	if r.mode != Library || e.Ellipsis.IsValid() {
		return args
	}
	f := r.callsStatically(e)
	if f == nil || f.Pkg() == nil || !r.bodiless[f] && !isBottom(f.Pkg().Path()) {
		return args
	}
	sig := f.Signature()
	for i, a := range e.Args {
		if i < first {
			continue
		}
		arg := &args[i-first]
		if isMap(r.typeOf(a)) {
			arg.text = r.hook("MR", arg.text, r.site(event.MapRead, a))
		}
		if i >= sig.Params().Len() || !isSlice(r.typeOf(a)) || r.info.Types[a].IsNil() {
			continue
		}
		hook, kind := "RS", event.Load
		if name := sig.Params().At(i).Name(); name == "dst" || name == "z" {
			hook, kind = "Clear", event.Store
		}
		arg.text = r.hook(hook, arg.text, r.site(kind, a))
	}
	return args
}

// appended returns the text of a call that appends to its first argument, unseen, and does nothing
// else to it.
func (r *rewriter) appended(e *ast.CallExpr) (text string, ok bool) {
	if r.mode != Library || len(e.Args) == 0 {
		return "", false
	}
	f := r.callsStatically(e)
	if f == nil || f.Pkg() == nil || !isBottom(f.Pkg().Path()) || !strings.HasPrefix(f.Name(), "Append") {
		return "", false
	}
	params, results := f.Signature().Params(), f.Signature().Results()
	if params.Len() == 0 || params.At(0).Name() != "dst" || results.Len() != 1 || !types.Identical(results.At(0).Type(), params.At(0).Type()) {
		return "", false
	}
	dst := r.value(e.Args[0])
	parts := append(r.announced(e, r.arguments(e, 1)), r.part(e.Args[0], "nil"))
	return r.hook("AppendSlice", dst, r.spliced(e, parts...), r.site(event.Store, e)), true
}

// callsStatically returns the function or method that a call calls, nil if that is decided when the
// program runs.
func (r *rewriter) callsStatically(e *ast.CallExpr) *types.Func {
	switch fun := ast.Unparen(e.Fun).(type) {
	case *ast.Ident:
		f, _ := r.info.Uses[fun].(*types.Func)
		return f
	case *ast.SelectorExpr:
		f, _ := r.info.Uses[fun.Sel].(*types.Func)
		if f != nil && f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type()) {
			return nil
		}
		return f
	}
	return nil
}
