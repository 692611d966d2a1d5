package instrument

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/load"
)

// Tests that call t.Parallel run at the same time as each other, and may get into each other's
// way. Which ones do is read from the source, before anything is run: a test that calls the
// method, or a function of the program that does so with the test's own t.
//
//	func TestA(t *testing.T) { t.Parallel(); ... }            parallel
//	func TestB(t *testing.T) { setUp(t); ... }                parallel, if setUp calls t.Parallel
//	func TestC(t *testing.T) { t.Run("x", func(t *testing.T) { t.Parallel() }) }      not
//
// A test that is taken for parallel and is not runs before the others, as it does under go
// test: nothing is lost by it but time. One whose t reaches Parallel through a dependency or
// an interface is missed.

// A parallelism is what is known about functions by their full names: packages are checked one
// by one, and what one imports from another are not the same objects.
type parallelism struct {
	// calls are functions that may call Parallel with their own *testing.T.
	calls map[string]bool
	// passes are, by function, those that it hands its own *testing.T to.
	passes map[string][]string
}

// findParallel looks at the functions of all packages.
func findParallel(checked []*load.Checked) *parallelism {
	p := &parallelism{map[string]bool{}, map[string][]string{}}
	for _, c := range checked {
		for _, f := range c.Files {
			for _, d := range f.Syntax.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					p.function(c.Info, fn)
				}
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for name, to := range p.passes {
			if !p.calls[name] && slices.ContainsFunc(to, func(callee string) bool { return p.calls[callee] }) {
				p.calls[name], grown = true, true
			}
		}
	}
	return p
}

// function notes what a function does with its *testing.T.
func (p *parallelism) function(info *types.Info, fn *ast.FuncDecl) {
	own := map[types.Object]bool{}
	for _, field := range fn.Type.Params.List {
		for _, name := range field.Names {
			if o := info.Defs[name]; o != nil && isTestingT(o.Type()) {
				own[o] = true
			}
		}
	}
	declared, ok := info.Defs[fn.Name].(*types.Func)
	if !ok || len(own) == 0 {
		return
	}
	name := declared.FullName()
	isOwn := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && own[info.Uses[id]]
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		callee := calledFunction(info, call)
		if callee == nil {
			return true
		}
		if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && isOwn(s.X) && callee.FullName() == "(*testing.T).Parallel" {
			p.calls[name] = true
		}
		if slices.ContainsFunc(call.Args, isOwn) {
			p.passes[name] = append(p.passes[name], callee.FullName())
		}
		return true
	})
}

// calledFunction is the function or method that a call names; nil if it names none.
func calledFunction(info *types.Info, call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	var id *ast.Ident
	switch f := fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return nil
	}
	callee, _ := info.Uses[id].(*types.Func)
	if callee != nil {
		callee = callee.Origin()
	}
	return callee
}

// isTestingT reports whether a type is *testing.T.
func isTestingT(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	named, ok := types.Unalias(p.Elem()).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "testing" && named.Obj().Name() == "T"
}

// tests returns the names of the parallel tests among the packages that a binary consists of.
func (p *parallelism) tests(parts []*packages.Package) []string {
	var all []string
	for name := range p.calls {
		for _, part := range parts {
			if test, ok := strings.CutPrefix(name, part.PkgPath+"."); ok && part.ForTest != "" && strings.HasPrefix(test, "Test") && !slices.Contains(all, test) {
				all = append(all, test)
			}
		}
	}
	slices.Sort(all)
	return all
}
