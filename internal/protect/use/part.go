package use

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// A Part is a use of a part of a variable, or of one element of a slice, that can be written as one call. What it
// takes to find the part is evaluated before:
//
//	x.rows[i].n             a load
//	x.rows[i].n = v         a Put
//	x.rows[i].n += v        an Update
//	x.s = append(x.s, v)    an Append; the second use of x.s is Absorbed by it
type Part struct {
	Whole    ast.Expr // names the part
	Steps    []Step   // lead there from the variable
	Put      *ast.AssignStmt
	Update   ast.Stmt
	Append   *ast.CallExpr
	Absorbed bool

	appends *ast.AssignStmt // what an Append, or what is absorbed, is in
}

// A Step leads from something to a field of it, or to an element.
type Step struct {
	Field string   // "" for an element
	Index ast.Expr // of the element
	Type  types.Type
}

// PartOf returns what a use of a variable does with a part of it, nil if it does something else or cannot be one call. Elements
// of slices count as parts if that is asked for.
func PartOf(info *types.Info, fset *token.FileSet, use ast.Expr, around []ast.Node, ofSlices bool) *Part {
	p := &partFinder{info: info, fset: fset, around: around, ofSlices: ofSlices}
	if ofSlices && facts.IsSlice(info.TypeOf(use)) {
		if part := p.appended(use); part != nil {
			return part
		}
	}
	part, parent := p.way(use)
	if len(part.Steps) == 0 || !p.place(part, parent) || !p.isInOneLine(use, part) {
		return nil
	}
	return part
}

type partFinder struct {
	info     *types.Info
	fset     *token.FileSet
	around   []ast.Node
	ofSlices bool
}

// way follows the source from a variable to a part of it, and returns the index of the node around that.
func (p *partFinder) way(use ast.Expr) (part *Part, parent int) {
	part = &Part{Whole: use}
	for parent = len(p.around) - 1; parent >= 0; parent-- {
		step, ok := p.step(p.around[parent], part.Whole)
		if !ok {
			break
		}
		part.Steps = append(part.Steps, step)
		part.Whole = p.around[parent].(ast.Expr)
	}
	return part, parent
}

// step returns how a node leads from an expression to a part of its value, in the same memory.
func (p *partFinder) step(n ast.Node, of ast.Expr) (Step, bool) {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		sel := p.info.Selections[n]
		if sel != nil && sel.Kind() == types.FieldVal && !sel.Indirect() {
			return Step{Field: n.Sel.Name}, true
		}
	case *ast.IndexExpr:
		t := p.info.TypeOf(of)
		if n.X != of || !facts.IsArray(t) && !(p.ofSlices && facts.IsSlice(t)) {
			break
		}
		return Step{Index: n.Index, Type: types.Default(p.info.TypeOf(n.Index))}, true
	}
	return Step{}, false
}

// place finds out what is done with the part, and reports whether that can be a call.
func (p *partFinder) place(part *Part, at int) bool {
	parent := p.around[at]
	if takesAddress(p.info, parent, part.Whole) || !p.canPass(part) {
		return false
	}
	switch n := parent.(type) {
	case *ast.ParenExpr, *ast.SliceExpr:
		return false
	case *ast.RangeStmt:
		return false
	case *ast.CallExpr:
		return p.info.Types[n].Value == nil // its length is a constant
	case *ast.IncDecStmt:
		part.Update = n
		return true
	case *ast.AssignStmt:
		if !storesTo(n, part.Whole) {
			return true
		}
		c, inCase := p.around[at-1].(*ast.CommClause)
		if len(n.Lhs) > 1 || inCase && c.Comm == n || hasCalls(p.info, n.Rhs[0]) && !p.isSteady(part) {
			return false
		}
		if n.Tok == token.ASSIGN {
			part.Put = n
			return true
		}
		part.Update = n
		return n.Tok != token.SHL_ASSIGN && n.Tok != token.SHR_ASSIGN && !hasShift(n.Rhs[0])
	}
	return true
}

// canPass reports whether the indices can be the arguments of a call: their types are basic, so that any file can write them.
func (p *partFinder) canPass(part *Part) bool {
	for _, s := range part.Steps {
		if s.Index == nil {
			continue
		}
		if b, ok := types.Unalias(s.Type).(*types.Basic); !ok || b.Info()&types.IsInteger == 0 {
			return false
		}
	}
	return true
}

// isSteady reports whether the indices are what they are whatever is called: made of constants, and of local variables that no
// function literal uses and whose addresses are not taken.
func (p *partFinder) isSteady(part *Part) bool {
	for _, s := range part.Steps {
		if s.Index != nil && p.info.Types[s.Index].Value == nil && (!IsPlain(s.Index) || p.mayChange(s.Index)) {
			return false
		}
	}
	return true
}

// mayChange reports whether what an expression consists of may be changed by code that does not stand beside it.
func (p *partFinder) mayChange(e ast.Expr) bool {
	changes := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			changes = true
		case *ast.Ident:
			v, ok := p.info.Uses[n].(*types.Var)
			changes = changes || ok && (facts.IsGlobal(v) || p.isUsedElsewhere(v))
		}
		return !changes
	})
	return changes
}

