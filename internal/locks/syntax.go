package locks

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// Op recognises a call of a lock's method: on a lock, on a struct that embeds one, through
// sync.Locker, as a method expression, or by a local variable that holds a method value. A
// method whose body is in the program is no operation but a call to be followed, except
// those of package sync.
func (p *Program) Op(info *types.Info, call *ast.CallExpr) (Op, bool) {
	return p.opOf(info, call.Fun, call.Args)
}

func (p *Program) opOf(info *types.Info, fun ast.Expr, args []ast.Expr) (Op, bool) {
	switch fun := ast.Unparen(fun).(type) {
	case *ast.SelectorExpr:
		s := info.Selections[fun]
		if s == nil {
			return Op{}, false
		}
		fn, ok := s.Obj().(*types.Func)
		if !ok {
			return Op{}, false
		}
		m, ok := MethodOf(fn)
		if !ok || p.method(info, fun) != nil && !IsStandard(fn) {
			return Op{}, false
		}
		receiver := fun.X
		if s.Kind() == types.MethodExpr {
			if len(args) != 1 {
				return Op{}, false
			}
			receiver = args[0]
		}
		lock, reason := p.Place(info, receiver)
		index := s.Index()
		return named(m, p.along(lock, s.Recv(), index[:len(index)-1]), reason), true
	case *ast.Ident:
		v, ok := info.Uses[fun].(*types.Var)
		if !ok {
			return Op{}, false
		}
		if k := p.onlyValue(v); k != nil && !k.element && !p.resolving[v] {
			p.resolving[v] = true
			defer delete(p.resolving, v)
			return p.opOf(k.info, k.value, args)
		}
	}
	return Op{}, false
}

// method returns the method of the program that a selector selects; nil if it is not known.
// That of an interface is known if the variable that holds the interface is given one value:
// after l := sync.Locker(&s.m), l.Lock is the method of s.m.
func (p *Program) method(info *types.Info, sel *ast.SelectorExpr) *function {
	fn, ok := info.Uses[sel.Sel].(*types.Func)
	if !ok {
		return nil
	}
	if f := p.declared[fn.Origin()]; f != nil {
		return f
	}
	t := p.concreteType(info, sel.X)
	if t == nil {
		return nil
	}
	o, _, _ := types.LookupFieldOrMethod(t, true, fn.Pkg(), fn.Name())
	if m, ok := o.(*types.Func); ok {
		return p.declared[m.Origin()]
	}
	return nil
}

// concreteType returns the type of what is in an interface; nil if it is not known, or the
// expression is no interface.
func (p *Program) concreteType(info *types.Info, e ast.Expr) types.Type {
	t := info.TypeOf(e)
	if t == nil || !types.IsInterface(t) {
		return nil
	}
	value := info
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := info.Uses[x].(*types.Var)
		if !ok {
			return nil
		}
		k := p.onlyValue(v)
		if k == nil || k.element || p.resolving[v] {
			return nil
		}
		p.resolving[v] = true
		defer delete(p.resolving, v)
		value, e = k.info, k.value
	case *ast.CallExpr:
		if tv, ok := info.Types[x.Fun]; !ok || !tv.IsType() || len(x.Args) != 1 {
			return nil
		}
		e = x.Args[0]
	default:
		return nil
	}
	if t := value.TypeOf(e); t != nil && !types.IsInterface(t) {
		return t
	}
	return p.concreteType(value, e)
}

// along takes the steps that a selection takes over fields.
func (p *Program) along(at *Place, t types.Type, index []int) *Place {
	for _, f := range fieldsAt(t, index) {
		at = p.Places.Field(at, f)
	}
	return at
}

// Place returns the place that an expression names. If there is none it says why.
func (p *Program) Place(info *types.Info, e ast.Expr) (*Place, string) {
	at, reason := p.newPlace(info, e)
	if at == nil {
		if reason == "" {
			reason = reasonLong
		}
		return nil, reason
	}
	if alias := p.aliases.resolve(at); alias != nil {
		at = alias
	}
	return at, ""
}

