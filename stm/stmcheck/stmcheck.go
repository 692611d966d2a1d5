package stmcheck

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
)

// Analyzer reports code that the sandbox of package stm cannot hide.
var Analyzer = &analysis.Analyzer{
	Name: "stmcheck",
	Doc: `report code that the sandbox of package stm cannot hide

Inside transactions these are reported: loops and recursions without a checkpoint
(with a fix that inserts one), blocking channel operations, locks, I/O and
goroutines, writes to captured variables, a Tx that escapes, and a recover
that stops the unwinding.`,
	URL:       "https://pkg.go.dev/github.com/cofferdam-go/cofferdam/stm/stmcheck",
	Run:       run,
	Requires:  []*analysis.Analyzer{ctrlflow.Analyzer},
	FactTypes: []analysis.Fact{new(summary), new(analyzed)},
}

// The categories of diagnostics.
const (
	checkpointCategory = "checkpoint"
	effectCategory     = "effect"
	capturedCategory   = "captured"
	escapeCategory     = "escape"
	plainCategory      = "plain"
	recoverCategory    = "recover"
	allocationCategory = "allocation"
)

func run(pass *analysis.Pass) (any, error) {
	if pass.Pkg.Path() == stmPath || isStandard(pass) {
		return nil, nil
	}
	pass.ExportPackageFact(new(analyzed))
	c := newChecker(pass)
	c.summarise()
	for _, f := range c.functions {
		if f.transaction == nil {
			continue
		}
		c.checkLoops(f)
		c.checkEvents(f)
		c.checkRecover(f)
		c.checkAllocations(f)
	}
	c.checkRecursion()
	c.checkEscapes()
	return nil, nil
}

// isStandard reports whether the package is of the standard library, whose functions
// are known by a table: to derive that fmt.Sprintf is harmless and fmt.Println is
// not would need aliases that we do not have.
func isStandard(pass *analysis.Pass) bool {
	first, _, _ := strings.Cut(pass.Pkg.Path(), "/")
	return !strings.Contains(first, ".") && (pass.Module == nil || pass.Module.Path == "" || pass.Module.Path == "std")
}

// silence is the comment that silences a line; a reason has to follow.
const silence = "//stmcheck:ok "

// silenced finds the lines with comments that silence.
func silenced(pass *analysis.Pass) map[string]map[int]bool {
	lines := make(map[string]map[int]bool)
	for _, file := range pass.Files {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if reason, ok := strings.CutPrefix(comment.Text, silence); !ok || strings.TrimSpace(reason) == "" {
					continue
				}
				p := pass.Fset.Position(comment.Pos())
				if lines[p.Filename] == nil {
					lines[p.Filename] = make(map[int]bool)
				}
				lines[p.Filename][p.Line] = true
			}
		}
	}
	return lines
}

func (c *checker) report(d analysis.Diagnostic) {
	p := c.pass.Fset.Position(d.Pos)
	if lines := c.silenced[p.Filename]; lines[p.Line] || lines[p.Line-1] {
		return
	}
	c.pass.Report(d)
}

func (c *checker) reportf(category string, n ast.Node, message string) {
	c.report(analysis.Diagnostic{Pos: n.Pos(), End: n.End(), Category: category, Message: message})
}

// where is a position for people, short enough for a message.
func (c *checker) where(pos token.Pos) string {
	return shortPosition(c.pass.Fset.Position(pos))
}
