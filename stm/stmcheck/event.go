package stmcheck

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/cfg"
)

// A kind says what an event is.
type kind uint8

const (
	called  kind = iota // a call, when its arguments have been evaluated
	made                // a function literal
	written             // an assignment
	read                // a use of a variable or field that does not just take its address
	acted               // an effect of the language: channels, goroutines, print
)

// An event is something that happens at one point of a function.
type event struct {
	kind     kind
	node     ast.Node
	callee   *types.Func // of a call, if it is known
	function *function   // the same, if it is in this package; or the literal
	effect   effect      // of acted
	guard    *guard
	deferred bool // it happens when the function returns
	passed   bool // the function is called by the one that it is passed to
}

// A guard stands for the right operand of && or ||, which is not always evaluated.
// Events outside of any have nil: they happen whenever their block is executed.
type guard struct{ outer *guard }

// covers reports whether what happened under g has happened if something later in
// the same block, under h, does.
func (g *guard) covers(h *guard) bool {
	for ; h != nil && h != g; h = h.outer {
	}
	return g == h
}

// eventsOf lists what happens in each block in the order of evaluation.
func (c *checker) eventsOf(f *function) map[*cfg.Block][]event {
	all := make(map[*cfg.Block][]event)
	for _, b := range f.graph.Blocks {
		if !b.Live {
			continue
		}
		w := walker{c: c, block: b}
		if s, ok := b.Stmt.(*ast.RangeStmt); ok && b.Kind == cfg.KindRangeLoop {
			if _, ok := c.info.TypeOf(s.X).Underlying().(*types.Chan); ok {
				w.add(event{kind: acted, node: s.X, effect: receives})
			}
		}
		for _, n := range b.Nodes {
			if e, ok := n.(ast.Expr); ok && c.keys[e] {
				w.add(event{kind: written, node: n})
			}
			w.walk(n, nil)
		}
		all[b] = w.events
	}
	return all
}

// A walker lists the events of one block.
type walker struct {
	c      *checker
	block  *cfg.Block
	events []event
}

func (w *walker) add(e event) { w.events = append(w.events, e) }

func (w *walker) walk(n ast.Node, g *guard) {
	switch n := n.(type) {
	case nil:
	case *ast.FuncLit:
		w.add(event{kind: made, node: n, function: w.c.literals[n], guard: g})
	case *ast.CallExpr:
		w.operands(n, g)
		w.call(n, g, false)
	case *ast.DeferStmt:
		w.operands(n.Call, g)
		w.call(n.Call, g, true)
	case *ast.GoStmt:
		w.operands(n.Call, g)
		w.add(event{kind: acted, node: n, effect: startsAGoroutine, guard: g})
	case *ast.BinaryExpr:
		w.walk(n.X, g)
		if n.Op == token.LAND || n.Op == token.LOR {
			g = &guard{outer: g}
		}
		w.walk(n.Y, g)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			w.place(n.X, g)
			break
		}
		w.walk(n.X, g)
		if n.Op == token.ARROW {
			w.add(event{kind: acted, node: n, effect: receives, guard: g})
		}
	case *ast.SendStmt:
		w.walk(n.Chan, g)
		w.walk(n.Value, g)
		if w.c.comms[n] == nil {
			w.add(event{kind: acted, node: n, effect: sends, guard: g})
		} else {
			w.communication(n)
		}
	case *ast.AssignStmt:
		if w.c.comms[n] != nil {
			w.communication(n)
		} else {
			for _, e := range n.Rhs {
				w.walk(e, g)
			}
		}
		for _, e := range n.Lhs {
			w.place(e, g)
			if n.Tok != token.DEFINE {
				w.add(event{kind: written, node: e, guard: g})
			}
		}
	case *ast.ExprStmt:
		if w.c.comms[n] != nil {
			w.communication(n)
		} else {
			w.walk(n.X, g)
		}
	case *ast.IncDecStmt:
		w.place(n.X, g)
		w.add(event{kind: written, node: n.X, guard: g})
	case *ast.SelectorExpr:
		w.place(n, g)
		w.read(n, n.Sel, g)
	case *ast.Ident:
		w.read(n, n, g)
	case *ast.KeyValueExpr: // the key of a struct's is none of its fields' values
		if id, ok := n.Key.(*ast.Ident); !ok || !isField(w.c.info.Uses[id]) {
			w.walk(n.Key, g)
		}
		w.walk(n.Value, g)
	default:
		ast.Inspect(n, func(child ast.Node) bool {
			if child == n {
				return true
			}
			if child != nil {
				w.walk(child, g)
			}
			return false
		})
	}
}