func (p *Program) newPlace(info *types.Info, e ast.Expr) (*Place, string) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := info.ObjectOf(e).(*types.Var)
		if !ok || v.IsField() {
			return nil, reasonMade
		}
		return p.variablePlace(v), ""
	case *ast.SelectorExpr:
		return p.selected(info, e)
	case *ast.StarExpr:
		return p.Place(info, e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return p.Place(info, e.X)
		}
	case *ast.TypeAssertExpr:
		return p.Place(info, e.X)
	case *ast.SliceExpr:
		return p.Place(info, e.X)
	case *ast.IndexExpr:
		at, reason := p.Place(info, e.X)
		if at == nil {
			return nil, reason
		}
		return p.Places.Extend(at, Step{Field: Element, Key: p.indexKey(info, e.Index)}), ""
	case *ast.CallExpr:
		return p.called(info, e)
	}
	return nil, reasonMade
}

// variablePlace names a variable. One that is given one value, a reference, is what that
// value names: after mu := &s.mu, mu is s.mu.
func (p *Program) variablePlace(v *types.Var) *Place {
	root := p.Places.Root(p.Places.Canonical(v))
	k := p.onlyValue(v)
	if k == nil || !IsReference(v.Type()) || p.resolving[v] {
		return root
	}
	p.resolving[v] = true
	defer delete(p.resolving, v)
	at, _ := p.Place(k.info, k.value)
	if at != nil && k.element {
		at = p.Places.Extend(at, Step{Field: Element, Key: p.variableKey(v)})
	} else if at != nil {
		at = p.asInterface(k.info.TypeOf(k.value), v.Type(), at)
	}
	if at == nil || !p.stable(at) {
		return root
	}
	return at
}

// stable reports whether a place names the same memory wherever it is used: the variable
// that it begins with does not change, or is itself what the place is a part of.
//
//	var s struct{ mu sync.Mutex; n int }
//	s.n = 1
//	mu := &s.mu        is s.mu, whatever is assigned to s
func (p *Program) stable(at *Place) bool {
	v, ok := at.root.(*types.Var)
	return !ok || isGlobal(v) || p.constant(v) || isWithin(v, at)
}

// isWithin reports whether a place is a variable, or a part of it, and nothing that it refers to.
func isWithin(v *types.Var, at *Place) bool {
	for _, s := range at.Steps() {
		if s.Up || s.Field == Element || s.Field == readSide || IsReference(s.Field.Type()) {
			return false
		}
	}
	return !IsReference(v.Type())
}

// asInterface names what becomes an interface. As a sync.Locker, a struct that embeds a
// lock is that lock.
func (p *Program) asInterface(from, to types.Type, at *Place) *Place {
	if from == nil || !types.IsInterface(to) || types.IsInterface(from) || !hasMethod(to, "Lock") {
		return at
	}
	for _, f := range Promoted(from) {
		at = p.Places.Field(at, f)
	}
	return at
}

func (p *Program) selected(info *types.Info, e *ast.SelectorExpr) (*Place, string) {
	s := info.Selections[e]
	if s == nil {
		// A variable of another package.
		if v, ok := info.Uses[e.Sel].(*types.Var); ok {
			return p.Places.Root(p.Places.Canonical(v)), ""
		}
		return nil, reasonMade
	}
	if s.Kind() != types.FieldVal {
		return nil, reasonMade
	}
	at, reason := p.Place(info, e.X)
	if at == nil {
		return nil, reason
	}
	return p.along(at, s.Recv(), s.Index()), ""
}

// called names the result of a call: a conversion, RLocker, or a function of the program
// that returns something reached from its parameters or from a global.
func (p *Program) called(info *types.Info, call *ast.CallExpr) (*Place, string) {
	if tv, ok := info.Types[call.Fun]; ok && tv.IsType() && len(call.Args) == 1 {
		at, reason := p.Place(info, call.Args[0])
		if at == nil {
			return nil, reason
		}
		return p.asInterface(info.TypeOf(call.Args[0]), tv.Type, at), ""
	}
	fn := calleeOf(info, call)
	if fn == nil {
		return nil, reasonCall
	}
	if isRLocker(fn) {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok || info.Selections[sel] == nil {
			return nil, reasonCall
		}
		at, reason := p.Place(info, sel.X)
		if at == nil {
			return nil, reason
		}
		index := info.Selections[sel].Index()
		at = p.along(at, info.Selections[sel].Recv(), index[:len(index)-1])
		return p.Places.Extend(at, Step{Field: readSide}), ""
	}
	f := p.declared[fn.Origin()]
	if f == nil {
		return nil, reasonCall
	}
	value := soleResult(f)
	if value == nil {
		return nil, reasonCall
	}
	at, _ := p.Place(f.info, value)
	if at = p.up(at, p.argumentPairs(info, f, call)); at == nil {
		return nil, reasonCall
	}
	return at, ""
}

