package locks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// eval follows the paths through one statement or expression, in the order in which Go
// evaluates it.
func (w *walker) eval(n ast.Node, paths []Path) []Path {
	info := w.active[len(w.active)-1].info
	switch n := n.(type) {
	case nil, *ast.FuncLit:
		return paths
	case *ast.CallExpr:
		return w.evalCall(info, n, paths)
	case *ast.GoStmt:
		return w.operands(n.Call, paths)
	case *ast.DeferStmt:
		paths = w.operands(n.Call, paths)
		out := make([]Path, len(paths))
		for i, path := range paths {
			out[i] = path.Defer(n)
		}
		return out
	case *ast.BinaryExpr:
		paths = w.eval(n.X, paths)
		if n.Op != token.LAND && n.Op != token.LOR {
			return w.eval(n.Y, paths)
		}
		out, _ := Merge(paths, w.eval(n.Y, paths))
		return out
	case *ast.AssignStmt:
		paths = w.children(n, paths)
		for i, lhs := range n.Lhs {
			paths = w.assigned(info, lhs, paths)
			if i == len(n.Lhs)-1 {
				paths = w.bind(info, lhs, n.Rhs[len(n.Rhs)-1], paths)
			}
		}
		return paths
	case *ast.ValueSpec:
		paths = w.children(n, paths)
		for i, name := range n.Names {
			paths = w.assigned(info, name, paths)
			if i == len(n.Names)-1 && len(n.Values) > 0 {
				paths = w.bind(info, name, n.Values[len(n.Values)-1], paths)
			}
		}
		return paths
	case *ast.IncDecStmt:
		return w.assigned(info, n.X, w.eval(n.X, paths))
	default:
		return w.children(n, paths)
	}
}

// children evaluates the parts of a node in their order.
func (w *walker) children(n ast.Node, paths []Path) []Path {
	ast.Inspect(n, func(child ast.Node) bool {
		if child == n {
			return true
		}
		if child != nil {
			paths = w.eval(child, paths)
		}
		return false
	})
	return paths
}

// operands evaluates what a call is given.
func (w *walker) operands(call *ast.CallExpr, paths []Path) []Path {
	paths = w.eval(call.Fun, paths)
	for _, arg := range call.Args {
		paths = w.eval(arg, paths)
	}
	return paths
}

func (w *walker) evalCall(info *types.Info, call *ast.CallExpr, paths []Path) []Path {
	paths = w.operands(call, paths)
	w.see(call, paths)
	return w.call(info, call, paths)
}

// assigned follows an assignment: what was known about the variable is no longer true, and
// a lock that is held by way of it can no longer be named.
//
//	cur.mu.Lock()
//	cur = cur.next     some lock of this class is held, and cur.mu is another one
func (w *walker) assigned(info *types.Info, lhs ast.Expr, paths []Path) []Path {
	if lhs == nil {
		return paths
	}
	id, ok := ast.Unparen(lhs).(*ast.Ident)
	if !ok {
		return paths
	}
	v, ok := info.ObjectOf(id).(*types.Var)
	if !ok {
		return paths
	}
	out := make([]Path, 0, len(paths))
	for _, path := range paths {
		path = path.Forget(func(n Node) bool { return n == Node(v) })
		var held Set
		for _, h := range path.Held {
			if !h.Lost && w.mentions(h.Lock, v) {
				h.Lost, h.Maybe = true, true
				w.find(Finding{Kind: NotFollowed, Lock: h.Lock, Mode: h.Mode, At: lhs.Pos(), Reason: v.Name() + " changes while the lock is held"})
			}
			held = held.With(h)
		}
		path.Held = held
		out = append(out, path)
	}
	return out
}

// bind connects what is known of a call's result with the variable that it is assigned to.
func (w *walker) bind(info *types.Info, lhs, rhs ast.Expr, paths []Path) []Path {
	v := localVariable(info, lhs)
	call, ok := ast.Unparen(rhs).(*ast.CallExpr)
	if v == nil || !ok {
		return paths
	}
	out := make([]Path, 0, len(paths))
	for _, path := range paths {
		out = append(out, path.LearnOutcome(v, path.OutcomeOf(call)))
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

// condition follows the paths through a condition to one of its two outcomes.
func (w *walker) condition(e ast.Expr, want bool, paths []Path) []Path {
	switch x := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			return w.condition(x.X, !want, paths)
		}
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			// The right operand is evaluated if the left does not decide.
			decides := x.Op == token.LOR
			right := w.condition(x.Y, want, w.condition(x.X, !decides, paths))
			if want != decides {
				return right
			}
			out, _ := Merge(w.condition(x.X, decides, paths), right)
			return out
		}
	}
	f := w.active[len(w.active)-1]
	paths = w.eval(e, paths)
	c, negated, ok := w.conditionOf(f.info, e)
	if !ok {
		return paths
	}
	want = want != negated
	var out []Path
	for _, path := range paths {
		holds, known := path.Known(c)
		if known && holds != want {
			continue
		}
		if !known && w.shapeOf(f).tested[c] > 1 {
			path = path.Learn(Fact{c, want})
		}
		out = append(out, path)
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
func outcomeOf(info *types.Info, e ast.Expr, path Path) Outcome {
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
		return path.OutcomeOf(v)
	case *ast.SelectorExpr:
		if v, ok := info.Uses[e.Sel].(*types.Var); ok && isGlobal(v) && isError(v.Type()) {
			return NonNil
		}
	case *ast.UnaryExpr:
		switch e.Op {
		case token.NOT:
			return outcomeOf(info, e.X, path).Not()
		case token.AND:
			return NonNil
		}
	case *ast.CallExpr:
		if fn := calleeOf(info, e); fn != nil && (fn.FullName() == "errors.New" || fn.FullName() == "fmt.Errorf") {
			return NonNil
		}
		return path.OutcomeOf(e)
	case *ast.CompositeLit, *ast.FuncLit:
		return NonNil
	}
	return Anything
}

func isError(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}
