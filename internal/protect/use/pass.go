package use

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// Writes reports whether a use of a field stores to it or to a part of it, from the nodes around it.
//
//	n.val = 1, n.at.x++, n.keys[2] = k      keys is an array
//	for n.val = range 3
func Writes(info *types.Info, use ast.Node, around []ast.Node) bool {
	whole, i := wholeOf(info, use, around)
	if r, ok := around[i-1].(*ast.RangeStmt); ok {
		return r.Key == whole || r.Value == whole
	}
	return storesTo(around[i-1], whole)
}

// ComesEarlier reports whether an object would be found earlier than the compiler does it if the use of a field of it were by a call:
// other data leads to the object, and the statement calls functions, which may change that data.
//
//	f(x.first.val, x.replace())     the compiler loads x.first when replace is done
func ComesEarlier(info *types.Info, use ast.Node, around []ast.Node) bool {
	if s, ok := use.(*ast.SelectorExpr); ok {
		if id, ok := ast.Unparen(s.X).(*ast.Ident); ok {
			v, ok := info.ObjectOf(id).(*types.Var)
			return !ok || facts.IsGlobal(v) && runsOtherCode(info, use, around)
		}
	}
	return runsOtherCode(info, use, around)
}

// PassesOn returns how code lets another goroutine have objects of a type that it uses itself, or may do so, apart from what
// other code does that it calls by name; "" if it does not.
//
//	f(n), x.add(n)             hand n to other code
//	f()                        may know n, if f is a variable
//	flag.Store(true), wg.Done()     let a goroutine go on that knows n
func PassesOn(info *types.Info, code ast.Node, object types.Type) (how string) {
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if how == "" {
				how = callPassesOn(info, n, object)
			}
		}
		return how == ""
	})
	return how
}

func callPassesOn(info *types.Info, c *ast.CallExpr, object types.Type) string {
	fun := ast.Unparen(c.Fun)
	if info.Types[fun].IsType() || facts.BuiltinOf(info, fun) != "" {
		return ""
	}
	called := calledFunction(info, fun)
	switch {
	case called == nil:
		return "calls a function value, which may hand it on"
	case called.Pkg() != nil && slices.Contains([]string{"sync", "sync/atomic"}, called.Pkg().Path()) && called.Name() != "Lock" && called.Name() != "RLock":
		return "lets other goroutines go on"
	}
	for _, a := range c.Args {
		if leadsTo(info.TypeOf(a), object, nil) {
			return "hands it to " + called.Name()
		}
	}
	if s, ok := fun.(*ast.SelectorExpr); ok && info.Selections[s] != nil && sameType(facts.Deref(info.TypeOf(s.X)), object) {
		return "hands it to " + called.Name()
	}
	return ""
}

// calledFunction returns the function or method that an expression names, which may be that of an interface.
func calledFunction(info *types.Info, fun ast.Expr) *types.Func {
	switch f := fun.(type) {
	case *ast.IndexExpr:
		return calledFunction(info, ast.Unparen(f.X))
	case *ast.IndexListExpr:
		return calledFunction(info, ast.Unparen(f.X))
	case *ast.Ident:
		called, _ := info.Uses[f].(*types.Func)
		return called
	case *ast.SelectorExpr:
		called, _ := info.Uses[f.Sel].(*types.Func)
		return called
	}
	return nil
}

// leadsTo reports whether a value of a type may lead to an object, as far as its type shows.
func leadsTo(t, object types.Type, seen []types.Type) bool {
	for _, s := range seen {
		if types.Identical(s, t) {
			return false
		}
	}
	seen = append(seen, t)
	if sameType(t, object) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return leadsTo(u.Elem(), object, seen)
	case *types.Slice:
		return leadsTo(u.Elem(), object, seen)
	case *types.Array:
		return leadsTo(u.Elem(), object, seen)
	case *types.Chan:
		return leadsTo(u.Elem(), object, seen)
	case *types.Map:
		return leadsTo(u.Key(), object, seen) || leadsTo(u.Elem(), object, seen)
	case *types.Struct:
		for f := range u.Fields() {
			if leadsTo(f.Type(), object, seen) {
				return true
			}
		}
	case *types.Interface:
		_, isParam := types.Unalias(t).(*types.TypeParam)
		return isParam || u.NumMethods() == 0 || types.Implements(types.NewPointer(object), u)
	case *types.Signature:
		return true
	}
	return false
}

// sameType reports whether a type is that of an object, or another instance of the same generic type.
func sameType(t, object types.Type) bool {
	a, ok := types.Unalias(t).(*types.Named)
	b, ok2 := types.Unalias(object).(*types.Named)
	return ok && ok2 && a.Origin() == b.Origin()
}
