package txcompile

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// sharedPlace reports whether an assignment to an expression goes through the transaction: it
// is a shared place, or an entry of a map.
func (p *program) sharedPlace(f *source.File, r region, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return p.sharedPlace(f, r, e.X)
	case *ast.Ident:
		if e.Name == "_" {
			return false
		}
		v, ok := f.Info.Uses[e].(*types.Var)
		if !ok {
			v, ok = f.Info.Defs[e].(*types.Var)
		}
		return ok && p.shared(r, v)
	case *ast.StarExpr:
		return !p.isFresh(f.Info, e.X)
	case *ast.SelectorExpr:
		s := f.Info.Selections[e]
		if s == nil {
			v, ok := f.Info.Uses[e.Sel].(*types.Var)
			return ok && p.shared(r, v)
		}
		if isPointer(s.Recv()) && !source.ThroughPointer(s) {
			return !p.isFresh(f.Info, e.X)
		}
		return source.ThroughPointer(s) || p.sharedPlace(f, r, e.X)
	case *ast.IndexExpr:
		if _, ok := f.Info.TypeOf(e.X).Underlying().(*types.Array); ok {
			return p.sharedPlace(f, r, e.X)
		}
		return !p.isFresh(f.Info, e.X)
	}
	return false
}

// mapEntry returns an expression as an entry of a map, nil if it is none.
func (w *writer) mapEntry(e ast.Expr) *ast.IndexExpr {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok {
		return nil
	}
	if _, ok := w.info().TypeOf(x.X).Underlying().(*types.Map); !ok {
		return nil
	}
	return x
}

// assign is an assignment, alone or in a list of statements. One that needs several
// statements is a block in a list, and a call of a function elsewhere.
func (w *writer) assign(s *ast.AssignStmt, listed bool) string {
	if s.Tok != token.ASSIGN && s.Tok != token.DEFINE {
		return w.update(s, s.Lhs[0], s.Tok, s.Rhs[0], listed)
	}
	anyShared := false
	for _, l := range s.Lhs {
		if s.Tok == token.DEFINE && w.info().Defs[l.(*ast.Ident)] != nil {
			continue // new
		}
		anyShared = anyShared || w.p.sharedPlace(w.f, w.region, l)
	}
	switch {
	case !anyShared:
		return w.plainTargets(s)
	case len(s.Lhs) == 1:
		return w.store(s.Lhs[0], s.Rhs[0], w.expr(s.Rhs[0]))
	case s.Tok == token.DEFINE:
		return w.defineSome(s)
	}
	return w.together(w.parallel(s), listed)
}

// plainTargets is an assignment whose targets stay what they are.
func (w *writer) plainTargets(s *ast.AssignStmt) string {
	var all []piece
	for _, l := range s.Lhs {
		if _, ok := l.(*ast.Ident); !ok {
			place, _ := w.place(l)
			all = append(all, piece{l.Pos(), l.End(), place})
		}
	}
	return w.spliceNode(s, append(all, w.valuesOf(s.Rhs)...)...)
}

// store is an assignment to one shared place or entry.
func (w *writer) store(to ast.Expr, from ast.Expr, value string) string {
	if entry := w.mapEntry(to); entry != nil {
		return w.compiled() + ".In(" + w.tx() + ", " + w.expr(entry.X) + ").Set(" + w.expr(entry.Index) + ", " + value + ")"
	}
	place, _ := w.place(to)
	pointer := "&" + place
	if p, ok := strings.CutPrefix(place, "*"); ok {
		pointer = p
	}
	same := from != nil && types.Identical(w.info().TypeOf(to), w.info().TypeOf(from))
	return w.storeAt(pointer, value, same)
}

func (w *writer) storeAt(pointer, value string, same bool) string {
	if same {
		return w.stm() + ".Store(" + w.tx() + ", " + pointer + ", " + value + ")"
	}
	return w.compiled() + ".At(" + w.tx() + ", " + pointer + ").Set(" + value + ")"
}

// update is x op= v, or x op= 1 if there is no v. What x denotes is evaluated once.
func (w *writer) update(s ast.Stmt, x ast.Expr, op token.Token, v ast.Expr, listed bool) string {
	value := "1"
	if v != nil {
		value = "(" + w.expr(v) + ")"
	}
	if !w.p.sharedPlace(w.f, w.region, x) {
		place, _ := w.place(x)
		if _, ok := s.(*ast.IncDecStmt); ok {
			return place + s.(*ast.IncDecStmt).Tok.String()
		}
		return place + " " + op.String() + " " + value
	}
	if entry := w.mapEntry(x); entry != nil {
		m, k := w.temporary("m"), w.expr(entry.Index)
		text := m + " := " + w.compiled() + ".In(" + w.tx() + ", " + w.expr(entry.X) + "); "
		if w.info().Types[entry.Index].Value == nil {
			key := w.temporary("k")
			text += key + " := " + k + "; "
			k = key
		}
		first, value := w.beforeReading(v, value, op, m)
		return w.together(text+first+m+".Set("+k+", "+m+".Get("+k+") "+binary(op)+" "+value+")", listed)
	}
	place, _ := w.place(x)
	pointer := "&" + place
	if p, ok := strings.CutPrefix(place, "*"); ok {
		pointer = p
	}
	if basic, ok := w.info().TypeOf(x).Underlying().(*types.Basic); ok && basic.Info()&types.IsNumeric != 0 && op == token.ADD_ASSIGN {
		return w.stm() + ".Add(" + w.tx() + ", " + pointer + ", " + value + ")"
	}
	p := w.temporary("p")
	first, value := w.beforeReading(v, value, op, w.compiled()+".At("+w.tx()+", "+p+")")
	text := p + " := " + pointer + "; " + first + w.storeAt(p, w.stm()+".Load("+w.tx()+", "+p+") "+binary(op)+" "+value, true)
	return w.together(text, listed)
}

