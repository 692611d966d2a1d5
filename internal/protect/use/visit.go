package use

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// A Visit is a use that is written as a call.
type Visit struct {
	Expr ast.Expr // the variable, or the part of it that is used
	// Stmt is the statement that stores to it; nil for a load. Value is what is stored, if it has to be
	// evaluated before.
	Stmt  ast.Stmt
	Value ast.Expr
	// Updates says that the statement reads the variable, too, or that it is a load, and the function has
	// stores to the variable.
	Updates bool
	// Later says that the load comes later than the call.
	Later bool
}

// Visits returns the uses in a function that can be written as calls, of all that are given with their
// variables. Those come first that contain others.
func Visits(info *types.Info, fn *ast.FuncDecl, uses map[ast.Node]facts.Key) []Visit {
	v := &visitor{info: info, uses: uses, stored: make(map[facts.Key]bool)}
	ast.PreorderStack(fn, nil, func(n ast.Node, around []ast.Node) bool {
		if k := uses[n]; k != "" {
			whole, i := wholeOf(info, n, around)
			v.stored[k] = v.stored[k] || storesTo(around[i-1], whole)
		}
		return true
	})
	ast.PreorderStack(fn, nil, func(n ast.Node, around []ast.Node) bool {
		if _, sets := n.(*ast.KeyValueExpr); uses[n] != "" && !sets {
			v.visit(n, around)
		}
		return true
	})
	return v.list
}

type visitor struct {
	info *types.Info
	uses map[ast.Node]facts.Key
	// stored are the variables that the function stores to.
	stored map[facts.Key]bool
	list   []Visit
}

func (v *visitor) visit(use ast.Node, around []ast.Node) {
	whole, i := wholeOf(v.info, use, around)
	parent, e := around[i-1], whole.(ast.Expr)
	switch {
	case takesAddress(v.info, parent, whole), !v.hasAddress(e), v.isConstant(around), v.isLocked(use):
	case isRangeVariable(parent, whole):
	case storesTo(parent, whole):
		v.store(use, e, parent.(ast.Stmt), runsOtherCode(v.info, use, around), around[i-2])
	default:
		v.list = append(v.list, Visit{Expr: e, Updates: v.stored[v.uses[use]], Later: runsOtherCode(v.info, use, around)})
	}
}

// store adds a statement that stores to a variable. It becomes a call, for which there is room wherever a
// statement can be but in a select's case, or a block.
func (v *visitor) store(use ast.Node, e ast.Expr, s ast.Stmt, calls bool, parent ast.Node) {
	a, ok := s.(*ast.AssignStmt)
	c, inCase := parent.(*ast.CommClause)
	switch {
	case inCase && c.Comm == s:
	case !ok:
		v.list = append(v.list, Visit{Expr: e, Stmt: s, Updates: true})
	case len(a.Lhs) > 1:
	case !calls && (v.mentions(a.Rhs[0], v.uses[use]) || IsPlain(a.Rhs[0]) && !v.usesAny(a.Rhs[0])):
		v.list = append(v.list, Visit{Expr: e, Stmt: s, Updates: a.Tok != token.ASSIGN || v.mentions(a.Rhs[0], v.uses[use])})
	case isListed(s, parent) && !callsBeside(v.info, a.Rhs[0], e) && v.keepsType(a):
		v.list = append(v.list, Visit{Expr: e, Stmt: s, Value: a.Rhs[0], Updates: a.Tok != token.ASSIGN})
	}
}

// mentions reports whether a node uses a variable.
func (v *visitor) mentions(root ast.Node, k facts.Key) bool {
	found := false
	ast.Inspect(root, func(n ast.Node) bool {
		found = found || n != nil && v.uses[n] == k
		return !found
	})
	return found
}

// usesAny reports whether an expression uses one of the variables.
func (v *visitor) usesAny(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		found = found || n != nil && v.uses[n] != ""
		return !found
	})
	return found
}

// keepsType reports whether a variable that is declared with the value has the value's type.
func (v *visitor) keepsType(a *ast.AssignStmt) bool {
	to, from := v.info.TypeOf(a.Lhs[0]), v.info.TypeOf(a.Rhs[0])
	keeps := types.Identical(to, from) && v.info.Types[a.Rhs[0]].Value == nil && !v.info.Types[a.Rhs[0]].IsNil()
	if b, ok := to.Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
		keeps = keeps && types.Identical(to, types.Typ[types.Bool])
	}
	ast.Inspect(a.Rhs[0], func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok && (b.Op == token.SHL || b.Op == token.SHR) {
			keeps = keeps && v.info.Types[b.X].Value == nil // its type would be another
		}
		return keeps
	})
	return keeps
}

// isConstant reports whether a use is only there for its type.
func (v *visitor) isConstant(around []ast.Node) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		return ok && v.info.Types[e].Value != nil
	})
}

// isLocked reports whether a use runs between Write and the end of a statement.
func (v *visitor) isLocked(use ast.Node) bool {
	return slices.ContainsFunc(v.list, func(w Visit) bool {
		return w.Stmt != nil && contains(w.Stmt, use) && (w.Value == nil || !contains(w.Value, use))
	})
}

func isRangeVariable(parent, whole ast.Node) bool {
	r, ok := parent.(*ast.RangeStmt)
	return ok && (r.Key == whole || r.Value == whole)
}

// hasAddress reports whether the address of an expression can be taken.
func (v *visitor) hasAddress(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		sel := v.info.Selections[e]
		return sel == nil || sel.Indirect() || v.hasAddress(e.X)
	case *ast.IndexExpr:
		t := v.info.TypeOf(e.X).Underlying()
		_, slice := t.(*types.Slice)
		return slice || facts.IsPointer(t) || facts.IsArray(t) && v.hasAddress(e.X)
	case *ast.StarExpr:
		return true
	}
	return false
}
