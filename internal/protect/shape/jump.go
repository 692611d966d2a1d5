package shape

import (
	"go/ast"
	"go/token"
	"slices"
)

// A goto outside of sections is followed. It leaves no lock held behind it, and what it leads to
// is reached without the lock. Three things can go wrong:
//
//	again:                    the section may run again in the same call, as in a loop
//		x.mu.Lock()
//		x.mu.Unlock()
//		goto again
//
//		if c { goto end }     it jumps over the declaration of the copies, which the language
//		x.mu.Lock()           forbids
//		x.mu.Unlock()
//	end:
//
//		x.mu.Lock()           it leads into a section, or out of one: what is written before a
//	again:                    step would be skipped
//		goto again

// A jump is a goto with the place that it leads to.
type jump struct {
	from, to token.Pos
	block    ast.Node // that has the label
}

// Jumps are the gotos of a body, without those of the function literals in it.
type Jumps struct {
	list   []jump
	labels map[string]bool       // where they lead
	blocks map[ast.Stmt]ast.Node // what each statement stands in
}

// FindJumps finds the gotos of a body.
func FindJumps(body *ast.BlockStmt) *Jumps {
	j := &Jumps{labels: make(map[string]bool), blocks: make(map[ast.Stmt]ast.Node)}
	labels := make(map[string]*ast.LabeledStmt)
	var gotos []*ast.BranchStmt
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BlockStmt:
			j.note(n, n.List)
		case *ast.CaseClause:
			j.note(n, n.Body)
		case *ast.CommClause:
			j.note(n, n.Body)
		case *ast.LabeledStmt:
			labels[n.Label.Name] = n
			j.blocks[n.Stmt] = j.blocks[n]
		case *ast.BranchStmt:
			if n.Tok == token.GOTO {
				gotos = append(gotos, n)
			}
		}
		return true
	})
	for _, g := range gotos {
		to := labels[g.Label.Name]
		j.labels[g.Label.Name] = true
		j.list = append(j.list, jump{g.Pos(), to.Pos(), j.blocks[to]})
	}
	return j
}

func (j *Jumps) note(block ast.Node, list []ast.Stmt) {
	for _, s := range list {
		j.blocks[s] = block
	}
}

// Repeats reports whether a jump back makes a statement run again.
func (j *Jumps) Repeats(s ast.Stmt) bool {
	for _, one := range j.list {
		if one.to <= s.Pos() && s.Pos() < one.from {
			return true
		}
	}
	return false
}

// Skips reports whether a jump ahead leads past what is declared at a statement.
func (j *Jumps) Skips(s ast.Stmt) bool {
	for _, one := range j.list {
		if one.from < s.Pos() && s.Pos() < one.to && one.block == j.blocks[s] {
			return true
		}
	}
	return false
}

// HaveLabel reports whether a jump leads to a label.
func (j *Jumps) HaveLabel(name string) bool { return j.labels[name] }

// JumpsOut reports whether a jump in a statement, which has no label, may go on outside of it.
func JumpsOut(st ast.Stmt) (out bool) {
	ast.PreorderStack(st, nil, func(n ast.Node, around []ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			stays := n.Label == nil && slices.ContainsFunc(around, func(a ast.Node) bool { return isTarget(a, n.Tok) })
			out = out || !stays
		}
		return true
	})
	return out
}

// isTarget reports whether jumps without a label that are inside a statement may be about it.
func isTarget(n ast.Node, jump token.Token) bool {
	switch n.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return jump != token.FALLTHROUGH
	case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		return jump != token.CONTINUE
	}
	return false
}
