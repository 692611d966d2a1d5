package channels

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// An ending is what tells a goroutine to stop, as an expression to receive from: the Done of a
// context, or a channel that the program closes. It is a variable, or a field beside the channel
// that the goroutine waits for.
type ending struct {
	variable *types.Var
	context  bool
}

// selectDone has goroutines that wait for a channel wait as well for the context or the channel
// at hand that tells them to stop.
func (r *finder) selectDone() []*change.Change {
	if !r.Blocked() {
		return nil
	}
	var changes []*change.Change
	var seen []*types.Var
	for i := range r.Failure.Waiting {
		waiter := &r.Failure.Waiting[i]
		if waiter.Library {
			continue
		}
		f, line := r.LineOf(&waiter.Point)
		if f == nil {
			continue
		}
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			s, ok := n.(ast.Stmt)
			if !ok || f.Line(s.Pos()) != line {
				return
			}
			wait := waitOf(f, s, around)
			if wait == nil || syntax.Contains(seen, wait.channel) {
				return
			}
			seen = append(seen, wait.channel)
			for _, e := range r.endingsAt(wait) {
				changes = append(changes, r.addEnding(wait, e)...)
			}
		})
	}
	return changes
}

// A channelWait is a statement that waits for a channel and for nothing else.
type channelWait struct {
	file      *source.File
	statement ast.Stmt
	around    []ast.Node
	channel   *types.Var
	of        ast.Expr // the channel, as it is named
	sends     bool
}

// waitOf is what a statement of a list waits for; nil if it is no wait of its own.
func waitOf(f *source.File, s ast.Stmt, around []ast.Node) *channelWait {
	if list, _ := syntax.ListAround(s, around); list == nil {
		return nil
	}
	wait := &channelWait{file: f, statement: s, around: slices.Clone(around)}
	switch s := s.(type) {
	case *ast.SendStmt:
		wait.of, wait.sends = s.Chan, true
	case *ast.ExprStmt:
		wait.of = syntax.ReceivedFrom(s.X)
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE && len(s.Rhs) == 1 {
			wait.of = syntax.ReceivedFrom(s.Rhs[0])
		}
	case *ast.RangeStmt:
		if _, ok := f.Info.TypeOf(s.X).Underlying().(*types.Chan); ok {
			wait.of = s.X
		}
	}
	if wait.of == nil {
		return nil
	}
	p, ok := syntax.PathOf(f.Info, wait.of)
	if !ok {
		return nil
	}
	wait.channel = p.Variable.Origin()
	return wait
}

// endingsAt are what may end a wait, the nearest first.
func (r *finder) endingsAt(wait *channelWait) []ending {
	var all []ending
	f, at := wait.file, wait.statement.Pos()
	closed := r.closedVariables()
	for scope := f.Types.Scope().Innermost(at); scope != nil && scope != f.Types.Scope(); scope = scope.Parent() {
		for _, name := range scope.Names() {
			v, ok := scope.Lookup(name).(*types.Var)
			if !ok || !f.Means(v, at) || v == wait.channel {
				continue
			}
			if syntax.IsContext(v.Type()) || syntax.IsSignal(v.Type()) && syntax.Contains(closed, v) {
				all = append(all, ending{v, syntax.IsContext(v.Type())})
			}
		}
	}
	if selector, ok := ast.Unparen(wait.of).(*ast.SelectorExpr); ok {
		if owner := syntax.NamedType(f.Info.TypeOf(selector.X)); owner != nil {
			if st, ok := owner.Underlying().(*types.Struct); ok {
				for field := range st.Fields() {
					if !syntax.Same(field, wait.channel) && (syntax.IsContext(field.Type()) || syntax.IsSignal(field.Type()) && syntax.Contains(closed, field)) {
						all = append(all, ending{field.Origin(), syntax.IsContext(field.Type())})
					}
				}
			}
		}
	}
	return all
}

// closedVariables are the channels that the program closes.
func (r *finder) closedVariables() []*types.Var {
	var all []*types.Var
	for _, f := range r.Code.Files() {
		for _, c := range syntax.Closings(f) {
			if p, ok := syntax.PathOf(f.Info, c.Channel); ok {
				all = append(all, p.Variable.Origin())
			}
		}
	}
	return all
}

// addEnding has all waits of one kind for a channel wait for an ending as well: all sends, or
// the receives of goroutines.
func (r *finder) addEnding(first *channelWait, e ending) []*change.Change {
	w := r.Rewrite()
	for _, f := range r.Code.Files() {
		failed := false
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			s, ok := n.(ast.Stmt)
			if !ok || failed {
				return
			}
			wait := waitOf(f, s, around)
			if wait == nil || wait.sends != first.sends || !syntax.Same(wait.channel, first.channel) {
				return
			}
			if wait.statement != first.statement && !wait.sends && !r.runsInGoroutine(f, around) {
				return
			}
			failed = !r.waitForEnding(w, wait, e)
		})
		if failed {
			return nil
		}
	}
	name := e.variable.Name()
	if e.context {
		name += ".Done()"
	}
	return w.Finish(&change.Change{
		Words:   "the goroutine waits for " + name + " besides " + first.channel.Name(),
		Mistake: "it waits for the channel alone, and nothing is left on the other side when it is told to stop",
		Reason:  "what tells it to stop ends the wait, so that the goroutine ends",
	})
}

