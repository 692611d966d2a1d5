package atomics

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
)

// rewriteStraight is for a change that is always made, right after the load or by it:
//
//	n := x.Load()              n := x.Add(1) - 1
//	x.Store(n + 1)
//
//	n := x.Load()              n := x.Swap(0)
//	x.Store(0)
//
//	x.Store(x.Load() + n)      x.Add(n)
func (u *update) rewriteStraight(w *change.Rewriting, list []ast.Stmt, at int) string {
	f, act := u.file, u.acts[0]
	value := ast.Unparen(act.args[0])
	isLoad := func(e ast.Expr) bool { return ast.Unparen(e) == ast.Expr(u.load.call) }
	if act.verb != "Store" {
		return ""
	}
	if step := u.stepFrom(value, isLoad); step != "" {
		w.Of(f).Replace(act.call, act.text("Add", step))
		w.Note(f, act.call)
		return "Add"
	}
	if at == 0 {
		return ""
	}
	name, loaded := definition(list[at-1])
	if name == nil || !syntax.Within(u.load.call, list[at-1]) {
		return ""
	}
	local, _ := f.Info.Defs[name].(*types.Var)
	isLocal := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && f.Info.Uses[id] == types.Object(local)
	}
	verb, operand, back := "", "", ""
	switch {
	case isLocal(value): // id := x.Load() + 1; x.Store(id)
		verb, operand = "Add", u.stepFrom(loaded, isLoad)
	case !isLoad(loaded):
		return ""
	case u.stepFrom(value, isLocal) != "":
		verb, operand = "Add", u.stepFrom(value, isLocal)
		back = undoing(operand)
	case !syntax.Mentions(f, value, local):
		verb, operand = "Swap", f.TextOf(value)
	}
	if operand == "" {
		return ""
	}
	if u.isUsedBehind(local, act.call) {
		w.Of(f).Replace(loaded, act.text(verb, operand)+back)
		w.Of(f).Delete(list[at])
	} else {
		w.Of(f).Delete(list[at-1])
		w.Of(f).Replace(act.call, act.text(verb, operand))
	}
	w.Note(f, act.call)
	return verb
}

// definition is the variable that a statement declares, and its value; nil if it does nothing but that.
func definition(s ast.Stmt) (*ast.Ident, ast.Expr) {
	define, ok := s.(*ast.AssignStmt)
	if !ok || define.Tok != token.DEFINE || len(define.Lhs) != 1 || len(define.Rhs) != 1 {
		return nil, nil
	}
	name, _ := define.Lhs[0].(*ast.Ident)
	return name, define.Rhs[0]
}

// stepFrom is what an expression adds to what it begins with, as an argument of Add; "" if it is no sum
// of integers.
func (u *update) stepFrom(e ast.Expr, isBegin func(ast.Expr) bool) string {
	sum, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok {
		return ""
	}
	kind, ok := u.file.Info.TypeOf(e).Underlying().(*types.Basic)
	if !ok || kind.Info()&types.IsInteger == 0 {
		return ""
	}
	step, begin := sum.Y, sum.X
	if sum.Op == token.ADD && isBegin(sum.Y) {
		step, begin = sum.X, sum.Y
	}
	if !isBegin(begin) || !u.repeatable(step) || syntax.Within(u.load.call, step) {
		return ""
	}
	text := u.file.TextOf(step)
	switch {
	case sum.Op == token.ADD:
		return text
	case sum.Op != token.SUB || kind.Info()&types.IsUnsigned != 0:
		return ""
	}
	if _, isBinary := step.(*ast.BinaryExpr); isBinary {
		return "-(" + text + ")"
	}
	return "-" + text
}

// undoing takes back from the result of Add what was added: what was there before.
func undoing(step string) string {
	if negative, ok := strings.CutPrefix(step, "-"); ok {
		return " + " + negative
	}
	if strings.ContainsAny(step, " +-*/%&|^<>") {
		return " - (" + step + ")"
	}
	return " - " + step
}

// isUsedBehind reports whether a variable is used behind a node.
func (u *update) isUsedBehind(v *types.Var, n ast.Node) bool {
	used := false
	ast.Inspect(u.function, func(x ast.Node) bool {
		if id, ok := x.(*ast.Ident); ok && id.Pos() > n.End() && u.file.Info.Uses[id] == types.Object(v) {
			used = true
		}
		return !used
	})
	return used
}
