package atomics

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
)

// A mapCheck is the load of a key of a sync.Map, and the if statement that asks whether it was there.
type mapCheck struct {
	assign *ast.AssignStmt // v, ok := m.Load(k), a statement of its own or the beginning of the branch
	branch *ast.IfStmt
	found  bool // the branch is taken if the key was there
	list   []ast.Stmt
	at     int // of the branch in list
}

// rewriteMap is for a sync.Map:
//
//	if v, ok := m.Load(k); ok {     if v, ok := m.Load(k); ok {
//		return v                    	return v
//	}                               }
//	x := newX()                     x := newX()
//	m.Store(k, x)                   if v, ok := m.LoadOrStore(k, x); ok {
//	return x                        	return v
//	                                }
//	                                return x
//
//	v, ok := m.Load(k)              v, ok := m.LoadAndDelete(k)
//	if !ok {                        if !ok {
//		return nil                  	return nil
//	}                               }
//	m.Delete(k)                     return v
//	return v
func (u *update) rewriteMap(w *change.Rewriting) string {
	check := u.checkOfMap()
	if check == nil || !u.sameKeys() {
		return ""
	}
	if len(u.acts) == 2 {
		return u.rewriteMapUpdate(w, check)
	}
	act := u.acts[0]
	list, at := statementOf(act)
	if list == nil {
		return ""
	}
	inBranch := len(check.branch.Body.List) > 0 && list[0] == check.branch.Body.List[0]
	behind := at > 0 && len(list) == len(check.list) && list[0] == check.list[0] && at > check.at
	firstInBranch := check.found && inBranch && at == 0
	rightBehind := !check.found && behind && at == check.at+1 && ends(check.branch.Body)
	switch {
	case act.verb == "Store" && !check.found && inBranch:
		return u.storeIfMissing(w, check, list, at)
	case act.verb == "Store" && check.found && behind && ends(check.branch.Body) && !hasJump(check.branch.Body):
		return u.storeBehindCheck(w, check, list, at)
	case act.verb == "Delete" && (firstInBranch || rightBehind):
		w.Of(u.file).Replace(u.load.call, u.load.text("LoadAndDelete", u.file.TextOf(u.load.args[0])))
		w.Of(u.file).Delete(list[at])
		w.Note(u.file, act.call)
		return "LoadAndDelete"
	}
	return ""
}

// checkOfMap is the check of what was loaded; nil if the load is not checked at once.
func (u *update) checkOfMap() *mapCheck {
	around := u.load.around
	assign, ok := around[len(around)-1].(*ast.AssignStmt)
	if !ok || assign.Tok != token.DEFINE || len(assign.Lhs) != 2 {
		return nil
	}
	c := &mapCheck{assign: assign}
	outer := around[:len(around)-1]
	if branch, ok := outer[len(outer)-1].(*ast.IfStmt); ok && branch.Init == ast.Stmt(assign) {
		c.branch = branch
		c.list, c.at = syntax.ListAround(branch, outer[:len(outer)-1])
	} else {
		list, at := syntax.ListAround(assign, outer)
		if list == nil || at+1 == len(list) {
			return nil
		}
		if c.branch, ok = list[at+1].(*ast.IfStmt); !ok || c.branch.Init != nil {
			return nil
		}
		c.list, c.at = list, at+1
	}
	present, ok := assign.Lhs[1].(*ast.Ident)
	if !ok || c.list == nil || c.branch.Else != nil {
		return nil
	}
	cond := ast.Unparen(c.branch.Cond)
	c.found = true
	if not, ok := cond.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		cond, c.found = ast.Unparen(not.X), false
	}
	id, ok := cond.(*ast.Ident)
	if !ok || u.file.Info.Uses[id] != u.file.Info.Defs[present] {
		return nil
	}
	return c
}

// sameKeys reports whether all operations are for one key, which is a constant or a variable that is not
// assigned to in the function.
func (u *update) sameKeys() bool {
	key := u.load.args[0]
	for _, act := range u.acts {
		if len(act.args) == 0 || u.file.TextOf(act.args[0]) != u.file.TextOf(key) {
			return false
		}
	}
	if !u.repeatable(key) {
		return false
	}
	changes := false
	ast.Inspect(u.function, func(n ast.Node) bool {
		if s, ok := n.(*ast.AssignStmt); ok && s.Tok != token.DEFINE {
			for _, left := range s.Lhs {
				if id, ok := left.(*ast.Ident); ok && syntax.Within(id, u.function) {
					if v, ok := u.file.Info.Uses[id].(*types.Var); ok && syntax.Mentions(u.file, key, v) {
						changes = true
					}
				}
			}
		}
		return !changes
	})
	return !changes
}

