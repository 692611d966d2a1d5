package protect

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// A function that is called in a section, and uses what the section has copies of, is
// cloned: the clone gets the addresses of the copies as parameters, and uses them.
//
//	t.shift(2)                      t.cofferdam0c1(&v, 2)
//	func (t *T) shift(d int) {      func (t *T) cofferdam0c1(q0 *int, d int) {
//		t.n += d                        (*q0) += d
//	}                               }
//
// That is possible if the function uses the variables in no other way, calls nothing
// that must find them published, and has the object from its caller.

// A clone is a function for use inside sections.
type clone struct {
	name string
	vars []*variable // in terms of the function
}

// declared is a function with the file that it stands in.
type declared struct {
	*ast.FuncDecl
	file *file
}

// declare notes the functions of a file.
func (f *file) declare() {
	for _, d := range f.syntax.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
			if o, ok := f.info.Defs[d.Name].(*types.Func); ok {
				f.decls[funcKeyOf(o)] = declared{d, f}
			}
		}
	}
}

// touched returns the indices of the variables that a call's function uses.
func (u *unit) touched(vars []*variable, c call) []int {
	var list []int
	e := u.effects.of[funcKeyOf(c.Func)]
	for i, v := range vars {
		if e.touchesAny(v.reach()) {
			list = append(list, i)
		}
	}
	return list
}

// claimCalls notes the calls that will be of clones for a group: there is no clone for
// the sections of two locks that overlap.
func (u *unit) claimCalls(g *group) {
	for _, p := range g.parts {
		for _, c := range p.calls {
			if p.opaque == "" && len(u.touched(g.vars, c)) > 0 {
				u.cloned[c.expr] = true
			}
		}
	}
}

// unsafeCall returns why copies must be published before a call. Those that its
// function uses are given to a clone.
func (u *unit) unsafeCall(vars []*variable, reading bool, c call) string {
	return u.unsafe(vars, reading, c, make(map[string]bool))
}

func (u *unit) unsafe(vars []*variable, reading bool, c call, seen map[string]bool) string {
	e := u.effects.of[funcKeyOf(c.Func)]
	if e == nil {
		return "is not known"
	}
	for _, v := range vars {
		if why := v.mayBeReached(e); why != "" {
			return why
		}
	}
	used := u.touched(vars, c)
	if len(used) == 0 {
		return ""
	}
	inner, why := u.translate(vars, used, c)
	if why != "" {
		return "uses " + vars[used[0]].last().Name() + ", and " + why
	}
	if seen[cloneID(c, inner)] {
		return ""
	}
	seen[cloneID(c, inner)] = true
	p := u.bodyOf(u.decls[funcKeyOf(c.Func)])
	if p.opaque != "" {
		return p.opaque
	}
	for _, v := range inner {
		for _, t := range p.whole {
			if holds(t, v.structsOf()) {
				return "uses " + v.root.Name() + " as a whole"
			}
		}
		for _, a := range p.accesses {
			within := a.place.root != nil && a.place.within(v.place)
			switch {
			case within && a.taken:
				return "takes the address of " + v.last().Name()
			case within && a.write && reading:
				return "writes " + v.last().Name()
			case !within && u.named(a, v) && !u.apart(a.place, v):
				return "uses " + v.last().Name() + " of another object"
			}
		}
	}
	for _, c := range p.calls {
		if why := u.unsafe(inner, reading, c, seen); why != "" {
			return "calls " + name(c.Func) + ", which " + why
		}
	}
	return ""
}

// bodyOf returns what a function's body does.
func (u *unit) bodyOf(d declared) *part {
	p := u.bodies[d.FuncDecl]
	if p == nil {
		p = &part{nodes: []ast.Node{d.Body}}
		u.look(p)
		u.bodies[d.FuncDecl] = p
	}
	return p
}

