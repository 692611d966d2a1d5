package protect

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A body is the body of a function or of a function literal, without those of the
// literals inside it.
type body struct {
	*unit
	block *ast.BlockStmt
}

// An operation on a lock.
type operation struct {
	name string // Lock, Unlock, RLock, RUnlock, TryLock, TryRLock
	lock place
}

func (o operation) acquires() bool { return o.name == "Lock" || o.name == "RLock" }
func (o operation) releases() bool { return o.name == "Unlock" || o.name == "RUnlock" }
func (o operation) reads() bool    { return o.name == "RLock" || o.name == "RUnlock" }

// operationOf recognises a call of a lock's method. Its lock has no root if it is
// none that can be named.
func operationOf(info *types.Info, c *ast.CallExpr) (operation, bool) {
	e, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return operation{}, false
	}
	s := info.Selections[e]
	if s == nil || s.Kind() != types.MethodVal {
		return operation{}, false
	}
	f := s.Obj().(*types.Func)
	if !isAcquire(f) && !isRelease(f) {
		return operation{}, false
	}
	o := operation{name: f.Name()}
	if p, ok := placeOf(info, e.X); ok {
		index := s.Index()
		if p, ok = p.extend(index[:len(index)-1]); ok {
			o.lock = p
		}
	}
	return o, true
}

// A group is the sections of one lock that have their copies in common: they are
// declared where the lock is taken first, and known in the rest of that block.
type group struct {
	lock     place
	first    *ast.ExprStmt // where it is taken
	acquires []*ast.ExprStmt
	releases []*ast.ExprStmt
	deferred *ast.DeferStmt
	reading  bool // at least one section only has it for reading
	parts    []*part
	vars     []*variable
	slots    []*slot
	dropped  []drop
}

// A state is what is known of the lock at a point of the function.
type state struct {
	dead  bool   // the point is not reached
	group *group // the lock is held, for one of these sections
	read  bool
}

// A flow follows one lock through a function body, along its structure. It fails,
// with a reason, where it cannot be told from the structure whether the lock is held.
type flow struct {
	*body
	lock     place
	groups   []*group // all
	known    []*group // whose copies are declared here
	deferred bool
	depth    int // of statement lists
	targets  []*target
	parts    map[ast.Stmt]*part
	why      string
	at       token.Pos
}

// A target is a statement that a break or continue can be about.
type target struct {
	label      string
	loop       bool
	breaks     []state
	repetition []state
	continues  []*ast.BranchStmt
}

func (f *flow) fail(n ast.Node, why string) {
	if f.why == "" {
		f.why, f.at = why, n.Pos()
	}
}

// follow analyses a body, and returns the groups of a lock in it.
func follow(b *body, lock place) *flow {
	f := &flow{body: b, lock: lock, parts: make(map[ast.Stmt]*part)}
	end := f.list(b.block.List, state{})
	f.leave(b.block, end)
	return f
}

// leave is a return.
func (f *flow) leave(n ast.Node, s state) {
	switch {
	case s.dead:
	case s.group != nil && !f.deferred:
		f.fail(n, "the function returns with the lock held")
	case s.group == nil && f.deferred:
		f.fail(n, "the function returns without the lock that a deferred call releases")
	}
}

func (f *flow) list(list []ast.Stmt, s state) state {
	n := len(f.known)
	f.depth++
	for _, st := range list {
		s = f.stmt(st, s, "")
	}
	f.depth--
	if s.group != nil && !slices.Contains(f.known[:n], s.group) && f.depth > 0 {
		f.fail(s.group.first, "the lock is held beyond the block that takes it")
	}
	f.known = f.known[:n]
	return s
}

