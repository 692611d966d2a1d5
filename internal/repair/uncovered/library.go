package uncovered

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// ByLibrary are the accesses that a function of a library makes by methods of the program, each of which takes
// the lock by itself: what the function does as a whole, others come into.
//
//	func (q *Queue) Less(i, j int) bool { q.mu.Lock(); ... }
//	func (q *Queue) Swap(i, j int)      { q.mu.Lock(); ... }
//
//	sort.Sort(q)     another goroutine may take a job between two calls of them
func (f *Fix) ByLibrary() []Access {
	var all []Access
	for _, file := range f.Code.Files() {
		if IsTestFile(file.Name) {
			continue
		}
		ast.PreorderStack(file.Syntax, nil, func(n ast.Node, around []ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			methods := f.Code.Locks().TakenByLibrary(file.Info, call, f.Lock)
			if len(methods) < 2 {
				return true
			}
			var names []string
			for _, d := range methods {
				names = append(names, d.Name.Name)
			}
			why := fmt.Sprintf("%s calls %s, and each of them takes the lock by itself", source.CalleeName(call).Name, strings.Join(names, ", "))
			at, line := f.lineOf(call.Pos())
			for _, v := range f.Data {
				touches, writes := false, false
				for _, d := range methods {
					in := f.Code.FileOf(d)
					touches, writes = touches || mentions(in, d.Body, v), writes || assigns(in, d.Body, v)
				}
				if touches {
					all = append(all, Access{File: at, Line: line, Func: functionAround(around), Data: v.Name(), Write: writes, Why: why})
				}
			}
			return true
		})
	}
	return all
}

// functionAround is the name of the declared function around a node, as FunctionName has it.
func functionAround(around []ast.Node) string {
	for _, n := range around {
		d, ok := n.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if d.Recv == nil || len(d.Recv.List) == 0 {
			return d.Name.Name
		}
		return "(" + types.ExprString(d.Recv.List[0].Type) + ")." + d.Name.Name
	}
	return ""
}

// mentions reports whether code names a field or variable.
func mentions(file *source.File, n ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used, ok := file.Info.Uses[id].(*types.Var)
			found = found || ok && used.Origin() == v.Origin()
		}
		return !found
	})
	return found
}

// assigns reports whether code assigns to a field or variable, or to an element of it.
func assigns(file *source.File, n ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if set, ok := n.(*ast.AssignStmt); ok {
			found = found || slices.ContainsFunc(set.Lhs, func(e ast.Expr) bool { return mentions(file, e, v) })
		}
		return !found
	})
	return found
}
