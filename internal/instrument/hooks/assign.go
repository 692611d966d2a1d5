package hooks

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// assign returns the text of an assignment or short variable declaration.
func (r *rewriter) assign(s *ast.AssignStmt, simple bool) string {
	switch {
	case s.Tok == token.DEFINE:
		return r.define(s, simple)
	case s.Tok != token.ASSIGN:
		return r.opAssign(s)
	case len(s.Lhs) == 1:
		return r.assignOne(s, simple)
	}
	return r.assignMany(s, simple)
}

// hooked reports whether a store to lhs has a hook.
func (r *rewriter) hooked(lhs ast.Expr) bool {
	if !r.accesses() || isBlank(lhs) {
		return false
	}
	return mapIndex(r, lhs) != nil || r.isPlace(lhs) && r.shared(lhs)
}

func isBlank(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && id.Name == "_"
}

// mapIndex returns lhs if it is an element of a map.
func mapIndex(r *rewriter, lhs ast.Expr) *ast.IndexExpr {
	if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok && isMap(r.typeOf(x.X)) {
		return x
	}
	return nil
}

// target returns the text of what is assigned to, without a hook for the store.
func (r *rewriter) target(lhs ast.Expr) string {
	if x := mapIndex(r, lhs); x != nil {
		return r.spliced(x, r.part(x.X, r.value(x.X)), r.part(x.Index, r.value(x.Index)))
	}
	return r.place(lhs)
}

// store returns the text that an assignment has on its left, with the hook right
// before the store.
func (r *rewriter) store(lhs ast.Expr) string {
	if !r.hooked(lhs) {
		return r.target(lhs)
	}
	if x := mapIndex(r, lhs); x != nil {
		return r.mapWrite(x)
	}
	return "*" + r.hook("W", r.address(lhs), r.accessTo(r.typeOf(lhs), event.Store, lhs))
}

// stored returns the text of an assignment of a value that has been evaluated.
func (r *rewriter) stored(lhs ast.Expr, value string) string {
	if mapIndex(r, lhs) != nil && r.hooked(lhs) {
		begin, end := r.setter(lhs)
		return begin + value + end
	}
	return r.store(lhs) + " = " + value
}

// assignOne returns the text of x = v. The scheduling point must come right before
// the store, after everything on the right has been evaluated:
//
//	x.f = 1      ->   *cofferdamrt.W(&x.f, 7) = 1
//	x.f = y.g    ->   cofferdamrt.P(&x.f).Set(cofferdamrt.R(&y.g, 6), 7)
//	x.f = g()    ->   { v := g(); *cofferdamrt.W(&x.f, 7) = v }
//
// The compiler evaluates the path to x.f after the call in x.f = g(), and programs
// have come to depend on it (s.nodes[i].left = s.add() where add appends to
// s.nodes); the last form keeps that.
func (r *rewriter) assignOne(s *ast.AssignStmt, simple bool) string {
	lhs, rhs := s.Lhs[0], s.Rhs[0]
	if !r.hooked(lhs) {
		r.together(lhs, rhs)
		return r.spliced(s, r.part(lhs, r.target(lhs)), r.part(rhs, r.value(rhs)))
	}
	if r.hasCall(lhs) {
		return r.assignByPlace(s)
	}
	before := r.hooks
	r.together(rhs)
	value := r.value(rhs)
	calls := r.hasCall(rhs)
	switch {
	case !calls && r.hooks == before && mapIndex(r, lhs) == nil:
		return r.splice(s.Pos(), rhs.Pos(), r.part(lhs, r.store(lhs))) + value
	case calls && !simple && !r.untypedShift(rhs):
		v := r.name()
		again, back := "", ""
		if r.line(lhs.Pos()) != r.line(s.End()) {
			again, back = r.at(lhs.Pos()), r.at(s.End())
		}
		return "{ " + v + " := " + r.newlines(lhs.End(), rhs.Pos()) + value + "; " + again + r.stored(lhs, r.use(v, rhs)) + " }" + back
	}
	begin, end := r.setter(lhs)
	return begin + r.newlines(lhs.End(), rhs.Pos()) + value + end
}

