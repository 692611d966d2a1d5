package guards

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/cofferdam-go/cofferdam/internal/guard"
)

// takeLock is a fix that has a function hold the lock from its beginning to its end; nil if that
// is not known to be right: the function must call nothing, so that it can neither take another lock meanwhile
// nor wait, must not operate on the lock itself, and must be given the object.
//
//	func (c *Counter) Get() int {        func (c *Counter) Get() int {
//		return c.n                           c.mu.Lock()
//	}                                            defer c.mu.Unlock()
//	                                             return c.n
//	                                     }
func takeLock(pass *analysis.Pass, at token.Pos, g *guard.Guard, d *guard.Datum, v guard.Deviation) *analysis.SuggestedFix {
	if v.Why != "" || d.Way != g.Lock.Object.Name() || g.Lock.Object.Pkg() != pass.Pkg {
		return nil
	}
	fn, object := accessed(pass, at, d)
	if fn == nil || !isGiven(pass, fn, object) || !callsNothing(pass, fn.Body) || mentions(pass, fn.Body, g.Lock.Object) {
		return nil
	}
	lock, unlock := "Lock", "Unlock"
	if v.Kind == guard.Read && g.Lock.Type == "sync.RWMutex" && !writesThrough(pass, fn.Body, object) {
		lock, unlock = "RLock", "RUnlock"
	}
	name := object.Name + "." + d.Way
	text := "\n\t" + name + "." + lock + "()\n\tdefer " + name + "." + unlock + "()"
	if pass.Fset.Position(fn.Body.Lbrace).Line == pass.Fset.Position(fn.Body.Rbrace).Line {
		text += "\n"
	}
	return &analysis.SuggestedFix{
		Message:   "hold " + name + " in " + fn.Name.Name,
		TextEdits: []analysis.TextEdit{{Pos: fn.Body.Lbrace + 1, End: fn.Body.Lbrace + 1, NewText: []byte(text)}},
	}
}

// accessed finds the function around an access, and the variable whose field is accessed.
func accessed(pass *analysis.Pass, at token.Pos, d *guard.Datum) (fn *ast.FuncDecl, object *ast.Ident) {
	found, ok := inspector.New(pass.Files).Root().FindByPos(at, at)
	if !ok {
		return nil, nil
	}
	for around := range found.Enclosing() {
		switch n := around.Node().(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && pass.TypesInfo.Uses[n.Sel] == d.Object {
				object = x
			}
		case *ast.FuncLit:
			return nil, nil // it may run when the function has ended
		case *ast.FuncDecl:
			if object != nil {
				return n, object
			}
		}
	}
	return nil, nil
}

// isGiven reports whether a variable is a parameter of the function, or its receiver, that the
// function never assigns to.
func isGiven(pass *analysis.Pass, fn *ast.FuncDecl, name *ast.Ident) bool {
	object := pass.TypesInfo.Uses[name]
	given := false
	fields := fn.Type.Params.List
	if fn.Recv != nil {
		fields = append(fields[:len(fields):len(fields)], fn.Recv.List...)
	}
	for _, field := range fields {
		for _, n := range field.Names {
			given = given || pass.TypesInfo.Defs[n] == object
		}
	}
	if _, ok := object.Type().Underlying().(*types.Pointer); !given || !ok {
		return false
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, left := range a.Lhs {
				if x, ok := left.(*ast.Ident); ok && pass.TypesInfo.Uses[x] == object {
					given = false
				}
			}
		}
		return true
	})
	return given
}

// callsNothing reports whether a body neither calls anything but builtins and conversions, nor
// waits, nor starts anything.
func callsNothing(pass *analysis.Pass, body *ast.BlockStmt) bool {
	nothing := true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			t := pass.TypesInfo.Types[n.Fun]
			nothing = nothing && (t.IsBuiltin() || t.IsType())
		case *ast.GoStmt, *ast.DeferStmt, *ast.SelectStmt, *ast.SendStmt, *ast.FuncLit:
			nothing = false
		case *ast.RangeStmt:
			switch pass.TypesInfo.TypeOf(n.X).Underlying().(type) {
			case *types.Chan, *types.Signature:
				nothing = false
			}
		case *ast.UnaryExpr:
			nothing = nothing && n.Op != token.ARROW
		}
		return nothing
	})
	return nothing
}

func mentions(pass *analysis.Pass, body *ast.BlockStmt, object types.Object) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if x, ok := n.(*ast.Ident); ok && pass.TypesInfo.Uses[x] == object {
			found = true
		}
		return !found
	})
	return found
}

// writesThrough reports whether a body assigns to something that is reached by way of a
// variable.
func writesThrough(pass *analysis.Pass, body *ast.BlockStmt, name *ast.Ident) (writes bool) {
	object := pass.TypesInfo.Uses[name]
	through := func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			if x, ok := n.(*ast.Ident); ok && pass.TypesInfo.Uses[x] == object {
				writes = true
			}
			return true
		})
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				through(left)
			}
		case *ast.IncDecStmt:
			through(n.X)
		case *ast.CallExpr: // a builtin such as delete
			for _, arg := range n.Args {
				through(arg)
			}
		}
		return true
	})
	return writes
}