// translate returns the variables that a call's function uses, in its own terms.
func (u *unit) translate(vars []*variable, used []int, c call) ([]*variable, string) {
	d, ok := u.decls[funcKeyOf(c.Func)]
	switch {
	case !ok:
		return nil, "it is in another package"
	case c.Func.Signature().TypeParams() != nil || c.Func.Signature().RecvTypeParams() != nil:
		return nil, "it is generic"
	case directive(d.Doc) != "":
		return nil, directive(d.Doc)
	case hasLiteral(d.Body):
		return nil, "it has a function literal"
	}
	var inner []*variable
	for _, i := range used {
		v := *vars[i]
		if _, ok := u.spell(d.file, v.last().Type()); !ok {
			return nil, "the type of " + v.last().Name() + " has no name there"
		}
		switch {
		case v.throughPointer():
			root, why := u.parameter(d, c, v.root)
			if why != "" {
				return nil, why
			}
			v.place = place{root, v.fields}
		case !v.isGlobal():
			return nil, "it cannot know " + v.root.Name()
		}
		inner = append(inner, &v)
	}
	return inner, ""
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
func (u *unit) parameter(d declared, c call, root *types.Var) (*types.Var, string) {
	var found []*types.Var
	is := func(e ast.Expr) bool {
		p, ok := placeOf(u.info, e)
		return ok && p.root == root && len(p.fields) == 0
	}
	s := c.Func.Signature()
	if e, ok := ast.Unparen(c.expr.Fun).(*ast.SelectorExpr); ok && s.Recv() != nil && is(e.X) {
		if sel := u.info.Selections[e]; sel != nil && sel.Kind() == types.MethodVal && len(sel.Index()) == 1 && isPointer(s.Recv().Type()) {
			found = append(found, s.Recv())
		}
	}
	for i, a := range c.expr.Args {
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
	case !u.stable(found[0]):
		return nil, found[0].Name() + " is assigned to in it"
	case !types.Identical(found[0].Type(), root.Type()):
		return nil, "it has it as another type"
	}
	return found[0], ""
}

// redirectCall returns the edits that turn a call into that of a clone, if there is
// one for it. The function arg returns the address of a variable's copy.
func (u *unit) redirectCall(tok *token.File, vars []*variable, c call, arg func(i int) string) []edit {
	used := u.touched(vars, c)
	if len(used) == 0 {
		return nil
	}
	inner, why := u.translate(vars, used, c)
	if why != "" {
		panic("protect: a call in a section cannot be redirected: " + why)
	}
	cl := u.clone(c, inner)
	id := calledName(c.expr.Fun)
	var args strings.Builder
	for _, i := range used {
		args.WriteString(arg(i) + ", ")
	}
	lparen := tok.Offset(c.expr.Lparen) + 1
	return []edit{
		{tok.Offset(id.Pos()), tok.Offset(id.End()), atStart, cl.name},
		{lparen, lparen, atEnd, args.String()},
	}
}

// calledName returns the identifier that names the function of a call.
func calledName(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	panic(fmt.Sprintf("protect: a call of %T", e))
}

// cloneID tells clones apart.
func cloneID(c call, vars []*variable) string {
	id := string(funcKeyOf(c.Func))
	for _, v := range vars {
		id += " " + v.place.String()
	}
	return id
}

// clone returns the clone of a function for variables.
func (u *unit) clone(c call, vars []*variable) *clone {
	id := cloneID(c, vars)
	if cl := u.clones[id]; cl != nil {
		return cl
	}
	d := u.decls[funcKeyOf(c.Func)]
	f := d.file
	cl := &clone{name: f.prefix + "c" + strconv.Itoa(len(u.clones)+1) + c.Func.Name(), vars: vars}
	u.clones[id] = cl

	var params strings.Builder
	param := func(i int) string { return cl.name + "q" + strconv.Itoa(i) }
	for i, v := range vars {
		t, _ := u.spell(f, v.last().Type())
		fmt.Fprintf(&params, "%s *%s, ", param(i), t)
	}
	open := f.tok.Offset(d.Type.Params.Opening) + 1
	edits := []edit{
		{f.tok.Offset(d.Name.Pos()), f.tok.Offset(d.Name.End()), atStart, cl.name},
		{open, open, atEnd, params.String()},
	}
	p := u.bodyOf(d)
	for _, a := range p.accesses {
		if a.place.root == nil {
			continue
		}
		for i, v := range vars {
			if a.place.within(v.place) {
				text := "(*" + param(i) + ")"
				for _, field := range a.place.fields[len(v.fields):] {
					text += "." + field.Name()
				}
				edits = append(edits, edit{f.tok.Offset(a.node.Pos()), f.tok.Offset(a.node.End()), atStart, text + strings.Repeat("\n", f.line(a.node.End())-f.line(a.node.Pos()))})
			}
		}
	}
	for _, inner := range p.calls {
		edits = append(edits, u.redirectCall(f.tok, vars, inner, param)...)
	}
	edits = append(edits, f.throughShared(edits, f.tok.Offset(d.Type.Func), f.tok.Offset(d.End()))...)
	at := u.fset.Position(d.Pos())
	text := splice(f.source, f.tok.Offset(d.Type.Func), f.tok.Offset(d.End()), edits)
	f.tail = append(f.tail, fmt.Sprintf("/*line :%d:%d*/%s", at.Line, max(at.Column, 1), text))
	return cl
}

// spell writes a type as a file of the package can.
func (u *unit) spell(f *file, t types.Type) (string, bool) {
	ok := true
	qualify := func(p *types.Package) string {
		if p.Path() == u.pkg.Types.Path() {
			return ""
		}
		for _, i := range f.syntax.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil || path != p.Path() {
				continue
			}
			if i.Name == nil {
				return p.Name()
			}
			if i.Name.Name != "_" && i.Name.Name != "." {
				return i.Name.Name
			}
		}
		ok = false
		return p.Name()
	}
	text := types.TypeString(t, qualify)
	return text, ok && spellable(t, u.pkg.Types.Path(), nil)
}

// spellable reports whether a package can write a type: it is not declared inside a
// function, and not hidden in another package.
func spellable(t types.Type, pkg string, seen []types.Type) bool {
	if slices.Contains(seen, t) {
		return true
	}
	seen = append(seen, t)
	switch t := t.(type) {
	case *types.Alias:
		return inScope(t.Obj(), pkg)
	case *types.Named:
		if args := t.TypeArgs(); args != nil {
			for a := range args.Types() {
				if !spellable(a, pkg, seen) {
					return false
				}
			}
		}
		return inScope(t.Obj(), pkg)
	case *types.Basic, *types.TypeParam:
		return true
	case *types.Struct:
		for f := range t.Fields() {
			if !spellable(f.Type(), pkg, seen) || !f.Exported() && f.Pkg().Path() != pkg {
				return false
			}
		}
		return true
	case *types.Pointer:
		return spellable(t.Elem(), pkg, seen)
	case *types.Slice:
		return spellable(t.Elem(), pkg, seen)
	case *types.Map:
		return spellable(t.Key(), pkg, seen) && spellable(t.Elem(), pkg, seen)
	case *types.Chan:
		return spellable(t.Elem(), pkg, seen)
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				if !spellable(v.Type(), pkg, seen) {
					return false
				}
			}
		}
		return true
	case *types.Interface:
		return t.NumMethods() == 0 && t.NumEmbeddeds() == 0
	}
	return false
}

func inScope(o *types.TypeName, pkg string) bool {
	if o.Pkg() == nil {
		return true // error
	}
	return o.Parent() == o.Pkg().Scope() && (o.Pkg().Path() == pkg || o.Exported())
}
