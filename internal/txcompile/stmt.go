package txcompile

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// block is a block of statements, in its braces.
func (w *writer) block(b *ast.BlockStmt, first string) string {
	return w.splice(b.Lbrace, b.End(), append([]piece{{b.Lbrace, b.Lbrace + 1, "{" + first}}, w.statements(b.List)...)...)
}

func (w *writer) statements(list []ast.Stmt) []piece {
	var all []piece
	for _, s := range list {
		all = append(all, piece{s.Pos(), s.End(), w.listed(s)})
	}
	return all
}

// listed is a statement that other statements may stand in front of. One that cannot be
// undone has the transaction work in place first.
func (w *writer) listed(s ast.Stmt) string {
	if l, ok := s.(*ast.LabeledStmt); ok && w.jumpedTo(l) {
		return w.labelled(l)
	}
	before := ""
	deeds := w.p.irrevocable(w.f, w.region, s)
	if len(deeds) > 0 {
		before = w.tx() + ".Perform(); "
	}
	if w.isPlain(s) {
		return before + w.plain(s)
	}
	return before + w.stmt(s)
}

// isPlain reports whether a statement stays what it is once the transaction works in place.
func (w *writer) isPlain(s ast.Stmt) bool {
	if l, ok := s.(*ast.LabeledStmt); ok {
		return w.isPlain(l.Stmt)
	}
	switch s.(type) {
	case *ast.SendStmt, *ast.SelectStmt, *ast.GoStmt:
		return true
	}
	return w.p.unsupported(w.f, w.region, s) != ""
}

// stmt is a statement.
func (w *writer) stmt(s ast.Stmt) string {
	switch s := s.(type) {
	case *ast.BlockStmt:
		return w.block(s, "")
	case *ast.LabeledStmt:
		return w.labelled(s)
	case *ast.BranchStmt:
		if s.Label != nil {
			return w.f.TextOf(s) + w.p.suffix
		}
	case *ast.ExprStmt:
		return w.values(s, s.X)
	case *ast.ReturnStmt:
		return w.values(s, s.Results...)
	case *ast.DeferStmt:
		return w.values(s, s.Call)
	case *ast.DeclStmt:
		return w.declaration(s)
	case *ast.AssignStmt:
		return w.assign(s, true)
	case *ast.IncDecStmt:
		return w.incDec(s)
	case *ast.IfStmt:
		return w.ifStmt(s)
	case *ast.ForStmt:
		return w.forStmt(s)
	case *ast.RangeStmt:
		before, loop := w.rangeStmt(s)
		return w.withBefore(before, loop)
	case *ast.SwitchStmt:
		return w.spliceNode(s, w.switchParts(s.Init, s.Tag, nil, s.Body)...)
	case *ast.TypeSwitchStmt:
		return w.spliceNode(s, w.switchParts(s.Init, nil, s.Assign, s.Body)...)
	}
	return w.f.TextOf(s)
}

// labelled is a labelled statement. The name is another, because the plain code may be in the
// same function; what a loop needs in front of it comes before the label, unless it is one
// to go to: that may make a loop as well.
func (w *writer) labelled(s *ast.LabeledStmt) string {
	label := s.Label.Name + w.p.suffix + w.f.Between(s.Label.End(), s.Stmt.Pos())
	if w.jumpedTo(s) {
		return label + w.check() + " " + w.listed(s.Stmt)
	}
	if loop, ok := s.Stmt.(*ast.RangeStmt); ok {
		before, text := w.rangeStmt(loop)
		return w.withBefore(before, label+text)
	}
	return label + w.stmt(s.Stmt)
}

func (w *writer) jumpedTo(s *ast.LabeledStmt) bool { return w.p.labels[w.info().Defs[s.Label]].jumped }

// withBefore is a loop and what it needs in front of it: a variable, which a goto must not
// jump over.
func (w *writer) withBefore(before, loop string) string {
	if before != "" && w.p.jumps[w.root] {
		return "{ " + before + loop + " }"
	}
	return before + loop
}

func (w *writer) declaration(s *ast.DeclStmt) string {
	var all []piece
	for _, spec := range s.Decl.(*ast.GenDecl).Specs {
		if v, ok := spec.(*ast.ValueSpec); ok {
			all = append(all, w.valuesOf(v.Values)...)
		}
	}
	return w.spliceNode(s, all...)
}

// simple is a statement in the header of another.
func (w *writer) simple(s ast.Stmt) piece {
	text := ""
	switch s := s.(type) {
	case *ast.AssignStmt:
		text = w.assign(s, false)
	case *ast.IncDecStmt:
		text = w.incDec(s)
	default:
		text = w.stmt(s)
	}
	return piece{s.Pos(), s.End(), text}
}

func (w *writer) ifStmt(s *ast.IfStmt) string {
	var all []piece
	if s.Init != nil {
		all = append(all, w.simple(s.Init))
	}
	all = append(all, w.value(s.Cond), piece{s.Body.Pos(), s.Body.End(), w.block(s.Body, "")})
	if s.Else != nil {
		all = append(all, piece{s.Else.Pos(), s.Else.End(), w.stmt(s.Else)})
	}
	return w.spliceNode(s, all...)
}

