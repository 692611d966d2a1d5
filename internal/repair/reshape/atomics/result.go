package atomics

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

// takeResults uses what Add returns where the program adds and then looks: of two goroutines that both have
// added, each may see what the other has made of the variable.
//
//	atomic.AddInt32(&s.refs, -1)             if atomic.AddInt32(&s.refs, -1) == 0 {
//	if atomic.LoadInt32(&s.refs) == 0 {      	return s.c.Close()
//		return s.c.Close()                   }
//	}
//
// All places that do so are changed, or none.
func (r *finder) takeResults() []*change.Change {
	var changes []*change.Change
	for _, split := range r.Split {
		if isSyncMap(split.Variable.Type()) {
			continue
		}
		w := r.Rewrite()
		found, ok := r.takeResultsOf(w, split.Variable)
		if !found || !ok {
			continue
		}
		changes = append(changes, w.Finish(&change.Change{
			Atomic:  true,
			Whole:   []*types.Var{split.Variable},
			Words:   split.Variable.Name() + " is changed and read in one step, by the result of Add",
			Mistake: split.Variable.Name() + " is read after it was changed, and other goroutines may change it in between",
			Reason:  "what Add returns is what this goroutine has made of it, and no two goroutines get the same",
		})...)
	}
	return changes
}

// takeResultsOf rewrites all places that change a variable and then look at it.
func (r *finder) takeResultsOf(w *change.Rewriting, v *types.Var) (found, ok bool) {
	ok = true
	for _, f := range r.Code.Files() {
		if strings.HasSuffix(f.Name, "_test.go") {
			continue
		}
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			s, isCall := n.(*ast.ExprStmt)
			if !isCall {
				return
			}
			act, _ := s.X.(*ast.CallExpr)
			if act == nil {
				return
			}
			add := operationOn(f, act, v)
			list, at := syntax.ListAround(s, around)
			if add == nil || add.verb != "Add" || list == nil || at+1 == len(list) {
				return
			}
			load, reads := onlyLoad(f, list[at+1], v, add.on)
			if !reads {
				return
			}
			found = true
			if load == nil {
				r.Decline(f, list[at+1], v.Name()+" is read here after it was changed, and not by that alone")
				ok = false
				return
			}
			w.Of(f).Delete(s)
			w.Of(f).Replace(load, f.TextOf(act))
			w.Note(f, load)
		})
	}
	return found, ok
}

// onlyLoad is the load of a variable that the expressions of a statement always make, and the only call that
// they make; nil with reads set if the load is another.
func onlyLoad(f *source.File, s ast.Stmt, v *types.Var, on string) (load *ast.CallExpr, reads bool) {
	var looked []ast.Expr
	switch s := s.(type) {
	case *ast.IfStmt:
		if init, ok := s.Init.(*ast.AssignStmt); ok {
			looked = init.Rhs
		} else if s.Init == nil {
			looked = []ast.Expr{s.Cond}
		}
	case *ast.SwitchStmt:
		if s.Init == nil && s.Tag != nil {
			looked = []ast.Expr{s.Tag}
		}
	case *ast.ReturnStmt:
		looked = s.Results
	case *ast.AssignStmt:
		looked = s.Rhs
	}
	others := 0
	for _, e := range looked {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.UnaryExpr:
				if n.Op == token.ARROW {
					others++
				}
			case *ast.CallExpr:
				o := operationOn(f, n, v)
				switch {
				case o != nil && o.verb == "Load" && o.on == on:
					reads = true
					if load != nil {
						others++
					}
					load = n
					return false
				case !f.Info.Types[n.Fun].IsType():
					others++
				}
			}
			return true
		})
	}
	if others > 0 || load != nil && !alwaysEvaluated(looked, load) {
		load = nil
	}
	return load, reads
}

// alwaysEvaluated reports whether an expression is in no operand that others decide about.
func alwaysEvaluated(looked []ast.Expr, e ast.Expr) bool {
	return !slices.ContainsFunc(looked, func(l ast.Expr) bool {
		decided := false
		ast.Inspect(l, func(n ast.Node) bool {
			if b, ok := n.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) && syntax.Within(e, b.Y) {
				decided = true
			}
			return !decided
		})
		return decided
	})
}
