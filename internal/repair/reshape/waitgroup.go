package reshape

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A lateAdd is a call of Add that comes too late: in the goroutine that it counts, or behind
// the go statement.
type lateAdd struct {
	file  *source.File
	start *ast.GoStmt
	add   *ast.ExprStmt
	in    *source.File // that add is in
	text  string       // the call, as it reads in front of the go statement
	group *types.Var
}

// countBeforeStart moves the calls of Add that come too late in front of the go statements, a
// change for each WaitGroup.
func (r *finder) countBeforeStart() []*change.Change {
	if r.Blocked() {
		return nil
	}
	var changes []*change.Change
	all := r.lateAdds()
	for i, first := range all {
		if slices.ContainsFunc(all[:i], func(a lateAdd) bool { return syntax.Same(a.group, first.group) }) {
			continue
		}
		var ofGroup []lateAdd
		ran := false
		for _, a := range all[i:] {
			if syntax.Same(a.group, first.group) {
				ofGroup = append(ofGroup, a)
				ran = ran || r.StartedBy(a.file, a.start)
			}
		}
		if ran {
			changes = append(changes, r.moveAdds(ofGroup)...)
		}
	}
	return changes
}

func (r *finder) moveAdds(adds []lateAdd) []*change.Change {
	w := r.Rewrite()
	removed := make(map[*ast.ExprStmt]bool)
	for _, a := range adds {
		w.Of(a.file).LineBefore(a.start, a.text)
		if !removed[a.add] {
			removed[a.add] = true
			w.Of(a.in).Delete(a.add)
		}
		w.Note(a.file, a.start)
	}
	return w.Finish(&change.Change{
		Words:   "the WaitGroup " + adds[0].group.Name() + " counts up before the goroutine starts",
		Mistake: "Add is called in the goroutine that it counts or after the go statement, and Wait may come before it",
		Reason:  "a goroutine is counted before it exists, so that Wait cannot miss it",
	})
}

// lateAdds finds the calls of Add that come too late.
func (r *finder) lateAdds() []lateAdd {
	var all []lateAdd
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			start, ok := n.(*ast.GoStmt)
			if !ok {
				return
			}
			list, at := syntax.ListAround(start, around)
			if list == nil {
				return
			}
			if lit, ok := ast.Unparen(start.Call.Fun).(*ast.FuncLit); ok {
				all = append(all, addsIn(f, start, f, lit, lit.Type, nil, lit.Body)...)
				if at == 0 || !addsTo(f, list[at-1]) { // or else it is counted, and what follows counts the next
					all = append(all, addsBehind(f, start, lit, list[at+1:])...)
				}
				return
			}
			all = append(all, r.addsOfDeclared(f, start)...)
		})
	}
	return all
}

// addsOfDeclared finds the calls of Add in a declared function that a go statement starts. The
// function must be one that nothing but go statements of the program call.
func (r *finder) addsOfDeclared(f *source.File, start *ast.GoStmt) []lateAdd {
	decl, in := r.Declaration(f, start.Call)
	if decl == nil || decl.Body == nil || ast.IsExported(decl.Name.Name) || decl.Type.TypeParams != nil || !r.OnlyStarted(decl) {
		return nil
	}
	return addsIn(f, start, in, decl, decl.Type, decl.Recv, decl.Body)
}

// addsIn finds the calls of Add among the statements of a function that a go statement
// starts, so far as they can be written in front of the go statement.
func addsIn(f *source.File, start *ast.GoStmt, in *source.File, fn ast.Node, signature *ast.FuncType, receiver *ast.FieldList, body *ast.BlockStmt) []lateAdd {
	var all []lateAdd
	for _, s := range body.List {
		if syntax.Leaves(s) {
			break // what follows may not be reached, and what counts down neither
		}
		call := syntax.CallOf(s)
		if call == nil || len(call.Args) != 1 || in.Info.Types[call.Args[0]].Value == nil {
			continue
		}
		on, ok := syntax.MethodCall(in.Info, call, "WaitGroup", "Add")
		if !ok {
			continue
		}
		p, ok := syntax.PathOf(in.Info, on)
		if !ok {
			continue
		}
		text, ok := outside(f, start, in, fn, signature, receiver, on, p)
		if ok {
			text += in.Between(on.End(), call.End())
			all = append(all, lateAdd{file: f, start: start, add: s.(*ast.ExprStmt), in: in, text: text, group: p.Variable})
		}
	}
	return all
}

// outside is how a path in a function reads where a go statement starts the function: with an
// argument in the place of a parameter. It is false if the path has no name there.
func outside(f *source.File, start *ast.GoStmt, in *source.File, fn ast.Node, signature *ast.FuncType, receiver *ast.FieldList, on ast.Expr, p syntax.Path) (string, bool) {
	root := in.Info.ObjectOf(p.Root)
	if !syntax.DeclaredIn(root, fn) {
		return in.TextOf(on), f.Means(root, start.Pos())
	}
	argument := syntax.ArgumentOf(in.Info, start.Call, signature, receiver, root)
	if argument == nil {
		return "", false
	}
	if address, ok := ast.Unparen(argument).(*ast.UnaryExpr); ok {
		argument = address.X
	}
	if _, ok := syntax.PathOf(f.Info, argument); !ok {
		return "", false
	}
	return f.TextOf(argument) + in.Between(p.Root.End(), on.End()), true
}

// addsTo reports whether a statement is a call of Add.
func addsTo(f *source.File, s ast.Stmt) bool {
	call := syntax.CallOf(s)
	if call == nil {
		return false
	}
	_, ok := syntax.MethodCall(f.Info, call, "WaitGroup", "Add")
	return ok
}

// addsBehind finds the calls of Add behind a go statement whose goroutine counts down.
func addsBehind(f *source.File, start *ast.GoStmt, lit *ast.FuncLit, rest []ast.Stmt) []lateAdd {
	var down []*types.Var
	ast.Inspect(lit, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if on, ok := syntax.MethodCall(f.Info, call, "WaitGroup", "Done"); ok {
				if p, ok := syntax.PathOf(f.Info, on); ok {
					down = append(down, p.Variable)
				}
			}
		}
		return true
	})
	for _, s := range rest {
		call := syntax.CallOf(s)
		if call == nil || len(call.Args) != 1 || f.Info.Types[call.Args[0]].Value == nil {
			return nil
		}
		on, ok := syntax.MethodCall(f.Info, call, "WaitGroup", "Add")
		if !ok {
			return nil
		}
		p, ok := syntax.PathOf(f.Info, on)
		if ok && slices.ContainsFunc(down, func(v *types.Var) bool { return syntax.Same(v, p.Variable) }) && f.Means(f.Info.ObjectOf(p.Root), start.Pos()) {
			return []lateAdd{{file: f, start: start, add: s.(*ast.ExprStmt), in: f, text: f.TextOf(s), group: p.Variable}}
		}
	}
	return nil
}
