package source

import (
	"go/ast"
	"go/token"
	"go/types"
)

// ThroughPointer reports whether a selection passes an embedded pointer on its way, that is
// not in the source.
func ThroughPointer(s *types.Selection) bool {
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		f := FieldAt(t, i)
		if _, ok := f.Type().Underlying().(*types.Pointer); ok {
			return true
		}
		t = f.Type()
	}
	return false
}

// FieldAt returns a field of a struct, or of what a pointer to one points to.
func FieldAt(t types.Type, i int) *types.Var {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	return t.Underlying().(*types.Struct).Field(i)
}

// HasPointerReceiver reports whether a function is a method whose receiver is a pointer.
func HasPointerReceiver(m *types.Func) bool {
	r := m.Signature().Recv()
	if r == nil {
		return false
	}
	_, ok := r.Type().(*types.Pointer)
	return ok
}

// HiddenPath reports whether a selection passes an embedded pointer that cannot be named in a
// package.
func HiddenPath(s *types.Selection, from *types.Package) bool {
	if s.Kind() == types.FieldVal && !ThroughPointer(s) {
		return false
	}
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		field := FieldAt(t, i)
		if !field.Exported() && field.Pkg() != from && field.Pkg().Path() != from.Path() {
			return true
		}
		t = field.Type()
	}
	return false
}

// HasConstantLength reports whether the length of an expression is a constant, so that a range
// over no more than its indexes does not evaluate it: it may lead through a nil pointer. An array,
// or a pointer to one, has such a length unless something is called, or received, to get it.
func HasConstantLength(info *types.Info, e ast.Expr) bool {
	t := info.TypeOf(e).Underlying()
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem().Underlying()
	}
	if _, ok := t.(*types.Array); !ok {
		return false
	}
	constant := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			constant = constant && (info.Types[n.Fun].IsType() || info.Types[n].Value != nil)
		case *ast.UnaryExpr:
			constant = constant && n.Op != token.ARROW
		}
		return constant
	})
	return constant
}
