package cover

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// whatMayWait says what in some statements, but for the calls in except, may wait for another
// goroutine or for time; "" if nothing does. It looks into functions of the program that are
// called.
func (code *Code) whatMayWait(stmts []ast.Stmt, l *Lock, except ...*ast.CallExpr) string {
	w := &waitFinder{Code: code, lock: l, seen: make(map[ast.Node]bool)}
	return w.waits(stmts, except)
}

// regionBlocks is blocks for what a region holds the lock for. An update may hold it while
// time passes: to release it meanwhile would lose what others store. Rounds of a loop that sleep in
// between may not: nothing else would ever have the lock.
func (code *Code) regionBlocks(r *Region, l *Lock, except []*ast.CallExpr) string {
	w := &waitFinder{Code: code, lock: l, sleeps: r.Update && !r.AcrossRounds, seen: make(map[ast.Node]bool)}
	return w.waits(r.heldStatements(), slices.Concat(except, r.callsInTails()))
}

// A waitFinder looks for what may wait while a lock is held.
type waitFinder struct {
	*Code
	lock   *Lock
	sleeps bool // waiting for time is let off
	seen   map[ast.Node]bool
}

func (w *waitFinder) waits(stmts []ast.Stmt, except []*ast.CallExpr) string {
	why := ""
	say := func(s string) {
		if why == "" {
			why = s
		}
	}
	for _, s := range stmts {
		f := w.FileOf(s)
		if f == nil {
			return "code that is not the program's"
		}
		info := f.Info
		tried := statement.TriedOperations(s)
		w.locks.EachAtOnce(info, s, func(n ast.Node) {
			for _, c := range except {
				if statement.Encloses(c, n) {
					return
				}
			}
			if slices.ContainsFunc(tried, func(comm ast.Node) bool { return comm == n }) {
				return
			}
			switch n := n.(type) {
			case *ast.SendStmt:
				if w.lock.HeldOver == nil || !w.lock.HeldOver(n) {
					say("a send")
				}
			case *ast.UnaryExpr:
				if n.Op == token.ARROW {
					say("a receive")
				}
			case *ast.SelectStmt:
				if !statement.HasDefault(n) {
					say("a select")
				}
			case *ast.RangeStmt:
				if _, ok := info.Types[n.X].Type.Underlying().(*types.Chan); ok {
					say("a range over a channel")
				}
				if w.locks.IsOpenRange(info, n) {
					say("a range over a function that comes from the package's users")
				}
			case *ast.ForStmt:
				if statement.Polls(info, n, w.callee) {
					say("a loop that ends when another goroutine has changed something")
				}
			case *ast.CallExpr:
				say(w.callWaits(info, n))
			}
		})
	}
	return why
}

// callWaits says what in a call, but for its arguments, may wait. A function value or a
// method of an interface may be any of the program's that fit; one that comes from outside
// the program may do anything.
func (w *waitFinder) callWaits(info *types.Info, c *ast.CallExpr) string {
	fn, _ := info.Uses[source.CalleeName(c)].(*types.Func)
	if fn == nil && !statement.CallsValue(info, c) {
		return ""
	}
	if fn != nil && waiting[fn.FullName()] && !(w.sleeps && fn.FullName() == sleep) {
		return "a call of " + fn.Name()
	}
	if op, ok := w.operationOf(info, c); ok && op.takes() && w.lock.Exists() && !w.isOn(op, w.lock) {
		return "" // the order of locks is for the audit to see
	}
	if w.locks.IsOpen(info, c) {
		if fn != nil {
			return "a call of " + fn.Name() + ", which the package's users implement"
		}
		return "a call of a function value that comes from the package's users"
	}
	for _, callee := range w.locks.Callees(info, c) {
		if w.seen[callee] {
			continue
		}
		w.seen[callee] = true
		if why := w.waits(source.Body(callee).List, nil); why != "" {
			return why + " in " + statement.FunctionWords(callee)
		}
	}
	return ""
}

const sleep = "time.Sleep"

// waiting are the functions of libraries that wait for other goroutines, or for time.
var waiting = map[string]bool{
	"(*sync.WaitGroup).Wait": true, "(*sync.Cond).Wait": true, sleep: true,
	"(*golang.org/x/sync/errgroup.Group).Wait": true,
}

// returnsAtOnce reports whether a call takes no time to speak of and waits for nothing.
func (code *Code) returnsAtOnce(info *types.Info, c *ast.CallExpr) bool {
	if info.Types[c.Fun].IsType() {
		return true
	}
	switch o := info.Uses[source.CalleeName(c)].(type) {
	case *types.Builtin:
		return true
	case *types.Func:
		if o.Pkg() == nil {
			return false
		}
		switch o.Pkg().Path() {
		case "errors", "fmt", "strings", "strconv", "sort", "slices", "maps", "math", "bytes", "unicode/utf8", "time", "runtime":
			return !waiting[o.FullName()]
		}
		return code.Declaration(o.Origin()) != nil
	}
	return false
}
