package guards

import (
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// ignoreMark begins the comment by which a line is meant to be as it is. A reason follows it.
const ignoreMark = "//cofferdam:ignore "

// IgnoredLines returns what says whether a comment, on the line of a position or above it, has
// it ignored. A comment without a reason has no effect.
func IgnoredLines(pass *analysis.Pass) func(token.Pos) bool {
	type line struct {
		file string
		line int
	}
	ignored := map[line]bool{}
	for _, file := range pass.Files {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if reason, ok := strings.CutPrefix(comment.Text, ignoreMark); ok && strings.TrimSpace(reason) != "" {
					at := pass.Fset.Position(comment.Pos())
					ignored[line{at.Filename, at.Line}] = true
					ignored[line{at.Filename, at.Line + 1}] = true
				}
			}
		}
	}
	return func(p token.Pos) bool {
		at := pass.Fset.Position(p)
		return ignored[line{at.Filename, at.Line}]
	}
}
