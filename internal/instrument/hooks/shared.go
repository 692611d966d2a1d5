package hooks

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// variables tells which variables other goroutines may reach while they change.
type variables struct {
	info  *types.Info
	owner map[*types.Var]ast.Node // the function, declared or literal, of a local
	facts map[*types.Var]*fact
	stack []ast.Node
}

// A fact is what happens to one variable.
type fact struct {
	captured bool // a function literal inside its function uses it
	address  bool // its address, or that of a part of it, is taken
	assigned bool // it, or a part of it, is assigned to after its declaration
}

// analyse looks at all uses of variables in a package.
func analyse(info *types.Info, files []*source.File) *variables {
	v := &variables{info: info, owner: make(map[*types.Var]ast.Node), facts: make(map[*types.Var]*fact)}
	for _, f := range files {
		v.stack = append(v.stack[:0], f.Syntax)
		ast.Inspect(f.Syntax, v.visit)
	}
	return v
}

func (v *variables) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncLit:
		if n == v.stack[len(v.stack)-1] {
			return true
		}
		v.stack = append(v.stack, n)
		ast.Inspect(n, v.visit)
		v.stack = v.stack[:len(v.stack)-1]
		return false
	case *ast.CaseClause:
		if x, ok := v.info.Implicits[n].(*types.Var); ok {
			v.owner[x] = v.stack[len(v.stack)-1]
		}
	case *ast.Ident:
		if x, ok := v.info.Defs[n].(*types.Var); ok {
			v.owner[x] = v.stack[len(v.stack)-1]
		} else if x, ok := v.info.Uses[n].(*types.Var); ok {
			if o := v.owner[x]; o != nil && o != v.stack[len(v.stack)-1] {
				v.of(x).captured = true
			}
		}
	case *ast.AssignStmt:
		for _, l := range n.Lhs {
			if id, ok := l.(*ast.Ident); ok && n.Tok == token.DEFINE && v.info.Defs[id] != nil {
				continue
			}
			v.note(l, func(f *fact) { f.assigned = true })
		}
	case *ast.IncDecStmt:
		v.note(n.X, func(f *fact) { f.assigned = true })
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			v.note(n.Key, func(f *fact) { f.assigned = true })
			if n.Value != nil {
				v.note(n.Value, func(f *fact) { f.assigned = true })
			}
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			v.note(n.X, func(f *fact) { f.address = true })
		}
	case *ast.SliceExpr:
		if t := v.info.TypeOf(n.X); t != nil && isArray(t) {
			v.note(n.X, func(f *fact) { f.address = true })
		}
	case *ast.SelectorExpr:
		s := v.info.Selections[n]
		if s == nil || s.Kind() != types.MethodVal {
			break
		}
		if recv := s.Obj().(*types.Func).Signature().Recv(); recv != nil && isPointer(recv.Type()) && !isPointer(s.Recv()) {
			v.note(n.X, func(f *fact) { f.address = true })
		}
	}
	return true
}

func (v *variables) of(x *types.Var) *fact {
	if v.facts[x] == nil {
		v.facts[x] = new(fact)
	}
	return v.facts[x]
}

// note tells the variable that a place is part of, if it is part of one.
func (v *variables) note(place ast.Expr, tell func(*fact)) {
	for {
		switch e := place.(type) {
		case *ast.ParenExpr:
			place = e.X
		case *ast.SelectorExpr:
			s := v.info.Selections[e]
			if s == nil {
				if x, ok := v.info.Uses[e.Sel].(*types.Var); ok {
					tell(v.of(x))
				}
				return
			}
			if s.Indirect() {
				return
			}
			place = e.X
		case *ast.IndexExpr:
			if t := v.info.TypeOf(e.X); t == nil || !isArray(t) {
				return
			}
			place = e.X
		case *ast.Ident:
			if x, ok := v.info.ObjectOf(e).(*types.Var); ok {
				tell(v.of(x))
			}
			return
		default:
			return
		}
	}
}

// local reports whether a local variable may be reached by others while it changes.
func (v *variables) local(x *types.Var) bool {
	f := v.facts[x]
	return f != nil && (f.address || f.captured && f.assigned)
}

// pinned reports whether it matters which variable of that name it is: whether
// each iteration of a loop has its own.
func (v *variables) pinned(x *types.Var) bool {
	f := v.facts[x]
	return f != nil && (f.address || f.captured)
}

// global reports whether a package-level variable may change. Exported ones always
// may: other packages can assign to them.
func (v *variables) global(x *types.Var) bool {
	f := v.facts[x]
	return x.Exported() || f != nil && (f.address || f.assigned)
}
