package stmcheck

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/cfg"
)

// checkLoops reports the loops of a transactional function that have a way round
// without a checkpoint.
func (c *checker) checkLoops(f *function) {
	for _, loop := range c.loops(f) {
		d := analysis.Diagnostic{
			Pos:      loop.Pos(),
			Category: checkpointCategory,
			Message:  "this loop can go round without a checkpoint, so that a doomed transaction may never leave it: call tx.Check() in it",
		}
		switch loop := loop.(type) {
		case *ast.ForStmt:
			d.End = loop.Body.Lbrace
			d.SuggestedFixes = c.insertCheck(f, loop.Body)
		case *ast.RangeStmt:
			d.End = loop.Body.Lbrace
			d.SuggestedFixes = c.insertCheck(f, loop.Body)
		case *ast.LabeledStmt:
			d.End = loop.Colon
			d.SuggestedFixes = c.insertCheckAt(f, loop.Stmt.Pos(), "", "\n")
		}
		c.report(d)
	}
}

// loops returns the statements, outer ones first, that can be repeated without end
// and without a checkpoint before the transaction is irrevocable: what is left of the
// graph without the edges behind checkpoints and without the back edges of finite loops has
// cycles, each of which is charged to its outermost statement; that one's back
// edges are taken out, too, until there is no cycle left.
func (c *checker) loops(f *function) []ast.Stmt {
	if f.begins {
		return nil
	}
	live := slices.DeleteFunc(slices.Clone(f.graph.Blocks), func(b *cfg.Block) bool { return !b.Live })
	var found []ast.Stmt
	heads := make(map[*cfg.Block]bool)
	next := func(b *cfg.Block) []*cfg.Block {
		var to []*cfg.Block
		for i, s := range b.Succs {
			if !heads[s] && !f.irrevocable[s] && !c.returnsInFinite(b, s) && !c.passes(f, b, i, c.isCheckpoint) {
				to = append(to, s)
			}
		}
		return to
	}
	for {
		cycle := firstCycle(live, next)
		if cycle == nil {
			slices.SortFunc(found, func(a, b ast.Stmt) int { return int(a.Pos() - b.Pos()) })
			return found
		}
		var head *cfg.Block
		for _, b := range cycle {
			switch b.Kind {
			case cfg.KindForLoop, cfg.KindForBody, cfg.KindRangeLoop, cfg.KindLabel:
				if b.Stmt != nil && (head == nil || b.Stmt.Pos() < head.Stmt.Pos() || b.Stmt == head.Stmt && b.Kind == cfg.KindForLoop) {
					head = b
				}
			}
		}
		if head == nil {
			panic("stmcheck: a cycle without a head in " + f.name())
		}
		heads[head] = true
		found = append(found, head.Stmt)
	}
}

// returnsInFinite reports whether an edge is a back edge of a loop that surely ends.
func (c *checker) returnsInFinite(from, to *cfg.Block) bool {
	switch s := to.Stmt.(type) {
	case *ast.RangeStmt:
		// The graph's builder makes the head before the blocks of the body.
		return to.Kind == cfg.KindRangeLoop && from.Index > to.Index && c.finiteRange(s)
	case *ast.ForStmt:
		return to.Kind == cfg.KindForLoop && from.Kind == cfg.KindForPost && from.Stmt == s && c.counts(s)
	}
	return false
}

// finiteRange reports whether a range ends by itself, or is not to blame if it does
// not: all but those over channels and functions. That a function is called, or named,
// which returns or is the iterator leaves it to that one to have checkpoints: it is
// reported there if it is transactional, and as a call if it is a helper.
func (c *checker) finiteRange(s *ast.RangeStmt) bool {
	switch t := c.info.TypeOf(s.X).Underlying().(type) {
	case *types.Chan:
		return false
	case *types.Basic:
		return t.Info()&types.IsInteger == 0 || !c.isLoaded(s.X)
	case *types.Signature:
		if call, ok := ast.Unparen(s.X).(*ast.CallExpr); ok {
			if fn := c.callee(call); fn != nil {
				return txParameter(fn.Signature()) != nil || !types.IsInterface(receiver(fn))
			}
			return c.functionOf(call.Fun) != nil
		}
		f := c.functionOf(s.X)
		return f != nil && (f.transaction != nil || f.summary.Loop == "")
	case *types.Interface: // of a type parameter
		_, ok := types.Unalias(c.info.TypeOf(s.X)).(*types.TypeParam)
		return ok && t.NumMethods() == 0
	}
	return true
}

