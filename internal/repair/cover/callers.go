package cover

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A new lock is taken by the functions that a package's users call, not by their helpers: a
// helper that took it could not be called from a section.

// toCallers moves regions of functions to the calls of them: of functions that call themselves,
// which would otherwise take the lock twice, and of helpers that other regions call.
func (code *Code) toCallers(regions []*Region, l *Lock) []*Region {
	for i, r := range regions {
		d, ok := r.fn.(*ast.FuncDecl)
		if !ok {
			continue
		}
		calls, recursive, static := code.callsFromOutside(d)
		if !static || len(calls) == 0 || !recursive && (code.hasUsers(r) || !calledIn(calls, regions)) || !code.canHold(calls, r, l) {
			continue
		}
		rest := slices.Delete(slices.Clone(regions), i, i+1)
		rest = slices.DeleteFunc(rest, func(o *Region) bool { return o.fn == r.fn })
		for _, c := range calls {
			c.Write = r.Write
			code.aroundLoops(c, l)
			rest = append(rest, c)
		}
		return code.toCallers(code.merge(rest, l), l)
	}
	return regions
}

// callsFromOutside are the calls of a function but for those by functions that it calls itself,
// whether there are any of the latter, and whether it is used in no other way than by calls.
func (code *Code) callsFromOutside(fn ast.Node) (calls []*Region, recursive, static bool) {
	d, ok := fn.(*ast.FuncDecl)
	if !ok {
		return nil, false, false
	}
	static = true
	reached := code.reachedFrom(d)
	inside := []ast.Node{d}
	for i := 0; i < len(inside); i++ {
		all, only := code.callsOf(inside[i])
		static = static && only
		for _, c := range all {
			switch {
			case !reached[c.fn]:
				calls = append(calls, c)
			case !slices.Contains(inside, c.fn):
				inside = append(inside, c.fn)
				fallthrough
			default:
				recursive = true
			}
		}
	}
	return calls, recursive, static
}

// reachedFrom are the functions of the program that a function may run, itself among them if it
// calls itself.
func (code *Code) reachedFrom(d *ast.FuncDecl) map[ast.Node]bool {
	reached := make(map[ast.Node]bool)
	todo := []ast.Node{d}
	for len(todo) > 0 {
		fn := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		f := code.FileOf(fn)
		if f == nil {
			continue
		}
		ast.Inspect(source.Body(fn), func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				for _, callee := range code.locks.Callees(f.Info, call) {
					if !reached[callee] {
						reached[callee] = true
						todo = append(todo, callee)
					}
				}
			}
			return true
		})
	}
	return reached
}

// calledIn reports whether a call lies in a region of another function.
func calledIn(calls, regions []*Region) bool {
	return slices.ContainsFunc(calls, func(c *Region) bool {
		return slices.ContainsFunc(regions, func(r *Region) bool {
			return c.fn == r.fn && r.first().Pos() <= c.first().Pos() && c.last().End() <= r.last().End()
		})
	})
}

// canHold reports whether calls of a region's function can hold the lock.
func (code *Code) canHold(calls []*Region, r *Region, l *Lock) bool {
	return !slices.ContainsFunc(calls, func(c *Region) bool {
		return c.fn == r.fn || strings.HasSuffix(c.file.Name, "_test.go") != r.Test || code.name(l, c) == "" || code.whatMayWait(c.statements(), l) != ""
	})
}
