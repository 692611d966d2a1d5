package plan

import (
	"go/ast"
	"go/types"
	"slices"
	"strconv"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// A Clone is a function for use inside sections: it has the addresses of copies as
// parameters, and uses them.
type Clone struct {
	// Number tells the clones of a package apart.
	Number   int
	Function string
	File     *File
	Decl     *ast.FuncDecl
	// Vars are the variables, in terms of the function.
	Vars []*Variable

	Redirects []Redirect
	Calls     []ClonedCall
	// Sites are the uses of data on pages that are not of the section's object.
	Sites []Site
}

// Name is the clone's name, with the prefix of its file's names.
func (c *Clone) Name(prefix string) string {
	return prefix + "c" + strconv.Itoa(c.Number) + c.Function
}

// A ClonedCall is a call that becomes one of a clone.
type ClonedCall struct {
	Expr  *ast.CallExpr
	Clone *Clone
	// Vars are those whose addresses the clone gets, by their indices in what calls.
	Vars []int
}

// namedBy returns the indices of the variables that a call's function names, and needs the
// addresses of. It finds cells and nodes by itself.
func (u *unit) namedBy(vars []*Variable, c facts.Call) []int {
	var list []int
	e := u.facts.EffectOf(c.Func)
	for i, v := range vars {
		if e.Names(v.Footprint) && !v.isCell() && !v.isNode() {
			list = append(list, i)
		}
	}
	return list
}

// claimCalls notes the calls that will be of clones for a group: there is no clone for
// the sections of two locks that overlap.
func (r *round) claimCalls(g *Group) {
	for _, s := range g.Steps {
		for _, c := range s.Does.Calls {
			if s.Opaque == "" && len(r.namedBy(g.Vars, c)) > 0 {
				r.clonedCalls[c.Expr] = true
			}
		}
	}
}

// uncloneable returns why copies must be published before a call, "" if a clone can use
// them, or nothing of the function does.
func (u *unit) uncloneable(vars []*Variable, reading bool, c facts.Call) string {
	return u.uncloneableAmong(vars, reading, c, make(map[string]bool))
}

func (u *unit) uncloneableAmong(vars []*Variable, reading bool, c facts.Call, seen map[string]bool) string {
	e := u.facts.EffectOf(c.Func)
	if e == nil {
		return "is not known"
	}
	for _, v := range vars {
		if why := e.MayPointTo(v.Footprint); why != "" {
			return why
		}
	}
	used := u.namedBy(vars, c)
	if len(used) == 0 {
		return ""
	}
	inner, why := u.translate(vars, used, c)
	if why != "" {
		return "uses " + vars[used[0]].Last().Name() + ", and " + why
	}
	if seen[cloneID(c, inner)] {
		return ""
	}
	seen[cloneID(c, inner)] = true
	does := u.statement(u.functions[facts.FuncKeyOf(c.Func)])
	if does.Opaque != "" {
		return does.Opaque
	}
	for _, v := range inner {
		if why := u.conflictInClone(does, v, reading); why != "" {
			return why
		}
	}
	for _, c := range does.Calls {
		if why := u.uncloneableAmong(inner, reading, c, seen); why != "" {
			return c.String() + ", which " + why
		}
	}
	return ""
}

// conflictInClone returns why a function cannot have the copy of a variable.
func (u *unit) conflictInClone(does *facts.Statement, v *Variable, reading bool) string {
	if why := u.reachedOtherwise(does, v); why != "" {
		return why
	}
	if reading && slices.ContainsFunc(does.Touches, func(t *facts.Touch) bool { return t.Write && u.facts.Within(t, v.Place, does.Accesses) }) {
		return "writes " + v.Last().Name()
	}
	return ""
}

// translate returns the variables that a call's function uses, in its own terms.
func (u *unit) translate(vars []*Variable, used []int, c facts.Call) ([]*Variable, string) {
	d, ok := u.functions[facts.FuncKeyOf(c.Func)]
	switch {
	case !ok:
		return nil, "it is in another package"
	case c.Func.Signature().TypeParams() != nil || hasUnnamedParam(c.Func.Signature().RecvTypeParams()):
		return nil, "it is generic"
	case facts.Directive(d.Doc) != "":
		return nil, facts.Directive(d.Doc)
	case hasLiteral(d.Body):
		return nil, "it has a function literal"
	}
	var inner []*Variable
	for _, i := range used {
		v := *vars[i]
		switch {
		case v.ThroughPointer():
			root, why := u.parameter(c, v.Root)
			if why != "" {
				return nil, why
			}
			v.Place = facts.Place{Root: root, Fields: v.Fields}
		case !v.IsGlobal():
			return nil, "it cannot know " + v.Root.Name()
		}
		if v.Spelling, ok = u.files[d.file].Spell(typeOf(v.Place)); !ok {
			return nil, "the type of " + v.Last().Name() + " has no name there"
		}
		inner = append(inner, &v)
	}
	return inner, ""
}

// hasUnnamedParam reports whether a type parameter cannot be written. The clone of a method has those of the method.
//
//	func (r *Ring[T]) len() int               func (r *Ring[T]) clone(q *[]T) int
func hasUnnamedParam(params *types.TypeParamList) bool {
	for p := range params.TypeParams() {
		if p.Obj().Name() == "_" {
			return true
		}
	}
	return false
}

// typeOf returns the type of a place as its function has it, where a field is known as the generic type has it.
func typeOf(p facts.Place) types.Type {
	t := p.Root.Type()
	for _, f := range p.Fields {
		s := facts.Deref(t).Underlying().(*types.Struct)
		for g := range s.Fields() {
			if g.Name() == f.Name() {
				t = g.Type()
			}
		}
	}
	return t
}

func hasLiteral(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		_, ok := n.(*ast.FuncLit)
		found = found || ok
		return !found
	})
	return found
}

