package locks

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/cfg"
)

// A Flow is what a function, with the literals in it, does with locks.
type Flow struct {
	// Exits are the ways in which the function ends.
	Exits []Exit
	// Findings are what is wrong with the locks, or cannot be told.
	Findings []Finding
	// Edges are the orders in which locks are taken.
	Edges []Edge

	before   map[ast.Node][]Path
	function *function
	runs     []run
	taken    []taken
}

// An Exit is one way in which a function ends.
type Exit struct {
	Path
	At      token.Pos
	Panics  bool    // it ends by a panic or by runtime.Goexit
	Outcome Outcome // of the last result
}

// A run is a call of a parameter that is a function, or of a function that is given it.
type run struct {
	parameter *types.Var
	at        ast.Expr
	paths     []Path
}

func (f *Flow) noteRun(parameter *types.Var, at ast.Expr, paths []Path) {
	for i, r := range f.runs {
		if r.at == at {
			f.runs[i].paths, _ = Merge(r.paths, paths)
			return
		}
	}
	f.runs = append(f.runs, run{parameter, at, paths})
}

// A taken is a lock that a function takes, if its caller does not release it first.
type taken struct {
	lock *Place
	mode Mode
	at   token.Pos
}

// A shape is the control flow of a function.
type shape struct {
	graph *cfg.CFG
	// conditions are the expressions that branches test.
	conditions map[ast.Expr]bool
	// tested counts the branches that test a condition. What only one tests need not be
	// remembered.
	tested map[Condition]int
}

// A walker follows the paths through a function, and through the literals that it calls.
type walker struct {
	*Program
	flow   *Flow
	active []*function // being followed, innermost last
	// followed are the function and the literals in it that were followed.
	followed map[*function]bool
}

// Flow follows a function, which must be a declaration or a literal of the program; it
// returns nil for any other node. Literals are part of the flow of the function around
// them.
func (p *Program) Flow(fn ast.Node) *Flow {
	f := p.functions[fn]
	if f == nil {
		return nil
	}
	return p.flowOf(outermost(f))
}

// Flows returns the flows of all functions, in the order of the source.
func (p *Program) Flows() []*Flow {
	var all []*Flow
	for _, f := range p.order {
		if f.outer == nil {
			all = append(all, p.flowOf(f))
		}
	}
	return all
}

// flowOf follows a function once. It returns nil while the function is being followed:
// what a recursive call does is not known.
func (p *Program) flowOf(f *function) *Flow {
	if flow, ok := p.flows[f]; ok {
		return flow
	}
	p.flows[f] = nil
	flow := &Flow{before: make(map[ast.Node][]Path), function: f}
	w := &walker{Program: p, flow: flow, followed: make(map[*function]bool)}
	flow.Exits = w.body(f, []Path{{}})
	w.leftHeld(flow.Exits)
	// The literals that nothing here was seen to call begin with nothing held. What they
	// take is not taken by a call of the function.
	runs, taken := flow.runs, flow.taken
	for _, lit := range f.literals {
		if !w.followed[lit] {
			w.leftHeld(w.body(lit, []Path{{}}))
		}
	}
	flow.runs, flow.taken = runs, taken
	p.flows[f] = flow
	return flow
}

func outermost(f *function) *function {
	for f.outer != nil {
		f = f.outer
	}
	return f
}

// Function is the declaration or literal that the flow is that of.
func (f *Flow) Function() ast.Node { return f.function.node }

// Before returns the paths that lead to a statement or call; nil if it is not reached. For
// a statement that contains others it is what is held where the first of them begins.
func (f *Flow) Before(n ast.Node) []Path {
	if paths, ok := f.before[n]; ok {
		return paths
	}
	var first ast.Node
	for m := range f.before {
		if n.Pos() <= m.Pos() && m.End() <= n.End() && (first == nil || m.Pos() < first.Pos() || m.Pos() == first.Pos() && m.End() > first.End()) {
			first = m
		}
	}
	return f.before[first]
}

// Held returns the locks that are surely held before a statement or call, and those that
// are held on some paths only, marked as such.
func (f *Flow) Held(n ast.Node) Set { return Flatten(f.Before(n)).Held }

// shapeOf builds the control flow graph of a function.
func (p *Program) shapeOf(f *function) *shape {
	if f.shape != nil {
		return f.shape
	}
	s := &shape{conditions: make(map[ast.Expr]bool), tested: make(map[Condition]int)}
	s.graph = cfg.New(f.body, func(call *ast.CallExpr) bool { return endOf(f.info, call) == goesOn })
	eachOwn(f.body, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.IfStmt:
			s.conditions[n.Cond] = true
		case *ast.ForStmt:
			if n.Cond != nil {
				s.conditions[n.Cond] = true
			}
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					s.conditions[e] = s.conditions[e] || n.Tag == nil
				}
			}
		}
	})
	for e, is := range s.conditions {
		if is {
			p.countConditions(f.info, e, s.tested)
		}
	}
	f.shape = s
	return s
}

