package hooks

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// selectStmt returns the text of a select, which becomes a switch over the case
// that the scheduler chose:
//
//	select {                     switch c, d := cofferdamrt.CaseRecv(a), cofferdamrt.CaseSend(b).Of(x); cofferdamrt.Select(7, true, plain, c, d) {
//	case v, ok := <-a: A    ->   case 0: v, ok := c.Value2(); A
//	case b <- x: B               case 1: B
//	default: D                   default: D
//	}                            }
//
// where plain is the same select in a function. Without a default it gets one that
// is never chosen: a switch without is no terminating statement, which the select
// may have to be.
func (r *rewriter) selectStmt(s *ast.SelectStmt) string {
	if len(s.Body.List) == 0 {
		return "for { " + r.hook("Block", r.site(event.Select, s)) + " }" + r.newlines(s.Pos(), s.End())
	}
	var names, values []string
	var parts []part
	index := 0
	hasDefault, moved := false, false
	for _, c := range s.Body.List {
		c := c.(*ast.CommClause)
		body := r.clauseBody(c)
		if c.Comm == nil {
			hasDefault = true
			parts = append(parts, body...)
			continue
		}
		name := r.name()
		value, start := r.comm(c.Comm, name)
		if strings.Contains(value, "\n") || r.line(c.Pos()) != r.line(s.Pos()) && r.calling(c.Comm) {
			value = r.at(c.Comm.Pos()) + value
			moved = true
		} else if moved {
			value = r.at(s.Pos()) + value
		}
		names = append(names, name)
		values = append(values, value)
		// What stood between case and colon has moved, line breaks and all.
		lines := r.newlines(c.Comm.Pos(), c.Colon)
		parts = append(parts, part{c.Comm.Pos(), c.Colon + 1, strconv.Itoa(index) + ":" + lines + start})
		parts = append(parts, body...)
		index++
	}
	head := "switch "
	if len(names) > 0 {
		head += strings.Join(names, ", ") + " := " + strings.Join(values, ", ") + "; "
	}
	if moved {
		head += r.at(s.Pos())
	}
	args := append([]string{r.site(event.Select, s), strconv.FormatBool(hasDefault), r.plainSelect(s, names)}, names...)
	head += r.hook("Select", args...) + " "
	if moved {
		head += r.at(s.Body.Pos())
	}
	if !r.universe("true", s.Pos()) || !r.universe("false", s.Pos()) {
		head = strings.Replace(strings.Replace(head, ", true", ", 0 == 0", 1), ", false", ", 0 != 0", 1)
	}
	parts = append(parts, part{s.Pos(), s.Body.Lbrace, head})
	if !hasDefault {
		parts = append(parts, insert(s.Body.Rbrace, "; default: for { "+r.hook("Block", r.site(event.Select, s))+" }; "))
	}
	return r.spliced(s, parts...)
}

// plainSelect returns a function that is the select itself, for goroutines that are not
// under control.
func (r *rewriter) plainSelect(s *ast.SelectStmt, names []string) string {
	text := "func() " + r.rt + ".Index { select { "
	index := 0
	for _, c := range s.Body.List {
		switch c.(*ast.CommClause).Comm.(type) {
		case nil:
			text += "default: return -1; "
			continue
		case *ast.SendStmt:
			text += "case " + names[index] + ".Ch <- " + names[index] + ".V: return " + strconv.Itoa(index) + "; "
		default:
			text += "case " + names[index] + ".V, " + names[index] + ".OK = <-" + names[index] + ".Ch: return " + strconv.Itoa(index) + "; "
		}
		index++
	}
	return text + "} }"
}

// calling reports whether evaluating the operands of a communication calls, so that
// it matters for stack traces on which line that is.
func (r *rewriter) calling(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.SendStmt:
		return r.hasCall(s.Chan) || r.hasCall(s.Value)
	case *ast.ExprStmt:
		return r.hasCall(received(s.X).X)
	case *ast.AssignStmt:
		return r.hasCall(received(s.Rhs[0]).X)
	}
	panic(fmt.Sprintf("a select with a case of %T", s))
}

// clauseBody returns the rewritten statements of a clause.
func (r *rewriter) clauseBody(c *ast.CommClause) []part {
	var parts []part
	for _, s := range c.Body {
		parts = append(parts, r.part(s, r.stmt(s, false)))
	}
	return parts
}

// comm returns the text of one communication as a case of Select, and the
// statement that its clause starts with.
func (r *rewriter) comm(s ast.Stmt, name string) (value, start string) {
	switch s := s.(type) {
	case *ast.SendStmt:
		return r.hook("CaseSend", r.value(s.Chan)) + ".Of(" + r.value(s.Value) + ")", ""
	case *ast.ExprStmt:
		return r.hook("CaseRecv", r.value(received(s.X).X)), ""
	case *ast.AssignStmt:
		value = r.hook("CaseRecv", r.value(received(s.Rhs[0]).X))
		result := name + ".Value()"
		if len(s.Lhs) == 2 {
			result = name + ".Value2()"
		}
		if s.Tok == token.DEFINE {
			var ids []string
			for _, l := range s.Lhs {
				ids = append(ids, l.(*ast.Ident).Name)
			}
			return value, " " + strings.Join(ids, ", ") + " := " + result + r.declared(idents(s.Lhs)...) + ";"
		}
		return value, " " + r.assignText(s.Lhs, result) + ";"
	}
	panic(fmt.Sprintf("a select with a case of %T", s))
}

// assignText returns the text of an assignment of a value, or of two, that a call
// of ours returns. The second is a boolean.
func (r *rewriter) assignText(lhs []ast.Expr, value string) string {
	if len(lhs) == 1 {
		return r.store1(lhs[0], value)
	}
	v, ok := r.name(), r.name()
	return "{ " + v + ", " + ok + " := " + value + "; " + r.store2(lhs, []string{v, asBool(ok)}) + " }"
}

// store1 returns the text of an assignment to one operand.
func (r *rewriter) store1(lhs ast.Expr, value string) string {
	if isBlank(lhs) {
		return "_ = " + value
	}
	return r.stored(lhs, value)
}

// store2 returns the text of an assignment to several operands, of values that are
// at hand.
func (r *rewriter) store2(lhs []ast.Expr, values []string) string {
	h := &hoister{rewriter: r, assigned: lhs}
	var stores strings.Builder
	for i, l := range lhs {
		if isBlank(l) {
			stores.WriteString("; _ = " + values[i])
			continue
		}
		begin, end := h.store(l)
		stores.WriteString("; " + begin + values[i] + end)
	}
	return h.text() + strings.TrimPrefix(stores.String(), "; ")
}
