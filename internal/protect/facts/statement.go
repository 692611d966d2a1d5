package facts

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/packages"
)

// A Statement is what running a statement, or the parts of one that are evaluated
// together, does to variables.
type Statement struct {
	// Opaque, Acquires and Calls are as in Effect, for the nodes and what they call.
	Opaque   string
	Acquires bool
	Calls    []Call
	// Effects are those of the nodes, without what they call.
	Effects  []*Effect
	Accesses []*Access
	// Whole are the structs and arrays that are used as a whole.
	Whole []types.Type
}

// An Access is the use of a variable or field by name.
type Access struct {
	Node  ast.Expr
	Place Place      // may be unknown
	Last  *types.Var // the variable or field
	// Write says that it is assigned to, or a part of it; Blind that it is as a whole,
	// and not read; Defined that := declares it, so that it cannot be another variable.
	Write, Blind, Defined bool
	// Taken says that its address is.
	Taken bool
	// Entries says that entries of the map are changed, or gone through.
	Entries bool
}

// Statement returns what nodes of a package do when they run.
func (f *Facts) Statement(p *packages.Package, nodes ...ast.Node) *Statement {
	s := new(Statement)
	for _, n := range nodes {
		e := f.Effect(p, n)
		if s.Opaque == "" {
			s.Opaque = e.Opaque
		}
		s.Effects = append(s.Effects, e)
		s.Acquires = s.Acquires || e.Acquires
		s.Calls = append(s.Calls, e.Calls...)
		f.addAccesses(p, s, n)
	}
	for _, c := range s.Calls {
		callee := f.EffectOf(c.Func)
		s.Acquires = s.Acquires || callee != nil && callee.Acquires
		switch {
		case s.Opaque != "":
		case callee == nil:
			s.Opaque = c.String()
		case callee.Opaque != "":
			s.Opaque = c.opaque(callee)
		}
	}
	return s
}

// addAccesses lists the accesses of a node. Inside a place that is known nothing else is
// accessed.
func (f *Facts) addAccesses(p *packages.Package, s *Statement, root ast.Node) {
	f.cursor(p, root).Inspect(nil, func(c inspector.Cursor) bool {
		if _, ok := c.Node().(*ast.FuncLit); ok {
			return false
		}
		x, ok := c.Node().(ast.Expr)
		if !ok {
			return true
		}
		if wholeUse(p.TypesInfo, x, c.Parent().Node()) {
			s.Whole = append(s.Whole, p.TypesInfo.TypeOf(x))
		}
		a := accessOf(p.TypesInfo, x)
		if a == nil {
			return true
		}
		f.describe(p.TypesInfo, a, c)
		s.Accesses = append(s.Accesses, a)
		return !a.Place.Known()
	})
}

// accessOf returns the access that an expression is, or nil.
func accessOf(info *types.Info, x ast.Expr) *Access {
	switch x := x.(type) {
	case *ast.Ident:
		v, ok := info.ObjectOf(x).(*types.Var)
		if !ok || v.IsField() {
			return nil
		}
		if p, ok := PlaceOf(info, x); ok {
			return &Access{Node: x, Place: p, Last: v}
		}
	case *ast.SelectorExpr:
		if s := info.Selections[x]; s != nil && s.Kind() == types.FieldVal {
			a := &Access{Node: x, Last: s.Obj().(*types.Var).Origin()}
			if p, ok := PlaceOf(info, x); ok {
				a.Place = p
			}
			return a
		}
	}
	return nil
}

// describe finds out what is done to the variable of an access, by what is around it. What
// is done to an element of an array is done to a part of the array.
func (f *Facts) describe(info *types.Info, a *Access, c inspector.Cursor) {
	a.Entries = changesEntries(info, c)
	element := false
	for {
		p := c.Parent()
		i, isIndex := p.Node().(*ast.IndexExpr)
		_, isParen := p.Node().(*ast.ParenExpr)
		if isIndex && i.X == c.Node() && IsArray(info.TypeOf(i.X)) {
			element = true
		} else if !isParen {
			break
		}
		c = p
	}
	switch p := c.Parent().Node().(type) {
	case *ast.UnaryExpr:
		a.Taken = p.Op == token.AND
	case *ast.SliceExpr:
		a.Taken = p.X == c.Node() && IsArray(info.TypeOf(p.X))
	case *ast.SelectorExpr:
		f.describeReceiver(info, a, p, c, element)
	}
	if !isTarget(c) {
		return
	}
	tok := token.ADD_ASSIGN
	switch p := c.Parent().Node().(type) {
	case *ast.AssignStmt:
		tok = p.Tok
	case *ast.RangeStmt:
		tok = p.Tok
	}
	a.Write = true
	a.Blind = tok == token.ASSIGN && !element
	a.Defined = tok == token.DEFINE && !element
}

// describeReceiver is about what a method is called on.
func (f *Facts) describeReceiver(info *types.Info, a *Access, p *ast.SelectorExpr, c inspector.Cursor, element bool) {
	s := info.Selections[p]
	if s == nil || s.Kind() != types.MethodVal || p.X != c.Node() {
		return
	}
	if b := f.borrowerOf(info, p, c.Parent().Parent().Node()); b != nil && !element {
		a.Write = b.writes
		return
	}
	r := s.Obj().(*types.Func).Signature().Recv()
	a.Taken = r != nil && IsPointer(r.Type()) && !IsPointer(info.TypeOf(p.X))
}

// changesEntries reports whether an expression is a map of which entries are assigned to
// or deleted, or that is gone through: a loop has to see what its body does to it.
func changesEntries(info *types.Info, c inspector.Cursor) bool {
	if !IsMap(info.TypeOf(c.Node().(ast.Expr))) {
		return false
	}
	c = aroundParens(c)
	switch c.ParentEdgeKind() {
	case edge.IndexExpr_X:
		at := aroundParens(c.Parent()).ParentEdgeKind()
		return at == edge.AssignStmt_Lhs || at == edge.IncDecStmt_X
	case edge.CallExpr_Args:
		b := BuiltinOf(info, ast.Unparen(c.Parent().Node().(*ast.CallExpr).Fun))
		return c.ParentEdgeIndex() == 0 && (b == "delete" || b == "clear")
	case edge.RangeStmt_X:
		return true
	}
	return false
}

// aroundParens returns the outermost parenthesis around an expression, or the expression.
func aroundParens(c inspector.Cursor) inspector.Cursor {
	for c.ParentEdgeKind() == edge.ParenExpr_X {
		c = c.Parent()
	}
	return c
}
