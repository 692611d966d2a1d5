package reshape

import (
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// variableForEach gives goroutines variables of their own in the place of one that they share
// by capture.
func (r *Run) variableForEach() []*Change {
	var changes []*Change
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
			f, line := r.lineOf(at)
			for _, v := range captured(f, line) {
				if !contains(seen, v) {
					seen = append(seen, v)
					changes = append(changes, r.ownVariable(f, v)...)
				}
			}
		}
	}
	return changes
}

// captured are the variables that a function literal on a line uses and does not declare.
func captured(f *source.File, line int) []*types.Var {
	if f == nil {
		return nil
	}
	var all []*types.Var
	inspect(f, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || f.Line(id.Pos()) != line {
			return
		}
		v, ok := f.Info.Uses[id].(*types.Var)
		if !ok || v.IsField() || v.Pkg() == nil || v.Parent() == v.Pkg().Scope() {
			return
		}
		if fn, _ := functionAround(around); fn != nil && !declaredIn(v, fn) {
			all = append(all, v)
		}
	})
	return all
}

// ownVariable gives each goroutine a variable of its own.
func (r *Run) ownVariable(f *source.File, v *types.Var) []*Change {
	w := r.rewrite()
	if !copyLoopVariable(w, f, v) && !declareInGoroutines(w, f, v) {
		return nil
	}
	return w.finish(&Change{
		Words:   "each goroutine has a variable " + v.Name() + " of its own",
		Mistake: "the goroutines share a variable of the function around them, and each needs only the value of its own",
		Reason:  "what is not shared needs no lock, and no goroutine sees the value of another",
	})
}

// copyLoopVariable copies a variable of a loop for each goroutine that a round starts, where
// the rounds of a loop share their variables: in modules of Go before 1.22.
func copyLoopVariable(w *rewriting, f *source.File, v *types.Var) bool {
	module := f.Package.Module
	if module == nil || module.GoVersion == "" || version.Compare("go"+module.GoVersion, "go1.22") >= 0 {
		return false
	}
	found := false
	inspect(f, func(n ast.Node, around []ast.Node) {
		start, ok := n.(*ast.GoStmt)
		if !ok || !slices.ContainsFunc(around, func(n ast.Node) bool { return ofLoop(f, n, v) }) {
			return
		}
		if list, _ := listAround(start, around); list == nil || !mentions(f, start, v) {
			return
		}
		w.of(f).LineBefore(start, v.Name()+" := "+v.Name())
		w.note(f, start)
		found = true
	})
	return found
}

// ofLoop reports whether a node is a loop that declares a variable.
func ofLoop(f *source.File, n ast.Node, v *types.Var) bool {
	switch n := n.(type) {
	case *ast.RangeStmt:
		return declaredIn(v, n) && v.Pos() < n.X.Pos()
	case *ast.ForStmt:
		return n.Init != nil && declaredIn(v, n.Init)
	}
	return false
}

// mentions reports whether an identifier inside a node means a variable.
func mentions(f *source.File, n ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && f.Info.Uses[id] == types.Object(v)
		return !found
	})
	return found
}

// A usage is one use of a variable.
type usage struct {
	id *ast.Ident
	// set is the assignment that does nothing with the variable but set it; nil for another use.
	set *ast.AssignStmt
	// block is what set is a statement of, without an if statement that it begins.
	block ast.Node
	// goroutine is the literal that the use is in, if a goroutine runs it.
	goroutine *ast.FuncLit
	// statement is the statement of the literal, or of the loop around it, that the use is in.
	statement ast.Stmt
	loop      ast.Node // the innermost loop around the goroutine's start
}

// declareInGoroutines has each goroutine that uses a variable declare one. Each must begin by
// setting it, and what they leave in it must not be looked at outside.
func declareInGoroutines(w *rewriting, f *source.File, v *types.Var) bool {
	all, ok := usages(f, v)
	if !ok {
		return false
	}
	var outside []usage
	byGoroutine := make(map[*ast.FuncLit][]usage)
	var goroutines []*ast.FuncLit
	for _, u := range all {
		if u.goroutine == nil {
			outside = append(outside, u)
			continue
		}
		if byGoroutine[u.goroutine] == nil {
			goroutines = append(goroutines, u.goroutine)
		}
		byGoroutine[u.goroutine] = append(byGoroutine[u.goroutine], u)
	}
	if len(goroutines) == 0 {
		return false
	}
	for _, g := range goroutines {
		if !leavesNothing(byGoroutine[g][0], v, outside) || !declareFirst(w, f, v, byGoroutine[g]) {
			return false
		}
		w.note(f, g)
	}
	if len(outside) == 0 {
		dropDeclaration(w, f, v)
	}
	return true
}

