package protect

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/packages"
)

// A method with a pointer receiver that does not let the pointer go can be called on a
// copy as well as on the variable: it borrows it.
//
//	x.counts.add(1)     v.add(1)

// borrowers are the methods that borrow their receivers.
type borrowers map[funcKey]*borrower

type borrower struct {
	writes bool // it assigns to parts of the receiver
	keeps  bool // it lets the pointer go, so it is none
	calls  []funcKey
}

// of returns the method that a selector calls, if it borrows the variable before it.
// The parent is the node around the selector.
func (all borrowers) of(info *types.Info, e *ast.SelectorExpr, parent ast.Node) *borrower {
	s := info.Selections[e]
	c, ok := parent.(*ast.CallExpr)
	if !ok || c.Fun != e || s == nil || s.Kind() != types.MethodVal || len(s.Index()) != 1 || isPointer(info.TypeOf(e.X)) {
		return nil
	}
	f := s.Obj().(*types.Func)
	if !isPointer(f.Signature().Recv().Type()) {
		return nil
	}
	return all[funcKeyOf(f)]
}

// findBorrowers looks for them in packages.
func findBorrowers(pkgs []*packages.Package) borrowers {
	all := make(borrowers)
	for _, p := range pkgs {
		for _, f := range p.Syntax {
			for _, d := range f.Decls {
				d, ok := d.(*ast.FuncDecl)
				if !ok || d.Recv == nil || d.Body == nil {
					continue
				}
				if o, ok := p.TypesInfo.Defs[d.Name].(*types.Func); ok && isPointer(o.Signature().Recv().Type()) {
					b := new(borrower)
					b.look(p.TypesInfo, o.Signature().Recv(), d.Body)
					all[funcKeyOf(o)] = b
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, b := range all {
			for _, k := range b.calls {
				switch c := all[k]; {
				case !b.keeps && (c == nil || c.keeps):
					b.keeps, changed = true, true
				case c != nil && c.writes && !b.writes:
					b.writes, changed = true, true
				}
			}
		}
	}
	for k, b := range all {
		if b.keeps {
			delete(all, k)
		}
	}
	return all
}

// look goes through the uses of a receiver.
func (b *borrower) look(info *types.Info, recv *types.Var, body *ast.BlockStmt) {
	var parents []ast.Node
	literals := 0
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			if _, ok := parents[len(parents)-1].(*ast.FuncLit); ok {
				literals--
			}
			parents = parents[:len(parents)-1]
			return true
		}
		if _, ok := n.(*ast.FuncLit); ok {
			literals++
		}
		if id, ok := n.(*ast.Ident); ok && info.Uses[id] == recv {
			b.keeps = b.keeps || literals > 0
			b.use(info, id, parents)
		}
		parents = append(parents, n)
		return true
	})
}

// use looks at one use of the receiver, from the inside out.
func (b *borrower) use(info *types.Info, e ast.Expr, parents []ast.Node) {
	memory := false // e is a part of what the receiver points to, not the pointer
	for i := len(parents) - 1; i >= 0; i-- {
		switch p := parents[i].(type) {
		case *ast.ParenExpr:
			e = p
			continue
		case *ast.StarExpr:
			e, memory = p, true
			continue
		case *ast.SelectorExpr:
			s := info.Selections[p]
			if s.Kind() != types.FieldVal {
				b.method(p, s, parents[:i])
				return
			}
			if memory && isPointer(info.TypeOf(e)) || crossesPointer(info.TypeOf(e), s.Index()) {
				return // what it leads to is elsewhere
			}
			e, memory = p, true
			continue
		case *ast.IndexExpr:
			if p.X == e && isArray(info.TypeOf(e)) {
				e = p
				continue
			}
		case *ast.SliceExpr:
			b.keeps = b.keeps || p.X == e && isArray(info.TypeOf(e))
		case *ast.UnaryExpr:
			b.keeps = b.keeps || p.Op == token.AND
		case *ast.BinaryExpr:
			return // a comparison, if it is the pointer
		case *ast.AssignStmt:
			for _, l := range p.Lhs {
				b.writes = b.writes || l == e
			}
		case *ast.IncDecStmt:
			b.writes = true
		case *ast.RangeStmt:
			b.writes = b.writes || p.Key == e || p.Value == e
		}
		break
	}
	b.keeps = b.keeps || !memory
}

// method is a use as the receiver of a method.
func (b *borrower) method(e *ast.SelectorExpr, s *types.Selection, parents []ast.Node) {
	f := s.Obj().(*types.Func)
	r := f.Signature().Recv()
	if c, ok := parents[len(parents)-1].(*ast.CallExpr); !ok || c.Fun != e {
		b.keeps = true
	}
	if r != nil && isPointer(r.Type()) {
		b.calls = append(b.calls, funcKeyOf(f))
	}
}

// crossesPointer reports whether a selection with the indices goes by way of a pointer
// after the first.
func crossesPointer(t types.Type, indices []int) bool {
	t = deref(t)
	for _, i := range indices[:len(indices)-1] {
		s, ok := t.Underlying().(*types.Struct)
		if !ok || isPointer(s.Field(i).Type()) {
			return true
		}
		t = s.Field(i).Type()
	}
	return false
}
