// Package shape says two things about the statements of a function, by their syntax alone: which part of a statement
// is evaluated by the statement itself, and not by the statements in its blocks; and where gotos lead.
//
//	if x.n > 9 {        this line belongs to the if statement,
//		x.n = 0     this one does not
//	}
//
//	span.go   the parts of statements
//	jump.go   gotos
package shape

import (
	"go/ast"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// SpansOf returns what of a statement is evaluated by itself: all of it but the statements in its blocks.
func SpansOf(st ast.Stmt) []facts.Span {
	switch st := st.(type) {
	case *ast.IfStmt:
		spans := []facts.Span{{From: st.If, To: st.Body.Lbrace}}
		if e, ok := st.Else.(*ast.IfStmt); ok {
			spans = append(spans, SpansOf(e)...)
		}
		return spans
	case *ast.ForStmt:
		return []facts.Span{{From: st.For, To: st.Body.Lbrace}}
	case *ast.RangeStmt:
		return []facts.Span{{From: st.For, To: st.Body.Lbrace}}
	case *ast.SwitchStmt:
		return append(clauseSpans(st.Body), facts.Span{From: st.Switch, To: st.Body.Lbrace})
	case *ast.TypeSwitchStmt:
		return append(clauseSpans(st.Body), facts.Span{From: st.Switch, To: st.Body.Lbrace})
	case *ast.SelectStmt:
		return append(clauseSpans(st.Body), facts.Span{From: st.Select, To: st.Body.Lbrace})
	}
	return []facts.Span{facts.SpanOf(st)}
}

func clauseSpans(body *ast.BlockStmt) []facts.Span {
	var spans []facts.Span
	for _, c := range body.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			spans = append(spans, facts.Span{From: c.Case, To: c.Colon})
		case *ast.CommClause:
			spans = append(spans, facts.Span{From: c.Case, To: c.Colon})
		}
	}
	return spans
}
