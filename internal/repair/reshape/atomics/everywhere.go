package atomics

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// atomicFunctions are what the functions of sync/atomic for a type have in their names.
var atomicFunctions = map[types.BasicKind]string{
	types.Int32: "Int32", types.Int64: "Int64", types.Uint32: "Uint32", types.Uint64: "Uint64", types.Uintptr: "Uintptr",
}

// atomicEverywhere has all plain accesses to a variable that the program also accesses by
// functions of sync/atomic go through these.
func (r *finder) atomicEverywhere() []*change.Change {
	var changes []*change.Change
	var seen []*types.Var
	for i := range r.Failures {
		race := &r.Failures[i]
		if race.Kind != event.FailureRace {
			continue
		}
		for _, at := range append(race.Others[:len(race.Others):len(race.Others)], race.Point) {
			f, line := r.LineOf(&at)
			for _, v := range wordsOn(f, line) {
				if !syntax.Contains(seen, v) {
					seen = append(seen, v)
					changes = append(changes, r.makeAtomic(v)...)
				}
			}
		}
	}
	return changes
}

// wordsOn are the variables that a line names and that sync/atomic has functions for.
func wordsOn(f *source.File, line int) []*types.Var {
	if f == nil {
		return nil
	}
	var all []*types.Var
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && f.Line(id.Pos()) == line {
			if v, ok := f.Info.Uses[id].(*types.Var); ok && functionFor(v) != "" {
				all = append(all, v.Origin())
			}
		}
		return true
	})
	return all
}

func functionFor(v *types.Var) string {
	if b, ok := types.Unalias(v.Type()).(*types.Basic); ok {
		return atomicFunctions[b.Kind()]
	}
	return ""
}

// An atomicRewriting is a Rewriting of all plain accesses to a variable.
type atomicRewriting struct {
	*change.Rewriting
	variable *types.Var
	already  int // accesses by functions of sync/atomic
	// accesses counts all of them in each function, writes those that write, and plain those
	// that are rewritten: a write beside another access may depend on it, and the two would be
	// atomic each but not together.
	accesses, writes, plain map[ast.Node]int
	failed                  bool
}

// makeAtomic rewrites all plain accesses to a variable, and to the fields beside it that have
// the same mistake: a fix of one that a method for the next breaks is none.
func (r *finder) makeAtomic(v *types.Var) []*change.Change {
	w := r.Rewrite()
	if !r.rewriteAtomic(w, v) {
		return nil
	}
	names := v.Name()
	for _, field := range r.FieldsBeside(v, func(f *types.Var) bool { return functionFor(f) != "" }) {
		if r.rewriteAtomic(r.Rewrite(), field) && r.rewriteAtomic(w, field) {
			names += ", " + field.Name()
		}
	}
	return w.Finish(&change.Change{
		Atomic:  true,
		Words:   "all accesses to " + names + " are atomic",
		Mistake: "some of them are, and plain ones race with them",
		Reason:  "each access takes the value as a whole, and none depends on another that it is not one operation with",
	})
}

// rewriteAtomic rewrites all plain accesses to a variable. It is false if there are none, or
// not all can be rewritten.
func (r *finder) rewriteAtomic(to *change.Rewriting, v *types.Var) bool {
	w := &atomicRewriting{Rewriting: to, variable: v, accesses: make(map[ast.Node]int), writes: make(map[ast.Node]int), plain: make(map[ast.Node]int)}
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			id, ok := n.(*ast.Ident)
			if !ok {
				return
			}
			if used, ok := f.Info.Uses[id].(*types.Var); ok && syntax.Same(used.Origin(), v) {
				w.access(f, id, around)
			}
		})
	}
	for fn := range w.plain {
		if w.writes[fn] > 0 && w.accesses[fn] > 1 {
			return false
		}
	}
	return !w.failed && w.already > 0 && len(w.plain) > 0
}

// access rewrites one access, if it is a plain one.
func (w *atomicRewriting) access(f *source.File, id *ast.Ident, around []ast.Node) {
	// The whole path is what is accessed.
	e, parents := ast.Expr(id), around
	if selector, ok := parents[len(parents)-1].(*ast.SelectorExpr); ok && selector.Sel == id {
		e, parents = selector, parents[:len(parents)-1]
	}
	function, _ := syntax.FunctionAround(parents)
	parent := parents[len(parents)-1]
	switch parent := parent.(type) {
	case *ast.KeyValueExpr:
		if parent.Key == e {
			return // of a struct that is being made
		}
	case *ast.UnaryExpr:
		if parent.Op == token.AND {
			call, ok := parents[len(parents)-2].(*ast.CallExpr)
			w.failed = w.failed || !ok || !syntax.IsAtomic(f.Info, call)
			w.already++
			w.accesses[function]++
			if ok && !strings.HasPrefix(syntax.CalleeName(call), "Load") {
				w.writes[function]++
			}
			return
		}
	}
	p, ok := syntax.PathOf(f.Info, e)
	if !ok || function == nil {
		w.failed = true
		return
	}
	if w.variable.IsField() && syntax.FreshIn(f, p.Root, parents) {
		return // nothing else knows it yet
	}
	w.accesses[function]++
	w.plain[function]++
	w.rewriteAccess(f, e, parent, function)
}

// rewriteAccess rewrites a plain access.
func (w *atomicRewriting) rewriteAccess(f *source.File, e ast.Expr, parent, function ast.Node) {
	atomic, err := w.Of(f).ImportStd("sync/atomic")
	if err != nil {
		w.failed = true
		return
	}
	call := func(verb, more string) string {
		return fmt.Sprintf("%s.%s%s(&%s%s)", atomic, verb, functionFor(w.variable), f.TextOf(e), more)
	}
	w.Note(f, e)
	switch parent := parent.(type) {
	case *ast.IncDecStmt:
		w.writes[function]++
		switch {
		case parent.Tok == token.INC:
			w.Of(f).Replace(parent, call("Add", ", 1"))
		case f.Info.TypeOf(e).Underlying().(*types.Basic).Info()&types.IsUnsigned == 0:
			w.Of(f).Replace(parent, call("Add", ", -1"))
		default:
			w.failed = true
		}
		return
	case *ast.AssignStmt:
		if len(parent.Lhs) == 1 && parent.Lhs[0] == e {
			value := parent.Rhs[0]
			w.writes[function]++
			w.failed = w.failed || syntax.MentionsField(f, value, w.variable)
			switch parent.Tok {
			case token.ASSIGN:
				w.Of(f).Replace(parent, call("Store", ", "+f.TextOf(value)))
			case token.ADD_ASSIGN:
				w.Of(f).Replace(parent, call("Add", ", "+f.TextOf(value)))
			default:
				w.failed = true
			}
			return
		}
		for _, left := range parent.Lhs {
			w.failed = w.failed || left == e
		}
	case *ast.RangeStmt:
		w.failed = true
	}
	w.Of(f).Replace(e, call("Load", ""))
}
