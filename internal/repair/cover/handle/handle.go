// Package handle finds the expressions by which code reaches a struct, and with it a lock that the struct
// has: a variable, and the fields that lead from it, named or embedded.
//
//	func (q *Queue) Offer(j Job) {     the handles of q.list.items are q, a Queue,
//		q.list.items = append(...)     and q.list; and if Queue has a Base embedded,
//	}                                  q.Base is one although nothing names it
package handle

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A Handle is an expression that leads from a variable to something, over fields.
type Handle struct {
	Root *types.Var
	Text string
	Type types.Type
	// ByPointer says that it leads over a pointer, so that a copy of the variable will do.
	ByPointer bool
}

// A Finder finds handles that lead to the same when a section ends as when it begins.
type Finder struct {
	Info *types.Info
	// Assigned reports whether a field may be given another value.
	Assigned func(*types.Var) bool
}

// In returns the handles that an expression, a variable or a field, has in it: of what it selects from
// and of fields that it leads over without naming them.
func (f Finder) In(e ast.Expr) []Handle {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := f.Info.ObjectOf(e).(*types.Var); ok && !v.IsField() {
			return []Handle{{Root: v, Text: v.Name(), Type: v.Type(), ByPointer: isPointer(v.Type())}}
		}
	case *ast.SelectorExpr:
		s := f.Info.Selections[e]
		if s == nil {
			return nil
		}
		all := f.In(e.X)
		if len(all) == 0 {
			return nil
		}
		h := all[len(all)-1]
		if !types.Identical(deref(h.Type), deref(f.Info.TypeOf(e.X))) {
			return all // what it selects from may lead elsewhere when the section ends
		}
		path := s.Index()
		if s.Kind() != types.FieldVal {
			path = path[:len(path)-1]
		}
		for _, i := range path {
			st, ok := deref(h.Type).Underlying().(*types.Struct)
			if !ok {
				return nil
			}
			if !f.leadsOn(st.Field(i)) {
				break
			}
			h = h.field(st.Field(i))
			all = append(all, h)
		}
		return all
	}
	return nil
}

// Embedded returns the handles of the structs that the one a handle leads to has embedded.
func (f Finder) Embedded(h Handle) []Handle {
	st, ok := deref(h.Type).Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var all []Handle
	for field := range st.Fields() {
		if !field.Embedded() || !f.leadsOn(field) {
			continue
		}
		all = append(all, h.field(field))
		if !isPointer(field.Type()) { // over pointers a struct may have itself embedded
			all = append(all, f.Embedded(h.field(field))...)
		}
	}
	return all
}

// leadsOn reports whether a field leads to the same struct when a section ends as when it begins.
func (f Finder) leadsOn(field *types.Var) bool {
	return !isPointer(field.Type()) || !f.Assigned(field)
}

// field is the handle of a field of the struct that a handle leads to.
func (h Handle) field(f *types.Var) Handle {
	return Handle{Root: h.Root, Text: h.Text + "." + f.Name(), Type: f.Type(), ByPointer: h.ByPointer || isPointer(f.Type())}
}

// IsOriginal reports whether a variable of a struct type, which a file declares, is the struct that is
// shared, and not a copy of it as a parameter, a receiver or v := *p is: a lock in a copy locks nothing.
func IsOriginal(file *ast.File, v *types.Var) bool {
	made := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if id.Pos() == v.Pos() {
					made = len(n.Values) == 0 || len(n.Values) == len(n.Names) && isLiteral(n.Values[i])
				}
			}
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if l.Pos() == v.Pos() {
					made = n.Tok == token.DEFINE && len(n.Rhs) == len(n.Lhs) && isLiteral(n.Rhs[i])
				}
			}
		}
		return true
	})
	return made
}

// Parameters returns the names of a function's receiver and parameters.
func Parameters(fn ast.Node) []*ast.Ident {
	var lists []*ast.FieldList
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		lists = []*ast.FieldList{fn.Recv, fn.Type.Params}
	case *ast.FuncLit:
		lists = []*ast.FieldList{fn.Type.Params}
	}
	var all []*ast.Ident
	for _, l := range lists {
		if l == nil {
			continue
		}
		for _, f := range l.List {
			all = append(all, f.Names...)
		}
	}
	return all
}

func isLiteral(e ast.Expr) bool {
	_, ok := ast.Unparen(e).(*ast.CompositeLit)
	return ok
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
