package reshape

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// releaseBeforeCallback has a lock released before function values are called that take it
// again, or wait for what needs it. What is called is taken out from under the lock first.
func (r *finder) releaseBeforeCallback() []*change.Change {
	if !r.Blocked() {
		return nil
	}
	var changes []*change.Change
	var seen []ast.Stmt
	for i := range r.Failure.Waiting {
		waiter := &r.Failure.Waiting[i]
		for j := range waiter.Holds {
			t := r.takingAt(r.LineOf(&waiter.Holds[j].Point))
			if t == nil || slices.Contains(seen, t.statement) {
				continue
			}
			seen = append(seen, t.statement)
			for _, call := range waiter.Stack {
				if r.FileOfRun(call.File) == t.file {
					changes = append(changes, r.callUnlocked(t, call.Line)...)
				}
			}
		}
	}
	return changes
}

// callUnlocked moves the statement of a section that calls a function value on a line behind the
// section.
func (r *finder) callUnlocked(t *taking, line int) []*change.Change {
	f := t.file
	at := slices.IndexFunc(t.body.List, func(s ast.Stmt) bool { return f.Line(s.Pos()) <= line && line <= f.Line(s.End()) })
	if at < 0 {
		return nil
	}
	s := t.body.List[at]
	w := r.Rewrite()
	names := source.NamesIn(t.function)
	var before, text string
	var ok bool
	switch s := s.(type) {
	case *ast.RangeStmt:
		before, text, ok = r.copiedLoop(w, t, s, names)
	default:
		before, text, ok = r.copiedCall(t, s, names)
	}
	if v := r.keptTogether(t, s); v != nil {
		r.Decline(f, s, "what this line calls takes another lock while "+t.class.Name()+" is held; "+t.class.Name()+" cannot be released before, because it keeps changes of "+v.Name()+" together")
		return nil
	}
	if !ok || !releaseAhead(w, t, at, before, text) {
		r.Decline(f, s, "what this line calls needs the lock "+t.class.Name()+", which is held; the lock cannot be released before, because the line or what follows it may need the lock, too")
		return nil
	}
	w.Note(f, s)
	if loop, isLoop := s.(*ast.RangeStmt); isLoop && callsByName(f, loop.Body) {
		return w.Finish(&change.Change{
			Words:   "the lock " + t.class.Name() + " is released before the loop, which works on a copy of " + f.TextOf(loop.X),
			Mistake: "what the loop calls takes a lock of its own, and is called with the lock " + t.class.Name() + " held",
			Reason:  "what is looped over is copied under the lock, and what is called needs no more than its own",
		})
	}
	return w.Finish(&change.Change{
		Words:   "the lock " + t.class.Name() + " is released before the callback is called",
		Mistake: "a function that the program is given is called with the lock held, and may need it",
		Reason:  "what is called is read under the lock and called without it, so that it may use what the lock guards",
	})
}

// releaseAhead replaces the last statement of a section by some statements, the release of the
// lock, and others.
func releaseAhead(w *change.Rewriting, t *taking, at int, before, after string) bool {
	f, list := t.file, t.body.List
	taken := slices.Index(list, t.statement)
	if taken < 0 || taken >= at {
		return false
	}
	if at+1 < len(list) && f.TextOf(list[at+1]) == t.release {
		w.Of(f).Replace(list[at], before+t.release+"\n"+after)
		w.Of(f).Delete(list[at+1])
		return true
	}
	later, ok := list[taken+1].(*ast.DeferStmt)
	last := at+1 == len(list)
	if !last {
		back, isReturn := list[at+1].(*ast.ReturnStmt)
		last = isReturn && at+2 == len(list) && !slices.ContainsFunc(back.Results, func(e ast.Expr) bool { return syntax.MayNeedLock(f.Info, e) })
	}
	if !ok || f.TextOf(later.Call) != t.release || !last || slices.ContainsFunc(list[taken+2:at], func(s ast.Stmt) bool { return syntax.MayPanic(f, s) }) {
		return false
	}
	returns, ok := returnsWithoutLock(f, list[taken+2:at])
	if !ok {
		return false
	}
	for _, early := range returns {
		w.Of(f).LineBefore(early, t.release)
	}
	w.Of(f).Delete(later)
	w.Of(f).Replace(list[at], before+t.release+"\n"+after)
	return true
}