// assignByPlace is assignOne for a left side with calls, which come before those on the right.
func (r *rewriter) assignByPlace(s *ast.AssignStmt) string {
	lhs, rhs := s.Lhs[0], s.Rhs[0]
	r.together(lhs, rhs)
	begin, end := r.setter(lhs)
	return begin + r.newlines(lhs.End(), rhs.Pos()) + r.value(rhs) + end
}

// setter returns the text of a call that sets a place or an element of a map, up to the value
// and after it.
func (r *rewriter) setter(lhs ast.Expr) (begin, end string) {
	if x := mapIndex(r, lhs); x != nil {
		return r.hook("Map", r.value(x.X)) + ".Set(" + r.value(x.Index) + ", ", ", " + r.entrySite(event.MapWrite, lhs, x.X) + ")"
	}
	return r.hook("P", r.address(lhs)) + ".Set(", ", " + r.accessTo(r.typeOf(lhs), event.Store, lhs) + ")"
}

// use returns the text that stands for a value kept in v. A comparison has no type
// until it is assigned, and must not get bool from v if it is something else.
func (r *rewriter) use(v string, rhs ast.Expr) string {
	if t := r.typeOf(rhs); rhs != nil && untypedBool(rhs) && !types.Identical(t, types.Typ[types.Bool]) {
		return asBool(v)
	}
	return v
}

// asBool returns an untyped boolean of the same value.
func asBool(v string) string { return "(" + v + " == (0 == 0))" }

func untypedBool(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		switch e.Op {
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			return true
		case token.LAND, token.LOR:
			return untypedBool(e.X) && untypedBool(e.Y)
		}
	case *ast.UnaryExpr:
		return e.Op == token.NOT && untypedBool(e.X)
	}
	return false
}

// untypedShift reports whether e contains a shift of a constant, which takes its
// type from where it stands.
func (r *rewriter) untypedShift(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr, *ast.FuncLit, *ast.CompositeLit:
			return false
		case *ast.BinaryExpr:
			if n.Op == token.SHL || n.Op == token.SHR {
				found = found || r.info.Types[n.X].Value != nil && r.info.Types[n].Value == nil
			}
		}
		return !found
	})
	return found
}

// constant reports whether e can be evaluated later as well as now, and has its
// type from where it stands.
func (r *rewriter) constant(e ast.Expr) bool {
	tv := r.info.Types[e]
	return tv.Value != nil || tv.IsNil()
}

// commaOk reports whether the second value of a two-valued right side is an
// untyped boolean.
func commaOk(rhs ast.Expr) bool {
	switch x := ast.Unparen(rhs).(type) {
	case *ast.IndexExpr, *ast.TypeAssertExpr:
		return true
	case *ast.UnaryExpr:
		return x.Op == token.ARROW
	}
	return false
}

// otherBool reports whether the second operand of v, ok = m[k] and the like has a boolean type of its
// own. What a hook returns is a bool, and has to be converted.
func (r *rewriter) otherBool(s *ast.AssignStmt) bool {
	if len(s.Lhs) != 2 || len(s.Rhs) != 1 || !commaOk(s.Rhs[0]) || isBlank(s.Lhs[1]) {
		return false
	}
	t := r.typeOf(s.Lhs[1])
	return !types.Identical(t, types.Typ[types.Bool]) && !types.IsInterface(t)
}

// rights returns the texts of the right sides of an assignment to n operands.
func (r *rewriter) rights(rhs []ast.Expr, n int) []part {
	if n == 2 && len(rhs) == 1 {
		if op := received(rhs[0]); op != nil {
			return []part{r.part(rhs[0], r.receive(op, "Recv2"))}
		}
		if x := r.mapElement(rhs[0]); x != nil {
			return []part{r.part(rhs[0], r.mapRead2(x))}
		}
	}
	r.together(rhs...)
	parts := make([]part, len(rhs))
	for i, e := range rhs {
		parts[i] = r.part(e, r.value(e))
	}
	return parts
}

