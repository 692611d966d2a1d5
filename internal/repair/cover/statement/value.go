package statement

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// OnlyReads reports whether an expression computes a value from variables, and calls nothing.
func OnlyReads(info *types.Info, e ast.Expr) bool {
	if tv := info.Types[e]; !tv.IsValue() || tv.Value != nil {
		return false
	}
	only := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			b, ok := info.Uses[source.CalleeName(n)].(*types.Builtin)
			only = only && (ok && (b.Name() == "len" || b.Name() == "cap") || info.Types[n.Fun].IsType())
		case *ast.UnaryExpr:
			only = only && n.Op != token.ARROW && n.Op != token.AND
		case *ast.FuncLit, *ast.CompositeLit:
			only = false
		case *ast.SelectorExpr:
			if s := info.Selections[n]; s != nil && s.Kind() != types.FieldVal {
				only = false
			}
		}
		return only
	})
	return only
}

// CanCopy reports whether a variable of a type can stand for the expression that gave its value:
// a struct or an array may be there for its address, and a tuple is no value.
func CanCopy(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array, *types.Tuple:
		return false
	}
	return true
}

// NameFor is a name for the value of an expression: that of the field it selects, if it does.
func NameFor(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		if name := strings.ToLower(e.Sel.Name[:1]) + e.Sel.Name[1:]; !token.IsKeyword(name) {
			return name
		}
	case *ast.CallExpr:
		if id := source.CalleeName(e); id != nil && id.Name == "len" {
			return "n"
		}
	}
	return "value"
}

// Typed is the text of an expression with a conversion where its type comes from what it is
// returned as, and would be another in a variable of its own: comparisons and shifts.
func Typed(f *source.File, x ast.Expr, text string) (string, error) {
	b, ok := ast.Unparen(x).(*ast.BinaryExpr)
	if !ok {
		return text, nil
	}
	t := f.Info.Types[x].Type
	switch b.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.LAND, token.LOR:
		if types.Identical(t, types.Typ[types.Bool]) || types.Identical(t, types.Typ[types.UntypedBool]) {
			return text, nil
		}
	case token.SHL, token.SHR:
		if f.Info.Types[b.X].Value == nil || types.Identical(t, types.Typ[types.Int]) {
			return text, nil
		}
	default:
		return text, nil
	}
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return t.Name() + "(" + text + ")", nil
	case *types.Named:
		if t.Obj().Pkg() == f.Types && t.TypeArgs().Len() == 0 {
			return t.Obj().Name() + "(" + text + ")", nil
		}
	}
	return "", fmt.Errorf("a result of type %s cannot be kept in a variable", t)
}

// IsSettled reports whether an expression reads nothing that others can change: a constant, an
// error that a package has for all time, or a variable that no closure has.
func IsSettled(f *source.File, fn ast.Node, x ast.Expr) bool {
	tv := f.Info.Types[x]
	if tv.Value != nil || tv.IsNil() || isSentinel(f, x) {
		return true
	}
	if literal, ok := ast.Unparen(x).(*ast.CompositeLit); ok && len(literal.Elts) == 0 {
		return true // a value of zeros
	}
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := f.Info.Uses[id].(*types.Var)
	if !ok || v.Pkg() == nil || v.Parent() == v.Pkg().Scope() || v.Pos() < fn.Pos() {
		return false
	}
	alone := true
	ast.Inspect(source.Body(fn), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ast.Inspect(n, func(m ast.Node) bool {
				if id, ok := m.(*ast.Ident); ok && f.Info.Uses[id] == v {
					alone = false
				}
				return true
			})
		case *ast.UnaryExpr:
			if id, ok := ast.Unparen(n.X).(*ast.Ident); ok && n.Op == token.AND && f.Info.Uses[id] == v {
				alone = false
			}
		}
		return true
	})
	return alone
}