// soleResult returns what a function returns if its body is nothing but that.
func soleResult(f *function) ast.Expr {
	if len(f.body.List) != 1 {
		return nil
	}
	r, ok := f.body.List[0].(*ast.ReturnStmt)
	if !ok || len(r.Results) != 1 {
		return nil
	}
	return r.Results[0]
}

// argumentPairs pairs the parameters of a function, its receiver first, with what a call
// gives it.
func (p *Program) argumentPairs(info *types.Info, f *function, call *ast.CallExpr) []Pair {
	var pairs []Pair
	params, args := f.params, call.Args
	add := func(v *types.Var, at *Place) {
		if v != nil && at != nil && p.constant(v) {
			pairs = append(pairs, Pair{p.Places.Root(p.Places.Canonical(v)), at})
		}
	}
	if f.object != nil && f.object.Signature().Recv() != nil && len(params) > 0 {
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && info.Selections[sel] != nil && info.Selections[sel].Kind() == types.MethodVal {
			at, _ := p.Place(info, sel.X)
			index := info.Selections[sel].Index()
			add(params[0], p.along(at, info.Selections[sel].Recv(), index[:len(index)-1]))
			params = params[1:]
		}
	}
	for i, v := range params {
		if i < len(args) && v != nil && IsReference(v.Type()) {
			at, _ := p.Place(info, args[i])
			if at != nil {
				at = p.asInterface(info.TypeOf(args[i]), v.Type(), at)
			}
			add(v, at)
		}
	}
	return pairs
}

// InCaller translates a place of the function that a call calls, which must be one declared in the
// program, into the terms of the caller; nil if the caller has no name for it.
func (p *Program) InCaller(info *types.Info, call *ast.CallExpr, at *Place) *Place {
	fn := calleeOf(info, call)
	if fn == nil || p.declared[fn.Origin()] == nil {
		return nil
	}
	return p.up(at, p.argumentPairs(info, p.declared[fn.Origin()], call))
}

// up translates a place of a called function into the terms of its caller; nil if the
// caller has no name for it.
func (p *Program) up(at *Place, pairs []Pair) *Place {
	if at == nil || at.IsGlobal() {
		return at
	}
	at = p.Places.Up(at, pairs)
	if at == nil {
		return nil
	}
	if alias := p.aliases.resolve(at); alias != nil {
		return alias
	}
	return at
}

// calleeOf returns the function or method that is called, the interface's if it is called
// through one; nil if a function value is called.
func calleeOf(info *types.Info, call *ast.CallExpr) *types.Func {
	e := ast.Unparen(call.Fun)
	switch x := e.(type) {
	case *ast.IndexExpr:
		e = ast.Unparen(x.X)
	case *ast.IndexListExpr:
		e = ast.Unparen(x.X)
	}
	var id *ast.Ident
	switch x := e.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	}
	if id == nil {
		return nil
	}
	fn, _ := info.Uses[id].(*types.Func)
	return fn
}

// indexKey tells elements apart. The key of an index without calls is its text, in which
// each variable stands with the position of its declaration: i in one loop is not i in the
// next. An index with a call is like no other.
func (p *Program) indexKey(info *types.Info, e ast.Expr) any {
	if tv, ok := info.Types[e]; ok && tv.Value != nil {
		return constantKey(tv.Value)
	}
	pure := true
	var b strings.Builder
	b.WriteString(types.ExprString(e))
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if tv, ok := info.Types[n.Fun]; !ok || !tv.IsType() && !tv.IsBuiltin() {
				pure = false
			}
		case *ast.Ident:
			if v, ok := info.Uses[n].(*types.Var); ok {
				b.WriteString(p.variableKey(v))
			}
		}
		return true
	})
	if !pure {
		return e
	}
	return b.String()
}

// variableKey is how a variable stands in the key of an element.
func (p *Program) variableKey(v *types.Var) string {
	return " " + v.Name() + "@" + strconv.Itoa(int(v.Pos())) + " "
}

// mentions reports whether a place leads through a variable: begins with it, or has it in
// the key of an element.
func (p *Program) mentions(at *Place, v *types.Var) bool {
	if at.root == Root(p.Places.Canonical(v)) {
		return IsReference(v.Type()) // assigning a struct changes what is in it, not where it is
	}
	key := p.variableKey(v)
	for ; at.parent != nil; at = at.parent {
		if text, ok := at.step.Key.(string); ok && strings.Contains(text, key) {
			return true
		}
	}
	return false
}
