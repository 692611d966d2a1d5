package syntax

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// CallOf returns the call that a statement consists of, nil if it is another statement.
func CallOf(s ast.Stmt) *ast.CallExpr {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	call, _ := ast.Unparen(e.X).(*ast.CallExpr)
	return call
}

// Calls reports whether an expression calls something, which may wait.
func Calls(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		_, call := n.(*ast.CallExpr)
		found = found || call
		return !found
	})
	return found
}

// Leaves reports whether a statement may leave the function that it is in by a return or a
// goto.
func Leaves(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
		case *ast.BranchStmt:
			found = found || n.Tok == token.GOTO
		}
		return !found
	})
	return found
}

// Breaks reports whether statements leave the loop or switch around them by a break without a
// label, which would leave a select in its place.
func Breaks(list []ast.Stmt) bool {
	found := false
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
				return false
			case *ast.BranchStmt:
				found = found || n.Tok == token.BREAK && n.Label == nil
			}
			return !found
		})
	}
	return found
}

// MayWait reports whether statements may wait for another goroutine, as far as they say so
// themselves: by a channel, or by what is called Wait.
func MayWait(f *source.File, list []ast.Stmt) bool {
	waits := false
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.SelectStmt, *ast.SendStmt:
				waits = true
			case *ast.UnaryExpr:
				waits = waits || n.Op == token.ARROW
			case *ast.RangeStmt:
				_, channel := f.Info.TypeOf(n.X).Underlying().(*types.Chan)
				waits = waits || channel
			case *ast.SelectorExpr:
				waits = waits || n.Sel.Name == "Wait"
			}
			return true
		})
	}
	return waits
}

// WaitsItself reports whether a node waits for another goroutine.
func WaitsItself(f *source.File, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectStmt, *ast.SendStmt:
		return true
	case *ast.UnaryExpr:
		return n.Op == token.ARROW
	case *ast.RangeStmt:
		_, channel := f.Info.TypeOf(n.X).Underlying().(*types.Chan)
		return channel
	case *ast.SelectorExpr:
		return n.Sel.Name == "Wait"
	}
	return false
}

// MayPanic reports whether a statement calls anything but functions of the language, whose panic
// would leave a lock held that is not released by a defer statement.
func MayPanic(f *source.File, s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			found = found || !slices.ContainsFunc([]string{"append", "len", "cap", "delete", "max", "min", "clear"}, func(name string) bool { return IsBuiltin(f.Info, call, name) })
		}
		return !found
	})
	return found
}

// MayNeedLock reports whether an expression may read what a lock guards: anything but variables
// of the function, constants, and calls of functions of the standard library with these.
func MayNeedLock(info *types.Info, e ast.Expr) bool {
	needs := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.BasicLit, *ast.ParenExpr, *ast.BinaryExpr:
		case *ast.Ident:
			v, ok := info.Uses[n].(*types.Var)
			needs = needs || ok && (v.IsField() || v.Parent() == v.Pkg().Scope() && !types.Implements(v.Type(), errorType))
		case *ast.SelectorExpr:
			_, qualified := info.Uses[n.Sel].(*types.Func)
			id, ok := n.X.(*ast.Ident)
			if ok {
				_, ok = info.Uses[id].(*types.PkgName)
			}
			needs = needs || !qualified || !ok
			return false
		case *ast.CallExpr:
			_, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
			needs = needs || !ok
		default:
			needs = true
		}
		return !needs
	})
	return needs
}

// ReceivedFrom is the channel that an expression receives from, nil if it does not.
func ReceivedFrom(e ast.Expr) ast.Expr {
	if receive, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && receive.Op == token.ARROW {
		return receive.X
	}
	return nil
}

// OthersWaitFor reports whether another goroutine may wait for what a statement does.
func OthersWaitFor(f *source.File, s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt:
			found = true
		case *ast.CallExpr:
			found = found || IsBuiltin(f.Info, n, "close") || slices.Contains([]string{"Done", "Unlock", "RUnlock", "Signal", "Broadcast", "Store"}, CalleeName(n))
		}
		return !found
	})
	return found
}

// errorType is what the error variables of a package are, which are set once.
var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// MakingAtFirst is the statement by which a method begins that makes a field of its receiver,
// and how it reads behind the receiver's name; nil if it does not begin so.
func MakingAtFirst(f *source.File, d *ast.FuncDecl, v *types.Var) (s ast.Stmt, text string) {
	for _, s := range d.Body.List {
		set, ok := s.(*ast.AssignStmt)
		if !ok || set.Tok != token.ASSIGN || len(set.Lhs) != 1 {
			return nil, ""
		}
		selector, ok := set.Lhs[0].(*ast.SelectorExpr)
		call, isCall := ast.Unparen(set.Rhs[0]).(*ast.CallExpr)
		if !ok || !isCall || !IsBuiltin(f.Info, call, "make") || slices.ContainsFunc(call.Args[1:], func(e ast.Expr) bool { return f.Info.Types[e].Value == nil }) {
			return nil, ""
		}
		p, ok := PathOf(f.Info, selector)
		receiver, isName := selector.X.(*ast.Ident)
		if ok && isName && len(d.Recv.List[0].Names) == 1 && f.Info.Uses[receiver] == f.Info.Defs[d.Recv.List[0].Names[0]] && Same(p.Variable.Origin(), v) {
			return s, f.Between(receiver.End(), set.End())
		}
	}
	return nil, ""
}

// ChannelOf is the variable or field with the channel that a node sends to or receives from; nil
// if it does neither, or the channel has no name.
func ChannelOf(f *source.File, n ast.Node) *types.Var {
	var channel ast.Expr
	switch n := n.(type) {
	case *ast.SendStmt:
		channel = n.Chan
	case *ast.UnaryExpr:
		channel = ReceivedFrom(n)
	case *ast.RangeStmt:
		channel = n.X
	}
	if channel == nil {
		return nil
	}
	p, ok := PathOf(f.Info, channel)
	if !ok {
		return nil
	}
	return p.Variable.Origin()
}

// WaitsFor reports whether a statement does nothing but wait for what a goroutine does: the
// Wait of a WaitGroup that it counts down, or a receive from a channel that it sends to or
// closes.
func WaitsFor(f *source.File, s ast.Stmt, lit *ast.FuncLit) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	var on ast.Expr
	switch e := ast.Unparen(e.X).(type) {
	case *ast.CallExpr:
		if on, ok = MethodCall(f.Info, e, "WaitGroup", "Wait"); !ok {
			return false
		}
	case *ast.UnaryExpr:
		if e.Op != token.ARROW {
			return false
		}
		on = e.X
	default:
		return false
	}
	p, ok := PathOf(f.Info, on)
	return ok && Mentions(f, lit, p.Variable)
}
