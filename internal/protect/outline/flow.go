package outline

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/shape"
)

// A state is what is known of the lock at a point of the function.
type state struct {
	dead     bool     // the point is not reached
	outline  *Outline // the lock is held, for one of these sections
	read     bool
	deferred *Outline // the way has come by a deferred call that releases it
}

// endsWell reports whether a function may return here: a deferred call releases what is held.
func (s state) endsWell() bool { return s.outline == s.deferred }

// A Flow follows one lock through the body of a function, along its structure. It fails,
// with a reason, where it cannot be told from the structure whether the lock is held.
//
// Package locks knows more: which locks are held at each node, along the control flow
// graph. But a section has to be a piece of text with a place for everything that is
// written into it, and a lock that is held on a way through the graph is not yet that:
//
//	if c { x.mu.Lock() }      locks tells the two ways apart; there is no place for the
//	x.n++                     copies that both x.n++ and the release below would know
//	if c { x.mu.Unlock() }
//
// Wherever a Flow says that the lock is held, package locks says so too; a test holds that.
type Flow struct {
	// Outlines are the sections that were found. If Why is not "", it says why they are not
	// all, or not sections, and At is where.
	Outlines []*Outline
	Why      string
	At       token.Pos

	facts   *facts.Facts
	pkg     *packages.Package
	info    *types.Info
	lock    *locks.Place
	known   []*Outline // whose copies are declared here
	last    bool       // nothing of the function follows the statement
	targets []*target
	jumps   *shape.Jumps
	steps   map[ast.Stmt]*Step

	literalReleases bool // a function literal in the body releases what it has not taken
}

func (f *Flow) fail(n ast.Node, why string) {
	if f.Why == "" {
		f.Why, f.At = why, n.Pos()
	}
}

// Follow finds the sections of a lock in a body.
func Follow(known *facts.Facts, pkg *packages.Package, block *ast.BlockStmt, lock *locks.Place) *Flow {
	f := &Flow{facts: known, pkg: pkg, info: pkg.TypesInfo, lock: lock, last: true, jumps: shape.FindJumps(block), steps: make(map[ast.Stmt]*Step)}
	f.literalReleases = f.releasesInLiteral(block)
	end := f.list(block.List, state{})
	f.returns(block, end)
	return f
}

// returns checks that the lock is held where the function returns if, and only if, a
// deferred call releases it.
func (f *Flow) returns(n ast.Node, s state) {
	switch {
	case s.dead || s.endsWell():
	case s.deferred == nil && f.literalReleases:
		f.fail(n, "a function literal releases the lock")
	case s.deferred == nil:
		f.fail(n, "the function returns without releasing the lock itself")
	default:
		f.fail(n, "the function returns without the lock that a deferred call releases")
	}
}

func (f *Flow) list(list []ast.Stmt, s state) state {
	n, last := len(f.known), f.last
	for i, st := range list {
		f.last = last && i == len(list)-1
		s = f.stmt(st, s, "")
	}
	f.last = last
	s = f.leave(s, last)
	if s.outline != nil && !slices.Contains(f.known[:n], s.outline) && !last {
		f.fail(s.outline.First, "the lock is held beyond the block that takes it")
	}
	f.known = f.known[:n]
	return s
}

// merge returns the state where ways come together.
func (f *Flow) merge(n ast.Node, states ...state) state {
	out := state{dead: true}
	for _, s := range states {
		switch {
		case s.dead:
		case out.dead:
			out = s
		case out != s:
			f.fail(n, "the lock is held on some ways only")
		}
	}
	return out
}

// step notes what a statement evaluates by itself while the lock is held. It returns nil
// if the lock is not held.
func (f *Flow) step(st ast.Stmt, s state, nodes ...ast.Node) *Step {
	for _, n := range nodes {
		f.checkMentions(n)
	}
	if s.outline == nil || s.dead {
		return nil
	}
	p := &Step{Stmt: st, Spans: shape.SpansOf(st), ReleasesByPanic: s.deferred != nil}
	for _, n := range nodes {
		if n != nil {
			p.Nodes = append(p.Nodes, n)
		}
	}
	f.steps[st] = p
	s.outline.Inside = append(s.outline.Inside, p)
	return p
}

