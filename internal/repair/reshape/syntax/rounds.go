package syntax

import (
	"go/ast"
	"go/types"
	"strconv"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// Making is the call that makes a channel without room, and the body of the function that does so for a
// variable of its own; nil if there is none.
func Making(f *source.File, channel *types.Var) (made *ast.CallExpr, body *ast.BlockStmt) {
	Inspect(f, func(n ast.Node, around []ast.Node) {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != len(assign.Rhs) {
			return
		}
		for i, left := range assign.Lhs {
			id, ok := left.(*ast.Ident)
			if !ok || f.Info.Defs[id] != types.Object(channel) {
				continue
			}
			call, ok := ast.Unparen(assign.Rhs[i]).(*ast.CallExpr)
			if ok && IsBuiltin(f.Info, call, "make") && len(call.Args) == 1 {
				_, body = FunctionAround(around)
				made = call
			}
		}
	})
	return made, body
}

// Answers is how many values may be sent to a channel, as an expression that is known where
// the channel is made.
func Answers(f *source.File, channel *types.Var, made *ast.CallExpr, body *ast.BlockStmt) (room string, ok bool) {
	count, each := 0, ""
	ok = true
	ast.PreorderStack(body, nil, func(n ast.Node, around []ast.Node) bool {
		id, isIdent := n.(*ast.Ident)
		if !isIdent || f.Info.Uses[id] != types.Object(channel) || !ok {
			return true
		}
		switch use := around[len(around)-1].(type) {
		case *ast.SendStmt:
			if use.Chan != ast.Expr(id) {
				ok = false
				return true
			}
			rounds, counted := roundsOf(f, around, made, body)
			ok = counted && (rounds == "" || each == "")
			if rounds == "" {
				count++
			} else {
				each = rounds
			}
		case *ast.UnaryExpr, *ast.RangeStmt:
		case *ast.CallExpr:
			ok = IsBuiltin(f.Info, use, "close") || IsBuiltin(f.Info, use, "len") || IsBuiltin(f.Info, use, "cap")
		default:
			ok = false // it may be sent to elsewhere
		}
		return true
	})
	switch {
	case !ok || count == 0 && each == "":
		return "", false
	case each == "":
		return strconv.Itoa(count), true
	case count == 0:
		return each, true
	}
	return each + "+" + strconv.Itoa(count), true
}

// roundsOf is how often a send may happen: "" for once, else the number of rounds of the one
// loop that starts its goroutine. It is false if that cannot be told.
func roundsOf(f *source.File, around []ast.Node, made *ast.CallExpr, body *ast.BlockStmt) (rounds string, ok bool) {
	inGoroutine := false
	for i := len(around) - 1; i >= 0; i-- {
		n := around[i]
		if n.Pos() <= made.Pos() && made.End() <= n.End() {
			break // what is around the making makes a new channel
		}
		switch n := n.(type) {
		case *ast.GoStmt:
			inGoroutine = true
		case *ast.FuncLit:
			call, isCall := around[i-1].(*ast.CallExpr)
			start, isGo := ast.Node(nil), false
			if i >= 2 {
				start, isGo = around[i-2].(*ast.GoStmt)
			}
			if !isCall || !isGo || start.(*ast.GoStmt).Call != call || call.Fun != ast.Expr(n) {
				return "", false // it may be called any number of times
			}
		case *ast.ForStmt:
			return "", false
		case *ast.RangeStmt:
			if !inGoroutine || rounds != "" {
				return "", false
			}
			if rounds = lengthOf(f, n.X, made, body); rounds == "" {
				return "", false
			}
		}
	}
	return rounds, inGoroutine
}

// lengthOf is how many rounds a loop over an expression has, as it reads where a channel is
// made; "" if that is not known there.
func lengthOf(f *source.File, e ast.Expr, made *ast.CallExpr, body *ast.BlockStmt) string {
	if value := f.Info.Types[e].Value; value != nil {
		return f.TextOf(e)
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok || !f.Means(f.Info.ObjectOf(id), made.Pos()) || Assigned(f, []ast.Stmt{body}, id) {
		return ""
	}
	switch t := f.Info.TypeOf(e).Underlying().(type) {
	case *types.Slice, *types.Map, *types.Array:
		return "len(" + id.Name + ")"
	case *types.Basic:
		switch {
		case t.Info()&types.IsUnsigned != 0:
			return id.Name
		case t.Info()&types.IsInteger != 0:
			return "max(" + id.Name + ", 0)" // a loop over less than nothing has no rounds
		}
	}
	return ""
}
