package locks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// eval follows the ways through one statement or expression, in the order in which Go
// evaluates it.
func (w *walker) eval(n ast.Node, ways []Way) []Way {
	info := w.active[len(w.active)-1].info
	switch n := n.(type) {
	case nil, *ast.FuncLit:
		return ways
	case *ast.CallExpr:
		return w.evalCall(info, n, ways)
	case *ast.GoStmt:
		return w.operands(n.Call, ways)
	case *ast.DeferStmt:
		ways = w.operands(n.Call, ways)
		out := make([]Way, len(ways))
		for i, way := range ways {
			out[i] = way.Defer(n)
		}
		return out
	case *ast.BinaryExpr:
		ways = w.eval(n.X, ways)
		if n.Op != token.LAND && n.Op != token.LOR {
			return w.eval(n.Y, ways)
		}
		out, _ := Merge(ways, w.eval(n.Y, ways))
		return out
	case *ast.AssignStmt:
		ways = w.children(n, ways)
		for i, lhs := range n.Lhs {
			ways = w.assigned(info, lhs, ways)
			if i == len(n.Lhs)-1 {
				ways = w.bind(info, lhs, n.Rhs[len(n.Rhs)-1], ways)
			}
		}
		return ways
	case *ast.ValueSpec:
		ways = w.children(n, ways)
		for i, name := range n.Names {
			ways = w.assigned(info, name, ways)
			if i == len(n.Names)-1 && len(n.Values) > 0 {
				ways = w.bind(info, name, n.Values[len(n.Values)-1], ways)
			}
		}
		return ways
	case *ast.IncDecStmt:
		return w.assigned(info, n.X, w.eval(n.X, ways))
	default:
		return w.children(n, ways)
	}
}

// children evaluates the parts of a node in their order.
func (w *walker) children(n ast.Node, ways []Way) []Way {
	ast.Inspect(n, func(child ast.Node) bool {
		if child == n {
			return true
		}
		if child != nil {
			ways = w.eval(child, ways)
		}
		return false
	})
	return ways
}

// operands evaluates what a call is given.
func (w *walker) operands(call *ast.CallExpr, ways []Way) []Way {
	ways = w.eval(call.Fun, ways)
	for _, arg := range call.Args {
		ways = w.eval(arg, ways)
	}
	return ways
}

func (w *walker) evalCall(info *types.Info, call *ast.CallExpr, ways []Way) []Way {
	ways = w.operands(call, ways)
	w.see(call, ways)
	return w.call(info, call, ways)
}

// assigned follows an assignment: what was known about the variable is no longer true, and
// a lock that is held by way of it can no longer be named.
//
//	cur.mu.Lock()
//	cur = cur.next     some lock of this class is held, and cur.mu is another one
func (w *walker) assigned(info *types.Info, lhs ast.Expr, ways []Way) []Way {
	if lhs == nil {
		return ways
	}
	id, ok := ast.Unparen(lhs).(*ast.Ident)
	if !ok {
		return ways
	}
	v, ok := info.ObjectOf(id).(*types.Var)
	if !ok {
		return ways
	}
	out := make([]Way, 0, len(ways))
	for _, way := range ways {
		way = way.Forget(func(n Node) bool { return n == Node(v) })
		var held Set
		for _, h := range way.Held {
			if !h.Lost && w.mentions(h.Lock, v) {
				h.Lost, h.Maybe = true, true
				w.find(Finding{Kind: NotFollowed, Lock: h.Lock, Mode: h.Mode, At: lhs.Pos(), Reason: v.Name() + " changes while the lock is held"})
			}
			held = held.With(h)
		}
		way.Held = held
		out = append(out, way)
	}
	return out
}

// bind connects what is known of a call's result with the variable that it is assigned to.
func (w *walker) bind(info *types.Info, lhs, rhs ast.Expr, ways []Way) []Way {
	v := localVariable(info, lhs)
	call, ok := ast.Unparen(rhs).(*ast.CallExpr)
	if v == nil || !ok {
		return ways
	}
	out := make([]Way, 0, len(ways))
	for _, way := range ways {
		out = append(out, way.LearnOutcome(v, way.OutcomeOf(call)))
	}
	return out
}

// localVariable returns the local variable that an expression is, nil if it is none.
func localVariable(info *types.Info, e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := info.ObjectOf(id).(*types.Var)
	if !ok || v.IsField() || isGlobal(v) {
		return nil
	}
	return v
}

