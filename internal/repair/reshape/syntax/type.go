package syntax

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// MethodCall returns what a method of package sync is called on, if a call is one of it.
func MethodCall(info *types.Info, call *ast.CallExpr, typeName, method string) (receiver ast.Expr, ok bool) {
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != method {
		return nil, false
	}
	fn, ok := info.Uses[selector.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "sync" {
		return nil, false
	}
	named := receiverType(fn)
	return selector.X, named != nil && named.Obj().Name() == typeName
}

func receiverType(fn *types.Func) *types.Named {
	receiver := fn.Signature().Recv()
	if receiver == nil {
		return nil
	}
	return NamedType(receiver.Type())
}

// NamedType is the named type that a type or its pointer is, nil if it is none.
func NamedType(t types.Type) *types.Named {
	if t == nil {
		return nil
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	if n == nil {
		return nil
	}
	return n.Origin()
}

// IsBuiltin reports whether a call is one of a function of the language.
func IsBuiltin(info *types.Info, call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := info.Uses[id].(*types.Builtin)
	return ok && b.Name() == name
}

// CalleeName is the name of the function or method that a call names.
func CalleeName(call *ast.CallExpr) string {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

// IsAtomic reports whether a call is one of a function of sync/atomic.
func IsAtomic(info *types.Info, call *ast.CallExpr) bool {
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := info.Uses[selector.Sel].(*types.Func)
	return ok && fn.Pkg() != nil && fn.Pkg().Path() == "sync/atomic"
}

// ResultsOf are the results of a function.
func ResultsOf(f *source.File, fn ast.Node) *types.Tuple {
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		return f.Info.Defs[fn.Name].(*types.Func).Signature().Results()
	case *ast.FuncLit:
		return f.Info.TypeOf(fn).(*types.Signature).Results()
	}
	return nil
}

// ZeroOf is the zero value of a type, if it can be written without naming the type.
func ZeroOf(t types.Type) (string, bool) {
	if _, parameter := types.Unalias(t).(*types.TypeParam); parameter {
		return "", false
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case t.Info()&types.IsString != 0:
			return `""`, true
		case t.Info()&types.IsNumeric != 0:
			return "0", true
		case t.Info()&types.IsBoolean != 0:
			return "false", true
		}
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Interface, *types.Signature:
		return "nil", true
	}
	return "", false
}

func IsContext(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == "Context" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "context"
}

// IsSignal reports whether a type is that of a channel which only ever says that something is
// so: of struct{}.
func IsSignal(t types.Type) bool {
	c, ok := t.Underlying().(*types.Chan)
	if !ok {
		return false
	}
	st, ok := c.Elem().Underlying().(*types.Struct)
	return ok && st.NumFields() == 0
}

// ArgumentOf is what a call gives for a parameter or the receiver.
func ArgumentOf(info *types.Info, call *ast.CallExpr, signature *ast.FuncType, receiver *ast.FieldList, parameter types.Object) ast.Expr {
	if receiver != nil {
		for _, field := range receiver.List {
			for _, name := range field.Names {
				if selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && info.Defs[name] == parameter {
					return selector.X
				}
			}
		}
	}
	i := 0
	for _, field := range signature.Params.List {
		for _, name := range field.Names {
			if info.Defs[name] == parameter && i < len(call.Args) {
				return call.Args[i]
			}
			i++
		}
	}
	return nil
}

// NamesParameters reports whether all parameters of a function have names to hand on.
func NamesParameters(d *ast.FuncDecl) bool {
	for _, field := range d.Type.Params.List {
		if len(field.Names) == 0 || slices.ContainsFunc(field.Names, func(id *ast.Ident) bool { return id.Name == "_" }) {
			return false
		}
	}
	return true
}

// IsPublic reports whether other packages can call a method.
func IsPublic(f *source.File, d *ast.FuncDecl) bool {
	owner := NamedType(f.Info.TypeOf(d.Recv.List[0].Type))
	return d.Name.IsExported() && (owner == nil || owner.Obj().Exported())
}

// CanTell reports whether something in a struct could tell other goroutines that its fields are set: a
// channel, or what packages sync and sync/atomic have.
func CanTell(n *types.Named) bool {
	fields, ok := n.Underlying().(*types.Struct)
	if !ok {
		return true
	}
	for field := range fields.Fields() {
		if _, isChannel := field.Type().Underlying().(*types.Chan); isChannel {
			return true
		}
		if of := NamedType(field.Type()); of != nil && of.Obj().Pkg() != nil {
			if path := of.Obj().Pkg().Path(); path == "sync" || path == "sync/atomic" {
				return true
			}
		}
	}
	return false
}
