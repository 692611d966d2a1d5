package hooks

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// rangeStmt returns the text of a range loop, with its label if it has one.
func (r *rewriter) rangeStmt(s *ast.RangeStmt, label *ast.LabeledStmt) string {
	t := r.typeOf(s.X)
	r.together(s.X)
	var text string
	switch {
	case isChan(t):
		text = r.rangeChan(s)
	case r.accesses() && isMap(t) && (label == nil || !r.gotos[r.labelOf(label)]):
		return r.rangeMap(s, label)
	case r.accesses() && (isSlice(t) || pointsToArray(t)) && s.Value != nil && !isBlank(s.Value):
		text = r.rangeElements(s)
	default:
		text = r.rangePlain(s)
	}
	if label == nil {
		return text
	}
	return r.source(label.Pos(), s.Pos()) + text
}

// loopVars returns the variables that a loop declares.
func (r *rewriter) loopVars(s *ast.RangeStmt) []*ast.Ident {
	if s.Tok != token.DEFINE {
		return nil
	}
	var ids []*ast.Ident
	for _, e := range []ast.Expr{s.Key, s.Value} {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
			ids = append(ids, id)
		}
	}
	return ids
}

// oneForAll reports whether a variable of the loop is one for all iterations and
// that can be told.
func (r *rewriter) oneForAll(s *ast.RangeStmt) bool {
	if r.perIteration {
		return false
	}
	for _, id := range r.loopVars(s) {
		if x, ok := r.info.Defs[id].(*types.Var); ok && r.vars.pinned(x) {
			return true
		}
	}
	return false
}

// rangePlain returns the text of a loop that the language itself drives.
func (r *rewriter) rangePlain(s *ast.RangeStmt) string {
	x := ""
	t := r.typeOf(s.X)
	switch {
	case (isArray(t) || pointsToArray(t)) && (s.Value == nil || isBlank(s.Value)) && !r.hasCall(s.X):
		x = r.verbatim(s.X) // only its length is asked for, a constant
	case isMap(t):
		x = r.mapOperand(s.X, "MR", event.MapRead, s.X)
	case isSlice(t) && r.accesses() && s.Value != nil && !isBlank(s.Value):
		x = r.hook("RS", r.value(s.X), r.site(event.Load, s.X))
	default:
		x = r.value(s.X)
	}
	parts := []part{r.part(s.X, x)}
	start := r.lead(r.declared(r.loopVars(s)...))
	if s.Tok == token.ASSIGN {
		var more []part
		more, start = r.rangeAssigned(s)
		parts = append(parts, more...)
	}
	parts = append(parts, r.part(s.Body, r.block(s.Body, start)))
	return r.spliced(s, parts...)
}

// rangeAssigned returns what to put in place of the operands that a loop assigns
// to, and the statements that assign to them.
//
//	for x.f = range m {   ->   for k := range m { *cofferdamrt.W(&x.f, 7) = k;
func (r *rewriter) rangeAssigned(s *ast.RangeStmt) (parts []part, start string) {
	any := false
	for _, e := range []ast.Expr{s.Key, s.Value} {
		any = any || e != nil && r.hooked(e)
	}
	var lhs []ast.Expr
	var values []string
	for _, e := range []ast.Expr{s.Key, s.Value} {
		switch {
		case e == nil || isBlank(e):
		case !any:
			parts = append(parts, r.part(e, r.target(e)))
		default:
			v := r.name()
			parts = append(parts, r.part(e, v))
			lhs = append(lhs, e)
			values = append(values, v)
		}
	}
	if any {
		parts = append(parts, part{s.TokPos, s.TokPos + 1, ":="})
		start = " " + r.store2(lhs, values) + ";"
	}
	return parts, start
}

