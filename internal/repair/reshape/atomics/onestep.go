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

// oneStep makes one operation of updates that the program takes apart into several of sync/atomic or
// of a sync.Map. All functions that take updates of a variable apart are rewritten, or none; plain accesses
// to it become atomic with them, if they can.
func (r *finder) oneStep() []*change.Change {
	var changes []*change.Change
	for _, split := range r.Split {
		w := r.Rewrite()
		verbs, ok := r.rewriteSplit(w, split)
		if !ok {
			continue
		}
		words := split.Variable.Name() + " is read and changed in one step, by " + strings.Join(verbs, " and ")
		if functionFor(split.Variable) != "" && r.rewriteAtomic(r.Rewrite(), split.Variable) && r.rewriteAtomic(w, split.Variable) {
			words += ", and no access to it is a plain one"
		}
		changes = append(changes, w.Finish(&change.Change{
			Atomic:  true,
			Whole:   []*types.Var{split.Variable},
			Words:   words,
			Mistake: split.Variable.Name() + " is read and changed in two steps, between which other goroutines may change it",
			Reason:  "one operation reads and changes it, or is made again if something has changed meanwhile",
		})...)
	}
	return changes
}

// rewriteSplit rewrites all functions that take updates of a variable apart, and those that store
// right after a load though what they store does not depend on it: what comes in between is lost
// there, too. It returns the operations that it has put in their place.
func (r *finder) rewriteSplit(w *change.Rewriting, split change.SplitUpdate) (verbs []string, ok bool) {
	note := func(verb string) {
		if verb != "" && !slices.Contains(verbs, verb) {
			verbs = append(verbs, verb)
		}
	}
	for _, function := range split.Functions {
		f := r.Code.FileOf(function)
		u := updateIn(f, function, split.Variable)
		verb := ""
		if u != nil {
			verb = u.rewrite(w)
		}
		if verb == "" {
			r.Decline(f, function, split.Variable.Name()+" is read and changed in two steps here, and no single operation was found for them")
			return nil, false
		}
		note(verb)
	}
	for _, f := range r.Code.Files() {
		if strings.HasSuffix(f.Name, "_test.go") {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if body := source.Body(n); body != nil && !slices.Contains(split.Functions, n) {
				if u := updateIn(f, n, split.Variable); u != nil && !u.isMap && len(u.acts) == 1 {
					if list, at := statementOf(u.acts[0]); list != nil && u.repeatable(u.acts[0].args[0]) {
						note(u.rewriteStraight(w, list, at))
					}
				}
			}
			return true
		})
	}
	return verbs, len(verbs) > 0
}

// An update is one that a function takes apart: a load, and what is done by it.
type update struct {
	file     *source.File
	function ast.Node
	names    *source.Names
	variable *types.Var
	load     *operation
	acts     []*operation
	isMap    bool
}

// An operation is a call of sync/atomic, or of a method of a sync.Map, on a variable.
type operation struct {
	call *ast.CallExpr
	verb string
	// on is what it is made on, as the source has it; typed says that it is a method.
	on    string
	typed bool
	// prefix and kind are those of a function: atomic., Int32.
	prefix, kind string
	args         []ast.Expr
	around       []ast.Node
}

// updateIn finds the one load of a variable in a function, and the operations that change it; nil if
// there are more, or of several objects.
func updateIn(f *source.File, function ast.Node, v *types.Var) *update {
	u := &update{file: f, function: function, names: source.NamesIn(function), variable: v, isMap: isSyncMap(v.Type())}
	ok := true
	on := ""
	syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
		call, isCall := n.(*ast.CallExpr)
		if !isCall || !syntax.Within(n, function) {
			return
		}
		o := operationOn(f, call, v)
		if o == nil {
			return
		}
		o.around = slices.Clone(around)
		if inner, _ := syntax.FunctionAround(around); inner != function || on != "" && on != o.on {
			ok = false
		}
		on = o.on
		switch {
		case o.verb != "Load":
			u.acts = append(u.acts, o)
		case u.load == nil:
			u.load = o
		default:
			ok = false
		}
	})
	if !ok || u.load == nil || len(u.acts) == 0 {
		return nil
	}
	return u
}

// operationOn is a call as an operation on a variable; nil if it is none.
func operationOn(f *source.File, call *ast.CallExpr, v *types.Var) *operation {
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	if syntax.IsAtomic(f.Info, call) && f.Info.Selections[selector] == nil && len(call.Args) > 0 {
		address, ok := ast.Unparen(call.Args[0]).(*ast.UnaryExpr)
		if !ok || address.Op != token.AND {
			return nil
		}
		p, ok := syntax.PathOf(f.Info, address.X)
		if !ok || !syntax.Same(p.Variable.Origin(), v) {
			return nil
		}
		for _, verb := range []string{"Load", "Store", "Add", "Swap", "CompareAndSwap"} {
			if kind, ok := strings.CutPrefix(selector.Sel.Name, verb); ok {
				return &operation{call: call, verb: verb, on: f.TextOf(address.X), prefix: f.TextOf(selector.X) + ".", kind: kind, args: call.Args[1:]}
			}
		}
		return nil
	}
	p, ok := syntax.PathOf(f.Info, selector.X)
	if !ok || !syntax.Same(p.Variable.Origin(), v) {
		return nil
	}
	return &operation{call: call, verb: selector.Sel.Name, on: f.TextOf(selector.X), typed: true, args: call.Args}
}

// text is another operation on the same variable.
func (o *operation) text(verb string, args ...string) string {
	if o.typed {
		return o.on + "." + verb + "(" + strings.Join(args, ", ") + ")"
	}
	return o.prefix + verb + o.kind + "(" + strings.Join(append([]string{"&" + o.on}, args...), ", ") + ")"
}

// rewrite makes one step of the update, and returns the operation that does it; "" if there is none.
func (u *update) rewrite(w *change.Rewriting) string {
	if u.isMap {
		return u.rewriteMap(w)
	}
	if len(u.acts) != 1 {
		return ""
	}
	act := u.acts[0]
	list, at := statementOf(act)
	if list == nil || act.verb != "Store" && act.verb != "Add" || !u.repeatable(act.args[0]) {
		return ""
	}
	for _, rewrite := range []func(*change.Rewriting, []ast.Stmt, int) string{u.rewriteStraight, u.rewriteLazy, u.rewriteChecked} {
		if verb := rewrite(w, list, at); verb != "" {
			return verb
		}
	}
	return ""
}

// statementOf is the list with the statement that an operation is, and its index there; nil if it is a
// part of another statement.
func statementOf(o *operation) ([]ast.Stmt, int) {
	s, ok := o.around[len(o.around)-1].(*ast.ExprStmt)
	if !ok {
		return nil, 0
	}
	return syntax.ListAround(s, o.around[:len(o.around)-1])
}

// repeatable reports whether an expression may be evaluated again, and at another time: it calls
// nothing but the load, and receives nothing.
func (u *update) repeatable(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			ok = ok && (n == u.load.call || u.file.Info.Types[n.Fun].IsType())
			return n != u.load.call
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW
		case *ast.CompositeLit, *ast.FuncLit:
			return false // a new one each time is as good
		}
		return ok
	})
	return ok
}
