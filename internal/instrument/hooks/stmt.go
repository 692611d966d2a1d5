package hooks

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// stmt returns the text of a statement. A simple one stands where only a simple
// statement can: before a condition, or after it.
//
// What has to be evaluated ahead of it (order.go) is part of the text.
func (r *rewriter) stmt(s ast.Stmt, simple bool) string {
	switch s.(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		simple = true
	}
	if simple {
		return r.withoutEarly(func() string { return r.bare(s, simple) })
	}
	ahead, text := r.withEarly(s.Pos(), func() string { return r.bare(s, false) })
	if len(ahead.stmts) == 0 {
		return text
	}
	text = ahead.before(r, s) + text
	if !declares(s) {
		text = "{ " + text + " }"
	}
	return text + ahead.after(r, s)
}

// declares reports whether a statement declares something for those after it.
func declares(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.DeclStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok == token.DEFINE
	}
	return false
}

// bare returns the text of a statement without what has to stand ahead of it.
func (r *rewriter) bare(s ast.Stmt, simple bool) string {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return r.assign(s, simple)
	case *ast.IncDecStmt:
		return r.incDec(s)
	case *ast.SendStmt:
		return r.send(s)
	case *ast.GoStmt:
		return r.goStmt(s)
	case *ast.DeferStmt:
		return r.deferStmt(s)
	case *ast.SelectStmt:
		return r.selectStmt(s)
	case *ast.RangeStmt:
		return r.rangeStmt(s, nil)
	case *ast.LabeledStmt:
		return r.labeled(s)
	case *ast.ReturnStmt:
		return r.returnStmt(s)
	case *ast.DeclStmt:
		return r.decl(s)
	case *ast.IfStmt:
		return r.ifStmt(s)
	case *ast.ForStmt:
		return r.forStmt(s)
	case *ast.SwitchStmt:
		parts := []part{r.part(s.Body, r.stmt(s.Body, false))}
		if s.Init != nil {
			parts = append(parts, r.part(s.Init, r.stmt(s.Init, true)))
		}
		if s.Tag != nil {
			parts = append(parts, r.part(s.Tag, r.header(s.Init, s.Tag)))
		}
		return r.spliced(s, parts...)
	case *ast.TypeSwitchStmt:
		parts := []part{r.part(s.Body, r.stmt(s.Body, false))}
		if s.Init != nil {
			parts = append(parts, r.part(s.Init, r.stmt(s.Init, true)))
		}
		x := s.Assign
		if a, ok := x.(*ast.AssignStmt); ok {
			parts = append(parts, r.part(a.Rhs[0], r.value(a.Rhs[0])))
		} else {
			parts = append(parts, r.part(x, r.value(x.(*ast.ExprStmt).X)))
		}
		return r.spliced(s, parts...)
	case *ast.ExprStmt, *ast.BlockStmt, *ast.CaseClause:
		return r.spliced(s, r.parts(s)...)
	case *ast.BranchStmt, *ast.EmptyStmt:
		return r.verbatim(s)
	}
	panic(fmt.Sprintf("rewriting %T", s))
}

// block returns the text of a block with statements put before its own.
func (r *rewriter) block(b *ast.BlockStmt, before string) string {
	return r.spliced(b, append(r.parts(b), insert(b.Lbrace+1, before))...)
}

// announce returns statements that announce the variables which a simple
// statement declared, for the block that it stands before.
func (r *rewriter) announce(s ast.Stmt) string {
	a, ok := s.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE {
		return ""
	}
	return r.lead(r.declared(idents(a.Lhs)...))
}

// lead turns statements made to follow another into statements that stand before
// one.
func (r *rewriter) lead(after string) string {
	if after == "" {
		return ""
	}
	return " " + strings.TrimPrefix(after, "; ") + ";"
}

