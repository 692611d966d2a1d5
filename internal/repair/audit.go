package repair

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/cfg"
)

// An audit is what a program does with its locks, as far as its source tells. Two of
// them, of the program without a patch and with it, show what the patch makes worse:
// schedules that exploration has not tried, or a caller that the test does not have, may
// run into it.
type audit struct {
	src *source
	// leaks are the functions that leave a lock held, release one that is not held, or
	// take one twice.
	leaks map[string]bool
	// edges are the pairs of locks of which the second is taken while the first is held,
	// with where.
	edges map[[2]string]string
	// takes are the locks that a function takes, itself or in what it calls.
	takes map[*types.Func]map[string]bool
	names map[types.Object]string
}

// worse says what a patch makes worse about the locks of a program; "" if nothing.
func worse(before, after *source) string {
	old, now := newAudit(before), newAudit(after)
	for _, leak := range slices.Sorted(maps.Keys(now.leaks)) {
		if !old.leaks[leak] {
			return leak
		}
	}
	for _, e := range slices.SortedFunc(maps.Keys(now.edges), func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) }) {
		if _, ok := old.edges[e]; ok {
			continue
		}
		if back := now.path(e[1], e[0], map[string]bool{}); back != "" {
			return fmt.Sprintf("%s would take %s while it holds %s, and %s takes them the other way round: the two can wait for each other for ever", now.edges[e], short(e[1]), short(e[0]), back)
		}
	}
	return ""
}

// path is where a lock is taken, directly or over others, while another is held; "" if
// nowhere.
func (a *audit) path(from, to string, seen map[string]bool) string {
	if at, ok := a.edges[[2]string{from, to}]; ok {
		return at
	}
	seen[from] = true
	for e, at := range a.edges {
		if e[0] == from && !seen[e[1]] && a.path(e[1], to, seen) != "" {
			return at
		}
	}
	return ""
}

// short is a lock's name without the path of its package.
func short(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

func newAudit(src *source) *audit {
	a := &audit{src: src, leaks: map[string]bool{}, edges: map[[2]string]string{}, takes: map[*types.Func]map[string]bool{}, names: map[types.Object]string{}}
	for _, f := range src.files {
		for _, t := range structTypes(f) {
			st := t.Underlying().(*types.Struct)
			for i := range st.NumFields() {
				a.names[st.Field(i)] = t.Obj().Pkg().Path() + "." + t.Obj().Name() + "." + st.Field(i).Name()
			}
		}
	}
	a.closeTakes()
	for _, name := range slices.Sorted(maps.Keys(src.files)) {
		f := src.files[name]
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				a.function(f, fn.Name.Name, fn.Body)
			}
		}
	}
	return a
}

// name is a lock's name in the program, the same before and after a patch.
func (a *audit) name(o types.Object) string {
	if n, ok := a.names[o]; ok {
		return n
	}
	if v, ok := o.(*types.Var); ok && v.Origin() != v {
		return a.name(v.Origin())
	}
	return o.Pkg().Path() + "." + o.Name()
}

// closeTakes finds which locks each function takes, over its calls.
func (a *audit) closeTakes() {
	calls := map[*types.Func][]*types.Func{}
	for fn, d := range a.src.funcs {
		a.takes[fn] = map[string]bool{}
		if d.Body == nil {
			continue
		}
		info := a.src.fileOf(d).pkg.TypesInfo
		atOnce(d.Body, func(n ast.Node) {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return
			}
			if op := lockCall(info, c); op != nil {
				if op.takes {
					a.takes[fn][a.name(op.object)] = true
				}
				return
			}
			calls[fn] = append(calls[fn], a.src.callees(info, c)...)
		})
	}
	for changed := true; changed; {
		changed = false
		for fn, list := range calls {
			for _, g := range list {
				for l := range a.takes[g] {
					if !a.takes[fn][l] {
						a.takes[fn][l] = true
						changed = true
					}
				}
			}
		}
	}
}

// callees are the functions of the program that a call may call: for a method of an
// interface, all that implement it.
func (s *source) callees(info *types.Info, c *ast.CallExpr) []*types.Func {
	fn, _ := info.Uses[calleeIdent(c)].(*types.Func)
	if fn == nil {
		return nil
	}
	fn = fn.Origin()
	if s.funcs[fn] != nil {
		return []*types.Func{fn}
	}
	recv := fn.Signature().Recv()
	if recv == nil {
		return nil
	}
	face, ok := recv.Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	var all []*types.Func
	for m := range s.funcs {
		if r := m.Signature().Recv(); r != nil && m.Name() == fn.Name() && types.Implements(types.NewPointer(deref(r.Type())), face) {
			all = append(all, m)
		}
	}
	return all
}

// atOnce calls f for the nodes that a function may run before it returns: also those of
// function literals in it, except those that it starts as goroutines, by a go statement
// or a method Go as those of sync.WaitGroup and errgroup.Group.
func atOnce(n ast.Node, f func(ast.Node)) {
	ast.Inspect(n, func(m ast.Node) bool {
		switch m := m.(type) {
		case nil:
			return false
		case *ast.GoStmt:
			for _, x := range m.Call.Args {
				atOnce(x, f)
			}
			return false
		case *ast.CallExpr:
			if sel, ok := m.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" {
				f(m)
				return false
			}
		}
		f(m)
		return true
	})
}

