package facts

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/ssa"
)

// An EntryUse is a use of a field, or of a variable of a package, that is a map, which does something with one entry, or asks for their number. It
// can be written as one call:
//
//	x.m[k]              a lookup
//	v, ok := x.m[k]     the same, with Found
//	x.m[k] = v          a Put
//	x.m[k] += 2         an Update, by a constant or a local variable
//	delete(x.m, k)      is Call, with a Key
//	len(x.m)            is Call, without
type EntryUse struct {
	Index  *ast.IndexExpr
	Found  bool
	Put    *ast.AssignStmt
	Update ast.Stmt
	Call   *ast.CallExpr
	Key    ast.Expr
}

// EntryUseOf returns what a use of a field does with an entry, nil if it does something else.
func (f *Facts) EntryUseOf(use ast.Node) *EntryUse { return f.words.entries[use] }

// observeEntry notes how a node uses the entries of a field, or of a variable of a package, that is a map.
func (o *observer) observeEntry(c inspector.Cursor, v *types.Var) {
	if !v.IsField() && !IsGlobal(v) || !IsMap(v.Type()) {
		return
	}
	var use *EntryUse
	switch p := c.Parent().Node().(type) {
	case *ast.IndexExpr:
		if c.ParentEdgeKind() == edge.IndexExpr_X {
			use = o.indexed(c.Parent(), p)
		}
	case *ast.CallExpr:
		switch BuiltinOf(o.info, ast.Unparen(p.Fun)) {
		case "len":
			use = &EntryUse{Call: p}
		case "delete":
			if c.ParentEdgeIndex() == 0 {
				use = &EntryUse{Call: p, Key: p.Args[1]}
			}
		}
	}
	if use != nil && o.inOneLine(c, use) {
		o.words.entries[c.Node()] = use
	}
}

// indexed returns what is done with the entry that an expression names.
func (o *observer) indexed(c inspector.Cursor, index *ast.IndexExpr) *EntryUse {
	use := &EntryUse{Index: index, Key: index.Index}
	switch p := c.Parent().Node().(type) {
	case *ast.ParenExpr, *ast.RangeStmt:
		return nil
	case *ast.IncDecStmt:
		use.Update = p
	case *ast.ValueSpec:
		use.Found = len(p.Names) == 2 && len(p.Values) == 1
	case *ast.AssignStmt:
		switch at := c.Parent().ParentEdgeKind(); {
		case c.ParentEdgeKind() == edge.AssignStmt_Rhs:
			use.Found = len(p.Lhs) == 2 && len(p.Rhs) == 1
		case at == edge.CommClause_Comm || len(p.Lhs) > 1:
			return nil
		case p.Tok == token.ASSIGN:
			use.Put = p
		case !o.isLocalValue(p.Rhs[0]):
			return nil
		default:
			use.Update = p
		}
	}
	return use
}

// isLocalValue reports whether a value is a constant or a local variable.
func (o *observer) isLocalValue(e ast.Expr) bool {
	if o.info.Types[e].Value != nil {
		return true
	}
	id, ok := e.(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := o.info.Uses[id].(*types.Var)
	return ok && !v.IsField() && !IsGlobal(v)
}

// inOneLine reports whether what is replaced between a map and the key, and between the key and a value, has no line
// end in it.
func (o *observer) inOneLine(c inspector.Cursor, use *EntryUse) bool {
	line := func(at token.Pos) int { return o.Fset.PositionFor(at, false).Line }
	switch {
	case use.Index != nil:
		end := use.Index.End()
		if use.Put != nil {
			end = use.Put.Rhs[0].Pos()
		}
		return line(c.Node().End()) == line(use.Key.Pos()) && line(use.Key.End()) == line(end)
	case use.Key != nil:
		return line(use.Call.Pos()) == line(use.Key.Pos())
	}
	return line(use.Call.Pos()) == line(use.Call.End())
}

// ChangesEntries reports whether the code may change the entries of a map that it names.
func (e *Effect) ChangesEntries(k Key) bool { return e != nil && e.entries[k] }

// ChangesEntries reports whether the statement, or a function that it calls, may change the entries of a map.
func (s *Statement) ChangesEntries(k Key) bool {
	return slices.ContainsFunc(s.effects, func(e *Effect) bool { return e.ChangesEntries(k) })
}

// addEntries notes that an instruction changes the entries of a map.
func (f *Facts) addEntries(e *Effect, m ssa.Value) {
	load, ok := m.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return
	}
	f.code.touch(load.X).names(func(v *types.Var) { e.entries = note(e.entries, f.KeyOf(v)) })
}