// binary is the operator of x = x op v.
func binary(op token.Token) string { return strings.TrimSuffix(op.String(), "=") }

// beforeReading has a value with calls found out before x of x op= v is read. Go leaves the
// order open, and its compiler has it so: x.n -= x.take(). The type of v may be that of x,
// as in x.n |= 1 << x.take(), and is asked for of what x is read from.
func (w *writer) beforeReading(v ast.Expr, value string, op token.Token, from string) (first, name string) {
	if v == nil || !w.p.runsCode(w.info(), v) {
		return "", value
	}
	name = w.temporary("v")
	if op != token.SHL_ASSIGN && op != token.SHR_ASSIGN {
		value = from + ".As" + value
	}
	return name + " := " + value + "; ", name
}

// together is several statements as one.
func (w *writer) together(text string, listed bool) string {
	if listed {
		return "{ " + text + " }"
	}
	return "func() { " + text + " }()"
}

// defineSome is a := b with targets that are new and others that are shared and were there.
//
//	n, err := f()      n, v1 := f(); stm.Store(tx, &err, v1)
func (w *writer) defineSome(s *ast.AssignStmt) string {
	var targets, values, stores []string
	oneByOne := len(s.Rhs) == len(s.Lhs)
	if !oneByOne {
		values = []string{w.expr(s.Rhs[0])}
	}
	for i, l := range s.Lhs {
		name := l.(*ast.Ident).Name
		if w.info().Defs[l.(*ast.Ident)] == nil && w.p.sharedPlace(w.f, w.region, l) {
			if oneByOne && w.isUntyped(s.Rhs[i]) {
				stores = append(stores, w.store(l, s.Rhs[i], w.f.TextOf(s.Rhs[i])))
				continue
			}
			name = w.temporary("v")
			stores = append(stores, w.store(l, nil, name))
		}
		targets = append(targets, name)
		if oneByOne {
			values = append(values, w.expr(s.Rhs[i]))
		}
	}
	return strings.Join(targets, ", ") + " := " + strings.Join(values, ", ") + "; " + strings.Join(stores, "; ")
}

// isUntyped reports whether an expression has its type from where it is assigned to.
func (w *writer) isUntyped(e ast.Expr) bool {
	tv := w.info().Types[e]
	return tv.Value != nil || tv.IsNil()
}

// parallel is an assignment of several values, each to its target, of which some are shared:
// where they go and what they are is found out before any is stored.
//
//	x.a, x.b = x.b, x.a      p1 := &x.a; p2 := &x.b; v3, v4 := stm.Load(tx, p2), stm.Load(tx, p1); stm.Store(tx, p1, v3); ...
func (w *writer) parallel(s *ast.AssignStmt) string {
	var before, names, values, after []string
	oneByOne := len(s.Rhs) == len(s.Lhs)
	op := " = "
	for i, l := range s.Lhs {
		value := "_"
		if oneByOne && w.isUntyped(s.Rhs[i]) {
			value = w.f.TextOf(s.Rhs[i]) // its type is that of the target
		} else {
			if !isBlank(l) {
				value, op = w.temporary("v"), " := "
			}
			names = append(names, value)
			if oneByOne {
				values = append(values, w.expr(s.Rhs[i]))
			}
		}
		if isBlank(l) {
			continue
		}
		b, a := w.target(l, value)
		before, after = append(before, b), append(after, a)
	}
	if !oneByOne {
		values = []string{w.expr(s.Rhs[0])}
	}
	text := strings.Join(before, "")
	if len(values) > 0 {
		text += strings.Join(names, ", ") + op + strings.Join(values, ", ") + "; "
	}
	return text + strings.Join(after, "; ")
}

// target returns what is to be found out about a target of an assignment, and the assignment
// of a value to it.
func (w *writer) target(l ast.Expr, value string) (before, assign string) {
	if entry := w.mapEntry(l); entry != nil {
		m, k := w.temporary("m"), w.expr(entry.Index)
		before = m + " := " + w.compiled() + ".In(" + w.tx() + ", " + w.expr(entry.X) + "); "
		if w.info().Types[entry.Index].Value == nil {
			key := w.temporary("k")
			before += key + " := " + k + "; "
			k = key
		}
		return before, m + ".Set(" + k + ", " + value + ")"
	}
	place, _ := w.place(l)
	if !w.p.sharedPlace(w.f, w.region, l) {
		if _, ok := l.(*ast.Ident); ok {
			return "", place + " = " + value
		}
		p := w.temporary("p")
		return p + " := &" + place + "; ", "*" + p + " = " + value
	}
	p := w.temporary("p")
	pointer := "&" + place
	if text, ok := strings.CutPrefix(place, "*"); ok {
		pointer = text
	}
	return p + " := " + pointer + "; ", w.storeAt(p, value, false)
}