// check is what every turn of a loop begins with: a doomed transaction ends there.
func (w *writer) check() string { return " " + w.tx() + ".Check();" }

func (w *writer) forStmt(s *ast.ForStmt) string {
	var all []piece
	if s.Init != nil {
		all = append(all, w.simple(s.Init))
	}
	if s.Cond != nil {
		all = append(all, w.value(s.Cond))
	}
	if s.Post != nil {
		all = append(all, w.simple(s.Post))
	}
	return w.spliceNode(s, append(all, piece{s.Body.Pos(), s.Body.End(), w.block(s.Body, w.check())})...)
}

// rangeStmt is a range statement, and what comes in front of it. The elements of a slice are
// read one by one:
//
//	for i, v := range x.s {      s1 := stm.Load(tx, &x.s); for i := range s1 { v := stm.Load(tx, &s1[i])
//	for k, v := range m {        for k, v := range stm.MapAll(tx, m) {
func (w *writer) rangeStmt(s *ast.RangeStmt) (before, loop string) {
	over := w.info().TypeOf(s.X).Underlying()
	hasValue := s.Value != nil && !isBlank(s.Value)
	body := piece{s.Body.Pos(), s.Body.End(), ""}
	if !hasValue && source.HasConstantLength(w.info(), s.X) {
		body.text = w.block(s.Body, w.check())
		return "", w.spliceNode(s, body)
	}
	switch over.(type) {
	case *types.Slice, *types.Pointer:
		if hasValue && !w.p.isFresh(w.info(), s.X) {
			return w.rangeElements(s)
		}
	case *types.Map:
		body.text = w.block(s.Body, w.check())
		all := w.stm() + ".MapAll(" + w.tx() + ", " + w.expr(s.X) + ")"
		return "", w.spliceNode(s, piece{s.X.Pos(), s.X.End(), all}, body)
	case *types.Signature:
		body.text = w.block(s.Body, w.check())
		yield := over.(*types.Signature).Params().At(0).Type().Underlying().(*types.Signature)
		f := w.compiled() + ".Iterate" + strconv.Itoa(yield.Params().Len()) + "(" + w.tx() + ", " + w.expr(s.X) + ")"
		return "", w.spliceNode(s, piece{s.X.Pos(), s.X.End(), f}, body)
	}
	body.text = w.block(s.Body, w.check())
	return "", w.spliceNode(s, w.value(s.X), body)
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// rangeElements is a range over the elements of a slice, or of an array through a pointer.
func (w *writer) rangeElements(s *ast.RangeStmt) (before, loop string) {
	slice := w.temporary("slice")
	key := w.temporary("i")
	keyed := s.Key != nil && !isBlank(s.Key)
	how := logged
	if t, ok := w.info().TypeOf(s.X).Underlying().(*types.Slice); ok {
		how = w.p.careOfElement(t.Elem())
	}
	element := w.read(slice+"["+key+"]", how)
	first := " " + w.f.TextOf(s.Value) + " " + s.Tok.String() + " " + element + ";"
	if keyed {
		first = " " + w.f.TextOf(s.Key) + " " + s.Tok.String() + " " + key + ";" + first
	}
	before = slice + " := " + w.expr(s.X) + "; "
	loop = "for " + key + " := range " + slice + " " + w.block(s.Body, w.check()+first)
	missing := strings.Count(w.f.Between(s.Pos(), s.Body.Pos()), "\n")
	return before, strings.Repeat("\n", missing) + loop
}

// switchParts are the parts of a switch statement of either kind.
func (w *writer) switchParts(init ast.Stmt, tag ast.Expr, assign ast.Stmt, body *ast.BlockStmt) []piece {
	var all []piece
	if init != nil {
		all = append(all, w.simple(init))
	}
	if tag != nil {
		all = append(all, w.value(tag))
	}
	if assign != nil {
		all = append(all, w.typeSwitchGuard(assign))
	}
	for _, s := range body.List {
		clause := s.(*ast.CaseClause)
		if assign == nil {
			all = append(all, w.valuesOf(clause.List)...)
		}
		all = append(all, w.statements(clause.Body)...)
	}
	return all
}

func (w *writer) typeSwitchGuard(s ast.Stmt) piece {
	var guard ast.Expr
	switch s := s.(type) {
	case *ast.ExprStmt:
		guard = s.X
	case *ast.AssignStmt:
		guard = s.Rhs[0]
	}
	return w.value(ast.Unparen(guard).(*ast.TypeAssertExpr).X)
}

// incDec is x++ or x--.
func (w *writer) incDec(s *ast.IncDecStmt) string {
	op := token.ADD_ASSIGN
	if s.Tok == token.DEC {
		op = token.SUB_ASSIGN
	}
	return w.update(s, s.X, op, nil, false)
}