// isSentinel reports whether an expression is a variable of a package, such as io.EOF, that has an
// error and that nothing in its package changes.
func isSentinel(f *source.File, x ast.Expr) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if sel, qualified := ast.Unparen(x).(*ast.SelectorExpr); qualified {
		id, ok = sel.Sel, true
	}
	if !ok {
		return false
	}
	v, ok := f.Info.Uses[id].(*types.Var)
	if !ok || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() || !types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
		return false
	}
	if v.Pkg() != f.Types {
		return true
	}
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && f.Info.Uses[id] == v
	}
	changed := false
	for _, other := range f.Package.Syntax {
		ast.Inspect(other, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				changed = changed || slices.ContainsFunc(n.Lhs, is)
			case *ast.UnaryExpr:
				changed = changed || n.Op == token.AND && is(n.X)
			}
			return !changed
		})
	}
	return !changed
}

// TypeText is how the file names the type of an expression; it is not ok if it cannot.
func TypeText(f *source.File, e ast.Expr) (text string, ok bool) {
	return typeName(f, types.Default(f.Info.TypeOf(e)))
}

func typeName(f *source.File, t types.Type) (text string, ok bool) {
	ok = true
	text = types.TypeString(t, func(p *types.Package) string {
		if p == f.Types {
			return ""
		}
		for _, spec := range f.Syntax.Imports {
			if name := f.Info.PkgNameOf(spec); name != nil && name.Imported() == p && name.Name() != "." && name.Name() != "_" {
				return name.Name()
			}
		}
		ok = false
		return p.Name()
	})
	return text, ok
}

// ZeroText is the zero value of a type as a file writes it; it is not ok if it cannot.
func ZeroText(f *source.File, t types.Type) (text string, ok bool) {
	if _, free := types.Unalias(t).(*types.TypeParam); free {
		return "", false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return `""`, true
		case u.Info()&types.IsBoolean != 0:
			return "false", true
		case u.Info()&types.IsNumeric != 0:
			return "0", true
		}
		return "nil", true
	case *types.Struct, *types.Array:
		text, ok = typeName(f, t)
		return text + "{}", ok
	}
	return "nil", true
}

// FieldByField is the statement that sets the fields of an object as a literal has them, the locks
// excepted; it is not ok if one of them cannot be set.
func FieldByField(f *source.File, object string, literal *ast.CompositeLit) (text string, ok bool) {
	values := make(map[string]string)
	for _, e := range literal.Elts {
		pair, keyed := e.(*ast.KeyValueExpr)
		if !keyed {
			return "", false
		}
		values[pair.Key.(*ast.Ident).Name] = f.TextOf(pair.Value)
	}
	var left, right []string
	for field := range f.Info.TypeOf(literal).Underlying().(*types.Struct).Fields() {
		value, set := values[field.Name()]
		if !set {
			if locks.IsMutex(field.Type()) || field.Name() == "_" {
				continue
			}
			if value, ok = ZeroText(f, field.Type()); !ok {
				return "", false
			}
		}
		left, right = append(left, object+"."+field.Name()), append(right, value)
	}
	return strings.Join(left, ", ") + " = " + strings.Join(right, ", "), len(left) > 0
}

// IsUnused reports whether a name means nothing in a function, but for fields and
// methods that are selected by it.
func IsUnused(info *types.Info, fn ast.Node, name string) bool {
	unused := types.Universe.Lookup(name) == nil
	ast.Inspect(fn, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			switch o := info.ObjectOf(id).(type) {
			case *types.Var:
				unused = unused && o.IsField()
			case *types.Func:
				unused = unused && o.Signature().Recv() != nil
			default:
				unused = false
			}
		}
		return unused
	})
	return unused
}

// MakesIterator reports whether a call is of a function such as maps.Keys or slices.Values, whose
// result reads the first argument while a loop goes over it.
func MakesIterator(info *types.Info, c *ast.CallExpr) bool {
	fn, ok := info.Uses[source.CalleeName(c)].(*types.Func)
	if !ok || fn.Pkg() == nil || len(c.Args) == 0 || fn.Pkg().Path() != "maps" && fn.Pkg().Path() != "slices" {
		return false
	}
	_, ok = info.TypeOf(c).Underlying().(*types.Signature)
	return ok
}