// checkMentions fails if the lock is used in a way other than a statement of its own.
func (f *Flow) checkMentions(n ast.Node) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			if o, ok := f.facts.SelectedOperation(f.pkg, n); ok && o.On(f.lock) {
				f.fail(n, "a method of the lock is used in an expression")
			}
		}
		return true
	})
}

// operation returns what an expression does to the lock.
func (f *Flow) operation(e ast.Expr) (facts.Operation, bool) {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return facts.Operation{}, false
	}
	o, ok := f.facts.Operation(f.pkg, c)
	return o, ok && o.On(f.lock)
}

func (f *Flow) stmt(st ast.Stmt, s state, label string) state {
	if f.Why != "" {
		return s
	}
	switch st := st.(type) {
	case *ast.ExprStmt:
		if o, ok := f.operation(st.X); ok {
			return f.operate(st, o, s)
		}
		f.step(st, s, st.X)
		if facts.Panics(f.info, st) {
			return state{dead: true}
		}
		return s
	case *ast.DeferStmt:
		if o, ok := f.operation(st.Call); ok {
			return f.deferOperation(st, o, s)
		}
		p := f.step(st, s, st.Call)
		if p != nil {
			p.Defers = s.deferred != nil
		}
		for _, o := range f.known {
			o.DefersBetween = o.DefersBetween || s.outline == nil
		}
		if l, ok := ast.Unparen(st.Call.Fun).(*ast.FuncLit); ok && f.releases(l) {
			return f.deferLiteral(st, l, p, s)
		}
		return s
	case *ast.ReturnStmt:
		var nodes []ast.Node
		for _, r := range st.Results {
			nodes = append(nodes, r)
		}
		f.step(st, s, nodes...)
		f.returns(st, s)
		return state{dead: true}
	case *ast.BranchStmt:
		return f.branch(st, s)
	case *ast.BlockStmt:
		return f.list(st.List, s)
	case *ast.LabeledStmt:
		if f.jumps.HaveLabel(st.Label.Name) {
			if s != (state{}) && !s.dead {
				f.fail(st, "a goto leads into the section")
			}
			s = state{}
		}
		out := f.stmt(st.Stmt, s, st.Label.Name)
		if p := f.steps[st.Stmt]; p != nil {
			p.label = st
		}
		return out
	case *ast.IfStmt:
		return f.ifStmt(st, s)
	case *ast.ForStmt:
		p := f.step(st, s, asNode(st.Init), asNode(st.Cond), asNode(st.Post))
		return f.loop(st, st.Body, p, s, &target{label: label}, st.Cond != nil)
	case *ast.RangeStmt:
		return f.rangeStmt(st, s, label)
	case *ast.SwitchStmt:
		nodes := []ast.Node{asNode(st.Init), asNode(st.Tag)}
		for _, c := range st.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				nodes = append(nodes, e)
			}
		}
		return f.clauses(st, st.Body, f.step(st, s, nodes...), s, label)
	case *ast.TypeSwitchStmt:
		return f.clauses(st, st.Body, f.step(st, s, asNode(st.Init), st.Assign), s, label)
	case *ast.SelectStmt:
		return f.selectStmt(st, s, label)
	case *ast.EmptyStmt:
		return s
	default:
		f.step(st, s, st)
		return s
	}
}

// asNode keeps a nil a nil.
func asNode[N ast.Node](n N) ast.Node {
	if any(n) == nil {
		return nil
	}
	return n
}

func reads(o facts.Operation) bool { return o.Mode == locks.Read }

func (f *Flow) operate(st *ast.ExprStmt, o facts.Operation, s state) state {
	switch {
	case o.Acquires() && s.outline == nil:
		var g *Outline
		if i := slices.IndexFunc(f.known, func(known *Outline) bool { return known.Reading == reads(o) }); i >= 0 {
			g = f.known[i]
		} else {
			g = &Outline{Lock: o.Place, First: st, Reading: reads(o), InLoop: f.jumps.Repeats(st) || slices.ContainsFunc(f.targets, func(t *target) bool { return t.loop })}
			if f.jumps.Skips(st) {
				f.fail(st, "a goto jumps over where the lock is taken")
			}
			f.known = append(f.known, g)
			f.Outlines = append(f.Outlines, g)
		}
		g.Acquires = append(g.Acquires, st)
		return state{outline: g, read: reads(o), deferred: s.deferred}
	case o.Releases() && s.outline != nil && s.read == reads(o):
		s.outline.Releases = append(s.outline.Releases, st)
		return state{deferred: s.deferred}
	case o.Acquires():
		f.fail(st, "the lock is taken while it is held")
	case o.Releases():
		f.fail(st, "the function releases what it has not taken")
	default:
		f.fail(st, "the lock is only tried")
	}
	return s
}