// rangeElements returns the text of a loop over a slice or an array behind a
// pointer, whose elements are loaded one by one:
//
//	for i, v := range s { B }   ->   for t, n := s, 0; n < len(t); n++ { i, v := n, cofferdamrt.R(&t[n], 7); { B } }
func (r *rewriter) rangeElements(s *ast.RangeStmt) string {
	if r.oneForAll(s) || !r.universe("len", s.Pos()) {
		return r.rangePlain(s)
	}
	t, n := r.name(), r.name()
	x := r.value(s.X)
	elem := r.hook("R", "&"+t+"["+n+"]", r.accessTo(element(r.typeOf(s.X)), event.Load, s.X))
	start := ""
	if s.Tok == token.DEFINE {
		if s.Key != nil && !isBlank(s.Key) {
			start = " " + s.Key.(*ast.Ident).Name + ", " + s.Value.(*ast.Ident).Name + " := " + n + ", " + elem
		} else {
			start = " " + s.Value.(*ast.Ident).Name + " := " + elem
		}
		start += r.declared(r.loopVars(s)...) + ";"
	} else {
		v := r.name()
		start = " " + v + " := " + elem + "; " + r.store2([]ast.Expr{s.Key, s.Value}, []string{n, v}) + ";"
	}
	head := "for " + t + ", " + n + " := " + r.newlines(s.Pos(), s.X.Pos()) + x + ", 0; " + n + " < len(" + t + "); " + n + "++ "
	return head + "{" + start + " " + r.stmt(s.Body, false) + " }"
}

// rangeMap returns the text of a loop over a map. Each iteration reads it:
//
//	for k := range m { B }      ->   { t := m; for k := range cofferdamrt.Range(t, 7) { cofferdamrt.Map(t).Visit(k, 7); B } }
//	for _, v := range m { B }   ->   { t := m; for w, v := range cofferdamrt.Range(t, 7) { cofferdamrt.Map(t).Visit(w, 7); B } }
//
// Where the loop assigns the key to an operand, or asks for none, it is not told to the hook.
func (r *rewriter) rangeMap(s *ast.RangeStmt, label *ast.LabeledStmt) string {
	t := r.name()
	x := r.value(s.X)
	before := "{ " + t + " := " + x + "; "
	if label != nil {
		before += r.source(label.Pos(), s.Pos())
	}
	site := r.entrySite(event.MapRead, s.X, s.X)
	read := r.hook("MR", t, site)
	parts := []part{r.part(s.X, r.hook("Range", t, site))}
	if key, ok := s.Key.(*ast.Ident); ok && s.Tok == token.DEFINE {
		k := key.Name
		if isBlank(key) {
			k = r.name()
			parts = append(parts, r.part(key, k))
		}
		read = r.hook("Map", t) + ".Visit(" + k + ", " + site + ")"
	}
	start := r.lead(r.declared(r.loopVars(s)...))
	if s.Tok == token.ASSIGN {
		var more []part
		more, start = r.rangeAssigned(s)
		parts = append(parts, more...)
	}
	parts = append(parts, r.part(s.Body, r.block(s.Body, " "+read+";"+start)))
	return before + r.spliced(s, parts...) + " }"
}

// rangeChan returns the text of a loop over a channel:
//
//	for v := range ch { B }   ->   for c := ch; ; { v, ok := cofferdamrt.Recv2(c, 7); if !ok { break }; { B } }
//
// Before Go 1.22 the variable is one for all iterations:
//
//	for v := range ch { B }   ->   for c, v := cofferdamrt.Over(ch); ; { var ok bool; v, ok = ...
func (r *rewriter) rangeChan(s *ast.RangeStmt) string {
	c, ok := r.name(), r.name()
	x := r.newlines(s.Pos(), s.X.Pos()) + r.value(s.X)
	recv := r.hook("Recv2", c, r.siteAt(event.Recv, s.Pos(), s.X.End()))
	stop := " if !" + ok + " { break };"
	body := func() string { return " " + r.stmt(s.Body, false) + " }" }
	head := "for " + c + " := " + x + "; ; {"
	switch {
	case s.Key == nil || isBlank(s.Key):
		return head + " _, " + ok + " := " + recv + ";" + stop + body()
	case s.Tok == token.ASSIGN:
		v := r.name()
		return head + " " + v + ", " + ok + " := " + recv + ";" + stop + " " + r.store1(s.Key, v) + ";" + body()
	}
	id := s.Key.(*ast.Ident)
	if r.oneForAll(s) {
		v := r.name()
		return "for " + c + ", " + id.Name + " := " + r.hook("Over", x) + "; ; { " + v + ", " + ok + " := " + recv + ";" + stop + " " + r.store1(id, v) + ";" + body()
	}
	return head + " " + id.Name + ", " + ok + " := " + recv + ";" + stop + r.lead(r.declared(id)) + body()
}
