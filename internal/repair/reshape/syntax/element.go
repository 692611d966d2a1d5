package syntax

import (
	"go/ast"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// An ElementLock is the lock of an element of an array or slice, as a function uses it.
type ElementLock struct {
	Take    ast.Stmt
	Index   string     // its text
	Indexes []ast.Expr // in all calls
}

// elementCall is a statement that takes or releases the lock of an element.
type elementCall struct {
	element  *ast.IndexExpr
	method   string
	deferred bool
	list     []ast.Stmt
	at       int // in the list
}

// ElementLocks returns the two locks of elements of one array or slice that a function takes one right
// after the other, the second at a line of a list of its statements, if it does nothing else with
// locks of these elements but release the two together; nil otherwise.
func ElementLocks(f *source.File, body *ast.BlockStmt, list []ast.Stmt, line int) (first, second *ElementLock) {
	at := slices.IndexFunc(list, func(s ast.Stmt) bool { return f.Line(s.Pos()) == line })
	if at < 0 || body == nil {
		return nil, nil
	}
	last := elementCallOf(list, at)
	before := at - 1
	for before >= 0 && elementCallOf(list, before) != nil && elementCallOf(list, before).deferred {
		before-- // the release of the first
	}
	taken := elementCallOf(list, before)
	if last == nil || taken == nil || last.method != "Lock" || taken.method != "Lock" || last.deferred || f.TextOf(taken.element.X) != f.TextOf(last.element.X) ||
		!IsPlainNumber(f, taken.element.Index) || !IsPlainNumber(f, last.element.Index) {
		return nil, nil
	}
	first = &ElementLock{Take: list[before], Index: f.TextOf(taken.element.Index)}
	second = &ElementLock{Take: list[at], Index: f.TextOf(last.element.Index)}
	var calls []*elementCall
	Inspect(f, func(n ast.Node, _ []ast.Node) {
		if body.Pos() <= n.Pos() && n.End() <= body.End() {
			all := Statements(n)
			for i := range all {
				if c := elementCallOf(all, i); c != nil && f.TextOf(c.element.X) == f.TextOf(last.element.X) {
					calls = append(calls, c)
				}
			}
		}
	})
	for _, c := range calls {
		switch index := f.TextOf(c.element.Index); {
		case index == first.Index && c.pairs(f, calls, second.Index):
			first.Indexes = append(first.Indexes, c.element.Index)
		case index == second.Index && c.pairs(f, calls, first.Index):
			second.Indexes = append(second.Indexes, c.element.Index)
		default:
			return nil, nil
		}
	}
	return first, second
}

// pairs reports whether the same is done to the lock of another element right beside the call, or
// both are deferred.
func (c *elementCall) pairs(f *source.File, calls []*elementCall, other string) bool {
	return slices.ContainsFunc(calls, func(o *elementCall) bool {
		beside := &o.list[0] == &c.list[0] && (o.at-c.at == 1 || c.at-o.at == 1)
		return o.method == c.method && f.TextOf(o.element.Index) == other &&
			(beside && o.deferred == c.deferred || o.deferred && c.deferred || c.method == "Lock")
	})
}

// elementCallOf is the call of a statement, nil if it is none on the lock of an element.
func elementCallOf(list []ast.Stmt, at int) *elementCall {
	if at < 0 {
		return nil
	}
	var call *ast.CallExpr
	deferred := false
	switch s := list[at].(type) {
	case *ast.ExprStmt:
		call, _ = s.X.(*ast.CallExpr)
	case *ast.DeferStmt:
		call, deferred = s.Call, true
	}
	if call == nil {
		return nil
	}
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Lock" && selector.Sel.Name != "Unlock" {
		return nil
	}
	element, ok := ast.Unparen(selector.X).(*ast.IndexExpr)
	if !ok {
		return nil
	}
	return &elementCall{element: element, method: selector.Sel.Name, deferred: deferred, list: list, at: at}
}
