package cover

import (
	"go/ast"
	"go/token"
	"go/types"
)

// blocks says what in some statements, but for the calls in except, may wait for another
// goroutine; "" if nothing does. It looks into functions of the program that are called.
func (code *Code) blocks(stmts []ast.Stmt, l *Lock, except ...*ast.CallExpr) string {
	return code.waits(stmts, l, map[*types.Func]bool{}, except)
}

func (code *Code) waits(stmts []ast.Stmt, l *Lock, seen map[*types.Func]bool, except []*ast.CallExpr) string {
	why := ""
	say := func(s string) {
		if why == "" {
			why = s
		}
	}
	for _, s := range stmts {
		f := code.FileOf(s)
		if f == nil {
			return "code that is not the program's"
		}
		info := f.Info
		code.locks.EachAtOnce(info, s, func(n ast.Node) {
			for _, c := range except {
				if encloses(c, n) {
					return
				}
			}
			switch n := n.(type) {
			case *ast.SendStmt:
				say("a send")
			case *ast.UnaryExpr:
				if n.Op == token.ARROW {
					say("a receive")
				}
			case *ast.SelectStmt:
				say("a select")
			case *ast.RangeStmt:
				if _, ok := info.Types[n.X].Type.Underlying().(*types.Chan); ok {
					say("a range over a channel")
				}
			case *ast.CallExpr:
				say(code.callWaits(info, n, l, seen))
			}
		})
	}
	return why
}

// callWaits says what in a call, but for its arguments, may wait.
func (code *Code) callWaits(info *types.Info, c *ast.CallExpr, l *Lock, seen map[*types.Func]bool) string {
	fn, _ := info.Uses[calleeIdent(c)].(*types.Func)
	if fn == nil {
		if unknown(info, c) {
			return "a call of a function value"
		}
		return ""
	}
	if waiting[fn.FullName()] {
		return "a call of " + fn.Name()
	}
	if op, ok := code.operationOf(info, c); ok && op.takes() && l.Exists() && !code.is(op, l) {
		return "" // the order of locks is for the audit to see
	}
	d, _ := code.callee(info, c)
	if d == nil || seen[fn.Origin()] {
		return ""
	}
	seen[fn.Origin()] = true
	if w := code.waits(d.Body.List, l, seen, nil); w != "" {
		return w + " in " + fn.Name()
	}
	return ""
}

// unknown reports whether a call is of a function value: the function may use what the
// lock guards, and so wait for itself.
func unknown(info *types.Info, c *ast.CallExpr) bool {
	if info.Types[c.Fun].IsType() {
		return false
	}
	if _, ok := info.Uses[calleeIdent(c)].(*types.Builtin); ok {
		return false
	}
	_, literal := ast.Unparen(c.Fun).(*ast.FuncLit)
	return !literal
}

// waiting are the functions of libraries that wait for other goroutines, or for time.
var waiting = map[string]bool{
	"(*sync.WaitGroup).Wait": true, "(*sync.Cond).Wait": true, "time.Sleep": true,
	"(*golang.org/x/sync/errgroup.Group).Wait": true,
}

// quick reports whether a call takes no time to speak of and waits for nothing.
func (code *Code) quick(info *types.Info, c *ast.CallExpr) bool {
	if info.Types[c.Fun].IsType() {
		return true
	}
	switch o := info.Uses[calleeIdent(c)].(type) {
	case *types.Builtin:
		return true
	case *types.Func:
		if o.Pkg() == nil {
			return false
		}
		switch o.Pkg().Path() {
		case "errors", "fmt", "strings", "strconv", "sort", "slices", "maps", "math", "bytes", "unicode/utf8", "time":
			return !waiting[o.FullName()]
		}
		return code.Declaration(o.Origin()) != nil
	}
	return false
}