// A holding is a lock that is held at some point of a function: how often it was taken,
// and how often a deferred call will release it.
type holding struct {
	taken, deferred int
}

// A way is one of the ways to a block of a function, told by what is held there.
type way map[string]holding // by the expression that names the lock

func (w way) key() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(w)) {
		fmt.Fprintf(&b, "%s %d %d\n", k, w[k].taken, w[k].deferred)
	}
	return b.String()
}

// maxWays bounds how many ways to a block are told apart.
const maxWays = 64

// function follows all ways through a function, and then through the literals in it.
func (a *audit) function(f *file, name string, body *ast.BlockStmt) {
	w := &walker{audit: a, file: f, function: name, objects: map[string]string{}}
	graph := cfg.New(body, func(c *ast.CallExpr) bool {
		id, ok := c.Fun.(*ast.Ident)
		return !ok || id.Name != "panic"
	})
	seen := map[*cfg.Block]map[string]bool{}
	var follow func(b *cfg.Block, at way)
	follow = func(b *cfg.Block, at way) {
		if seen[b] == nil {
			seen[b] = map[string]bool{}
		}
		key := at.key()
		if seen[b][key] || len(seen[b]) == maxWays {
			return
		}
		seen[b][key] = true
		at = maps.Clone(at)
		for _, n := range b.Nodes {
			w.node(n, at)
		}
		if len(b.Succs) == 0 {
			w.end(at)
		}
		for _, s := range b.Succs {
			follow(s, at)
		}
	}
	follow(graph.Blocks[0], way{})
	for _, lit := range literals(body) {
		a.function(f, name, lit.Body)
	}
}

// literals are the function literals in a function, without those in them.
func literals(body *ast.BlockStmt) []*ast.FuncLit {
	var all []*ast.FuncLit
	ast.Inspect(body, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if ok {
			all = append(all, lit)
		}
		return !ok
	})
	return all
}

// A walker follows one function.
type walker struct {
	*audit
	file     *file
	function string
	objects  map[string]string // the lock's name by the expression
}

func (w *walker) leak(format string, args ...any) {
	w.leaks[w.function+" "+fmt.Sprintf(format, args...)] = true
}

// node notes what one statement or expression does with locks.
func (w *walker) node(n ast.Node, at way) {
	info := w.file.pkg.TypesInfo
	if d, ok := n.(*ast.DeferStmt); ok {
		release := func(c *ast.CallExpr) {
			if op := lockCall(info, c); op != nil && !op.takes {
				k := w.expr(c, op)
				h := at[k]
				h.deferred++
				at[k] = h
			}
		}
		release(d.Call)
		if lit, ok := d.Call.Fun.(*ast.FuncLit); ok {
			within(lit.Body.List, func(m ast.Node) {
				if c, ok := m.(*ast.CallExpr); ok {
					release(c)
				}
			})
		}
		return
	}
	if _, ok := n.(*ast.GoStmt); ok {
		return
	}
	ast.Inspect(n, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			w.call(info, m, at)
		}
		return true
	})
}

func (w *walker) call(info *types.Info, c *ast.CallExpr, at way) {
	op := lockCall(info, c)
	if op == nil {
		for _, g := range w.src.callees(info, c) {
			for l := range w.takes[g] {
				w.under(at, l)
			}
		}
		for _, x := range c.Args {
			if lit, ok := x.(*ast.FuncLit); ok {
				atOnce(lit.Body, func(n ast.Node) {
					if inner, ok := n.(*ast.CallExpr); ok {
						if op := lockCall(info, inner); op != nil && op.takes {
							w.under(at, w.name(op.object))
						}
					}
				})
			}
		}
		return
	}
	k := w.expr(c, op)
	h := at[k]
	switch {
	case op.takes && h.taken > 0:
		w.leak("would take %s twice", k)
	case op.takes:
		w.under(at, w.objects[k])
		h.taken++
	case h.taken == 0:
		w.leak("would release %s, which it does not hold on every way", k)
	default:
		h.taken--
	}
	at[k] = h
	if h == (holding{}) {
		delete(at, k)
	}
}

// under notes that a lock is taken while others are held.
func (w *walker) under(at way, lock string) {
	for k, h := range at {
		if h.taken > 0 {
			if e := [2]string{w.objects[k], lock}; w.edges[e] == "" {
				w.edges[e] = w.function
			}
		}
	}
}

// expr is the text of what a call locks.
func (w *walker) expr(c *ast.CallExpr, op *lockOp) string {
	k := types.ExprString(c.Fun.(*ast.SelectorExpr).X)
	w.objects[k] = w.name(op.object)
	return k
}

// end looks at what is held where a function ends.
func (w *walker) end(at way) {
	for k, h := range at {
		switch {
		case h.taken > h.deferred:
			w.leak("would leave %s held on some way out", k)
		case h.taken < h.deferred:
			w.leak("would release %s, which it does not hold on every way", k)
		}
	}
}
