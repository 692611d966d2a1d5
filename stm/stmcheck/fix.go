package stmcheck

import (
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/analysis"
)

// insertCheck suggests to begin a block with tx.Check().
func (c *checker) insertCheck(f *function, body *ast.BlockStmt) []analysis.SuggestedFix {
	file := c.pass.Fset.File(body.Pos())
	line := file.Line(body.Lbrace)
	switch {
	case len(body.List) > 0 && file.Line(body.List[0].Pos()) == line:
		return c.insertCheckAt(f, body.Lbrace+1, " ", "; ")
	case file.Line(body.Rbrace) == line:
		return c.insertCheckAt(f, body.Lbrace+1, " ", " ")
	}
	// On the next line, so that a comment behind the brace stays there.
	return c.insertCheckAt(f, file.LineStart(line+1), "", "\n")
}

// insertCheckAt suggests to call Check there with the nearest Tx that is in scope.
func (c *checker) insertCheckAt(f *function, pos token.Pos, before, after string) []analysis.SuggestedFix {
	scope := c.pass.Pkg.Scope().Innermost(pos)
	for ; f != nil && scope != nil; f = f.outer {
		if f.tx == nil || f.tx.Name() == "" || f.tx.Name() == "_" {
			continue
		}
		if _, obj := scope.LookupParent(f.tx.Name(), pos); obj != f.tx {
			continue
		}
		call := f.tx.Name() + ".Check()"
		return []analysis.SuggestedFix{{
			Message:   "Insert " + call,
			TextEdits: []analysis.TextEdit{{Pos: pos, End: pos, NewText: []byte(before + call + after)}},
		}}
	}
	return nil
}