// ifStmt follows a chain of conditions. They are one step: there is no place between them
// to put anything.
func (f *Flow) ifStmt(st *ast.IfStmt, s state) state {
	var nodes []ast.Node
	for c := st; c != nil; {
		nodes = append(nodes, asNode(c.Init), c.Cond)
		next, _ := c.Else.(*ast.IfStmt)
		c = next
	}
	p := f.step(st, s, nodes...)
	var states []state
	for c := st; c != nil; {
		if p != nil {
			p.Bodies = append(p.Bodies, c.Body.Lbrace+1)
		}
		states = append(states, f.list(c.Body.List, s))
		switch e := c.Else.(type) {
		case *ast.IfStmt:
			c = e
			continue
		case *ast.BlockStmt:
			if p != nil {
				p.Bodies = append(p.Bodies, e.Lbrace+1)
			}
			states = append(states, f.list(e.List, s))
		default:
			states = append(states, s)
		}
		break
	}
	return f.after(p, f.merge(st, states...))
}

// after notes whether what follows a statement is reached.
func (f *Flow) after(p *Step, s state) state {
	if p != nil {
		p.Ends = s.dead
	}
	return s
}

func (f *Flow) rangeStmt(st *ast.RangeStmt, s state, label string) state {
	function := facts.RangesOverFunction(f.info.TypeOf(st.X))
	if s.outline != nil && function {
		f.fail(st, "the section ranges over a function")
	}
	p := f.step(st, s, asNode(st.Key), asNode(st.Value), asNode(st.X))
	if p != nil {
		p.Ranges = true
	}
	return f.loop(st, st.Body, p, s, &target{label: label, function: function}, true)
}

func (f *Flow) loop(st ast.Stmt, body *ast.BlockStmt, p *Step, s state, t *target, ends bool) state {
	t.loop, t.last, t.begin = true, f.last, s
	f.targets = append(f.targets, t)
	f.last = false // another round follows
	end := f.list(body.List, s)
	f.last = t.last
	f.targets = f.targets[:len(f.targets)-1]
	f.merge(st, append(t.repetition, s, end)...)
	if p != nil {
		p.Bodies = append(p.Bodies, body.Lbrace+1)
		p.Loop, p.Continues = true, t.continues
		if !end.dead {
			p.BodyEnd = body.Rbrace
		}
	}
	out := t.breaks
	if ends {
		out = append(out, s)
	}
	return f.after(p, f.merge(st, out...))
}

func (f *Flow) selectStmt(st *ast.SelectStmt, s state, label string) state {
	p := f.step(st, s)
	if p != nil {
		p.Waits = "uses a channel"
	}
	for _, c := range st.Body.List {
		if comm := c.(*ast.CommClause).Comm; comm != nil {
			f.checkMentions(comm)
		}
	}
	return f.clauses(st, st.Body, p, s, label)
}

func (f *Flow) clauses(st ast.Stmt, body *ast.BlockStmt, p *Step, s state, label string) state {
	t := &target{label: label, last: f.last, begin: s}
	f.targets = append(f.targets, t)
	var states []state
	_, complete := st.(*ast.SelectStmt)
	for _, c := range body.List {
		var list []ast.Stmt
		var colon token.Pos
		switch c := c.(type) {
		case *ast.CaseClause:
			list, colon = c.Body, c.Colon
			complete = complete || c.List == nil
		case *ast.CommClause:
			list, colon = c.Body, c.Colon
		}
		if p != nil {
			p.Bodies = append(p.Bodies, colon+1)
		}
		states = append(states, f.list(list, s))
	}
	f.targets = f.targets[:len(f.targets)-1]
	states = append(states, t.breaks...)
	if !complete {
		states = append(states, s)
	}
	return f.after(p, f.merge(st, states...))
}