func (f *flow) merge(n ast.Node, states ...state) state {
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

// header notes what a statement evaluates by itself while the lock is held.
func (f *flow) header(st ast.Stmt, s state, nodes ...ast.Node) *part {
	for _, n := range nodes {
		f.mention(n)
	}
	if s.group == nil || s.dead {
		return nil
	}
	p := &part{stmt: st}
	for _, n := range nodes {
		if n != nil {
			p.nodes = append(p.nodes, n)
		}
	}
	f.parts[st] = p
	s.group.parts = append(s.group.parts, p)
	return p
}

// mention fails if the lock is used in a way other than a statement of its own.
func (f *flow) mention(n ast.Node) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			s := f.info.Selections[n]
			if s == nil || s.Kind() != types.MethodVal {
				return true
			}
			if o, ok := operationOf(f.info, &ast.CallExpr{Fun: n}); ok && o.lock.root != nil && o.lock.equal(f.lock) {
				f.fail(n, "a method of the lock is used in an expression")
			}
		}
		return true
	})
}

// operation returns what a statement does to the lock.
func (f *flow) operation(e ast.Expr) (operation, bool) {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return operation{}, false
	}
	o, ok := operationOf(f.info, c)
	return o, ok && o.lock.root != nil && o.lock.equal(f.lock)
}

func (f *flow) stmt(st ast.Stmt, s state, label string) state {
	if f.why != "" {
		return s
	}
	switch st := st.(type) {
	case *ast.ExprStmt:
		if o, ok := f.operation(st.X); ok {
			return f.operate(st, o, s)
		}
		f.header(st, s, st.X)
		if c, ok := ast.Unparen(st.X).(*ast.CallExpr); ok && builtinOf(f.info, ast.Unparen(c.Fun)) == "panic" {
			return state{dead: true}
		}
		return s
	case *ast.DeferStmt:
		if o, ok := f.operation(st.Call); ok {
			return f.deferOperation(st, o, s)
		}
		if p := f.header(st, s, st.Call); p != nil {
			p.defers = f.deferred
		}
		return s
	case *ast.ReturnStmt:
		var nodes []ast.Node
		for _, r := range st.Results {
			nodes = append(nodes, r)
		}
		f.header(st, s, nodes...)
		f.leave(st, s)
		return state{dead: true}
	case *ast.BranchStmt:
		return f.branch(st, s)
	case *ast.BlockStmt:
		return f.list(st.List, s)
	case *ast.LabeledStmt:
		out := f.stmt(st.Stmt, s, st.Label.Name)
		if p := f.parts[st.Stmt]; p != nil {
			p.outer = st
		}
		return out
	case *ast.IfStmt:
		return f.ifStmt(st, s)
	case *ast.ForStmt:
		p := f.header(st, s, asNode(st.Init), asNode(st.Cond), asNode(st.Post))
		return f.loop(st, st.Body, p, s, label, st.Cond != nil)
	case *ast.RangeStmt:
		if _, ok := coreOf(f.info.TypeOf(st.X)).(*types.Signature); (ok || coreOf(f.info.TypeOf(st.X)) == nil) && s.group != nil {
			f.fail(st, "the section ranges over a function")
		}
		p := f.header(st, s, asNode(st.Key), asNode(st.Value), asNode(st.X))
		if p != nil {
			p.ranges = st
		}
		return f.loop(st, st.Body, p, s, label, true)
	case *ast.SwitchStmt:
		nodes := []ast.Node{asNode(st.Init), asNode(st.Tag)}
		for _, c := range st.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				nodes = append(nodes, e)
			}
		}
		return f.clauses(st, st.Body, f.header(st, s, nodes...), s, label)
	case *ast.TypeSwitchStmt:
		return f.clauses(st, st.Body, f.header(st, s, asNode(st.Init), st.Assign), s, label)
	case *ast.SelectStmt:
		p := f.header(st, s)
		if p != nil {
			p.opaque = "uses a channel"
		}
		for _, c := range st.Body.List {
			if comm := c.(*ast.CommClause).Comm; comm != nil {
				f.mention(comm)
			}
		}
		return f.clauses(st, st.Body, p, s, label)
	case *ast.EmptyStmt:
		return s
	default:
		f.header(st, s, st)
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

