package reshape

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// keepFirstError has goroutines that assign to the error of the function around them keep the
// first that is one, by a sync.Once: a lock around each assignment would let the success of one
// goroutine hide the failure of another.
func (r *finder) keepFirstError() []*change.Change {
	var changes []*change.Change
	raced := r.RacedVariables()
	if r.Failure.Kind == event.FailureTest {
		raced = append(raced, r.setByGoroutines()...) // under a lock, the last one counts all the same
	}
	for i, v := range raced {
		if v.IsField() || !types.Identical(v.Type(), types.Universe.Lookup("error").Type()) || syntax.Contains(raced[:i], v) {
			continue
		}
		for _, f := range r.Code.Files() {
			if f.Syntax.Pos() <= v.Pos() && v.Pos() < f.Syntax.End() {
				changes = append(changes, r.firstErrorOf(f, v)...)
			}
		}
	}
	return changes
}

// setByGoroutines are the variables that goroutines of the run set and do not declare.
func (r *finder) setByGoroutines() []*types.Var {
	var all []*types.Var
	for _, f := range r.Code.Files() {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			start, ok := n.(*ast.GoStmt)
			if !ok || !r.StartedBy(f, start) {
				return true
			}
			if lit, ok := ast.Unparen(start.Call.Fun).(*ast.FuncLit); ok {
				for _, id := range syntax.SetIn(f, lit) {
					if v := f.Info.Uses[id].(*types.Var); !syntax.DeclaredIn(v, lit) {
						all = append(all, v)
					}
				}
			}
			return true
		})
	}
	return all
}

func (r *finder) firstErrorOf(f *source.File, v *types.Var) []*change.Change {
	declaration, function := syntax.DeclarationOf(f, v)
	if declaration == nil {
		if function = syntax.FunctionWithResult(f, v); function == nil {
			return nil
		}
	}
	w := r.Rewrite()
	names := source.NamesIn(function)
	once := names.Free(v.Name() + "Once")
	failure := names.Free("e")
	ok, found := true, 0
	written := make(map[*ast.Ident]bool)
	syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
		set, isAssign := n.(*ast.AssignStmt)
		lit := syntax.GoroutineAround(around, v)
		if !isAssign || lit == nil || !syntax.Assigned(f, []ast.Stmt{set}, identOf(v, f, set)) {
			return
		}
		text, fine := keptError(f, v, set, around, once, failure, written)
		if !fine {
			ok = false
			return
		}
		found++
		if _, many := syntax.LoopAround(around[:slices.Index(around, ast.Node(lit))]); many {
			found++
		}
		w.Note(f, set)
		if branch, isIf := around[len(around)-1].(*ast.IfStmt); isIf {
			w.Of(f).Replace(branch, text)
		} else {
			w.Of(f).Replace(set, text)
		}
	})
	// Nothing in a goroutine may look at the variable but what was rewritten.
	syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
		if id, isIdent := n.(*ast.Ident); isIdent && f.Info.Uses[id] == types.Object(v) && syntax.GoroutineAround(around, v) != nil {
			ok = ok && written[id]
		}
	})
	if !ok || found < 2 { // one goroutine alone has nothing to hide

		return nil
	}
	sync, err := w.Of(f).ImportStd("sync")
	if err != nil {
		return nil
	}
	text := fmt.Sprintf("var %s %s.Once // sets %s", once, sync, v.Name())
	if declaration != nil {
		w.Of(f).LineAfter(declaration, text)
	} else {
		w.Of(f).LineBefore(source.Body(function).List[0], text)
	}
	return w.Finish(&change.Change{
		Words:   "the first error of the goroutines is kept in " + v.Name() + ", by a sync.Once",
		Mistake: "each goroutine assigns to the same variable, whether it failed or not, and the last one counts",
		Reason:  "a goroutine without an error leaves the variable alone, and of several errors the first is kept",
	})
}

// identOf is an identifier of a variable on the left of an assignment, or any.
func identOf(v *types.Var, f *source.File, set *ast.AssignStmt) *ast.Ident {
	for _, left := range set.Lhs {
		if id, ok := left.(*ast.Ident); ok && f.Info.Uses[id] == types.Object(v) {
			return id
		}
	}
	return &ast.Ident{}
}

// keptError is what an assignment to the error becomes, with the if statement that it begins.
//
//	err = f()                      if e := f(); e != nil {
//	                               	errOnce.Do(func() { err = e })
//	                               }
func keptError(f *source.File, v *types.Var, set *ast.AssignStmt, around []ast.Node, once, failure string, written map[*ast.Ident]bool) (string, bool) {
	if len(set.Rhs) != 1 || set.Tok != token.ASSIGN || syntax.Mentions(f, set.Rhs[0], v) {
		return "", false
	}
	var lefts []string
	for _, left := range set.Lhs {
		id, ok := left.(*ast.Ident)
		switch {
		case ok && id.Name == "_":
			lefts = append(lefts, "_")
		case ok && f.Info.Uses[id] == types.Object(v):
			written[id] = true
			lefts = append(lefts, failure)
		default:
			return "", false // what else is assigned would be another variable
		}
	}
	keep := fmt.Sprintf("%s.Do(func() { %s = %s })", once, v.Name(), failure)
	head := fmt.Sprintf("if %s := %s; %s != nil {", strings.Join(lefts, ", "), f.TextOf(set.Rhs[0]), failure)
	branch, isIf := around[len(around)-1].(*ast.IfStmt)
	if !isIf {
		if list, _ := syntax.ListAround(set, around); list == nil {
			return "", false
		}
		return head + "\n" + keep + "\n}", true
	}
	// if err = f(); err != nil { ... }
	if branch.Init != ast.Stmt(set) || branch.Else != nil || strings.ReplaceAll(f.TextOf(branch.Cond), " ", "") != v.Name()+"!=nil" {
		return "", false
	}
	ast.Inspect(branch.Cond, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			written[id] = true
		}
		return true
	})
	body := f.Between(branch.Body.Lbrace+1, branch.Body.Rbrace)
	if syntax.Mentions(f, branch.Body, v) {
		return "", false
	}
	return head + "\n" + keep + body + "}", true
}
