package locks

import (
	"go/ast"
	"go/types"
	"slices"
)

// call follows the paths through a call whose operands are evaluated.
func (w *walker) call(info *types.Info, call *ast.CallExpr, paths []Path) []Path {
	if tv, ok := info.Types[call.Fun]; ok && (tv.IsType() || tv.IsBuiltin()) || len(paths) == 0 {
		return paths
	}
	if op, ok := w.Op(info, call); ok {
		return w.operate(call, op, paths)
	}
	t, ok := w.target(info, call.Fun)
	switch {
	case !ok:
		return w.unknownCall(info, call, paths)
	case t.op != nil:
		return w.operate(call, *t.op, paths)
	case t.parameter != nil:
		w.flow.noteRun(t.parameter, call, paths)
		return paths
	case t.function.object != nil:
		return w.declaredCall(info, call, t, paths)
	case len(t.pairs) > 0 || outermost(t.function) != outermost(w.active[0]):
		return w.returnedCall(call, t, paths)
	default:
		return w.literalCall(t.function, paths)
	}
}

// operate applies an operation to each path, and finds what is wrong with it.
func (w *walker) operate(call *ast.CallExpr, op Op, paths []Path) []Path {
	if op.Lock == nil {
		w.find(Finding{Kind: NotFollowed, Mode: op.Mode, At: call.Pos(), Reason: op.Reason})
		return paths
	}
	var out []Path
	for _, path := range paths {
		switch op.Verb {
		case Acquire:
			w.acquire(call, op, path)
		case Release:
			path = w.release(call, op, path, paths)
		case Try:
		}
		out, _ = Merge(out, path.Apply(op, call))
	}
	return out
}

// acquire notes that a lock is taken on one path.
func (w *walker) acquire(call *ast.CallExpr, op Op, path Path) {
	callers := path.Released.Find(op.Lock) >= 0 // it was the caller's before
	if !callers {
		t := taken{op.Lock, op.Mode, call.Pos()}
		if !slices.Contains(w.flow.taken, t) {
			w.flow.taken = append(w.flow.taken, t)
		}
	}
	if i := path.Held.Find(op.Lock); i >= 0 && !path.Held[i].Maybe && !callers {
		w.find(Finding{Kind: TakenTwice, Lock: op.Lock, Mode: op.Mode, At: call.Pos()})
		return
	}
	w.under(call, path, w.Places.Class(op.Lock), op.Lock)
}

// release notes that a lock is released on one of the paths, which may not have it.
func (w *walker) release(call *ast.CallExpr, op Op, path Path, all []Path) Path {
	if i := path.Held.Find(op.Lock); i >= 0 {
		if h := path.Held[i]; h.Mode != op.Mode && !h.Maybe {
			w.find(Finding{Kind: WrongMode, Lock: op.Lock, Mode: op.Mode, At: call.Pos()})
		}
		return path
	}
	// A lock that can no longer be named may be this one. On paths that hold none, as those
	// that run a loop over the locks not at all, this is not reached then.
	lost := func(h Held) bool { return h.Lost && w.Places.Class(h.Lock) == w.Places.Class(op.Lock) }
	if slices.ContainsFunc(all, func(x Path) bool { return slices.ContainsFunc(x.Held, lost) }) {
		return path
	}
	w.find(Finding{Kind: NotHeld, Lock: op.Lock, Mode: op.Mode, At: call.Pos()})
	path.Released = path.Released.With(Held{Lock: op.Lock, Mode: op.Mode})
	return path
}

// under notes that a lock of a class is taken while others are held.
func (w *walker) under(at ast.Node, path Path, class *types.Var, lock *Place) {
	for _, h := range path.Held {
		first := w.Places.Class(h.Lock)
		if first == nil || class == nil || h.Lock == lock {
			continue
		}
		e := Edge{First: first, Second: class, At: at.Pos(), In: w.flow.function.name()}
		if !slices.ContainsFunc(w.flow.Edges, func(x Edge) bool { return x.First == e.First && x.Second == e.Second }) {
			w.flow.Edges = append(w.flow.Edges, e)
		}
	}
}

// unknownCall follows a call of code that is not in the program, or of one of several
// methods: literals that it is given are taken to run before it returns, under the locks
// that are held, unless its name says that they run later.
func (w *walker) unknownCall(info *types.Info, call *ast.CallExpr, paths []Path) []Path {
	for _, f := range w.callees(info, call) {
		for class := range w.Program.takes[f] {
			for _, path := range paths {
				w.under(call, path, class, nil)
			}
		}
	}
	if w.runsLater(info, call) {
		return paths
	}
	for _, arg := range call.Args {
		if t, ok := w.target(info, arg); ok && t.function != nil && t.function.object == nil && len(t.pairs) == 0 {
			w.callback(t.function, paths)
		}
	}
	return paths
}

// callback follows a literal that another function runs, perhaps more than once: what it
// does to the locks besides taking and releasing them is lost.
func (w *walker) callback(f *function, paths []Path) {
	for _, e := range w.literalExits(f, paths) {
		if !slices.ContainsFunc(paths, func(path Path) bool { return slices.Equal(path.Held, e.Held) }) {
			w.find(Finding{Kind: NotFollowed, At: e.At, Reason: "a function that is called back leaves other locks held than it found"})
		}
	}
}

// literalCall follows the call of a literal: its variables are those of the function
// around it, so it is followed as if it stood there.
func (w *walker) literalCall(f *function, paths []Path) []Path {
	var out []Path
	for _, e := range w.literalExits(f, paths) {
		if !e.Panics {
			out, _ = Merge(out, []Path{e.Path})
		}
	}
	return out
}

