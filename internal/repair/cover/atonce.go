package cover

import (
	"go/ast"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A function literal that a call runs before it returns is a part of the statement with the call:
// a section in the literal would be one in the midst of the statement's, which needs the lock as
// well, and there is one for each time that the literal runs.
//
//	sort.Slice(b.list, func(i, j int) bool {     b.mu.Lock()
//		return b.list[i] < b.list[j]             sort.Slice(b.list, func(i, j int) bool {
//	})                                           	return b.list[i] < b.list[j]
//	                                             })
//	                                             b.mu.Unlock()

// runningFunction is the function whose statements a region in a function consists of: the one
// around it, for a literal that runs at once.
func (code *Code) runningFunction(fn ast.Node) ast.Node {
	for {
		literal, ok := fn.(*ast.FuncLit)
		if !ok {
			return fn
		}
		f := code.FileOf(fn)
		if f == nil || !code.runsAtOnce(f.Info, f.Syntax, literal) {
			return fn
		}
		outer := statement.FunctionAround(f.Syntax, literal)
		if outer == nil {
			return fn
		}
		fn = outer
	}
}

// runsAtOnce reports whether a literal is called where it stands, or given to a function of the
// standard library that has called it when it returns. What package sync and package testing run
// is left as it is: the one orders it by itself, the other has whole tests in it.
func (code *Code) runsAtOnce(info *types.Info, file *ast.File, literal *ast.FuncLit) bool {
	found := false
	elsewhere := make(map[*ast.CallExpr]bool) // calls that a statement makes, but not there
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			elsewhere[n.Call] = true
		case *ast.DeferStmt:
			elsewhere[n.Call] = true
		case *ast.CallExpr:
			if elsewhere[n] {
				return true
			}
			if ast.Unparen(n.Fun) == literal {
				found = true
			}
			for _, arg := range n.Args {
				if ast.Unparen(arg) == literal {
					fn, ok := info.Uses[source.CalleeName(n)].(*types.Func)
					found = ok && code.Declaration(fn.Origin()) == nil && !locks.KeepsCallbacks(fn) && fn.Pkg() != nil && fn.Pkg().Path() != "sync" && fn.Pkg().Path() != "testing"
				}
			}
		}
		return !found
	})
	return found
}