func (f *flow) operate(st *ast.ExprStmt, o operation, s state) state {
	switch {
	case o.acquires() && s.group == nil:
		var g *group
		if len(f.known) > 0 {
			g = f.known[len(f.known)-1]
		} else {
			g = &group{lock: f.lock, first: st}
			f.known = append(f.known, g)
			f.groups = append(f.groups, g)
		}
		g.acquires = append(g.acquires, st)
		g.reading = g.reading || o.reads()
		return state{group: g, read: o.reads()}
	case o.releases() && s.group != nil && s.read == o.reads():
		s.group.releases = append(s.group.releases, st)
		return state{}
	case o.acquires():
		f.fail(st, "the lock is taken while it is held")
	case o.releases():
		f.fail(st, "the function releases what it has not taken")
	default:
		f.fail(st, "the lock is only tried")
	}
	return s
}

func (f *flow) deferOperation(st *ast.DeferStmt, o operation, s state) state {
	switch {
	case s.dead:
	case !o.releases() || s.group == nil || s.read != o.reads():
		f.fail(st, "a deferred call releases what is not held")
	case f.depth != 1:
		f.fail(st, "the release is deferred in an inner block")
	case f.deferred:
		f.fail(st, "the release is deferred twice")
	default:
		f.deferred = true
		s.group.deferred = st
	}
	return s
}

func (f *flow) branch(st *ast.BranchStmt, s state) state {
	if st.Tok == token.FALLTHROUGH {
		if t := f.find(nil, false); t != nil {
			t.breaks = append(t.breaks, s)
		}
		return state{dead: true}
	}
	if st.Tok == token.GOTO {
		f.fail(st, "the function has a goto")
		return s
	}
	t := f.find(st.Label, st.Tok == token.CONTINUE)
	switch {
	case t == nil:
		f.fail(st, "a jump leads nowhere")
	case st.Tok == token.CONTINUE:
		t.repetition = append(t.repetition, s)
		t.continues = append(t.continues, st)
	default:
		t.breaks = append(t.breaks, s)
	}
	return state{dead: true}
}

// find returns what a break, or a continue, is about.
func (f *flow) find(label *ast.Ident, loop bool) *target {
	for i := len(f.targets) - 1; i >= 0; i-- {
		t := f.targets[i]
		if label != nil && t.label == label.Name || label == nil && (t.loop || !loop) {
			return t
		}
	}
	return nil
}

func (f *flow) ifStmt(st *ast.IfStmt, s state) state {
	// The conditions of a chain are one part: there is no place between them to
	// put anything.
	var nodes []ast.Node
	for c := st; c != nil; {
		nodes = append(nodes, asNode(c.Init), c.Cond)
		next, _ := c.Else.(*ast.IfStmt)
		c = next
	}
	p := f.header(st, s, nodes...)
	var states []state
	for c := st; c != nil; {
		if p != nil {
			p.bodies = append(p.bodies, c.Body.Lbrace+1)
		}
		states = append(states, f.list(c.Body.List, s))
		switch e := c.Else.(type) {
		case *ast.IfStmt:
			c = e
			continue
		case *ast.BlockStmt:
			if p != nil {
				p.bodies = append(p.bodies, e.Lbrace+1)
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
func (f *flow) after(p *part, s state) state {
	if p != nil {
		p.ends = s.dead
	}
	return s
}

func (f *flow) loop(st ast.Stmt, body *ast.BlockStmt, p *part, s state, label string, ends bool) state {
	t := &target{label: label, loop: true}
	f.targets = append(f.targets, t)
	end := f.list(body.List, s)
	f.targets = f.targets[:len(f.targets)-1]
	f.merge(st, append(t.repetition, s, end)...)
	if p != nil {
		p.bodies = append(p.bodies, body.Lbrace+1)
		p.loop, p.continues = true, t.continues
		if !end.dead {
			p.end = body.Rbrace
		}
	}
	out := t.breaks
	if ends {
		out = append(out, s)
	}
	return f.after(p, f.merge(st, out...))
}

func (f *flow) clauses(st ast.Stmt, body *ast.BlockStmt, p *part, s state, label string) state {
	t := &target{label: label}
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
			p.bodies = append(p.bodies, colon+1)
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