func (w *walker) literalExits(f *function, paths []Path) []Exit {
	if slices.Contains(w.active, f) {
		return exitsOf(paths) // it calls itself
	}
	var all []Exit
	for _, path := range paths {
		deferred := path.Deferred
		path.Deferred = nil
		for _, e := range w.body(f, []Path{path}) {
			e.Deferred = deferred
			all = append(all, e)
		}
	}
	return all
}

func exitsOf(paths []Path) []Exit {
	var all []Exit
	for _, path := range paths {
		all = append(all, Exit{Path: path})
	}
	return all
}

// declaredCall follows the call of a function of the program by what it does to locks: it
// was followed by itself, with nothing held.
func (w *walker) declaredCall(info *types.Info, call *ast.CallExpr, t target, paths []Path) []Path {
	for class := range w.Program.takes[t.function] {
		for _, path := range paths {
			w.under(call, path, class, nil)
		}
	}
	flow := w.flowOf(t.function)
	if flow == nil {
		return paths
	}
	pairs := append(w.argumentPairs(info, t.function, call), t.pairs...)
	for _, r := range flow.runs {
		if arg := argumentOf(info, t.function, call, r.parameter); arg != nil {
			w.runArgument(info, arg, r, pairs, paths)
		}
	}
	w.relocks(call, flow, pairs, paths)
	return w.applyExits(call, flow.Exits, pairs, paths)
}

// returnedCall follows the call of a literal that another function returned.
func (w *walker) returnedCall(call *ast.CallExpr, t target, paths []Path) []Path {
	if slices.Contains(w.active, t.function) {
		return paths
	}
	inner := &walker{Program: w.Program, flow: &Flow{before: make(map[ast.Node][]Path), function: t.function}, followed: make(map[*function]bool)}
	exits := inner.body(t.function, []Path{{}})
	return w.applyExits(call, exits, t.pairs, paths)
}

// relocks finds the locks that a called function takes although they are held.
func (w *walker) relocks(call *ast.CallExpr, flow *Flow, pairs []Pair, paths []Path) {
	for _, t := range flow.taken {
		lock := w.up(t.lock, pairs)
		if lock == nil {
			continue
		}
		for _, path := range paths {
			if path.Released.Find(lock) >= 0 {
				continue
			}
			if !slices.ContainsFunc(w.flow.taken, func(x taken) bool { return x.lock == lock && x.mode == t.mode }) {
				w.flow.taken = append(w.flow.taken, taken{lock, t.mode, call.Pos()})
			}
			if i := path.Held.Find(lock); i >= 0 && !path.Held[i].Maybe {
				w.find(Finding{Kind: TakenTwice, Lock: lock, Mode: t.mode, At: call.Pos()})
			}
		}
	}
}

// argumentOf returns what a call gives for a parameter.
func argumentOf(info *types.Info, f *function, call *ast.CallExpr, parameter *types.Var) ast.Expr {
	params := f.params
	if f.object != nil && f.object.Signature().Recv() != nil {
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && info.Selections[sel] != nil && info.Selections[sel].Kind() == types.MethodVal {
			params = params[1:]
		}
	}
	if i := slices.Index(params, parameter); i >= 0 && i < len(call.Args) {
		return call.Args[i]
	}
	return nil
}

// runArgument follows a function that a call is given and that the called function runs
// with locks of its own.
//
//	func (s *store) with(f func()) { s.mu.Lock(); defer s.mu.Unlock(); f() }
//	s.with(func() { s.n++ })          s.mu is held at s.n++
func (w *walker) runArgument(info *types.Info, arg ast.Expr, r run, pairs []Pair, paths []Path) {
	t, ok := w.target(info, arg)
	if !ok {
		return
	}
	var entry []Path
	for _, path := range paths {
		for _, inside := range r.paths {
			at := w.withoutReleased(path, inside.Released, pairs)
			for _, h := range inside.Held {
				if lock := w.up(h.Lock, pairs); lock != nil {
					h.Lock = lock
					at.Held = at.Held.With(h)
				}
			}
			entry, _ = Merge(entry, []Path{at})
		}
	}
	switch {
	case t.parameter != nil:
		w.flow.noteRun(t.parameter, arg, entry)
	case t.function != nil && t.function.object == nil && len(t.pairs) == 0:
		w.callback(t.function, entry)
	}
}

// applyExits does to each path what a called function does on its way to one of its exits.
func (w *walker) applyExits(call *ast.CallExpr, exits []Exit, pairs []Pair, paths []Path) []Path {
	var out []Path
	for _, path := range paths {
		for _, e := range exits {
			if e.Panics {
				continue
			}
			after, unnamed := path, false
			for _, h := range e.Released {
				lock := w.up(h.Lock, pairs)
				if lock == nil {
					unnamed = true
					continue
				}
				op := Op{Verb: Release, Mode: h.Mode, Lock: lock}
				after = w.release(call, op, after, paths).Apply(op, nil)[0]
			}
			for _, h := range e.Held {
				lock := w.up(h.Lock, pairs)
				if lock == nil {
					unnamed = true
					continue
				}
				h.Lock = lock
				after.Held = after.Held.With(h)
			}
			if unnamed {
				w.find(Finding{Kind: NotFollowed, At: call.Pos(), Reason: "the function takes or releases a lock that has no name here"})
			}
			out, _ = Merge(out, []Path{after.LearnOutcome(call, e.Outcome)})
		}
	}
	return out
}

// withoutReleased takes locks that a called function has released out of what is held.
func (w *walker) withoutReleased(path Path, released Set, pairs []Pair) Path {
	for _, h := range released {
		if lock := w.up(h.Lock, pairs); lock != nil {
			path.Held = path.Held.Without(lock)
		}
	}
	return path
}
