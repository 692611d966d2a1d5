package stmcheck

import (
	"go/ast"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// checkRecursion reports the transactional functions that can come back to themselves
// without a checkpoint. Recursion among helpers is reported where they are called.
func (c *checker) checkRecursion() {
	for _, cycle := range c.recursions() {
		f := cycle[0]
		if f.transaction == nil {
			continue
		}
		d := analysis.Diagnostic{
			Pos:            f.node.Pos(),
			End:            f.body.Lbrace,
			Category:       checkpointCategory,
			Message:        f.name() + " can call itself without a checkpoint in between, so that a doomed transaction may never return from it: call tx.Check() first",
			SuggestedFixes: c.insertCheck(f, f.body),
		}
		if decl, ok := f.node.(*ast.FuncDecl); ok {
			d.Pos, d.End = decl.Name.Pos(), decl.Name.End()
		}
		c.report(d)
	}
}

// recursions returns sets of functions that call each other round without a
// checkpoint. A checkpoint in the first of each set would break its cycles, so that one
// is transactional if any is.
func (c *checker) recursions() [][]*function {
	calls := make(map[*function][]*function)
	for _, f := range c.functions {
		calls[f] = c.reaches(f)
	}
	var all [][]*function
	broken := make(map[*function]bool)
	for {
		cycle := firstCycle(c.functions, func(f *function) []*function {
			return slices.DeleteFunc(slices.Clone(calls[f]), func(g *function) bool { return broken[g] })
		})
		if cycle == nil {
			return all
		}
		slices.SortFunc(cycle, func(f, g *function) int {
			if (f.transaction == nil) != (g.transaction == nil) {
				if f.transaction != nil {
					return -1
				}
				return 1
			}
			return int(f.node.Pos() - g.node.Pos())
		})
		broken[cycle[0]] = true
		all = append(all, cycle)
	}
}

// reaches returns the functions of this package that a function calls before any
// checkpoint.
func (c *checker) reaches(f *function) []*function {
	if f.begins {
		return nil
	}
	var to []*function
	before := c.avoiding(f, c.isCheckpoint)
	for _, b := range f.graph.Blocks {
		if !before[b] || f.irrevocable[b] {
			continue
		}
		var checks []*guard
		for _, e := range f.events[b] {
			switch {
			case e.kind != called:
				continue
			case slices.ContainsFunc(checks, func(g *guard) bool { return g.covers(e.guard) }):
			case e.function != nil:
				to = append(to, e.function)
			}
			if c.isCheckpoint(e) {
				checks = append(checks, e.guard)
			}
		}
	}
	return to
}
