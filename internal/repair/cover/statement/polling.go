package statement

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A loop that changes nothing ends when another goroutine has changed something. With the lock held,
// that goroutine would wait for the lock, and the loop for ever:
//
//	for !j.ready {            for i := 0; i < j.n; i++ {
//		runtime.Gosched()     	sum += j.list[i]              this one ends by itself
//	}                         }

// Callee is what a call calls, with its file; nil if the program has it not.
type Callee func(info *types.Info, c *ast.CallExpr) (*ast.FuncDecl, *source.File)

// Polls reports whether a loop changes nothing.
func Polls(info *types.Info, loop *ast.ForStmt, callee Callee) bool {
	return !callee.changes(info, loop, 0)
}

// maxChangeDepth is how many calls deep it is looked for something that changes.
const maxChangeDepth = 3

// changes reports whether a statement may change anything but variables that it declares: it assigns,
// or calls what is not known to change nothing.
func (callee Callee) changes(info *types.Info, n ast.Node, depth int) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || n.Tok != token.DEFINE
		case *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.CallExpr:
			found = found || callee.callChanges(info, n, depth)
		}
		return !found
	})
	return found
}

// callChanges is changes for a call, but for its arguments.
func (callee Callee) callChanges(info *types.Info, c *ast.CallExpr, depth int) bool {
	if info.Types[c.Fun].IsType() || slices.ContainsFunc([]string{"len", "cap", "min", "max"}, func(name string) bool { return IsBuiltin(info, c, name) }) {
		return false
	}
	if fn, ok := info.Uses[source.CalleeName(c)].(*types.Func); ok && fn.Pkg() != nil && (fn.FullName() == "runtime.Gosched" || fn.Pkg().Path() == "time" || fn.Pkg().Path() == "sync/atomic") {
		return fn.Pkg().Path() == "sync/atomic" && fn.Name() != "Load"
	}
	d, f := callee(info, c)
	return d == nil || depth == maxChangeDepth || callee.changes(f.Info, d.Body, depth+1)
}
