package reshape

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A relocking is a function that takes a lock twice: it looks at something in the first section,
// and has the lock released before it goes on in the second.
type relocking struct {
	file  *source.File
	check *ast.IfStmt
	// condition is what check tests, in terms of what the lock guards.
	condition string
	released  *ast.ExprStmt // in check; nil if it has none
	again     ast.Stmt      // takes the lock again
	deferred  *ast.DeferStmt
	release   string
	rest      []ast.Stmt // behind again
}

// checkAgain repeats, in the second section of a function, the check that the first one ends the
// function by: what it found may have changed while the lock was free.
func (r *finder) checkAgain() []*change.Change {
	if r.Failure.Kind != event.FailurePanic {
		return nil
	}
	f, line := r.LineOf(&r.Failure.Point)
	if f == nil {
		return nil
	}
	var failing []*types.Var // fields that the panicking line names
	for _, v := range r.VariablesAt(&r.Failure.Point) {
		if v.IsField() {
			failing = append(failing, v)
		}
	}
	all := r.relockings()
	ran := slices.ContainsFunc(all, func(k *relocking) bool {
		return k.file == f && len(k.rest) > 0 && f.Line(k.again.Pos()) < line && line <= f.Line(k.rest[len(k.rest)-1].End())
	})
	if !ran {
		return nil
	}
	w := r.Rewrite()
	for _, k := range all {
		if !slices.ContainsFunc(failing, func(v *types.Var) bool {
			return slices.ContainsFunc(k.rest, func(s ast.Stmt) bool { return r.uses(k.file, s, v) })
		}) {
			continue
		}
		w.Of(k.file).LineAfter(k.after(), k.text())
		w.Note(k.file, k.again)
	}
	return w.Finish(&change.Change{
		Words:   "the check is made again after the lock is taken again",
		Mistake: "the lock is released between the check and the use, and what was checked changes meanwhile",
		Reason:  "what the second section uses was checked in that section, with the lock held throughout",
	})
}

// after is the statement that the check goes behind.
func (k *relocking) after() ast.Stmt {
	if k.deferred != nil {
		return k.deferred
	}
	return k.again
}

// text is the check as it reads in the second section.
func (k *relocking) text() string {
	body := ""
	if k.deferred == nil {
		body = k.release + "\n"
	}
	for _, s := range k.check.Body.List {
		if s != ast.Stmt(k.released) {
			body += k.file.TextOf(s) + "\n"
		}
	}
	return "if " + k.condition + " {\n" + body + "}"
}

// relockings finds the functions that check in one section and go on in another, without
// checking again.
func (r *finder) relockings() []*relocking {
	var all []*relocking
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, _ []ast.Node) {
			var body *ast.BlockStmt
			switch n := n.(type) {
			case *ast.FuncDecl:
				body = n.Body
			case *ast.FuncLit:
				body = n.Body
			}
			if body != nil {
				if k := r.relockingIn(f, body.List); k != nil {
					all = append(all, k)
				}
			}
		})
	}
	return all
}

func (r *finder) relockingIn(f *source.File, list []ast.Stmt) *relocking {
	var first *taking
	var k *relocking
	for i, s := range list {
		op, class := r.operation(f, s)
		switch {
		case class != nil && op.Verb == locks.Acquire && first == nil:
			first = r.takingOf(f, s)
		case first == nil:
		case class != nil && op.Verb == locks.Acquire && k != nil && class == first.class:
			t := r.takingOf(f, s)
			if t == nil || i+1 == len(list) {
				return nil
			}
			k.again, k.release, k.rest = s, t.release, list[i+1:]
			if d, ok := list[i+1].(*ast.DeferStmt); ok && f.TextOf(d.Call) == t.release {
				k.deferred, k.rest = d, list[i+2:]
			}
			if slices.ContainsFunc(k.rest, func(s ast.Stmt) bool {
				branch, ok := s.(*ast.IfStmt)
				return ok && f.TextOf(branch.Cond) == k.condition
			}) {
				return nil
			}
			return k
		default:
			if branch, ok := s.(*ast.IfStmt); ok && k == nil {
				k = checkOf(f, first, list[:i], branch)
			}
		}
	}
	return nil
}

// checkOf is the check that an if statement behind the taking of a lock is: it ends the function
// if something that the lock guards is so. Its condition may be a variable that was just set
// from it.
func checkOf(f *source.File, first *taking, before []ast.Stmt, branch *ast.IfStmt) *relocking {
	n := len(branch.Body.List)
	if branch.Init != nil || branch.Else != nil || n == 0 {
		return nil
	}
	back, ok := branch.Body.List[n-1].(*ast.ReturnStmt)
	if !ok || slices.ContainsFunc(back.Results, func(e ast.Expr) bool { return syntax.MayNeedLock(f.Info, e) }) {
		return nil
	}
	k := &relocking{file: f, check: branch, condition: f.TextOf(branch.Cond)}
	if n > 1 {
		released, ok := branch.Body.List[0].(*ast.ExprStmt)
		if !ok || n > 2 || f.TextOf(released) != first.release {
			return nil
		}
		k.released = released
	}
	if syntax.NamesField(f, branch.Cond) {
		if k.released == nil && !slices.ContainsFunc(before, func(s ast.Stmt) bool { return f.TextOf(s) == first.release }) {
			return nil // the way out keeps the lock
		}
		return k
	}
	id, ok := ast.Unparen(branch.Cond).(*ast.Ident)
	if !ok {
		return nil
	}
	for _, s := range before {
		set, ok := s.(*ast.AssignStmt)
		if ok && len(set.Lhs) == 1 && len(set.Rhs) == 1 {
			if left, ok := set.Lhs[0].(*ast.Ident); ok && f.Info.Defs[left] != nil && f.Info.Defs[left] == f.Info.Uses[id] && syntax.NamesField(f, set.Rhs[0]) && !syntax.Calls(set.Rhs[0]) {
				k.condition = f.TextOf(set.Rhs[0])
				return k
			}
		}
	}
	return nil
}
