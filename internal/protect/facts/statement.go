package facts

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/protect/library"
)

// A Statement is what running a statement, or the parts of one that are evaluated
// together, does to variables. What it may do is what its instructions in SSA form do;
// the accesses are those of it that can be written in another way.
type Statement struct {
	// Opaque, Acquires, Panics, Waits and Calls are as in Effect, for the statement and what
	// it calls.
	Opaque                  string
	Acquires, Panics, Waits bool
	Calls                   []Call
	// CallsValue says that it calls a function that is not known by name.
	CallsValue bool
	// Touches is the memory that the statement reaches by itself.
	Touches  []*Touch
	Accesses []*Access

	own     Effect    // of the statement alone
	effects []*Effect // its own, and those of what it calls
	runs    Code      // see Runs
}

// An Access is the use of a variable or field by name.
type Access struct {
	Node  ast.Expr
	Place Place      // may be unknown
	Last  *types.Var // the variable or field
	// Assigned says that it is assigned to, or a part of it; Defined that := declares
	// it, so that it cannot be another variable.
	Assigned, Defined bool
	// Entries says that entries of the map are changed, or gone through.
	Entries bool

	at []token.Pos // of the instructions that it becomes
}

// Body returns what the body of a function or of a function literal does, without the
// literals inside it: to call one is opaque.
func (f *Facts) Body(body *ast.BlockStmt) *Statement {
	s := f.bodies[body]
	if s != nil {
		return s
	}
	s = new(Statement)
	f.bodies[body] = s
	fn := f.code.functions[body]
	if fn == nil || len(fn.Blocks) == 0 {
		s.own.block("is not known")
	} else {
		f.addFunction(s, fn)
	}
	f.conclude(s)
	return s
}

// Statement returns what pieces of a body do when they run, and which variables the nodes in
// them access.
func (f *Facts) Statement(p *packages.Package, body *ast.BlockStmt, spans []Span, nodes ...ast.Node) *Statement {
	s := new(Statement)
	switch fn := f.code.functions[body]; {
	case fn == nil || len(fn.Blocks) == 0:
		s.own.block("is not known")
	case inYield(fn, spans):
		s.own.block("is in a loop that ranges over a function")
	default:
		f.addInstructions(s, f.code.instructions(fn, spans))
	}
	for _, n := range nodes {
		f.addAccesses(p, s, n)
	}
	f.conclude(s)
	return s
}

// inYield reports whether pieces of a function are in the body of a loop that ranges over a function. In SSA form that is a function
// of its own, whose instructions are not those of the function that has the loop.
//
//	for v := range all { x.mu.Lock(); x.n += v; x.mu.Unlock() }
func inYield(fn *ssa.Function, spans []Span) bool {
	return slices.ContainsFunc(fn.AnonFuncs, func(a *ssa.Function) bool {
		loop, ok := a.Syntax().(*ast.RangeStmt)
		return ok && slices.ContainsFunc(spans, func(s Span) bool { return loop.Body.Pos() <= s.From && s.From <= loop.Body.End() })
	})
}

// addFunction adds all instructions of a function. What it has allocated itself is not what
// its callers know.
func (f *Facts) addFunction(s *Statement, fn *ssa.Function) {
	var all []ssa.Instruction
	for _, b := range fn.Blocks {
		all = append(all, b.Instrs...)
	}
	f.addInstructions(s, all)
}

// addInstructions adds instructions. The memory that one of them allocates is new: it is
// not that of any variable which had a name before.
func (f *Facts) addInstructions(s *Statement, all []ssa.Instruction) {
	all = library.WithLiterals(all, calleeOf)
	fresh := make(map[*ssa.Alloc]bool)
	for _, i := range all {
		if a, ok := i.(*ssa.Alloc); ok && f.code.variable(a) == nil {
			fresh[a] = true
		}
	}
	inside := make(map[ssa.Instruction]bool, len(all))
	for _, i := range all {
		inside[i] = true
	}
	for _, i := range all {
		f.addInstruction(s, i)
		f.addUsedElsewhere(s, i, inside)
	}
	kept := s.Touches[:0]
	for _, t := range s.Touches {
		if !fresh[t.alloc] {
			kept = append(kept, t)
		}
	}
	s.Touches = kept
	for _, t := range s.Touches {
		f.addTouch(&s.own, t)
	}
}