// define returns the text of a short variable declaration. What it declares nobody
// else can see yet; what it merely assigns to may need a hook:
//
//	n, err := f()   ->   n, v := f(); *cofferdamrt.W(&err, 7) = v
func (r *rewriter) define(s *ast.AssignStmt, simple bool) string {
	parts := r.rights(s.Rhs, len(s.Lhs))
	var after strings.Builder
	for i, l := range s.Lhs {
		id := l.(*ast.Ident)
		if r.info.Defs[id] != nil || !r.hooked(l) && !(i == 1 && r.otherBool(s)) {
			continue
		}
		value := ""
		switch {
		case len(s.Rhs) == len(s.Lhs) && r.constant(s.Rhs[i]):
			value = r.verbatim(s.Rhs[i])
			parts = append(parts, r.part(l, "_"))
			if r.info.Types[s.Rhs[i]].IsNil() {
				parts[i].text = "0"
			}
		case len(s.Rhs) == len(s.Lhs) && r.untypedShift(s.Rhs[i]):
			r.miss(l, "assignment to "+id.Name, "the type of a shift depends on it")
			continue
		default:
			v := r.name()
			parts = append(parts, r.part(l, v))
			value = v
			if len(s.Rhs) == len(s.Lhs) {
				value = r.use(v, s.Rhs[i])
			} else if i == 1 && r.otherBool(s) {
				value = asBool(v)
			}
		}
		after.WriteString("; " + r.stored(l, value))
	}
	text := r.spliced(s, parts...) + after.String()
	if !simple {
		text += r.declared(idents(s.Lhs)...)
	}
	return text
}

// operators are the hooks for assignment operations.
var operators = map[token.Token]string{
	token.ADD_ASSIGN: "Add", token.SUB_ASSIGN: "Sub", token.MUL_ASSIGN: "Mul", token.QUO_ASSIGN: "Quo", token.REM_ASSIGN: "Rem",
	token.AND_ASSIGN: "And", token.OR_ASSIGN: "Or", token.XOR_ASSIGN: "Xor", token.AND_NOT_ASSIGN: "AndNot",
	token.SHL_ASSIGN: "Shl", token.SHR_ASSIGN: "Shr",
	token.INC: "Add", token.DEC: "Sub",
}

// mappings are the hooks for maps whose elements have an assignment operation.
var mappings = map[token.Token]string{
	token.ADD_ASSIGN: "SumsOf", token.INC: "SumsOf",
	token.SUB_ASSIGN: "NumbersOf", token.DEC: "NumbersOf", token.MUL_ASSIGN: "NumbersOf", token.QUO_ASSIGN: "NumbersOf",
	token.REM_ASSIGN: "IntegersOf", token.AND_ASSIGN: "IntegersOf", token.OR_ASSIGN: "IntegersOf", token.XOR_ASSIGN: "IntegersOf",
	token.AND_NOT_ASSIGN: "IntegersOf",
}

// opAssign returns the text of x op= v, which is a load, a point and a store:
//
//	x.f += v    ->   cofferdamrt.Add(&x.f, v, 7, 8)
//	m[k] += v   ->   cofferdamrt.SumsOf(m).Add(k, v, 7)
func (r *rewriter) opAssign(s *ast.AssignStmt) string {
	lhs, rhs := s.Lhs[0], s.Rhs[0]
	r.together(lhs, rhs)
	if !r.hooked(lhs) {
		return r.spliced(s, r.part(lhs, r.target(lhs)), r.part(rhs, r.value(rhs)))
	}
	if x := mapIndex(r, lhs); x != nil {
		if mappings[s.Tok] != "" {
			return r.mapUpdate(s.Tok, x, func() string { return r.newlines(lhs.End(), rhs.Pos()) + r.value(rhs) })
		}
		m := r.part(lhs, r.mapWrite(x))
		return r.spliced(s, m, r.part(rhs, r.ahead(rhs)))
	}
	place := r.address(lhs)
	value := r.value(rhs)
	if (s.Tok == token.SHL_ASSIGN || s.Tok == token.SHR_ASSIGN) && r.info.Types[rhs].Value != nil {
		// An untyped count would become whatever type its literal suggests.
		value = "uint(" + value + ")"
		if !r.universe("uint", s.Pos()) {
			r.miss(s, "assignment to "+r.verbatim(lhs), "uint has another meaning here")
			return r.spliced(s, r.part(lhs, r.target(lhs)), r.part(rhs, r.value(rhs)))
		}
	}
	return r.hook(operators[s.Tok], place, r.newlines(lhs.End(), rhs.Pos())+value, r.accessTo(r.typeOf(lhs), event.Load, lhs), r.accessTo(r.typeOf(lhs), event.Store, lhs))
}