// runsInGoroutine reports whether the innermost function around a node is run by goroutines
// alone.
func (r *finder) runsInGoroutine(f *source.File, around []ast.Node) bool {
	for i := len(around) - 1; i >= 0; i-- {
		switch fn := around[i].(type) {
		case *ast.FuncLit:
			return syntax.RunByGoroutine(around[:i], fn)
		case *ast.FuncDecl:
			return r.OnlyStarted(fn)
		}
	}
	return false
}

// waitForEnding rewrites one wait.
//
//	c <- v                 select {
//	                       case c <- v:
//	                       case <-ctx.Done():
//	                       	return
//	                       }
//
// What follows a receive needs what was received, so it goes into the case.
func (r *finder) waitForEnding(w *change.Rewriting, wait *channelWait, e ending) bool {
	f := wait.file
	name, ok := e.at(wait)
	if !ok {
		return false
	}
	function, _ := syntax.FunctionAround(wait.around)
	flow := r.Code.Locks().Flow(function)
	if flow == nil || slices.ContainsFunc(flow.Held(wait.statement), func(h locks.Held) bool { return true }) {
		return false
	}
	list, i := syntax.ListAround(wait.statement, wait.around)
	_, inLoop := syntax.LoopAround(wait.around)
	loop, isRange := wait.statement.(*ast.RangeStmt)
	back := ""
	if inLoop || !wait.sends {
		if back, ok = returning(f, function, e, name); !ok || !nothingSkipped(f, wait, isRange) {
			r.Decline(f, wait.statement, "a goroutine that waited for "+name+" as well would have to return here, and what it returns is not known, or what others wait for would be skipped")
			return false
		}
	}
	w.Note(f, wait.statement)
	switch {
	case wait.sends:
		w.Of(f).Replace(wait.statement, "select {\ncase "+f.TextOf(wait.statement)+":\ncase <-"+name+":\n"+back+"}")
	case isRange:
		if syntax.Breaks(loop.Body.List) || loop.Key != nil && loop.Tok != token.DEFINE {
			return false
		}
		key := "_"
		if loop.Key != nil {
			key = f.TextOf(loop.Key)
		}
		more := source.NamesIn(function).Free("ok")
		w.Of(f).Replace(loop, "for {\nselect {\ncase "+key+", "+more+" := <-"+f.TextOf(loop.X)+":\nif !"+more+" {\n"+plainReturn(back)+"}"+
			strings.TrimRight(f.Between(loop.Body.Lbrace+1, loop.Body.Rbrace), " \t\n")+"\ncase <-"+name+":\n"+back+"}\n}")
		return plainReturn(back) != ""
	default:
		rest, end := "", wait.statement.End()
		if i+1 < len(list) {
			if syntax.Breaks(list[i+1:]) {
				return false
			}
			end = list[len(list)-1].End()
			rest = f.Between(wait.statement.End(), end)
		}
		w.Of(f).ReplaceBetween(wait.statement.Pos(), end, "select {\ncase "+f.TextOf(wait.statement)+":"+rest+"\ncase <-"+name+":\n"+back+"}")
	}
	return true
}

// plainReturn is a return that has no results; "" for another.
func plainReturn(back string) string {
	if back == "return\n" {
		return back
	}
	return ""
}

// at names an ending at a wait.
func (e ending) at(wait *channelWait) (string, bool) {
	name := e.variable.Name()
	if e.variable.IsField() {
		selector, ok := ast.Unparen(wait.of).(*ast.SelectorExpr)
		if !ok {
			return "", false
		}
		name = wait.file.TextOf(selector.X) + "." + name
	} else if !wait.file.Means(e.variable, wait.statement.Pos()) {
		return "", false
	}
	if e.context {
		name += ".Done()"
	}
	return name, true
}

// returning is the statement that leaves a function because it is told to stop: with nothing,
// or with the error of the context.
func returning(f *source.File, function ast.Node, e ending, name string) (string, bool) {
	results := syntax.ResultsOf(f, function)
	if results.Len() == 0 {
		return "return\n", true
	}
	last := results.At(results.Len() - 1).Type()
	if !e.context || !types.Identical(last, types.Universe.Lookup("error").Type()) {
		return "", false
	}
	text := "return "
	for i := range results.Len() - 1 {
		zero, ok := syntax.ZeroOf(results.At(i).Type())
		if !ok {
			return "", false
		}
		text += zero + ", "
	}
	return text + name[:len(name)-len(".Done()")] + ".Err()\n", true
}

// nothingSkipped reports whether a return at a wait skips nothing that others wait for: what
// follows the statements around it neither closes nor sends, counts down nor releases.
func nothingSkipped(f *source.File, wait *channelWait, isRange bool) bool {
	inner := wait.statement
	around := wait.around
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return true
		default:
			list := syntax.Statements(n)
			at := slices.IndexFunc(list, func(s ast.Stmt) bool { return syntax.Within(inner, s) })
			if at < 0 {
				continue
			}
			first := i == len(around)-1 && !isRange
			for _, s := range list[at+1:] {
				if !first && syntax.OthersWaitFor(f, s) {
					return false
				}
			}
			if first && othersWaitForAny(f, list[at+1:]) {
				if _, inLoop := syntax.LoopAround(around); !inLoop {
					return false
				}
			}
		}
	}
	return true
}

func othersWaitForAny(f *source.File, list []ast.Stmt) bool {
	return slices.ContainsFunc(list, func(s ast.Stmt) bool { return syntax.OthersWaitFor(f, s) })
}
