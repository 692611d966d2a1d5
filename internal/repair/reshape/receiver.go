package reshape

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// lockOriginal gives the methods of a struct pointers as receivers, if the run failed where one of them
// takes the lock of a copy. All of them: one that has a copy reads the lock, and all that it guards.
func (r *finder) lockOriginal() []*change.Change {
	owner := r.copiedWithLock()
	if owner == nil {
		return nil
	}
	w := r.Rewrite()
	for _, f := range r.Code.Files() {
		for _, d := range f.Syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || copiedReceiver(f, fn) != owner {
				continue
			}
			if usesAsWhole(f, fn) {
				r.Decline(f, fn, fn.Name.Name+" has a copy of a lock in its receiver, and needs the copy as a whole")
				return nil
			}
			w.Of(f).InsertBefore(fn.Recv.List[0].Type.Pos(), "*")
			w.Note(f, fn)
		}
	}
	name := owner.Obj().Name()
	return w.Finish(&change.Change{
		Words:   "methods of " + name + " have a pointer as their receiver",
		Mistake: "a method takes a lock in a copy of its receiver",
		Reason:  "all goroutines take the lock of the same " + name + ", and none has a copy of it",
	})
}

// copiedWithLock is the struct of which a method takes the lock of a copy, where the run failed; nil if
// there is none.
func (r *finder) copiedWithLock() *types.Named {
	for i := range r.Failures {
		failure := &r.Failures[i]
		for _, at := range append(failure.Others[:len(failure.Others):len(failure.Others)], failure.Point) {
			f, line := r.LineOf(&at)
			if f == nil {
				continue
			}
			for _, d := range r.methodsAt(f, line) {
				if file := r.Code.FileOf(d); r.locksCopy(file, d) {
					return copiedReceiver(file, d)
				}
			}
		}
	}
	return nil
}

// methodsAt are the functions that a line is in, or calls: the receiver is copied by the caller.
func (r *finder) methodsAt(f *source.File, line int) []*ast.FuncDecl {
	var all []*ast.FuncDecl
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if n == nil || line < f.Line(n.Pos()) || f.Line(n.End()) < line {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			all = append(all, n)
		case *ast.CallExpr:
			if d, _ := r.Declaration(f, n); d != nil {
				all = append(all, d)
			}
		}
		return true
	})
	return all
}

// locksCopy reports whether a method takes a lock that its receiver has, which is a copy.
func (r *finder) locksCopy(f *source.File, d *ast.FuncDecl) bool {
	receiver := receiverOf(f, d)
	if receiver == nil || copiedReceiver(f, d) == nil || d.Body == nil {
		return false
	}
	found := false
	ast.Inspect(d.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		op, ok := r.Code.Locks().Op(f.Info, call)
		if !ok || op.Verb != locks.Acquire {
			return true
		}
		class, selector := r.Code.Locks().Places.ClassOf(op), ast.Unparen(call.Fun).(*ast.SelectorExpr)
		found = class != nil && !isPointer(class.Type()) && isPartOf(f.Info, selector.X, receiver)
		return true
	})
	return found
}

// isPartOf reports whether an expression names a variable or what is inside of it, not by way of a
// pointer.
func isPartOf(info *types.Info, e ast.Expr, v *types.Var) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return info.Uses[e] == v
	case *ast.SelectorExpr:
		s := info.Selections[e]
		return s != nil && s.Kind() == types.FieldVal && !s.Indirect() && !isPointer(s.Type()) && isPartOf(info, e.X, v)
	}
	return false
}

// copiedReceiver is the struct that a method has a copy of as its receiver; nil if it has none.
func copiedReceiver(f *source.File, d *ast.FuncDecl) *types.Named {
	if d.Recv == nil || len(d.Recv.List) != 1 {
		return nil
	}
	t := f.Info.TypeOf(d.Recv.List[0].Type)
	if t == nil || isPointer(t) {
		return nil
	}
	if n := syntax.NamedType(t); n != nil {
		return n.Origin()
	}
	return nil
}

// receiverOf is the receiver of a method; nil if it has no name.
func receiverOf(f *source.File, d *ast.FuncDecl) *types.Var {
	if d.Recv == nil || len(d.Recv.List) != 1 || len(d.Recv.List[0].Names) != 1 {
		return nil
	}
	v, _ := f.Info.Defs[d.Recv.List[0].Names[0]].(*types.Var)
	return v
}

// usesAsWhole reports whether a method does with its receiver anything but name what it has.
func usesAsWhole(f *source.File, d *ast.FuncDecl) bool {
	receiver := receiverOf(f, d)
	if receiver == nil || d.Body == nil {
		return false
	}
	var selected []*ast.Ident
	whole := false
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := ast.Unparen(n.X).(*ast.Ident); ok {
				selected = append(selected, id)
			}
		case *ast.Ident:
			whole = whole || f.Info.Uses[n] == receiver && !slices.Contains(selected, n)
		}
		return true
	})
	return whole
}

func isPointer(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.Pointer)
	return ok
}
