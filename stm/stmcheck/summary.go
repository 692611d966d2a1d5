package stmcheck

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/cfg"
)

// A summary is what callers need to know of a function. It is the fact by which
// one package's functions are known in another.
type summary struct {
	Checks      bool   // has a checkpoint on every path to its return
	Irrevocable bool   // calls Tx.Irrevocable on every path
	Recovers    bool   // stops a panic if it is deferred
	Mutates     uint64 // writes through these parameters; bit 0 is the receiver

	// Of helpers alone: what they do with numbers that they are given, if a transaction has read
	// them, by parameters as above.
	Counts    uint64 // has a loop that goes round as often, without a checkpoint
	Allocates uint64 // allocates as much

	// Of helpers alone: transactional functions are reported on themselves.
	Effect string // what it does that is not undone, with the place
	Loop   string // where it can go on for ever
	Writes string // a variable from outside that it writes
}

func (*summary) AFact() {}

func (s *summary) String() string {
	var has []string
	add := func(yes bool, what string) {
		if yes {
			has = append(has, what)
		}
	}
	add(s.Checks, "checks")
	add(s.Irrevocable, "irrevocable")
	add(s.Recovers, "recovers")
	add(s.Mutates != 0, fmt.Sprintf("mutates %b", s.Mutates))
	add(s.Counts != 0, fmt.Sprintf("counts %b", s.Counts))
	add(s.Allocates != 0, fmt.Sprintf("allocates %b", s.Allocates))
	add(s.Effect != "", "effect: "+s.Effect)
	add(s.Loop != "", "loop: "+s.Loop)
	add(s.Writes != "", "writes: "+s.Writes)
	return strings.Join(has, "; ")
}

// An analyzed package is one whose functions do nothing that their facts do not say.
// The others are those of the standard library.
type analyzed struct{}

func (*analyzed) AFact() {}

func (*analyzed) String() string { return "analyzed" }

func shortPosition(p token.Position) string {
	return fmt.Sprintf("%s:%d", filepath.Base(p.Filename), p.Line)
}

// of returns what is known of the function that an event calls.
func (c *checker) of(e event) summary {
	if e.function != nil {
		return e.function.summary
	}
	if e.callee == nil || e.callee.Pkg() == nil {
		return summary{}
	}
	if s := stmSymbol(e.callee); s != "" {
		return summary{Checks: checkpoints[s], Irrevocable: s == "Tx.Irrevocable" || s == "Tx.Perform"}
	}
	var s summary
	if e.callee.Pkg() != c.pass.Pkg {
		c.pass.ImportObjectFact(e.callee, &s)
	}
	return s
}

// isCheckpoint reports whether an event is a checkpoint where it stands.
func (c *checker) isCheckpoint(e event) bool {
	return e.kind == called && !e.deferred && c.of(e).Checks
}

// passes reports whether control that leaves a block by its i-th edge has met an
// event of some kind in it.
func (c *checker) passes(f *function, b *cfg.Block, i int, is func(event) bool) bool {
	for _, e := range f.events[b] {
		if e.guard == nil && is(e) {
			return true
		}
	}
	if len(b.Succs) != 2 || len(b.Nodes) == 0 || b.Kind == cfg.KindRangeLoop {
		return false
	}
	cond, ok := b.Nodes[len(b.Nodes)-1].(ast.Expr)
	return ok && c.evaluates(cond, i == 0, is)
}

// evaluates reports whether a condition with this outcome has met the event: that of
// a && b is true only if b was evaluated.
func (c *checker) evaluates(cond ast.Expr, outcome bool, is func(event) bool) bool {
	switch e := cond.(type) {
	case *ast.ParenExpr:
		return c.evaluates(e.X, outcome, is)
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return c.evaluates(e.X, !outcome, is)
		}
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			both := outcome == (e.Op == token.LAND)
			return both && (c.evaluates(e.X, outcome, is) || c.evaluates(e.Y, outcome, is))
		}
	}
	w := walker{c: c}
	w.walk(cond, nil)
	return slices.ContainsFunc(w.events, func(e event) bool { return e.guard == nil && is(e) })
}

