package atomics

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
)

// rewriteChecked is for a change that is made if a check of what was loaded allows it. A check for one
// value is made by the operation itself:
//
//	if closed.Load() {         if !closed.CompareAndSwap(false, true) {
//		return                 	return
//	}                          }
//	closed.Store(true)
//
// Any other is made again until nothing has changed meanwhile:
//
//	if left.Load() > 0 {       for n := left.Load(); n > 0; n = left.Load() {
//		left.Add(-1)           	if left.CompareAndSwap(n, n-1) {
//		sold()                 		sold()
//	}                          		break
//	                           	}
//	                           }
func (u *update) rewriteChecked(w *change.Rewriting, list []ast.Stmt, at int) string {
	if at == 0 {
		if branch := u.branchOf(list); branch != nil {
			return u.rewriteBranch(w, branch)
		}
		return ""
	}
	guard, ok := list[at-1].(*ast.IfStmt)
	if !ok || guard.Init != nil || guard.Else != nil || !syntax.Within(u.load.call, guard.Cond) || !ends(guard.Body) || hasJump(guard.Body) {
		return ""
	}
	f, act := u.file, u.acts[0]
	if old, negated := u.onlyValue(guard.Cond); old != "" && negated && act.verb == "Store" {
		w.Of(f).Replace(guard.Cond, "!"+act.text("CompareAndSwap", old, f.TextOf(act.args[0])))
		w.Of(f).Delete(list[at])
		w.Note(f, guard)
		return "CompareAndSwap"
	}
	name := u.localName()
	var b strings.Builder
	b.WriteString("for {\n" + name + " := " + f.TextOf(u.load.call) + "\n")
	b.WriteString("if " + u.withLoaded(guard.Cond, name) + " " + f.TextOf(guard.Body) + "\n")
	b.WriteString("if " + act.text("CompareAndSwap", name, u.newValue(name)) + " {\nbreak\n}\n}")
	w.Of(f).Replace(guard, b.String())
	w.Of(f).Delete(list[at])
	w.Note(f, guard)
	return "CompareAndSwap"
}

// rewriteLazy is for what is made if there is none yet, and kept in a variable:
//
//	c := p.Load()              c := p.Load()
//	if c == nil {              if c == nil {
//		c = newConfig()        	c = newConfig()
//		p.Store(c)             	if !p.CompareAndSwap(nil, c) {
//	}                          		c = p.Load()
//	                           	}
//	                           }
func (u *update) rewriteLazy(w *change.Rewriting, list []ast.Stmt, at int) string {
	f, act := u.file, u.acts[0]
	assign, ok := u.load.around[len(u.load.around)-1].(*ast.AssignStmt)
	if !ok || act.verb != "Store" || at != len(list)-1 {
		return ""
	}
	name, loaded := definition(assign)
	around, index := syntax.ListAround(assign, u.load.around[:len(u.load.around)-1])
	if name == nil || ast.Unparen(loaded) != ast.Expr(u.load.call) || around == nil || index+1 == len(around) {
		return ""
	}
	branch, ok := around[index+1].(*ast.IfStmt)
	if !ok || branch.Init != nil || branch.Else != nil || branch.Body.List[0] != list[0] {
		return ""
	}
	local := f.Info.Defs[name]
	isLocal := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && f.Info.Uses[id] == local
	}
	cond, ok := ast.Unparen(branch.Cond).(*ast.BinaryExpr)
	if !ok || cond.Op != token.EQL || !isLocal(cond.X) || !f.Info.Types[cond.Y].IsNil() && f.Info.Types[cond.Y].Value == nil || !isLocal(act.args[0]) {
		return ""
	}
	swap := act.text("CompareAndSwap", f.TextOf(cond.Y), name.Name)
	w.Of(f).Replace(list[at], "if !"+swap+" {\n"+name.Name+" = "+f.TextOf(u.load.call)+"\n}")
	w.Note(f, act.call)
	return "CompareAndSwap"
}

// branchOf is the if statement that checks what was loaded, and whose body some statements are; nil if
// they are none.
func (u *update) branchOf(list []ast.Stmt) *ast.IfStmt {
	for i := len(u.acts[0].around) - 1; i >= 0; i-- {
		branch, ok := u.acts[0].around[i].(*ast.IfStmt)
		if !ok {
			continue
		}
		if len(branch.Body.List) == 0 || branch.Body.List[0] != list[0] || branch.Init != nil || !syntax.Within(u.load.call, branch.Cond) {
			return nil
		}
		return branch
	}
	return nil
}

