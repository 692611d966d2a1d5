package reshape

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// startLater starts goroutines behind the statements that set what they use, in the function
// that does both. A goroutine that starts later is a goroutine that was slow to start, so the
// change adds no behaviour that the program did not have.
func (r *finder) startLater() []*change.Change {
	var changes []*change.Change
	for _, v := range r.RacedVariables() {
		changes = append(changes, r.startBehindSetting(v)...)
		changes = append(changes, r.makeBeforeStart(v)...)
	}
	return changes
}

// makeBeforeStart moves the making of a field out of the method that a goroutine runs, which
// begins with it, in front of the go statement: the code that started the goroutine may use the field
// as soon as it goes on.
//
//	go j.run()                       j.stop = make(chan bool)
//	                                 go j.run()
//
//	func (j *job) run() {            func (j *job) run() {
//		j.stop = make(chan bool)     	for {
//		for {
func (r *finder) makeBeforeStart(v *types.Var) []*change.Change {
	if !v.IsField() {
		return nil
	}
	w := r.Rewrite()
	made := make(map[ast.Stmt]bool)
	ran := false
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			start, ok := n.(*ast.GoStmt)
			if !ok {
				return
			}
			d, in := r.Declaration(f, start.Call)
			selector, isSelector := ast.Unparen(start.Call.Fun).(*ast.SelectorExpr)
			list, _ := syntax.ListAround(start, around)
			if d == nil || d.Body == nil || d.Recv == nil || !isSelector || list == nil || syntax.IsPublic(in, d) || !r.OnlyStarted(d) {
				return
			}
			s, text := syntax.MakingAtFirst(in, d, v)
			if s == nil {
				return
			}
			if _, ok := syntax.PathOf(f.Info, selector.X); !ok {
				return
			}
			ran = ran || r.StartedBy(f, start)
			w.Of(f).LineBefore(start, f.TextOf(selector.X)+text)
			w.Note(f, start)
			if !made[s] {
				made[s] = true
				w.Of(in).Delete(s)
			}
		})
	}
	if !ran {
		return nil
	}
	return w.Finish(&change.Change{
		Words:   v.Name() + " is made before the goroutine starts",
		Mistake: "the goroutine makes what others use, and they may come first",
		Reason:  "what is made before the go statement is there for all that follows it, in every schedule",
	})
}

// startBehindSetting moves every start of a goroutine that uses a variable behind what sets the
// variable later in the same list of statements.
func (r *finder) startBehindSetting(v *types.Var) []*change.Change {
	w := r.Rewrite()
	ran, failed := false, false
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, _ []ast.Node) {
			list := syntax.Statements(n)
			for i, s := range list {
				if !r.onlyStarts(f, s) || !r.onlyUses(f, s, v) || !slices.ContainsFunc(list[i+1:], func(s ast.Stmt) bool { return r.sets(f, s, v) }) {
					continue
				}
				last := i
				for j := i + 1; j < len(list); j++ {
					if r.sets(f, list[j], v) || r.setsWhatIsUsed(f, list[j], s) {
						last = j
					}
				}
				if !r.mayStartBehind(f, s, list[i+1:last+1], v) {
					r.Decline(f, s, "a goroutine uses "+v.Name()+", which is set only after its start; it cannot start later, because what stands in between may leave the function, wait for the goroutine, or change what it is started with")
					failed = true
					return
				}
				ran = ran || r.startedIn(f, s)
				w.Of(f).LineAfter(list[last], f.TextOf(s))
				w.Of(f).Delete(s)
				w.Note(f, s)
			}
		})
	}
	if failed || !ran {
		return nil
	}
	return w.Finish(&change.Change{
		Words:   "the goroutine starts after " + v.Name() + " is set",
		Mistake: "the function that starts it sets what it uses only afterwards",
		Reason:  "what is set before the go statement is there when the goroutine runs, in every schedule",
	})
}

// onlyStarts reports whether a statement does nothing but start goroutines, and count them: a go
// statement, or a loop of these.
func (r *finder) onlyStarts(f *source.File, s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.GoStmt:
		return true
	case *ast.RangeStmt:
		return onlyStartsIn(r, f, s.Body)
	case *ast.ForStmt:
		return onlyStartsIn(r, f, s.Body)
	case *ast.ExprStmt:
		call := syntax.CallOf(s)
		if call == nil {
			return false
		}
		_, starts := syntax.MethodCall(f.Info, call, "WaitGroup", "Go")
		return starts
	}
	return false
}

