package source

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"
)

// Uses is how a program uses its functions and fields. It is found in one pass over the program, for
// tools that ask often.
type Uses struct {
	calls    map[*ast.FuncDecl][]Call
	asValue  map[*ast.FuncDecl]bool
	assigned map[*types.Var]bool
}

// A Call is a call of a function of the program that the statement around it makes, unlike those of
// go and defer statements.
type Call struct {
	Expr *ast.CallExpr
	From ast.Node // the innermost *ast.FuncDecl or *ast.FuncLit around it
}

// NewUses returns the uses of a program's functions and fields.
func NewUses(p *Program) *Uses {
	u := &Uses{calls: make(map[*ast.FuncDecl][]Call), asValue: make(map[*ast.FuncDecl]bool), assigned: make(map[*types.Var]bool)}
	for _, f := range p.Files() {
		u.add(p, f)
	}
	for _, calls := range u.calls {
		slices.SortFunc(calls, func(a, b Call) int { return cmp.Compare(a.Expr.Pos(), b.Expr.Pos()) })
	}
	return u
}

// Calls returns the calls of a function in the order of their positions, and whether the program
// uses the function in no other way: neither as a value nor in go and defer statements nor outside
// of functions.
func (u *Uses) Calls(d *ast.FuncDecl) (calls []Call, static bool) { return u.calls[d], !u.asValue[d] }

// Assigned reports whether the program assigns to a field, other than in a literal of its struct.
func (u *Uses) Assigned(field *types.Var) bool { return u.assigned[field.Origin()] }

// add adds what a file uses.
func (u *Uses) add(p *Program, f *File) {
	called := make(map[*ast.Ident]bool)  // names that are noted with their calls
	elsewhere := make(map[ast.Node]bool) // calls that a statement does not make there
	declaration := func(id *ast.Ident) *ast.FuncDecl {
		if fn, ok := f.Info.Uses[id].(*types.Func); ok {
			return p.Declaration(fn.Origin())
		}
		return nil
	}
	ast.PreorderStack(f.Syntax, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			elsewhere[n.Call] = true
		case *ast.DeferStmt:
			elsewhere[n.Call] = true
		case *ast.CallExpr:
			id, from := CalleeName(n), innermostFunction(stack)
			if id == nil || from == nil || elsewhere[n] {
				break
			}
			if d := declaration(id); d != nil {
				called[id] = true
				u.calls[d] = append(u.calls[d], Call{n, from})
			}
		case *ast.Ident:
			if d := declaration(n); d != nil && !called[n] {
				u.asValue[d] = true
			}
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				if s, ok := ast.Unparen(l).(*ast.SelectorExpr); ok {
					if v, ok := f.Info.Uses[s.Sel].(*types.Var); ok {
						u.assigned[v.Origin()] = true
					}
				}
			}
		}
		return true
	})
}

// innermostFunction is the last function of a stack of nodes, nil if there is none.
func innermostFunction(stack []ast.Node) ast.Node {
	for _, n := range slices.Backward(stack) {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return n
		}
	}
	return nil
}