// incDec returns the text of x++ and x--.
func (r *rewriter) incDec(s *ast.IncDecStmt) string {
	r.together(s.X)
	if !r.hooked(s.X) {
		return r.spliced(s, r.part(s.X, r.target(s.X)))
	}
	if x := mapIndex(r, s.X); x != nil {
		return r.mapUpdate(s.Tok, x, func() string { return "1" })
	}
	return r.hook(operators[s.Tok], r.address(s.X), "1", r.accessTo(r.typeOf(s.X), event.Load, s.X), r.accessTo(r.typeOf(s.X), event.Store, s.X))
}

// assignMany returns the text of an assignment to several operands. What the left
// sides need is evaluated with the right sides, before the first store:
//
//	a[i], a[j] = a[j], a[i]   ->   { s, k := a, i; ...; v, w := a[j], a[i]; *cofferdamrt.W(&s[k], 7) = v; ... }
//
// Calls on the right are made before what the left sides load, unless these have calls too.
func (r *rewriter) assignMany(s *ast.AssignStmt, simple bool) string {
	any, leftFirst := false, !slices.ContainsFunc(s.Rhs, func(e ast.Expr) bool { return r.hasCall(e) })
	for _, l := range s.Lhs {
		any = any || r.hooked(l)
		leftFirst = leftFirst || r.hasCall(l)
	}
	if !any && !r.otherBool(s) {
		parts := r.rights(s.Rhs, len(s.Lhs))
		for _, l := range s.Lhs {
			if !isBlank(l) {
				parts = append(parts, r.part(l, r.target(l)))
			}
		}
		return r.spliced(s, parts...)
	}
	for i, e := range s.Rhs {
		if len(s.Rhs) == len(s.Lhs) && !r.constant(e) && r.untypedShift(e) {
			r.miss(s.Lhs[i], "assignment to "+r.verbatim(s.Lhs[i]), "the type of a shift depends on it")
			parts := r.rights(s.Rhs, len(s.Lhs))
			for _, l := range s.Lhs {
				if !isBlank(l) {
					parts = append(parts, r.part(l, r.target(l)))
				}
			}
			return r.spliced(s, parts...)
		}
	}
	// Right sides.
	rights := r.rights(s.Rhs, len(s.Lhs))
	values := make([]string, len(s.Lhs))
	var names, bound []string
	if len(s.Rhs) == 1 {
		for i, l := range s.Lhs {
			if isBlank(l) {
				names = append(names, "_")
				continue
			}
			v := r.name()
			names = append(names, v)
			values[i] = v
			if i == 1 && r.otherBool(s) {
				values[i] = asBool(v)
			}
		}
		bound = []string{rights[0].text}
	} else {
		end := s.TokPos
		for i, e := range s.Rhs {
			if r.constant(e) {
				values[i] = r.verbatim(e)
				continue
			}
			v := r.name()
			names = append(names, v)
			bound = append(bound, r.newlines(end, e.Pos())+rights[i].text)
			end = e.End()
			values[i] = r.use(v, e)
		}
	}
	right := ""
	if len(names) > 0 {
		right = strings.Join(names, ", ") + " := " + strings.Join(bound, ", ") + "; "
		if len(s.Rhs) == 1 && !strings.ContainsFunc(strings.Join(names, ""), func(c rune) bool { return c != '_' }) {
			right = strings.Join(names, ", ") + " = " + bound[0] + "; "
		}
	}
	// Left sides.
	h := &hoister{rewriter: r, assigned: s.Lhs}
	begins, ends := make([]string, len(s.Lhs)), make([]string, len(s.Lhs))
	for i, l := range s.Lhs {
		if begins[i] = "_ = "; !isBlank(l) {
			begins[i], ends[i] = h.store(l)
		}
	}
	again, back := "", ""
	if r.line(s.Pos()) != r.line(s.End()) {
		again, back = r.at(s.Pos()), r.at(s.End())
	}
	var b strings.Builder
	if leftFirst {
		b.WriteString(h.text() + right + again)
	} else {
		b.WriteString(right + again + h.text())
	}
	for i, l := range s.Lhs {
		if isBlank(l) && (values[i] == "" || values[i] == "nil") {
			continue
		}
		b.WriteString(begins[i] + values[i] + ends[i] + "; ")
	}
	text := strings.TrimSuffix(b.String(), "; ")
	if simple {
		return "func() { " + text + " }()" + back
	}
	return "{ " + text + " }" + back
}