// parameter returns the parameter, or receiver, that a call passes a variable as.
func (u *unit) parameter(c facts.Call, root *types.Var) (*types.Var, string) {
	var found []*types.Var
	is := func(e ast.Expr) bool {
		p, ok := facts.PlaceOf(u.info, e)
		return ok && p.Root == root && len(p.Fields) == 0
	}
	s := c.Func.Signature()
	if e, ok := ast.Unparen(c.Expr.Fun).(*ast.SelectorExpr); ok && s.Recv() != nil && is(e.X) {
		if sel := u.info.Selections[e]; sel != nil && sel.Kind() == types.MethodVal && len(sel.Index()) == 1 && facts.IsPointer(s.Recv().Type()) {
			found = append(found, s.Recv())
		}
	}
	for i, a := range c.Expr.Args {
		if is(a) && i < s.Params().Len() && !(s.Variadic() && i >= s.Params().Len()-1) {
			found = append(found, s.Params().At(i))
		}
	}
	switch {
	case len(found) == 0:
		return nil, "it has it from elsewhere"
	case len(found) > 1:
		return nil, "it has it twice"
	case found[0].Name() == "" || found[0].Name() == "_":
		return nil, "its parameter has no name"
	case !u.facts.Stable(found[0]):
		return nil, found[0].Name() + " is assigned to in it"
	case !isSameType(found[0].Type(), root.Type()):
		return nil, "it has it as another type"
	}
	return found[0], ""
}

// isSameType reports whether two functions, of which one calls the other with the same object, have it as the same type. What one
// of them knows by a type parameter the other may know by its own, or by a type.
func isSameType(a, b types.Type) bool {
	if types.Identical(a, b) {
		return true
	}
	m, ok := facts.Deref(a).(*types.Named)
	n, ok2 := facts.Deref(b).(*types.Named)
	return ok && ok2 && facts.IsPointer(a) == facts.IsPointer(b) && m.TypeArgs() != nil && m.Origin() == n.Origin()
}

// cloneID tells clones apart.
func cloneID(c facts.Call, vars []*Variable) string {
	id := string(facts.FuncKeyOf(c.Func))
	for _, v := range vars {
		id += " " + v.Place.String()
	}
	return id
}

// clonedCallsOf returns the calls that become calls of clones.
func (r *round) clonedCallsOf(vars []*Variable, calls []facts.Call) []ClonedCall {
	var list []ClonedCall
	for _, c := range calls {
		used := r.namedBy(vars, c)
		if len(used) == 0 {
			continue
		}
		inner, why := r.translate(vars, used, c)
		if why != "" {
			panic("protect: a call in a section cannot be of a clone: " + why)
		}
		list = append(list, ClonedCall{c.Expr, r.clone(c, inner), used})
	}
	return list
}

// clone returns the clone of a function for variables.
func (r *round) clone(c facts.Call, vars []*Variable) *Clone {
	id := cloneID(c, vars)
	if cl := r.clones[id]; cl != nil {
		return cl
	}
	d := r.functions[facts.FuncKeyOf(c.Func)]
	cl := &Clone{Number: len(r.clones) + 1, Function: c.Func.Name(), File: r.out.Files[d.file], Decl: d.FuncDecl, Vars: vars}
	r.clones[id] = cl
	does := r.statement(d)
	cl.Redirects = redirects(vars, does.Accesses, func(*Variable) bool { return true })
	cl.Calls = r.clonedCallsOf(vars, does.Calls)
	r.out.Clones = append(r.out.Clones, cl)
	return cl
}