// An ending says whether a call returns.
type ending uint8

const (
	goesOn ending = iota
	panics        // the deferred calls of the goroutine run
	exits         // nothing runs any more
)

var endings = map[string]ending{
	"os.Exit": exits, "log.Fatal": exits, "log.Fatalf": exits, "log.Fatalln": exits, "runtime.Goexit": panics,
}

func endOf(info *types.Info, call *ast.CallExpr) ending {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if b, ok := info.Uses[id].(*types.Builtin); ok && b.Name() == "panic" {
			return panics
		}
	}
	if fn := calleeOf(info, call); fn != nil {
		return endings[fn.FullName()]
	}
	return goesOn
}

// body follows all paths through the body of a function, from what is held where it is
// entered.
func (w *walker) body(f *function, entry []Path) []Exit {
	w.active = append(w.active, f)
	w.followed[f] = true
	defer func() { w.active = w.active[:len(w.active)-1] }()
	s := w.shapeOf(f)
	in := make([][]Path, len(s.graph.Blocks))
	in[0] = entry
	pending := make([]bool, len(s.graph.Blocks))
	pending[0] = true
	exits := make(map[token.Pos][]Exit)
	for budget := 40 * len(pending); budget > 0; budget-- {
		i := slices.Index(pending, true)
		if i < 0 {
			break
		}
		pending[i] = false
		b := s.graph.Blocks[i]
		out, ends := w.block(s, b, in[i])
		for _, e := range ends {
			exits[e.At] = addExit(exits[e.At], e)
		}
		for k, next := range b.Succs {
			if len(out[k]) == 0 {
				continue
			}
			merged, changed := Merge(in[next.Index], out[k])
			in[next.Index] = merged
			pending[next.Index] = pending[next.Index] || changed
		}
	}
	var all []Exit
	for _, at := range slices.Sorted(maps.Keys(exits)) {
		all = append(all, exits[at]...)
	}
	return all
}

func addExit(exits []Exit, e Exit) []Exit {
	for _, x := range exits {
		if x.sameLocks(e.Path) && x.Outcome == e.Outcome && x.Panics == e.Panics {
			return exits
		}
	}
	return append(exits, e)
}

// block follows the paths through one block. It returns them for each successor, or the
// exits that they become.
func (w *walker) block(s *shape, b *cfg.Block, paths []Path) (out [2][]Path, ends []Exit) {
	f := w.active[len(w.active)-1]
	if r, ok := b.Stmt.(*ast.RangeStmt); ok && (b.Kind == cfg.KindRangeBody || b.Kind == cfg.KindRangeDone) {
		// Each iteration has other variables, and what follows has none of them.
		paths = w.assigned(f.info, r.Key, paths)
		paths = w.assigned(f.info, r.Value, paths)
	}
	for i, n := range b.Nodes {
		if len(paths) == 0 {
			return out, nil
		}
		w.see(n, paths)
		if e, ok := n.(ast.Expr); ok && i == len(b.Nodes)-1 && len(b.Succs) == 2 && s.conditions[e] {
			out[0] = w.condition(e, true, paths)
			out[1] = w.condition(e, false, paths)
			return out, nil
		}
		paths = w.eval(n, paths)
		switch n := n.(type) {
		case *ast.ReturnStmt:
			return out, w.leave(f, n.Pos(), n, false, paths)
		case *ast.ExprStmt:
			call, ok := n.X.(*ast.CallExpr)
			if !ok {
				continue
			}
			switch endOf(f.info, call) {
			case panics:
				return out, w.leave(f, n.Pos(), nil, true, paths)
			case exits:
				return out, nil
			case goesOn:
			}
		}
	}
	out[0], out[1] = paths, paths
	return out, nil
}

// leave ends a function: the deferred calls run, the last one first.
func (w *walker) leave(f *function, at token.Pos, r *ast.ReturnStmt, panicking bool, paths []Path) []Exit {
	var all []Exit
	for _, path := range paths {
		e := Exit{At: at, Panics: panicking}
		if r != nil && len(r.Results) > 0 {
			e.Outcome = outcomeOf(f.info, r.Results[len(r.Results)-1], path)
		}
		deferred := path.Deferred
		path.Deferred = nil
		after := []Path{path}
		for _, d := range slices.Backward(deferred) {
			after = w.call(f.info, d.(*ast.DeferStmt).Call, after)
		}
		for _, e.Path = range after {
			all = append(all, e)
		}
	}
	return all
}

// see notes the paths that lead to a node.
func (w *walker) see(n ast.Node, paths []Path) {
	w.flow.before[n], _ = Merge(w.flow.before[n], paths)
}
