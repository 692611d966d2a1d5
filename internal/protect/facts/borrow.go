package facts

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// A borrower is a method with a pointer receiver that does not let the pointer go. It can
// be called on a copy as well as on the variable, and does not expose the variable.
//
//	func (c *counts) add(n int) { c.total += n }      borrows
//	func (c *counts) self() *counts { return c }      keeps
//
//	x.counts.add(1)     v.add(1)
type borrower struct {
	writes bool // it assigns to parts of the receiver
	keeps  bool // it lets the pointer go, so it is no borrower
	calls  []FuncKey
}

// calledOnVariable returns the method that a selector calls on the address of a variable,
// nil if it does something else. The parent is the node around the selector.
func calledOnVariable(info *types.Info, e *ast.SelectorExpr, parent ast.Node) *types.Func {
	s := info.Selections[e]
	c, ok := parent.(*ast.CallExpr)
	if !ok || c.Fun != e || s == nil || s.Kind() != types.MethodVal || len(s.Index()) != 1 || IsPointer(info.TypeOf(e.X)) {
		return nil
	}
	if f := s.Obj().(*types.Func); IsPointer(f.Signature().Recv().Type()) {
		return f
	}
	return nil
}

// borrowerOf returns the method that a selector calls, if it borrows the variable before
// it.
func (f *Facts) borrowerOf(info *types.Info, e *ast.SelectorExpr, parent ast.Node) *borrower {
	if m := calledOnVariable(info, e, parent); m != nil {
		return f.borrowers[FuncKeyOf(m)]
	}
	return nil
}

// propagateBorrowing leaves the methods that borrow, and call only methods that do.
func (f *Facts) propagateBorrowing() {
	for changed := true; changed; {
		changed = false
		for _, b := range f.borrowers {
			for _, k := range b.calls {
				switch c := f.borrowers[k]; {
				case !b.keeps && (c == nil || c.keeps):
					b.keeps, changed = true, true
				case c != nil && c.writes && !b.writes:
					b.writes, changed = true, true
				}
			}
		}
	}
	for k, b := range f.borrowers {
		if b.keeps {
			delete(f.borrowers, k)
		}
	}
}

// observeReceiver looks at one use of the receiver, from the inside out.
func (o *observer) observeReceiver(c inspector.Cursor, inLiteral bool) {
	id, ok := c.Node().(*ast.Ident)
	if !ok || o.receiver == nil || o.info.Uses[id] != o.receiver {
		return
	}
	b := o.borrower
	b.keeps = b.keeps || inLiteral
	memory := false // c is a part of what the receiver points to, not the pointer
	for {
		switch p := c.Parent().Node().(type) {
		case *ast.ParenExpr:
			c = c.Parent()
			continue
		case *ast.StarExpr:
			c, memory = c.Parent(), true
			continue
		case *ast.SelectorExpr:
			s := o.info.Selections[p]
			if s.Kind() != types.FieldVal {
				b.callMethod(s, c.Parent().ParentEdgeKind() == edge.CallExpr_Fun)
				return
			}
			t := o.info.TypeOf(c.Node().(ast.Expr))
			if memory && IsPointer(t) || crossesPointer(t, s.Index()) {
				return // what it leads to is elsewhere
			}
			c, memory = c.Parent(), true
			continue
		case *ast.IndexExpr:
			if p.X == c.Node() && IsArray(o.info.TypeOf(p.X)) {
				c = c.Parent()
				continue
			}
		case *ast.SliceExpr:
			b.keeps = b.keeps || p.X == c.Node() && IsArray(o.info.TypeOf(p.X))
		case *ast.UnaryExpr:
			b.keeps = b.keeps || p.Op == token.AND
		case *ast.BinaryExpr:
			return // a comparison, if it is the pointer
		}
		b.writes = b.writes || isTarget(c)
		b.keeps = b.keeps || !memory
		return
	}
}

// isTarget reports whether an expression is assigned to.
func isTarget(c inspector.Cursor) bool {
	switch c.ParentEdgeKind() {
	case edge.AssignStmt_Lhs, edge.IncDecStmt_X, edge.RangeStmt_Key, edge.RangeStmt_Value:
		return true
	}
	return false
}

// callMethod notes a use as the receiver of a method.
func (b *borrower) callMethod(s *types.Selection, called bool) {
	f := s.Obj().(*types.Func)
	b.keeps = b.keeps || !called
	if r := f.Signature().Recv(); r != nil && IsPointer(r.Type()) {
		b.calls = append(b.calls, FuncKeyOf(f))
	}
}

// crossesPointer reports whether a selection with the indices goes by way of a pointer
// after the first.
func crossesPointer(t types.Type, indices []int) bool {
	t = Deref(t)
	for _, i := range indices[:len(indices)-1] {
		s, ok := t.Underlying().(*types.Struct)
		if !ok || IsPointer(s.Field(i).Type()) {
			return true
		}
		t = s.Field(i).Type()
	}
	return false
}