// condition follows the ways through a condition to one of its two outcomes.
func (w *walker) condition(e ast.Expr, want bool, ways []Way) []Way {
	switch x := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			return w.condition(x.X, !want, ways)
		}
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			// The right operand is evaluated if the left does not decide.
			decides := x.Op == token.LOR
			right := w.condition(x.Y, want, w.condition(x.X, !decides, ways))
			if want != decides {
				return right
			}
			out, _ := Merge(w.condition(x.X, decides, ways), right)
			return out
		}
	}
	f := w.active[len(w.active)-1]
	ways = w.eval(e, ways)
	c, negated, ok := w.conditionOf(f.info, e)
	if !ok {
		return ways
	}
	want = want != negated
	var out []Way
	for _, way := range ways {
		holds, known := way.Known(c)
		if known && holds != want {
			continue
		}
		if !known && w.shapeOf(f).tested[c] > 1 {
			way = way.Learn(Fact{c, want})
		}
		out = append(out, way)
	}
	merged, _ := Merge(nil, out)
	return merged
}

// conditionOf puts what a branch tests into the form that two tests of the same thing
// share. Only local variables and results of calls have one: whatever else is tested may
// be different the next time.
func (p *Program) conditionOf(info *types.Info, e ast.Expr) (c Condition, negated, ok bool) {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v := p.testable(info, x); v != nil {
			return Condition{Value: v}, false, true
		}
	case *ast.CallExpr:
		return Condition{Value: x}, false, true
	case *ast.BinaryExpr:
		if x.Op != token.EQL && x.Op != token.NEQ {
			break
		}
		text := constantText(info, x.Y)
		if text == "" {
			break
		}
		var value Node
		switch left := ast.Unparen(x.X).(type) {
		case *ast.Ident:
			v := p.testable(info, left)
			if v == nil {
				return Condition{}, false, false
			}
			value = v
		case *ast.CallExpr:
			value = left
		default:
			return Condition{}, false, false
		}
		return Condition{value, text}, x.Op == token.NEQ, true
	}
	return Condition{}, false, false
}

// testable returns a local variable that changes only where the source assigns it.
func (p *Program) testable(info *types.Info, e ast.Expr) *types.Var {
	v := localVariable(info, e)
	if v == nil || p.variables[v] != nil && p.variables[v].addressed {
		return nil
	}
	return v
}

func constantText(info *types.Info, e ast.Expr) string {
	if isNilIdent(info, e) {
		return IsNil
	}
	if tv, ok := info.Types[e]; ok && tv.Value != nil {
		return "=" + tv.Value.ExactString()
	}
	return ""
}

// countConditions counts the conditions that a branch tests.
func (p *Program) countConditions(info *types.Info, e ast.Expr, count map[Condition]int) {
	switch x := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			p.countConditions(info, x.X, count)
			return
		}
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			p.countConditions(info, x.X, count)
			p.countConditions(info, x.Y, count)
			return
		}
	}
	if c, _, ok := p.conditionOf(info, e); ok {
		count[c]++
	}
}

// outcomeOf says what is known of a returned value.
func outcomeOf(info *types.Info, e ast.Expr, way Way) Outcome {
	e = ast.Unparen(e)
	if isNilIdent(info, e) {
		return Nil
	}
	if tv, ok := info.Types[e]; ok && tv.Value != nil {
		if tv.Value.Kind() != constant.Bool {
			return Anything
		}
		if constant.BoolVal(tv.Value) {
			return True
		}
		return False
	}
	switch e := e.(type) {
	case *ast.Ident:
		v := localVariable(info, e)
		if v == nil {
			if g, ok := info.Uses[e].(*types.Var); ok && isError(g.Type()) {
				return NonNil // an error that a package declares
			}
			return Anything
		}
		return way.OutcomeOf(v)
	case *ast.SelectorExpr:
		if v, ok := info.Uses[e.Sel].(*types.Var); ok && isGlobal(v) && isError(v.Type()) {
			return NonNil
		}
	case *ast.UnaryExpr:
		switch e.Op {
		case token.NOT:
			return outcomeOf(info, e.X, way).Not()
		case token.AND:
			return NonNil
		}
	case *ast.CallExpr:
		if fn := calleeOf(info, e); fn != nil && (fn.FullName() == "errors.New" || fn.FullName() == "fmt.Errorf") {
			return NonNil
		}
		return way.OutcomeOf(e)
	case *ast.CompositeLit, *ast.FuncLit:
		return NonNil
	}
	return Anything
}

func isError(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}