// isUsedElsewhere reports whether a local variable may be assigned to by code that does not stand beside its use.
func (p *partFinder) isUsedElsewhere(v *types.Var) bool {
	found := false
	var root ast.Node = p.around[0]
	ast.PreorderStack(root, nil, func(n ast.Node, around []ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && p.info.Uses[id] == v {
			for _, a := range around {
				switch a := a.(type) {
				case *ast.FuncLit:
					found = found || !contains(a, at(v))
				case *ast.UnaryExpr:
					found = found || a.Op == token.AND
				}
			}
		}
		return !found
	})
	return found
}

// at is a node that stands where a variable is declared.
func at(v *types.Var) ast.Node { return &ast.Ident{NamePos: v.Pos(), Name: v.Name()} }

// hasCalls reports whether an expression calls anything that is written out, or receives.
func hasCalls(info *types.Info, e ast.Expr) bool { return callsBeside(info, &ast.BadExpr{}, e) }

// hasShift reports whether a value is shifted: what type it has may depend on what it is assigned to.
func hasShift(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		found = found || ok && (b.Op == token.SHL || b.Op == token.SHR)
		return !found
	})
	return found
}

// isInOneLine reports whether what is replaced has no line end in it.
func (p *partFinder) isInOneLine(use ast.Expr, part *Part) bool {
	line := func(at token.Pos) int { return p.fset.PositionFor(at, false).Line }
	end := part.Whole.End()
	switch {
	case part.Put != nil:
		end = part.Put.Rhs[0].Pos()
	case part.Update != nil:
		end = part.Update.End()
		if a, ok := part.Update.(*ast.AssignStmt); ok {
			end = a.Rhs[0].Pos()
		}
	}
	return line(use.End()) == line(end)
}

// appended returns the use as a part of an assignment that appends to the variable.
func (p *partFinder) appended(use ast.Expr) *Part {
	n := len(p.around)
	assign, ok := p.around[n-1].(*ast.AssignStmt)
	if call, inCall := p.around[n-1].(*ast.CallExpr); inCall && n > 1 && len(call.Args) > 0 && call.Args[0] == use {
		assign, ok = p.around[n-2].(*ast.AssignStmt)
	}
	if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 {
		return nil
	}
	call, ok := assign.Rhs[0].(*ast.CallExpr)
	if !ok || facts.BuiltinOf(p.info, call.Fun) != "append" || len(call.Args) < 2 || !p.isSame(assign.Lhs[0], call.Args[0]) {
		return nil
	}
	if last := call.Args[len(call.Args)-1]; call.Ellipsis.IsValid() && !types.Identical(p.info.TypeOf(last).Underlying(), p.info.TypeOf(use).Underlying()) {
		return nil
	}
	line := func(at token.Pos) int { return p.fset.PositionFor(at, false).Line }
	if line(assign.Pos()) != line(call.Args[1].Pos()) {
		return nil
	}
	switch use {
	case assign.Lhs[0]:
		return &Part{Whole: use, Append: call, appends: assign}
	case call.Args[0]:
		return &Part{Whole: use, Absorbed: true, appends: assign}
	}
	return nil
}

// isSame reports whether two expressions name the same variable, or field of the same object.
func (p *partFinder) isSame(a, b ast.Expr) bool {
	one, ok := facts.PlaceOf(p.info, a)
	other, known := facts.PlaceOf(p.info, b)
	return ok && known && one.Equal(other)
}

// TypeIn returns the type of the part, given that of the variable: a generic type has other names for its parameters where it is used.
func (p *Part) TypeIn(t types.Type, pkg *types.Package) types.Type {
	for _, s := range p.Steps {
		if s.Index == nil {
			f, _, _ := types.LookupFieldOrMethod(t, true, pkg, s.Field)
			t = f.Type()
			continue
		}
		switch u := t.Underlying().(type) {
		case *types.Array:
			t = u.Elem()
		case *types.Slice:
			t = u.Elem()
		}
	}
	return t
}

// Arguments are what is evaluated before the call, as it is in the source before the part is used.
func (p *Part) Arguments() []ast.Node {
	list := []ast.Node{p.Whole}
	if a, ok := p.Update.(*ast.AssignStmt); ok {
		list = append(list, a.Rhs[0])
	}
	if p.Put != nil {
		list = append(list, p.Put.Rhs[0])
	}
	if p.appends != nil {
		list = append(list, p.appends)
	}
	return list
}

// Covers reports whether what is at some positions happens in the call that the use becomes.
func (p *Part) Covers(positions []token.Pos) bool {
	from, to := p.Whole.Pos(), p.Whole.End()
	switch {
	case p.Absorbed, p.Append != nil:
		return true // what is appended to goes back to where it came from
	case p.Put != nil:
		from, to = p.Put.Pos(), p.Put.End()
	case p.Update != nil:
		from, to = p.Update.Pos(), p.Update.End()
	}
	return !slices.ContainsFunc(positions, func(at token.Pos) bool { return at < from || at > to })
}