// counts reports whether a loop is of the form for ...; i < n; i++ or for ...; i >= n;
// i--, with steps that are constant, neither i nor n changed in the body, and n nothing that
// the transaction has read.
func (c *checker) counts(s *ast.ForStmt) bool {
	var step ast.Expr
	var up bool
	switch post := s.Post.(type) {
	case *ast.IncDecStmt:
		step, up = post.X, post.Tok == token.INC
	case *ast.AssignStmt:
		if len(post.Lhs) != 1 || post.Tok != token.ADD_ASSIGN && post.Tok != token.SUB_ASSIGN {
			return false
		}
		v := c.info.Types[post.Rhs[0]].Value
		if v == nil || constant.Sign(v) <= 0 {
			return false
		}
		step, up = post.Lhs[0], post.Tok == token.ADD_ASSIGN
	default:
		return false
	}
	i := c.variable(step)
	if i == nil {
		return false
	}
	for _, cond := range conjuncts(s.Cond) {
		b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
		if !ok {
			continue
		}
		x, op, y := b.X, b.Op, b.Y
		if c.variable(y) == i {
			x, y = y, x
			op = map[token.Token]token.Token{token.LSS: token.GTR, token.LEQ: token.GEQ, token.GTR: token.LSS, token.GEQ: token.LEQ}[op]
		}
		if c.variable(x) != i {
			continue
		}
		basic, ok := i.Type().Underlying().(*types.Basic)
		unsigned := ok && basic.Info()&types.IsUnsigned != 0
		right := up && (op == token.LSS || op == token.LEQ) || !up && !unsigned && (op == token.GTR || op == token.GEQ)
		if right && !c.isLoaded(y) && c.invariant(s.Body, i, y) {
			return true
		}
	}
	return false
}

func conjuncts(e ast.Expr) []ast.Expr {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && b.Op == token.LAND {
		return append(conjuncts(b.X), conjuncts(b.Y)...)
	}
	return []ast.Expr{e}
}

func (c *checker) variable(e ast.Expr) *types.Var {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		v, _ := c.info.ObjectOf(id).(*types.Var)
		return v
	}
	return nil
}

// invariant reports whether a loop's body changes neither the counter nor what the
// bound consists of. The bound may have variables, constants, len and cap, and
// fields, which count as changed if any field of that name is assigned to.
func (c *checker) invariant(body *ast.BlockStmt, counter *types.Var, bound ast.Expr) bool {
	parts := map[types.Object]bool{counter: true}
	plain := true
	ast.Inspect(bound, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if v, ok := c.info.Uses[n].(*types.Var); ok {
				parts[v] = true
			}
		case *ast.CallExpr:
			id, ok := ast.Unparen(n.Fun).(*ast.Ident)
			if !ok {
				plain = plain && c.info.Types[n.Fun].IsType()
				break
			}
			if _, builtin := c.info.Uses[id].(*types.Builtin); !builtin && !c.info.Types[n.Fun].IsType() {
				plain = false
			}
		case *ast.UnaryExpr:
			plain = plain && n.Op != token.ARROW
		case *ast.FuncLit:
			plain = false
		}
		return plain
	})
	if !plain {
		return false
	}
	changes := func(e ast.Expr) {
		switch e := ast.Unparen(e).(type) {
		case *ast.Ident:
			plain = plain && !parts[c.info.ObjectOf(e)]
		case *ast.SelectorExpr:
			plain = plain && !parts[c.info.Uses[e.Sel]]
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				changes(lhs)
			}
		case *ast.IncDecStmt:
			changes(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				changes(n.X)
			}
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				changes(n.Key)
				if n.Value != nil {
					changes(n.Value)
				}
			}
		}
		return plain
	})
	return plain
}

// firstCycle returns the nodes of a strongly connected component that has a cycle,
// that of the first node that is in one, or nil.
func firstCycle[N comparable](nodes []N, next func(N) []N) []N {
	var (
		index, low = make(map[N]int), make(map[N]int)
		on         = make(map[N]bool)
		stack      []N
		components = make(map[N][]N)
		visit      func(N)
	)
	visit = func(n N) {
		index[n] = len(index) + 1
		low[n] = index[n]
		stack, on[n] = append(stack, n), true
		self := false
		for _, m := range next(n) {
			self = self || m == n
			if index[m] == 0 {
				visit(m)
				low[n] = min(low[n], low[m])
			} else if on[m] {
				low[n] = min(low[n], index[m])
			}
		}
		if low[n] != index[n] {
			return
		}
		i := slices.Index(stack, n)
		component := slices.Clone(stack[i:])
		stack = stack[:i]
		for _, m := range component {
			on[m] = false
			if len(component) > 1 || self {
				components[m] = component
			}
		}
	}
	for _, n := range nodes {
		if index[n] == 0 {
			visit(n)
		}
	}
	for _, n := range nodes {
		if component := components[n]; component != nil {
			return component
		}
	}
	return nil
}