// rewriteBranch rewrites a branch that begins with the change.
func (u *update) rewriteBranch(w *change.Rewriting, branch *ast.IfStmt) string {
	f, act := u.file, u.acts[0]
	rest := branch.Body.List[1:]
	if old, negated := u.onlyValue(branch.Cond); old != "" && !negated && act.verb == "Store" {
		swap := act.text("CompareAndSwap", old, f.TextOf(act.args[0]))
		switch {
		case len(rest) == 0 && branch.Else == nil:
			w.Of(f).Replace(branch, swap)
		default:
			w.Of(f).Replace(branch.Cond, swap)
			w.Of(f).Delete(branch.Body.List[0])
		}
		w.Note(f, branch)
		return "CompareAndSwap"
	}
	if branch.Else != nil || hasJump(branch.Body) || !u.repeatable(branch.Cond) {
		return ""
	}
	name := u.localName()
	load := f.TextOf(u.load.call)
	var b strings.Builder
	b.WriteString("for " + name + " := " + load + "; " + u.withLoaded(branch.Cond, name) + "; " + name + " = " + load + " {\n")
	b.WriteString("if " + act.text("CompareAndSwap", name, u.newValue(name)) + " {\n")
	if len(rest) > 0 {
		b.WriteString(f.Between(rest[0].Pos(), rest[len(rest)-1].End()) + "\n")
	}
	if !ends(branch.Body) {
		b.WriteString("break\n")
	}
	b.WriteString("}\n}")
	w.Of(f).Replace(branch, b.String())
	w.Note(f, branch)
	return "CompareAndSwap"
}

// onlyValue is the one value for which a condition that is nothing but a comparison of what was loaded
// holds, or does not hold if it is negated; "" if it is another condition.
func (u *update) onlyValue(cond ast.Expr) (old string, negated bool) {
	isLoad := func(e ast.Expr) bool { return ast.Unparen(e) == ast.Expr(u.load.call) }
	switch e := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		if e.Op == token.NOT && isLoad(e.X) {
			return "false", false
		}
	case *ast.BinaryExpr:
		value := e.Y
		if isLoad(e.Y) {
			value = e.X
		} else if !isLoad(e.X) {
			return "", false
		}
		if (e.Op == token.EQL || e.Op == token.NEQ) && u.repeatable(value) {
			return u.file.TextOf(value), e.Op == token.NEQ
		}
	default:
		if isLoad(cond) {
			return "false", true
		}
	}
	return "", false
}

// withLoaded is an expression with a variable in the place of the load.
func (u *update) withLoaded(e ast.Expr, name string) string {
	return u.file.Between(e.Pos(), u.load.call.Pos()) + name + u.file.Between(u.load.call.End(), e.End())
}

// newValue is what the change leaves of what was loaded.
func (u *update) newValue(name string) string {
	act := u.acts[0]
	text := u.file.TextOf(act.args[0])
	if act.verb == "Store" {
		return text
	}
	if negative, ok := strings.CutPrefix(text, "-"); ok && u.file.Info.Types[act.args[0]].Value != nil {
		return name + "-" + negative
	}
	return name + "+" + text
}

// localName is a name for what was loaded.
func (u *update) localName() string {
	return syntax.LocalName(u.file, u.function, u.variable, u.names)
}

// ends reports whether control never comes out at the end of a block.
func ends(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch last := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.ExprStmt:
		call, ok := last.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := call.Fun.(*ast.Ident)
		return ok && id.Name == "panic"
	}
	return false
}

// hasJump reports whether a block has a jump that would mean another statement inside of a loop.
func hasJump(b *ast.BlockStmt) bool {
	found := false
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			found = found || n.Tok != token.FALLTHROUGH
		}
		return !found
	})
	return found
}

// isSyncMap reports whether a type is that of a sync.Map.
func isSyncMap(t types.Type) bool {
	n := syntax.NamedType(t)
	return n != nil && n.Obj().Name() == "Map" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "sync"
}