func idents(list []ast.Expr) []*ast.Ident {
	var ids []*ast.Ident
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

func (r *rewriter) ifStmt(s *ast.IfStmt) string {
	var parts []part
	if s.Init != nil {
		parts = append(parts, r.part(s.Init, r.stmt(s.Init, true)))
	}
	parts = append(parts, r.part(s.Cond, r.header(s.Init, s.Cond)), r.part(s.Body, r.block(s.Body, r.announce(s.Init))))
	switch e := s.Else.(type) {
	case nil:
	case *ast.BlockStmt:
		parts = append(parts, r.part(e, r.block(e, r.announce(s.Init))))
	default:
		parts = append(parts, r.part(e, r.stmt(e, false)))
	}
	return r.spliced(s, parts...)
}

func (r *rewriter) forStmt(s *ast.ForStmt) string {
	var parts []part
	if s.Init != nil {
		parts = append(parts, r.part(s.Init, r.stmt(s.Init, true)))
	}
	start := ""
	if s.Cond != nil {
		ahead, cond := r.withEarly(s.Cond.Pos(), func() string {
			r.together(s.Cond)
			return r.value(s.Cond)
		})
		if len(ahead.stmts) > 0 {
			start = " " + ahead.before(r, s.Cond) + "if !(" + cond + ") { break };" + ahead.after(r, s.Cond)
			cond = ""
		}
		parts = append(parts, r.part(s.Cond, cond))
	}
	if s.Post != nil {
		parts = append(parts, r.part(s.Post, r.stmt(s.Post, true)))
	}
	parts = append(parts, r.part(s.Body, r.block(s.Body, r.announce(s.Init)+start)))
	return r.spliced(s, parts...)
}

// header returns the text of the condition of an if or the tag of a switch. Nothing can stand
// ahead of one that comes after a simple statement.
func (r *rewriter) header(init ast.Stmt, e ast.Expr) string {
	if init != nil {
		return r.withoutEarly(func() string { return r.value(e) })
	}
	r.together(e)
	return r.value(e)
}

func (r *rewriter) labeled(s *ast.LabeledStmt) string {
	text := func() string {
		if loop, ok := s.Stmt.(*ast.RangeStmt); ok {
			return r.rangeStmt(loop, s)
		}
		return r.spliced(s, r.part(s.Stmt, r.bare(s.Stmt, false)))
	}
	switch {
	case !isHeader(s.Stmt):
		return r.spliced(s, r.part(s.Stmt, r.stmt(s.Stmt, false)))
	case r.gotos[r.labelOf(s)]:
		return r.withoutEarly(text)
	}
	return text()
}

// isHeader reports whether a label must stand right before a statement, for its break and
// continue statements. What has to be evaluated ahead of such a statement comes before the
// label, where a goto would pass it by.
func isHeader(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		return true
	}
	return false
}

// decl returns the text of a declaration inside a function.
func (r *rewriter) decl(s *ast.DeclStmt) string {
	d, ok := s.Decl.(*ast.GenDecl)
	if !ok || d.Tok != token.VAR {
		return r.verbatim(s)
	}
	var parts []part
	var ids []*ast.Ident
	for _, spec := range d.Specs {
		v := spec.(*ast.ValueSpec)
		ids = append(ids, v.Names...)
		if len(v.Names) == 2 && len(v.Values) == 1 && received(v.Values[0]) != nil {
			parts = append(parts, r.part(v.Values[0], r.receive(received(v.Values[0]), "Recv2")))
			continue
		}
		if len(v.Names) == 2 && len(v.Values) == 1 && r.mapElement(v.Values[0]) != nil {
			parts = append(parts, r.part(v.Values[0], r.mapRead2(r.mapElement(v.Values[0]))))
			continue
		}
		r.together(v.Values...)
		for _, e := range v.Values {
			parts = append(parts, r.part(e, r.value(e)))
		}
	}
	return r.spliced(s, parts...) + r.declared(ids...)
}

// returnStmt returns the text of a return. One that sets named results which
// others may reach assigns to them first:
//
//	return 1, err   ->   { *cofferdamrt.W(&n, 7) = 1; return n, err }
//
// The compiler stores nothing for a result that is returned by its own name, and
// neither does this.
func (r *rewriter) returnStmt(s *ast.ReturnStmt) string {
	r.together(s.Results...)
	plain := func() string {
		parts := make([]part, len(s.Results))
		for i, e := range s.Results {
			parts[i] = r.part(e, r.value(e))
		}
		return r.spliced(s, parts...)
	}
	if !r.accesses() || len(s.Results) == 0 || len(r.results) == 0 {
		return plain()
	}
	tuple := len(s.Results) != len(r.results)
	var stores []int
	own := make([]bool, len(r.results)) // returned by their own names
	for i, x := range r.results {
		if x.Name() == "_" || !r.vars.local(x) {
			continue
		}
		if !r.visible(x, s.Pos()) {
			return plain() // shadowed
		}
		if !tuple {
			if id, ok := ast.Unparen(s.Results[i]).(*ast.Ident); ok && r.info.Uses[id] == x {
				own[i] = true
				continue
			}
			if r.untypedShift(s.Results[i]) {
				return plain()
			}
		}
		stores = append(stores, i)
	}
	if len(stores) == 0 {
		return plain()
	}
	values := make([]string, len(r.results))
	var before string
	if tuple {
		var vars []string
		for i := range r.results {
			values[i] = r.name()
			vars = append(vars, values[i])
		}
		before = strings.Join(vars, ", ") + " := " + r.newlines(s.Pos(), s.Results[0].Pos()) + r.value(s.Results[0]) + "; "
	} else {
		pos := s.Pos()
		for i, e := range s.Results {
			lines := r.newlines(pos, e.Pos())
			pos = e.End()
			if r.constant(e) || own[i] {
				values[i] = r.verbatim(e)
				before += lines
				continue
			}
			v := r.name()
			before += v + " := " + lines + r.value(e) + "; "
			values[i] = r.use(v, e)
		}
	}
	for _, i := range stores {
		x := r.results[i]
		before += "*" + r.hook("W", "&"+x.Name(), r.accessTo(x.Type(), event.Store, s)) + " = " + values[i] + "; "
		values[i] = x.Name()
	}
	return "{ " + before + "return " + strings.Join(values, ", ") + " }"
}

// labelOf returns the object that a label declares.
func (r *rewriter) labelOf(s *ast.LabeledStmt) types.Object { return r.info.Defs[s.Label] }
