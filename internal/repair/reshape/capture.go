package reshape

import (
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// variableForEach gives goroutines variables of their own in the place of one that they share
// by capture.
func (r *finder) variableForEach() []*change.Change {
	var changes []*change.Change
	var seen []*types.Var
	for i := range r.Failures {
		race := &r.Failures[i]
		if race.Kind != event.FailureRace {
			continue
		}
		for j := range len(race.Others) + 1 {
			at := &race.Point
			if j > 0 {
				at = &race.Others[j-1]
			}
			f, line := r.LineOf(at)
			for _, v := range syntax.Captured(f, line) {
				if !syntax.Contains(seen, v) {
					seen = append(seen, v)
					changes = append(changes, r.ownVariable(f, v)...)
				}
			}
		}
	}
	return changes
}

// ownVariable gives each goroutine a variable of its own.
func (r *finder) ownVariable(f *source.File, v *types.Var) []*change.Change {
	w := r.Rewrite()
	if !declareInLoop(w, f, v) && !copyLoopVariable(w, f, v) && !declareInGoroutines(w, f, v) {
		return nil
	}
	return w.Finish(&change.Change{
		Words:   "each goroutine has a variable " + v.Name() + " of its own",
		Mistake: "the goroutines share a variable of the function around them, and each needs only the value of its own",
		Reason:  "what is not shared needs no lock, and no goroutine sees the value of another",
	})
}

// copyLoopVariable copies a variable of a loop for each goroutine that a round starts, where
// the rounds of a loop share their variables: in modules of Go before 1.22.
func copyLoopVariable(w *change.Rewriting, f *source.File, v *types.Var) bool {
	module := f.Package.Module
	if module == nil || module.GoVersion == "" || version.Compare("go"+module.GoVersion, "go1.22") >= 0 {
		return false
	}
	found := false
	syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
		start, ok := n.(*ast.GoStmt)
		if !ok || !slices.ContainsFunc(around, func(n ast.Node) bool { return syntax.OfLoop(f, n, v) }) {
			return
		}
		if list, _ := syntax.ListAround(start, around); list == nil || !syntax.Mentions(f, start, v) {
			return
		}
		w.Of(f).LineBefore(start, v.Name()+" := "+v.Name())
		w.Note(f, start)
		found = true
	})
	return found
}

// declareInLoop has a loop declare the variable that it assigns to, where each round has variables of its
// own: in modules of Go 1.22 and later. Nothing outside of the loop may use the variable.
//
//	var row []int                      for _, row := range rows {
//	for _, row = range rows {          	go func() { sum(row) }()
//		go func() { sum(row) }()       }
//	}
func declareInLoop(w *change.Rewriting, f *source.File, v *types.Var) bool {
	module := f.Package.Module
	if module == nil || version.Compare("go"+module.GoVersion, "go1.22") < 0 {
		return false
	}
	var loop *ast.RangeStmt
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if x, ok := n.(*ast.RangeStmt); ok && x.Tok == token.ASSIGN {
			for _, e := range []ast.Expr{x.Key, x.Value} {
				if id, ok := e.(*ast.Ident); ok && f.Info.Uses[id] == types.Object(v) {
					loop = x
				}
			}
		}
		return true
	})
	if loop == nil {
		return false
	}
	for _, e := range []ast.Expr{loop.Key, loop.Value} {
		if id, ok := e.(*ast.Ident); e != nil && (!ok || id.Name != "_" && f.Info.Uses[id] != types.Object(v)) {
			return false // another variable, which would be declared as well
		}
	}
	for id, used := range f.Info.Uses {
		if used == types.Object(v) && !syntax.Within(id, loop) {
			return false
		}
	}
	w.Of(f).ReplaceBetween(loop.TokPos, loop.TokPos+1, ":=")
	w.Note(f, loop)
	dropDeclaration(w, f, v)
	return true
}

// declareInGoroutines has each goroutine that uses a variable declare one. Each must begin by
// setting it, and what they leave in it must not be looked at outside.
func declareInGoroutines(w *change.Rewriting, f *source.File, v *types.Var) bool {
	all, ok := syntax.Usages(f, v)
	if !ok {
		return false
	}
	var outside []syntax.Usage
	byGoroutine := make(map[*ast.FuncLit][]syntax.Usage)
	var goroutines []*ast.FuncLit
	for _, u := range all {
		if u.Goroutine == nil {
			outside = append(outside, u)
			continue
		}
		if byGoroutine[u.Goroutine] == nil {
			goroutines = append(goroutines, u.Goroutine)
		}
		byGoroutine[u.Goroutine] = append(byGoroutine[u.Goroutine], u)
	}
	if len(goroutines) == 0 {
		return false
	}
	for _, g := range goroutines {
		if !leavesNothing(byGoroutine[g][0], v, outside) || !declareFirst(w, f, v, byGoroutine[g]) {
			return false
		}
		w.Note(f, g)
	}
	if len(outside) == 0 {
		dropDeclaration(w, f, v)
	}
	return true
}

// leavesNothing reports whether the function around a goroutine sets a variable before it looks
// at it, once it has started the goroutine. What sets it must come on every way, so it is a
// statement of a block that the start is in, too.
func leavesNothing(first syntax.Usage, v *types.Var, outside []syntax.Usage) bool {
	sets := func(u syntax.Usage) bool { return u.Set != nil && syntax.Within(first.Goroutine, u.Block) }
	behind, inLoop := false, false
	for _, u := range outside {
		if first.Loop != nil && syntax.Within(u.ID, first.Loop) && !syntax.DeclaredIn(v, first.Loop) {
			if !inLoop && !sets(u) {
				return false
			}
			inLoop = true
		}
		if u.ID.Pos() > first.Goroutine.End() {
			if !behind && !sets(u) {
				return false
			}
			behind = true
		}
	}
	return true
}

// declareFirst has a goroutine declare a variable where it sets it first. That must be what
// each of its runs begins with.
func declareFirst(w *change.Rewriting, f *source.File, v *types.Var, uses []syntax.Usage) bool {
	set := uses[0].Set
	if set == nil || set.Tok != token.ASSIGN || uses[0].Statement == nil {
		return false
	}
	inStatement := true // all uses
	for _, u := range uses {
		inStatement = inStatement && u.Statement == uses[0].Statement
	}
	alone := !slices.ContainsFunc(set.Lhs, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return !ok || id.Name != "_" && f.Info.Uses[id] != types.Object(v)
	})
	branch, isIf := uses[0].Statement.(*ast.IfStmt)
	switch {
	case uses[0].Statement == ast.Stmt(set):
	case isIf && branch.Init == ast.Stmt(set):
		alone = alone && inStatement
	default:
		return false
	}
	if alone {
		w.Of(f).ReplaceBetween(set.TokPos, set.TokPos+1, ":=")
		return true
	}
	name := types.TypeString(v.Type(), func(p *types.Package) string {
		if p == f.Types {
			return ""
		}
		return p.Name()
	})
	w.Of(f).LineBefore(uses[0].Statement, "var "+v.Name()+" "+name)
	return true
}

// dropDeclaration removes a declaration that declares nothing but a variable that is not used
// any more.
func dropDeclaration(w *change.Rewriting, f *source.File, v *types.Var) {
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.DeclStmt); ok {
			d := s.Decl.(*ast.GenDecl)
			if len(d.Specs) == 1 {
				if spec, ok := d.Specs[0].(*ast.ValueSpec); ok && len(spec.Names) == 1 && len(spec.Values) == 0 && f.Info.Defs[spec.Names[0]] == types.Object(v) {
					w.Of(f).Delete(s)
				}
			}
		}
		return true
	})
}
