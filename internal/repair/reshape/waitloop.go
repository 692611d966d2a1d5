package reshape

import (
	"go/ast"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// waitInLoop has whatever waits for a sync.Cond look again when it wakes: what it was woken for may be
// gone by then, because another goroutine came first, or it was woken for something else.
func (r *finder) waitInLoop() []*change.Change {
	if r.Failure.Kind == event.FailureRace {
		return nil
	}
	w := r.Rewrite()
	r.lookAgain(w)
	return w.Finish(&change.Change{
		Words:   "what waits for a sync.Cond looks again when it wakes",
		Mistake: "a goroutine that wakes goes on without a look at what it has waited for, which another may have taken meanwhile",
		Reason:  "it goes on only if it sees, with the lock held, that it may",
	})
}

// lookAgain makes a loop of every branch that waits for a sync.Cond.
func (r *finder) lookAgain(w *change.Rewriting) {
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			if branch, ok := n.(*ast.IfStmt); ok && waitsOnce(f, branch) && !isElse(branch, around) {
				w.Of(f).ReplaceBetween(branch.If, branch.If+2, "for")
				w.Note(f, branch)
			}
		})
	}
}

// waitsOnce reports whether a branch looks at something that others change, and ends with a Wait. The
// condition is looked at again as it is, so the branch declares nothing for it.
func waitsOnce(f *source.File, branch *ast.IfStmt) bool {
	if branch.Init != nil || branch.Else != nil || len(branch.Body.List) == 0 {
		return false
	}
	calls := false
	ast.Inspect(branch.Cond, func(n ast.Node) bool {
		_, call := n.(*ast.CallExpr)
		calls = calls || call
		return !calls
	})
	if !calls && len(syntax.FieldsIn(f, branch.Cond)) == 0 {
		return false
	}
	call := syntax.CallOf(branch.Body.List[len(branch.Body.List)-1])
	if call == nil {
		return false
	}
	_, waits := syntax.MethodCall(f.Info, call, "Cond", "Wait")
	return waits
}

// isElse reports whether a branch is the other side of one.
func isElse(branch *ast.IfStmt, around []ast.Node) bool {
	outer, ok := around[len(around)-1].(*ast.IfStmt)
	return ok && outer.Else == ast.Stmt(branch)
}
