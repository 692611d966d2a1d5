// Package shape says how the statements of a function hang together, by its syntax: what a statement evaluates by itself
// besides the statements in its blocks, and where gotos lead.
//
//	span.go   what of a statement is its own
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
