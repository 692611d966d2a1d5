package facts

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// AliasedMap reports whether the map of a variable or field may be known by another name
// as well. A section must not exchange such a map for a copy.
//
//	x.m[k] = v; len(x.m); delete(x.m, k); x.m = make(map[K]V)      none of this makes a name
//	m := x.m; f(x.m); x.m = m                                      each of this does
func (f *Facts) AliasedMap(v *types.Var) bool { return f.aliasedMaps[f.KeyOf(v)] }

// observeMap notes the uses of maps that make another name for one.
func (o *observer) observeMap(c inspector.Cursor) {
	e, ok := c.Node().(ast.Expr)
	if !ok {
		return
	}
	if l, ok := e.(*ast.CompositeLit); ok {
		o.aliasElements(l)
		return
	}
	if c.ParentEdgeKind() == edge.SelectorExpr_Sel {
		return // the question is asked for the selector
	}
	if wholeUse(o.info, e, c.Parent().Node()) {
		o.aliasFields(o.info.TypeOf(e))
	}
	if v := variableOf(o.info, e); v != nil && IsMap(v.Type()) && !o.usesMapInPlace(c, e) {
		o.aliasedMaps[o.KeyOf(v)] = true
	}
}

// usesMapInPlace reports whether an expression that denotes a map variable is used in a
// way that makes no other name for its map.
func (o *observer) usesMapInPlace(c inspector.Cursor, e ast.Expr) bool {
	switch p := c.Parent().Node().(type) {
	case *ast.IndexExpr:
		return p.X == e
	case *ast.RangeStmt:
		return p.X == e
	case *ast.BinaryExpr:
		return true // a comparison with nil
	case *ast.CallExpr:
		switch BuiltinOf(o.info, ast.Unparen(p.Fun)) {
		case "len", "delete", "clear":
			return true
		}
	case *ast.KeyValueExpr:
		return p.Key == e // a field in a literal; see aliasElements
	case *ast.AssignStmt:
		return c.ParentEdgeKind() == edge.AssignStmt_Lhs && len(p.Lhs) == len(p.Rhs) && o.isNewMap(p.Rhs[c.ParentEdgeIndex()])
	case *ast.ValueSpec:
		return c.ParentEdgeKind() == edge.ValueSpec_Names &&
			(len(p.Values) == 0 || len(p.Values) == len(p.Names) && o.isNewMap(p.Values[c.ParentEdgeIndex()]))
	case *ast.Field:
		return true // its declaration
	}
	return false
}

// variableOf returns the variable or field that an expression names, or nil.
func variableOf(info *types.Info, e ast.Expr) *types.Var {
	var v *types.Var
	switch e := e.(type) {
	case *ast.Ident:
		v, _ = info.ObjectOf(e).(*types.Var)
	case *ast.SelectorExpr:
		v, _ = info.ObjectOf(e.Sel).(*types.Var)
	}
	return v
}

// aliasElements looks at the maps that a struct literal gives its fields.
func (o *observer) aliasElements(l *ast.CompositeLit) {
	s, ok := o.info.TypeOf(l).Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i, e := range l.Elts {
		var f *types.Var
		value := e
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			value = kv.Value
			f = variableOf(o.info, kv.Key)
		} else if i < s.NumFields() {
			f = s.Field(i)
		}
		if f != nil && IsMap(f.Type()) && !o.isNewMap(value) {
			o.aliasedMaps[o.KeyOf(f)] = true
		}
	}
}

// isNewMap reports whether an expression is a map that nothing else refers to, or nil.
func (o *observer) isNewMap(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.Ident:
		_, ok := o.info.ObjectOf(e).(*types.Nil)
		return ok
	case *ast.CallExpr:
		if BuiltinOf(o.info, ast.Unparen(e.Fun)) == "make" {
			return true
		}
		f := CalleeOf(o.info, e.Fun)
		return f != nil && f.FullName() == "maps.Clone"
	}
	return false
}

// aliasFields marks the maps in a struct that is copied.
func (o *observer) aliasFields(t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if IsMap(f.Type()) {
				o.aliasedMaps[o.KeyOf(f)] = true
			}
			o.aliasFields(f.Type())
		}
	case *types.Array:
		o.aliasFields(u.Elem())
	}
}