// returnsWithoutLock are the return statements by which statements leave their function, if the lock can
// be released in front of each; it is false if one of them needs the lock for its results, or if there
// is another way out.
func returnsWithoutLock(f *source.File, list []ast.Stmt) (all []*ast.ReturnStmt, ok bool) {
	ok = true
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				all = append(all, n)
				ok = ok && !slices.ContainsFunc(n.Results, func(e ast.Expr) bool { return syntax.MayNeedLock(f.Info, e) })
			case *ast.BranchStmt:
				ok = ok && n.Tok != token.GOTO
			}
			return true
		})
	}
	return all, ok
}

// copiedLoop is a loop over functions, or over what has such methods, as one over a copy.
func (r *finder) copiedLoop(w *change.Rewriting, t *taking, loop *ast.RangeStmt, names *source.Names) (before, text string, ok bool) {
	f, function := t.file, t.function
	p, ok := syntax.PathOf(f.Info, loop.X)
	if !ok || !p.Variable.IsField() && p.Variable.Parent() != f.Types.Scope() || !r.needsOnlyItsOwn(f, loop.Body) {
		return "", "", false
	}
	pkg := source.CopierOf(f.Info.TypeOf(loop.X))
	if pkg == "" {
		return "", "", false
	}
	qualifier, err := w.Of(f).ImportStd(pkg)
	if err != nil {
		return "", "", false
	}
	name := syntax.LocalName(f, function, p.Variable, names)
	before = name + " := " + qualifier + ".Clone(" + f.TextOf(loop.X) + ")\n"
	text = f.Between(loop.Pos(), loop.X.Pos()) + name + f.Between(loop.X.End(), loop.End())
	return before, text, true
}

// copiedCall is a call of a function value or of a method of an interface that is in a field,
// maybe below a check that it is not nil, as a call by a variable.
func (r *finder) copiedCall(t *taking, s ast.Stmt, names *source.Names) (before, text string, ok bool) {
	f, function := t.file, t.function
	call := syntax.CallOf(s)
	if branch, isIf := s.(*ast.IfStmt); isIf && branch.Init == nil && branch.Else == nil && len(branch.Body.List) == 1 {
		call = syntax.CallOf(branch.Body.List[0])
	}
	if call == nil {
		return "", "", false
	}
	value := ast.Unparen(call.Fun)
	if method, isMethod := value.(*ast.SelectorExpr); isMethod {
		if selection := f.Info.Selections[method]; selection != nil && selection.Kind() == types.MethodVal && types.IsInterface(selection.Recv()) {
			value = method.X
		}
	}
	p, ok := syntax.PathOf(f.Info, value)
	if !ok || !p.Variable.IsField() && p.Variable.Parent() != f.Types.Scope() {
		return "", "", false
	}
	name := syntax.LocalName(f, function, p.Variable, names)
	before = name + " := " + f.TextOf(value) + "\n"
	text = strings.ReplaceAll(f.TextOf(s), f.TextOf(value), name)
	for _, arg := range call.Args {
		if !syntax.MayNeedLock(f.Info, arg) && !syntax.Calls(arg) {
			continue
		}
		if syntax.Calls(arg) {
			return "", "", false
		}
		argument := names.Free("value")
		before += argument + " := " + f.TextOf(arg) + "\n"
		text = strings.ReplaceAll(text, f.TextOf(arg), argument)
	}
	if branch, isIf := s.(*ast.IfStmt); isIf && strings.ReplaceAll(f.TextOf(branch.Cond), " ", "") != f.TextOf(value)+"!=nil" {
		return "", "", false
	}
	return before, text, true
}

// callsByName reports whether all functions that a block calls are named in it: none is a value that
// the program was given.
func callsByName(f *source.File, b *ast.BlockStmt) bool {
	named := true
	ast.Inspect(b, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !f.Info.Types[call.Fun].IsBuiltin() && !f.Info.Types[call.Fun].IsType() {
			named = named && typeutil.StaticCallee(f.Info, call) != nil
		}
		return named
	})
	return named
}

// needsOnlyItsOwn reports whether a block has to do with nothing but variables of functions, and
// fields that are set once: with nothing that a lock may guard.
func (r *finder) needsOnlyItsOwn(f *source.File, b *ast.BlockStmt) bool {
	own := true
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			own = own && len(n.Results) == 0
		case *ast.Ident:
			v, ok := f.Info.Uses[n].(*types.Var)
			if !ok {
				return own
			}
			switch {
			case v.IsField():
				own = own && !r.MadeAgain(v)
			case v.Parent() == f.Types.Scope():
				own = false
			}
		}
		return own
	})
	return own
}
