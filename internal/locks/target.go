package locks

import (
	"go/ast"
	"go/types"
	"slices"
)

// A target is what a call runs, as far as the syntax tells.
type target struct {
	function *function
	// pairs connect the function's terms with the caller's, besides its arguments: those
	// of the call that returned the function.
	pairs []Pair
	// op is set if the call is of the method value of a lock that a function returned.
	op *Op
	// parameter is set if the call is of a parameter of a function.
	parameter *types.Var
}

// target finds what a call runs: a function of the program, a literal, a local variable
// that holds one, or what a function of the program returns.
func (p *Program) target(info *types.Info, fun ast.Expr) (target, bool) {
	switch fun := ast.Unparen(fun).(type) {
	case *ast.FuncLit:
		f := p.functions[fun]
		return target{function: f}, f != nil
	case *ast.IndexExpr:
		return p.target(info, fun.X)
	case *ast.IndexListExpr:
		return p.target(info, fun.X)
	case *ast.Ident:
		switch o := info.Uses[fun].(type) {
		case *types.Func:
			f := p.declared[o.Origin()]
			return target{function: f}, f != nil
		case *types.Var:
			return p.variableTarget(o)
		}
	case *ast.SelectorExpr:
		f := p.method(info, fun)
		return target{function: f}, f != nil
	case *ast.CallExpr:
		return p.returnedTarget(info, fun)
	}
	return target{}, false
}

func (p *Program) variableTarget(v *types.Var) (target, bool) {
	if k := p.variables[v]; k != nil && k.parameter && k.assignments == 0 {
		return target{parameter: v}, true
	}
	k := p.onlyValue(v)
	if k == nil || k.element || p.resolving[v] {
		return target{}, false
	}
	p.resolving[v] = true
	defer delete(p.resolving, v)
	return p.target(k.info, k.value)
}

// returnedTarget finds the function that a call returns: a literal, or the method value of
// a lock, as in "return s.mu.Unlock".
func (p *Program) returnedTarget(info *types.Info, call *ast.CallExpr) (target, bool) {
	by, ok := p.target(info, call.Fun)
	if !ok || by.function == nil {
		return target{}, false
	}
	value := lastResult(by.function)
	if value == nil {
		return target{}, false
	}
	pairs := append(p.argumentPairs(info, by.function, call), by.pairs...)
	if op, ok := p.opOf(by.function.info, value, nil); ok {
		op.Lock = p.up(op.Lock, pairs)
		if op.Lock == nil {
			op.Reason = reasonCall
		}
		return target{op: &op}, true
	}
	lit, ok := ast.Unparen(value).(*ast.FuncLit)
	if !ok {
		return target{}, false
	}
	f := p.functions[lit]
	return target{function: f, pairs: pairs}, f != nil
}

// lastResult returns what a function returns, if that is one expression on all paths that
// return anything but nil.
func lastResult(f *function) ast.Expr {
	var found ast.Expr
	several := false
	eachOwn(f.body, func(n ast.Node) {
		r, ok := n.(*ast.ReturnStmt)
		if !ok || len(r.Results) != 1 || isNilIdent(f.info, r.Results[0]) {
			return
		}
		several = several || found != nil
		found = r.Results[0]
	})
	if several {
		return nil
	}
	return found
}

func isNilIdent(info *types.Info, e ast.Expr) bool {
	tv, ok := info.Types[e]
	return ok && tv.IsNil()
}

// eachOwn calls visit for the nodes of a function without those of the literals in it.
func eachOwn(body ast.Node, visit func(ast.Node)) {
	ast.Inspect(body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

// implementations returns the methods of the program that a call through an interface may
// run.
func (p *Program) implementations(fn *types.Func) []*function {
	recv := fn.Signature().Recv()
	if recv == nil {
		return nil
	}
	face, ok := recv.Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	if all, ok := p.implementing[fn]; ok {
		return all
	}
	var all []*function
	for _, f := range p.methods[fn.Name()] {
		if types.Implements(types.NewPointer(deref(f.object.Signature().Recv().Type())), face) {
			all = append(all, f)
		}
	}
	p.implementing[fn] = all
	return all
}

// findTakes finds the classes of locks that each function takes before it returns, itself
// or in what it calls. Literals count for the function around them, except those that it
// starts as goroutines.
func (p *Program) findTakes() map[*function]map[*types.Var]bool {
	takes := make(map[*function]map[*types.Var]bool)
	calls := make(map[*function][]*function)
	for _, f := range p.order {
		takes[f] = make(map[*types.Var]bool)
		p.EachAtOnce(f.info, f.body, func(n ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return
			}
			if op, ok := p.Op(f.info, call); ok {
				if c := p.Places.ClassOf(op); c != nil && op.Verb == Acquire {
					takes[f][c] = true
				}
				return
			}
			calls[f] = append(calls[f], p.callees(f.info, call)...)
		})
	}
	for changed := true; changed; {
		changed = false
		for _, f := range p.order {
			for _, g := range calls[f] {
				for c := range takes[g] {
					if !takes[f][c] {
						takes[f][c] = true
						changed = true
					}
				}
			}
		}
	}
	return takes
}

// CallTakes reports whether a function of the program that a call may run takes a lock of a
// class before it returns, itself or in what it calls. An operation on a lock is no such
// call.
func (p *Program) CallTakes(info *types.Info, call *ast.CallExpr, class *types.Var) bool {
	if _, ok := p.Op(info, call); ok {
		return false
	}
	for _, f := range p.callees(info, call) {
		if p.takes[f][class] {
			return true
		}
	}
	return false
}

// callees are the functions of the program that a call may run.
func (p *Program) callees(info *types.Info, call *ast.CallExpr) []*function {
	if t, ok := p.target(info, call.Fun); ok && t.parameter == nil {
		if t.function == nil {
			return nil
		}
		return []*function{t.function}
	}
	if fn := calleeOf(info, call); fn != nil {
		return slices.Concat(p.implementations(fn), p.calledBack(info, call, fn))
	}
	if t := info.TypeOf(call.Fun); t != nil && !info.Types[call.Fun].IsType() {
		return p.values.of(p, t)
	}
	return nil
}

// EachAtOnce calls visit for a node and those in it that run before it ends: also those of
// function literals, except those that run later or on another goroutine.
func (p *Program) EachAtOnce(info *types.Info, n ast.Node, visit func(ast.Node)) {
	ast.Inspect(n, func(m ast.Node) bool {
		call, later := m.(*ast.CallExpr)
		if g, ok := m.(*ast.GoStmt); ok {
			call, later = g.Call, true
		} else if later {
			later = p.runsLater(info, call)
			visit(m)
		} else if m != nil {
			visit(m)
		}
		if !later {
			return m != nil
		}
		for _, x := range append([]ast.Expr{call.Fun}, call.Args...) {
			if _, ok := ast.Unparen(x).(*ast.FuncLit); !ok {
				p.EachAtOnce(info, x, visit)
			}
		}
		return false
	})
}

// runsLater reports whether a call of a function that is not in the program does not run its
// callbacks at once.
func (p *Program) runsLater(info *types.Info, call *ast.CallExpr) bool {
	if fn := calleeOf(info, call); fn != nil {
		return p.declared[fn.Origin()] == nil && leavesCallbacksForLater(fn)
	}
	return false
}
