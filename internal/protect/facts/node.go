package facts

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// addEffect adds to an effect what one node does by itself.
func (f *Facts) addEffect(info *types.Info, e *Effect, c inspector.Cursor) {
	switch n := c.Node().(type) {
	case *ast.GoStmt:
		e.block("starts a goroutine")
	case *ast.SendStmt, *ast.SelectStmt:
		e.block("uses a channel")
	case *ast.DeferStmt:
		e.block("defers a call")
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			e.block("uses a channel")
		}
	case *ast.RangeStmt:
		switch t := coreOf(info.TypeOf(n.X)).(type) {
		case *types.Slice:
			e.indirect = true
		case *types.Pointer:
			e.pointTo(t.Elem())
		case *types.Chan:
			e.block("uses a channel")
		case *types.Signature, nil:
			e.block("ranges over a function")
		}
	case *ast.CallExpr:
		addCall(info, e, n)
	case *ast.SelectorExpr:
		if s := info.Selections[n]; s != nil && s.Kind() == types.FieldVal {
			f.nameSelection(info, e, n, s)
			e.indirect = e.indirect || s.Indirect()
		}
	case *ast.StarExpr:
		if tv := info.Types[n]; tv.IsValue() {
			e.pointTo(tv.Type)
		}
	case *ast.IndexExpr:
		switch t := coreOf(info.TypeOf(n.X)).(type) {
		case *types.Slice:
			e.indirect = true
		case *types.Pointer:
			e.pointTo(t.Elem())
		}
	case *ast.Ident:
		if v, ok := info.Uses[n].(*types.Var); ok && !v.IsField() {
			e.name(f.KeyOf(v))
		}
	}
	if x, ok := c.Node().(ast.Expr); ok && wholeUse(info, x, c.Parent().Node()) {
		f.nameWhole(e, info.TypeOf(x))
	}
}

// nameSelection names the fields that a selection leads through.
func (f *Facts) nameSelection(info *types.Info, e *Effect, n *ast.SelectorExpr, s *types.Selection) {
	t := Deref(info.TypeOf(n.X))
	for _, i := range s.Index() {
		st, ok := t.Underlying().(*types.Struct)
		if !ok {
			return
		}
		field := st.Field(i)
		e.name(f.KeyOf(field))
		t = Deref(field.Type())
	}
}

// nameWhole names the fields of a struct that is copied, compared or assigned as a whole.
func (f *Facts) nameWhole(e *Effect, t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for field := range u.Fields() {
			e.name(f.KeyOf(field))
			f.nameWhole(e, field.Type())
		}
	case *types.Array:
		f.nameWhole(e, u.Elem())
	case *types.Tuple:
		for v := range u.Variables() {
			f.nameWhole(e, v.Type())
		}
	}
}

// wholeUse reports whether an expression is the value of a struct or an array that is
// used as such, and not only the way to a part of it or its address.
//
//	y = x        both are used as a whole
//	x.f, x[i], &x, x.method()      only if the method gets a copy of x
func wholeUse(info *types.Info, x ast.Expr, parent ast.Node) bool {
	tv, ok := info.Types[x]
	if !ok || !tv.IsValue() {
		id, isIdent := x.(*ast.Ident)
		if !isIdent {
			return false
		}
		if _, isVar := info.ObjectOf(id).(*types.Var); !isVar {
			return false
		}
	}
	t := info.TypeOf(x)
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
	default:
		return false
	}
	switch p := parent.(type) {
	case *ast.ParenExpr:
		return false // the question is asked for the parenthesis
	case *ast.SelectorExpr:
		s := info.Selections[p]
		if s == nil || s.Kind() != types.MethodVal {
			return false
		}
		r := s.Obj().(*types.Func).Signature().Recv()
		return r != nil && !IsPointer(r.Type())
	case *ast.UnaryExpr:
		return p.Op != token.AND
	case *ast.IndexExpr:
		return p.X != x
	case *ast.KeyValueExpr:
		if id, ok := x.(*ast.Ident); ok && p.Key == x {
			if v, ok := info.ObjectOf(id).(*types.Var); ok && v.IsField() {
				return false
			}
		}
	}
	return true
}

// addCall adds the effect of a call.
func addCall(info *types.Info, e *Effect, c *ast.CallExpr) {
	fun := ast.Unparen(c.Fun)
	if tv := info.Types[fun]; tv.IsType() {
		if isUnsafePointer(tv.Type) {
			e.block("uses unsafe")
		}
		return
	}
	switch b := BuiltinOf(info, fun); b {
	case "":
	case "close", "recover", "print", "println":
		e.block("calls " + b)
		return
	case "panic":
		e.block("panics")
		return
	case "Slice", "SliceData", "String", "StringData", "Add":
		e.block("uses unsafe")
		return
	default:
		return
	}
	f := CalleeOf(info, fun)
	if f == nil {
		e.block("calls a function value")
		return
	}
	m, isMutex := mutexMethod(f)
	switch {
	case isMutex && m.Verb == locks.Release:
		e.block("releases a lock")
	case isMutex:
		e.Acquires = true
	case f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type()):
		e.block("calls a method of an interface, " + f.Name())
	case harmless(info, f, c):
	default:
		e.Calls = append(e.Calls, Call{f, c})
	}
}

// BuiltinOf returns the name of the built-in function that an expression denotes, "" if
// it is none.
func BuiltinOf(info *types.Info, e ast.Expr) string {
	var id *ast.Ident
	switch e := e.(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel // of package unsafe
	default:
		return ""
	}
	if b, ok := info.Uses[id].(*types.Builtin); ok {
		return b.Name()
	}
	return ""
}

// CalleeOf returns the function that a call's expression denotes, nil if it is a value
// that is not known.
func CalleeOf(info *types.Info, e ast.Expr) *types.Func {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		f, _ := info.Uses[e].(*types.Func)
		return f
	case *ast.SelectorExpr:
		if s := info.Selections[e]; s != nil {
			if s.Kind() != types.MethodVal {
				return nil
			}
			f, _ := s.Obj().(*types.Func)
			return f
		}
		f, _ := info.Uses[e.Sel].(*types.Func)
		return f
	case *ast.IndexExpr:
		return CalleeOf(info, e.X)
	case *ast.IndexListExpr:
		return CalleeOf(info, e.X)
	}
	return nil
}

// Panics reports whether a statement is a call of panic: nothing may follow it where a
// function has to end.
func Panics(info *types.Info, s ast.Stmt) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	c, ok := ast.Unparen(e.X).(*ast.CallExpr)
	return ok && BuiltinOf(info, ast.Unparen(c.Fun)) == "panic"
}