// storeIfMissing is for a key that is stored if it is not there, in the branch.
func (u *update) storeIfMissing(w *change.Rewriting, c *mapCheck, list []ast.Stmt, at int) string {
	f, act := u.file, u.acts[0]
	name, _ := c.assign.Lhs[0].(*ast.Ident)
	store := act.text("LoadOrStore", f.TextOf(act.args[0]), f.TextOf(act.args[1]))
	stored, isName := ast.Unparen(act.args[1]).(*ast.Ident)
	w.Note(f, act.call)
	switch kept := name.Name != "_"; {
	case kept && isName && f.Info.Uses[stored] == f.Info.Defs[name]: // v = newX(); m.Store(k, v)
		w.Of(f).Replace(act.call, name.Name+", _ = "+store)
	case kept || at != 0 || !u.repeatable(act.args[1]):
		// What is stored is another's, if that came first, and is used here all the same.
		return ""
	case len(list) == 1:
		if c.branch.Init == nil {
			w.Of(f).Delete(c.assign)
		}
		w.Of(f).Replace(c.branch, store)
	default:
		w.Of(f).Replace(u.load.call, store)
		w.Of(f).Delete(list[at])
	}
	return "LoadOrStore"
}

// storeBehindCheck is for a key that is stored behind a branch that is left if it is there.
func (u *update) storeBehindCheck(w *change.Rewriting, c *mapCheck, list []ast.Stmt, at int) string {
	f, act := u.file, u.acts[0]
	store := act.text("LoadOrStore", f.TextOf(act.args[0]), f.TextOf(act.args[1]))
	w.Note(f, act.call)
	if at == c.at+1 && u.repeatable(act.args[1]) {
		w.Of(f).Replace(u.load.call, store)
		w.Of(f).Delete(list[at])
		return "LoadOrStore"
	}
	names := f.TextOf(c.assign.Lhs[0]) + ", " + f.TextOf(c.assign.Lhs[1])
	w.Of(f).Replace(list[at], "if "+names+" := "+store+"; "+f.TextOf(c.branch.Cond)+" "+f.TextOf(c.branch.Body))
	return "LoadOrStore"
}

// rewriteMapUpdate is for a value that is computed from the one that is there:
//
//	v, ok := m.Load(k)              for {
//	if !ok {                        	v, ok := m.Load(k)
//		m.Store(k, 1)               	if !ok {
//		return                      		if _, loaded := m.LoadOrStore(k, 1); !loaded {
//	}                               			return
//	m.Store(k, v.(int)+1)           		}
//	                                		continue
//	                                	}
//	                                	if m.CompareAndSwap(k, v, v.(int)+1) {
//	                                		break
//	                                	}
//	                                }
func (u *update) rewriteMapUpdate(w *change.Rewriting, c *mapCheck) string {
	f := u.file
	first, second := u.acts[0], u.acts[1]
	missing, atMissing := statementOf(first)
	list, at := statementOf(second)
	value, isName := c.assign.Lhs[0].(*ast.Ident)
	if c.found || c.branch.Init != nil || !isName || value.Name == "_" || first.verb != "Store" || second.verb != "Store" || !u.isComparable() {
		return ""
	}
	branch := c.branch.Body
	storesMissing := len(missing) == 2 && atMissing == 0 && missing[0] == branch.List[0] && ends(branch) && !hasJump(branch)
	storesRightBehind := len(list) == len(c.list) && list[0] == c.list[0] && at == c.at+1
	if !storesMissing || !storesRightBehind {
		return ""
	}
	loaded, ok := f.Info.Defs[value].(*types.Var)
	if !ok || u.isUsedBehind(loaded, second.call) || u.callsInside(first.args[1]) || u.callsInside(second.args[1]) {
		return ""
	}
	key := f.TextOf(second.args[0])
	var b strings.Builder
	b.WriteString("for {\n" + f.TextOf(c.assign) + "\nif " + f.TextOf(c.branch.Cond) + " {\n")
	b.WriteString("if _, loaded := " + first.text("LoadOrStore", key, f.TextOf(first.args[1])) + "; !loaded {\n" + f.TextOf(missing[1]) + "\n}\ncontinue\n}\n")
	b.WriteString("if " + second.text("CompareAndSwap", key, value.Name, f.TextOf(second.args[1])) + " {\nbreak\n}\n}")
	w.Of(f).Delete(c.assign)
	w.Of(f).Replace(c.branch, b.String())
	w.Of(f).Delete(list[at])
	w.Note(f, second.call)
	return "CompareAndSwap"
}

// callsInside reports whether an expression calls something, which would be called again.
func (u *update) callsInside(e ast.Expr) bool { return !u.repeatable(e) }

// isComparable reports whether all that the function stores can be compared, as CompareAndSwap does.
func (u *update) isComparable() bool {
	for _, act := range u.acts {
		t := u.file.Info.TypeOf(act.args[1])
		if types.IsInterface(t) || !types.Comparable(t) {
			return false
		}
	}
	return true
}