// conclude adds what the functions do that are called.
func (f *Facts) conclude(s *Statement) {
	s.Opaque, s.Acquires, s.Panics, s.Waits, s.Calls = s.own.Opaque, s.own.Acquires, s.own.Panics, s.own.Waits, s.own.Calls
	s.effects = append(s.effects, &s.own)
	for _, c := range s.Calls {
		callee := f.EffectOf(c.Func)
		switch {
		case callee == nil && s.Opaque == "":
			s.Opaque = c.String()
		case callee != nil && callee.Opaque != "" && s.Opaque == "":
			s.Opaque = c.opaque(callee)
		}
		s.Panics = s.Panics || callee == nil || callee.Panics
		if callee == nil {
			s.own.callsBack(c.Func)
		}
		if callee != nil {
			s.Acquires = s.Acquires || callee.Acquires
			s.Waits = s.Waits || callee.Waits
			s.effects = append(s.effects, callee)
		}
	}
}

// NamesKey reports whether the statement, or a function that it calls, names a variable or field,
// of whatever object.
func (s *Statement) NamesKey(k Key) bool {
	for _, e := range s.effects {
		if e.NamesKey(k) {
			return true
		}
	}
	return false
}

// WritesKey reports whether the statement, or a function that it calls, may write a variable
// or field, of whatever object.
func (s *Statement) WritesKey(k Key) bool {
	for _, e := range s.effects {
		if e.WritesKey(k) {
			return true
		}
	}
	return false
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
		a := accessOf(p.TypesInfo, x)
		if a == nil {
			return true
		}
		describe(p.TypesInfo, a, c)
		s.Accesses = append(s.Accesses, a)
		return !a.Place.Known()
	})
}

// cursor returns where a node is in its package.
func (f *Facts) cursor(p *packages.Package, n ast.Node) inspector.Cursor {
	c, ok := f.inspectors[p].Root().FindNode(n)
	if !ok {
		panic("facts: a node that is not in package " + p.PkgPath)
	}
	return c
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

// describe finds out how the source uses the variable of an access, by what is around it.
// What is done to an element of an array is done to a part of the array.
func describe(info *types.Info, a *Access, c inspector.Cursor) {
	a.Entries = changesEntries(info, c)
	a.at = positionsIn(a.Node)
	element := false
	for {
		p := c.Parent()
		i, isIndex := p.Node().(*ast.IndexExpr)
		_, isParen := p.Node().(*ast.ParenExpr)
		if isIndex && i.X == c.Node() && IsArray(info.TypeOf(i.X)) {
			a.at = append(a.at, i.Lbrack)
			element = true
		} else if !isParen {
			break
		}
		c = p
	}
	a.at = append(a.at, positionsAround(info, c)...)
	switch c.ParentEdgeKind() {
	case edge.AssignStmt_Lhs, edge.IncDecStmt_X, edge.RangeStmt_Key, edge.RangeStmt_Value:
		a.Assigned = true
	}
	switch p := c.Parent().Node().(type) {
	case *ast.AssignStmt:
		a.Defined = a.Assigned && p.Tok == token.DEFINE && !element
	case *ast.RangeStmt:
		a.Defined = a.Assigned && p.Tok == token.DEFINE && !element
	}
}

// positionsIn returns where the instructions come from that an expression of names and
// selectors becomes.
func positionsIn(e ast.Expr) []token.Pos {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return positionsIn(e.X)
	case *ast.SelectorExpr:
		return append(positionsIn(e.X), e.Sel.Pos(), e.Pos())
	}
	return []token.Pos{e.Pos()}
}

// positionsAround returns where the instructions come from that use a part of an expression:
// a field of an element, or a method that is called on it.
func positionsAround(info *types.Info, c inspector.Cursor) []token.Pos {
	var list []token.Pos
	for {
		switch p := c.Parent().Node().(type) {
		case *ast.SelectorExpr:
			s := info.Selections[p]
			if p.X != c.Node() || s == nil {
				return list
			}
			list = append(list, p.Sel.Pos(), p.Pos())
			if s.Kind() == types.MethodVal {
				if call, ok := c.Parent().Parent().Node().(*ast.CallExpr); ok && call.Fun == p {
					list = append(list, call.Lparen)
				}
				return list
			}
			if s.Indirect() {
				return list
			}
		case *ast.IndexExpr:
			if p.X != c.Node() || !IsArray(info.TypeOf(p.X)) {
				return list
			}
			list = append(list, p.Lbrack)
		case *ast.ParenExpr:
		default:
			return list
		}
		c = c.Parent()
	}
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