func onlyStartsIn(r *finder, f *source.File, body *ast.BlockStmt) bool {
	starts := false
	for _, s := range body.List {
		if r.onlyStarts(f, s) {
			starts = true
			continue
		}
		call := syntax.CallOf(s)
		if call == nil {
			return false
		}
		if _, counts := syntax.MethodCall(f.Info, call, "WaitGroup", "Add"); !counts {
			return false
		}
	}
	return starts
}

// startedIn reports whether the run started a goroutine by a statement.
func (r *finder) startedIn(f *source.File, s ast.Stmt) bool {
	for line := f.Line(s.Pos()); line <= f.Line(s.End()); line++ {
		if r.Started[change.Line{File: f.Name, Line: line}] {
			return true
		}
	}
	return false
}

// uses reports whether a statement, or a function of the program that it names, has to do with
// a variable.
func (r *finder) uses(f *source.File, n ast.Node, v *types.Var) bool {
	return r.Reaches(f, n, func(f *source.File, n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return false
		}
		used, ok := f.Info.Uses[id].(*types.Var)
		return ok && syntax.Same(used.Origin(), v)
	})
}

// onlyUses reports whether the goroutines that a statement starts use a variable and do not set
// it: if they set it, there is no order that it is to have come first in.
func (r *finder) onlyUses(f *source.File, start ast.Stmt, v *types.Var) bool {
	return r.uses(f, start, v) && !r.assigns(f, start, v)
}

// setsWhatIsUsed reports whether a statement assigns to another variable or field that the
// goroutines which a statement starts use: the same mistake beside the one that the run shows.
func (r *finder) setsWhatIsUsed(f *source.File, s, start ast.Stmt) bool {
	assign, ok := s.(*ast.AssignStmt)
	return ok && assign.Tok == token.ASSIGN && slices.ContainsFunc(assign.Lhs, func(left ast.Expr) bool {
		p, ok := syntax.PathOf(f.Info, left)
		return ok && r.onlyUses(f, start, p.Variable.Origin())
	})
}

// sets reports whether a statement assigns to a variable, itself or in a function that it calls; what
// the statement starts in goroutines does not count. An exported function does not count either, nor
// what a test calls of the program: others may call it at any time, and that this call came too late
// is not the mistake.
//
//	go p.run()                      go p.Run()
//	p.init() // sets p.limit        p.Stop() // sets p.stopped, which Run is to see while it runs
func (r *finder) sets(f *source.File, s ast.Stmt, v *types.Var) bool {
	if r.onlyStarts(f, s) {
		return false
	}
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || assignsTo(f, n, v)
		case *ast.CallExpr:
			d, in := r.Declaration(f, n)
			if d != nil && d.Body != nil && !d.Name.IsExported() && isTest(f) == isTest(in) {
				found = found || r.assigns(in, d.Body, v)
			}
		}
		return !found
	})
	return found
}

// isTest reports whether a file is one of tests.
func isTest(f *source.File) bool { return strings.HasSuffix(f.Name, "_test.go") }

// assignsTo reports whether a statement assigns to a variable.
func assignsTo(f *source.File, assign *ast.AssignStmt, v *types.Var) bool {
	return slices.ContainsFunc(assign.Lhs, func(left ast.Expr) bool {
		p, ok := syntax.PathOf(f.Info, left)
		return ok && syntax.Same(p.Variable.Origin(), v)
	})
}

// assigns reports whether a statement assigns to a variable, itself or in a function of the program that
// it names.
func (r *finder) assigns(f *source.File, s ast.Stmt, v *types.Var) bool {
	return r.Reaches(f, s, func(f *source.File, n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		return ok && assignsTo(f, assign, v)
	})
}

// mayStartBehind reports whether a statement that starts goroutines means the same behind
// others: these do not wait for the goroutines, do not leave the function, and leave what the
// start itself evaluates alone, but for the variable that is to be set first.
func (r *finder) mayStartBehind(f *source.File, start ast.Stmt, behind []ast.Stmt, v *types.Var) bool {
	waitsForIt := func(in *source.File, n ast.Node) bool {
		channel := syntax.ChannelOf(in, n)
		return syntax.WaitsItself(in, n) && (channel == nil || r.uses(f, start, channel))
	}
	for _, s := range behind {
		if syntax.Leaves(s) || r.Reaches(f, s, waitsForIt) {
			return false
		}
	}
	same := true
	ast.Inspect(start, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // what it captures is used when it runs
		case *ast.Ident:
			used, ok := f.Info.Uses[n].(*types.Var)
			same = same && !(ok && !used.IsField() && used != v && syntax.Assigned(f, behind, n))
		}
		return same
	})
	return same
}