// leavesNothing reports whether the function around a goroutine sets a variable before it looks
// at it, once it has started the goroutine. What sets it must come on every way, so it is a
// statement of a block that the start is in, too.
func leavesNothing(first usage, v *types.Var, outside []usage) bool {
	sets := func(u usage) bool { return u.set != nil && within(first.goroutine, u.block) }
	behind, inLoop := false, false
	for _, u := range outside {
		if first.loop != nil && within(u.id, first.loop) && !declaredIn(v, first.loop) {
			if !inLoop && !sets(u) {
				return false
			}
			inLoop = true
		}
		if u.id.Pos() > first.goroutine.End() {
			if !behind && !sets(u) {
				return false
			}
			behind = true
		}
	}
	return true
}

// usages are the uses of a variable in the order of the source. It is false if one of them is
// none that can be judged.
func usages(f *source.File, v *types.Var) ([]usage, bool) {
	var all []usage
	ok := true
	inspect(f, func(n ast.Node, around []ast.Node) {
		id, isIdent := n.(*ast.Ident)
		if isIdent && f.Info.Defs[id] == types.Object(v) && slices.ContainsFunc(around, func(n ast.Node) bool { _, is := n.(*ast.FuncType); return is }) {
			ok = false // a result: what is in it at the end is returned
		}
		if !isIdent || f.Info.Uses[id] != types.Object(v) {
			return
		}
		u := usage{id: id}
		for i := range around {
			lit, isLit := around[i].(*ast.FuncLit)
			if !isLit || declaredIn(v, lit) {
				continue
			}
			if !runByGoroutine(around[:i], lit) {
				ok = false
				return
			}
			u.goroutine = lit
			for _, outer := range slices.Backward(around[:i]) {
				switch outer.(type) {
				case *ast.ForStmt, *ast.RangeStmt:
					if u.loop == nil {
						u.loop = outer
					}
				}
			}
			if i+2 < len(around) {
				u.statement, _ = around[i+2].(ast.Stmt)
			}
			break
		}
		switch parent := around[len(around)-1].(type) {
		case *ast.UnaryExpr:
			ok = ok && parent.Op != token.AND
		case *ast.AssignStmt:
			if slices.Contains(parent.Lhs, ast.Expr(id)) && (parent.Tok == token.ASSIGN || parent.Tok == token.DEFINE) && !slices.ContainsFunc(parent.Rhs, func(e ast.Expr) bool { return mentions(f, e, v) }) {
				u.set, u.block = parent, around[len(around)-2]
				if branch, ok := u.block.(*ast.IfStmt); ok && branch.Init == ast.Stmt(parent) {
					u.block = around[len(around)-3]
				}
			}
		}
		all = append(all, u)
	})
	return all, ok
}

// runByGoroutine reports whether a literal is started by a go statement, or given to a method
// Go, as those of sync.WaitGroup and errgroup.Group are called.
func runByGoroutine(around []ast.Node, lit *ast.FuncLit) bool {
	call, ok := around[len(around)-1].(*ast.CallExpr)
	if !ok {
		return false
	}
	if start, ok := around[len(around)-2].(*ast.GoStmt); ok && start.Call == call {
		return call.Fun == ast.Expr(lit)
	}
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && selector.Sel.Name == "Go" && slices.Contains(call.Args, ast.Expr(lit))
}

// declareFirst has a goroutine declare a variable where it sets it first. That must be what
// each of its runs begins with.
func declareFirst(w *rewriting, f *source.File, v *types.Var, uses []usage) bool {
	set := uses[0].set
	if set == nil || set.Tok != token.ASSIGN || uses[0].statement == nil {
		return false
	}
	inStatement := true // all uses
	for _, u := range uses {
		inStatement = inStatement && u.statement == uses[0].statement
	}
	alone := !slices.ContainsFunc(set.Lhs, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return !ok || id.Name != "_" && f.Info.Uses[id] != types.Object(v)
	})
	branch, isIf := uses[0].statement.(*ast.IfStmt)
	switch {
	case uses[0].statement == ast.Stmt(set):
	case isIf && branch.Init == ast.Stmt(set):
		alone = alone && inStatement
	default:
		return false
	}
	if alone {
		w.of(f).ReplaceBetween(set.TokPos, set.TokPos+1, ":=")
		return true
	}
	name := types.TypeString(v.Type(), func(p *types.Package) string {
		if p == f.Types {
			return ""
		}
		return p.Name()
	})
	w.of(f).LineBefore(uses[0].statement, "var "+v.Name()+" "+name)
	return true
}

// dropDeclaration removes a declaration that declares nothing but a variable that is not used
// any more.
func dropDeclaration(w *rewriting, f *source.File, v *types.Var) {
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.DeclStmt); ok {
			d := s.Decl.(*ast.GenDecl)
			if len(d.Specs) == 1 {
				if spec, ok := d.Specs[0].(*ast.ValueSpec); ok && len(spec.Names) == 1 && len(spec.Values) == 0 && f.Info.Defs[spec.Names[0]] == types.Object(v) {
					w.of(f).Delete(s)
				}
			}
		}
		return true
	})
}