// avoiding returns the blocks that control can reach from the function's entry
// without an event.
func (c *checker) avoiding(f *function, is func(event) bool) map[*cfg.Block]bool {
	entry := f.graph.Blocks[0]
	seen := map[*cfg.Block]bool{entry: true}
	for todo := []*cfg.Block{entry}; len(todo) > 0; {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for i, next := range b.Succs {
			if !seen[next] && !c.passes(f, b, i, is) {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return seen
}

// always reports whether an event happens on every path to a return.
func (c *checker) always(f *function, is func(event) bool) bool {
	for b := range c.avoiding(f, is) {
		if b.Return() != nil && !c.passes(f, b, -1, is) {
			return false
		}
	}
	return true
}

func (c *checker) becomesIrrevocable(e event) bool {
	return e.kind == called && !e.deferred && c.of(e).Irrevocable
}

// summarise computes the summaries and exports those that say something.
func (c *checker) summarise() {
	c.untilStable(func(f *function) {
		f.summary.Checks = f.summary.Checks || c.always(f, c.isCheckpoint)
		f.summary.Irrevocable = f.summary.Irrevocable || returns(f) && c.always(f, c.becomesIrrevocable)
	})
	for _, f := range c.functions { // a literal after the function that it is in
		f.irrevocable = make(map[*cfg.Block]bool)
		before := c.avoiding(f, c.becomesIrrevocable)
		for _, b := range f.graph.Blocks {
			f.irrevocable[b] = b.Live && !before[b]
		}
		c.revocable(f, func(event) {})
		f.summary.Recovers = recovers(c, f.body)
	}
	c.findLoaded()
	for _, f := range c.functions {
		if f.transaction == nil {
			if loops := c.loops(f); len(loops) > 0 {
				c.loopsAt(f, loops[0].Pos())
			}
			c.findNumbers(f)
		}
	}
	for _, cycle := range c.recursions() {
		for _, f := range cycle {
			if f.transaction == nil {
				c.loopsAt(f, f.node.Pos())
			}
		}
	}
	c.untilStable(func(f *function) {
		c.summariseWrites(f)
		if f.transaction == nil {
			c.summariseEffects(f)
			c.summariseNumbers(f)
		}
	})
	for _, f := range c.functions {
		if f.fn != nil && f.fn.Exported() && f.summary != (summary{}) {
			exported := f.summary
			c.pass.ExportObjectFact(f.fn, &exported)
		}
	}
}

func (c *checker) loopsAt(f *function, pos token.Pos) {
	if f.summary.Loop == "" {
		f.summary.Loop, f.loop = c.where(pos), pos
	}
}

// untilStable calls f for every function until no summary changes. All that f
// may do is to add to summaries.
func (c *checker) untilStable(f func(*function)) {
	for changed := true; changed; {
		changed = false
		for _, g := range c.functions {
			before, writes := g.summary, len(g.writes)
			f(g)
			changed = changed || before != g.summary || writes != len(g.writes)
		}
	}
}

func returns(f *function) bool {
	return slices.ContainsFunc(f.graph.Blocks, func(b *cfg.Block) bool { return b.Live && b.Return() != nil })
}

// revocable calls do with the events of a function that can be before
// Tx.Irrevocable, block by block in order of the source.
func (c *checker) revocable(f *function, do func(event)) {
	for _, b := range f.graph.Blocks {
		after := f.begins || f.irrevocable[b]
		for _, e := range f.events[b] {
			if e.kind == made && e.function != nil {
				e.function.begins = after
			}
			if !after {
				do(e)
			}
			after = after || e.guard == nil && c.becomesIrrevocable(e)
		}
	}
}

// summariseEffects adds what a helper does, by itself and through what it calls.
func (c *checker) summariseEffects(f *function) {
	c.revocable(f, func(e event) {
		if f.summary.Effect == "" {
			if effect := c.effectOf(e); effect.what != "" {
				f.cause = e.node.Pos()
				f.summary.Effect = effect.what + " (" + c.where(f.cause) + ")"
			} else if s := c.helper(e); s.Effect != "" {
				f.summary.Effect, f.cause = s.Effect, e.node.Pos()
			}
		}
		if s := c.helper(e); s.Loop != "" && f.summary.Loop == "" {
			f.summary.Loop, f.loop = s.Loop, e.node.Pos()
		}
	})
}

// helper returns the summary of the helper that an event calls, or may call: a
// literal that is made here and runs inside.
func (c *checker) helper(e event) summary {
	g := e.function
	switch {
	case e.kind == made && (g == nil || g.role != inside), e.kind != made && e.kind != called:
		return summary{}
	case g != nil && g.transaction != nil, e.callee != nil && txParameter(e.callee.Signature()) != nil:
		return summary{} // reports on itself
	}
	return c.of(e)
}

// summariseWrites adds the parameters that a function writes through, and the
// variables from outside that a helper writes.
func (c *checker) summariseWrites(f *function) {
	outside := func(v *types.Var) {
		if !f.contains(v) && f.transaction == nil {
			if f.writes == nil {
				f.writes = make(map[*types.Var]bool)
			}
			f.writes[v] = true
		}
	}
	c.revocable(f, func(e event) {
		for v, direct := range c.targets(e) {
			if i := parameter(f.sig, v); !direct && 0 <= i && i < 64 {
				f.summary.Mutates |= 1 << i
			}
			outside(v)
		}
		if g := e.function; g != nil && (e.kind == called || g.role == inside) {
			for v := range g.writes {
				outside(v)
			}
		}
		if s := c.helper(e); e.function == nil && s.Writes != "" && f.transaction == nil {
			f.summary.Writes = s.Writes
		}
	})
	for _, v := range slices.SortedFunc(maps.Keys(f.writes), func(a, b *types.Var) int { return int(a.Pos() - b.Pos()) }) {
		if f.summary.Writes == "" {
			f.summary.Writes = v.Name()
		}
	}
}