func isField(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && v.IsField()
}

func (w *walker) read(n ast.Expr, id *ast.Ident, g *guard) {
	if _, ok := w.c.info.Uses[id].(*types.Var); ok {
		w.add(event{kind: read, node: n, guard: g})
	}
}

// place walks what is evaluated to find a variable, a field or an element, but
// not that itself: of p.f it is p if that is a pointer, and nothing of it if it is a struct.
func (w *walker) place(e ast.Expr, g *guard) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
	case *ast.SelectorExpr:
		if id, ok := e.X.(*ast.Ident); ok {
			if _, ok := w.c.info.Uses[id].(*types.PkgName); ok {
				return
			}
		}
		if s := w.c.info.Selections[e]; s != nil && s.Kind() == types.FieldVal && !s.Indirect() {
			w.place(e.X, g)
		} else {
			w.walk(e.X, g)
		}
	case *ast.IndexExpr:
		if _, ok := w.c.info.TypeOf(e.X).Underlying().(*types.Array); ok {
			w.place(e.X, g)
		} else {
			w.walk(e.X, g)
		}
		w.walk(e.Index, g)
	default:
		w.walk(e, g)
	}
}

// communication is one of the cases of a select statement. The graph has all of
// them before the statement's choice; the first stands for the statement. With a
// default it does not block.
func (w *walker) communication(comm ast.Stmt) {
	s := w.c.comms[comm]
	for _, clause := range s.Body.List {
		if clause.(*ast.CommClause).Comm == nil {
			return
		}
	}
	if s.Body.List[0].(*ast.CommClause).Comm == comm {
		w.add(event{kind: acted, node: s, effect: selects})
	}
}

func (w *walker) operands(call *ast.CallExpr, g *guard) {
	w.walk(call.Fun, g)
	for _, arg := range call.Args {
		w.walk(arg, g)
	}
}

func (w *walker) call(call *ast.CallExpr, g *guard, deferred bool) {
	if tv := w.c.info.Types[call.Fun]; tv.IsType() {
		return
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if b, ok := w.c.info.Uses[id].(*types.Builtin); ok {
			switch b.Name() {
			case "close":
				w.add(event{kind: acted, node: call, effect: closes, guard: g})
			case "print", "println":
				w.add(event{kind: acted, node: call, effect: prints, guard: g})
			case "delete", "copy", "clear":
				w.add(event{kind: written, node: &ast.IndexExpr{X: call.Args[0], Lbrack: call.Lparen, Rbrack: call.Rparen}, guard: g})
			}
			return
		}
	}
	fn := w.c.callee(call)
	w.add(event{kind: called, node: call, callee: fn, function: w.c.functionOf(call.Fun), guard: g, deferred: deferred})
	if first, ok := runners[stmSymbol(fn)]; ok && first < len(call.Args) {
		for i, arg := range call.Args[first:] {
			under := g
			if i > 0 {
				under = &guard{outer: g}
			}
			if f := w.c.functionOf(arg); f != nil {
				w.add(event{kind: called, node: call, callee: f.fn, function: f, guard: under, deferred: deferred, passed: true})
			}
		}
	}
}
