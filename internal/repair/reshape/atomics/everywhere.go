package atomics

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

// atomicFunctions are what the functions of sync/atomic for a type have in their names.
var atomicFunctions = map[types.BasicKind]string{
	types.Int32: "Int32", types.Int64: "Int64", types.Uint32: "Uint32", types.Uint64: "Uint64", types.Uintptr: "Uintptr",
	types.UnsafePointer: "Pointer",
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

// functionFor is what the functions of sync/atomic for a variable, or for its elements, have in their
// names; "" if there are none.
func functionFor(v *types.Var) string {
	t := types.Unalias(v.Type())
	if element := elementOf(t); element != nil {
		t = types.Unalias(element)
	}
	if b, ok := t.(*types.Basic); ok {
		return atomicFunctions[b.Kind()]
	}
	return ""
}

// elementOf is the type of the elements of an array or a slice; nil for another type.
func elementOf(t types.Type) types.Type {
	switch t := t.Underlying().(type) {
	case *types.Array:
		return t.Elem()
	case *types.Slice:
		return t.Elem()
	}
	return nil
}

// An atomicRewriting is a Rewriting of all plain accesses to a variable.
type atomicRewriting struct {
	*change.Rewriting
	run      *finder
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
	w := &atomicRewriting{Rewriting: to, run: r, variable: v, accesses: make(map[ast.Node]int), writes: make(map[ast.Node]int), plain: make(map[ast.Node]int)}
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
	// The whole path is what is accessed, with an element if the variable has some.
	e, parents := ast.Expr(id), around
	if selector, ok := parents[len(parents)-1].(*ast.SelectorExpr); ok && selector.Sel == id {
		e, parents = selector, parents[:len(parents)-1]
	}
	function, _ := syntax.FunctionAround(parents)
	parent := parents[len(parents)-1]
	if field, ok := parent.(*ast.KeyValueExpr); ok && field.Key == e {
		return // of a struct that is being made
	}
	p, ok := syntax.PathOf(f.Info, e)
	if !ok || function == nil {
		w.failed = true
		return
	}
	fresh := w.variable.IsField() && syntax.FreshIn(f, p.Root, parents)
	if elementOf(w.variable.Type()) != nil {
		element, ok := parent.(*ast.IndexExpr)
		switch {
		case fresh:
			return
		case ok && element.X == e && !syntax.Calls(element.Index):
			e, parents = element, parents[:len(parents)-1]
			parent = parents[len(parents)-1]
		default:
			w.wholeAccess(f, e, parent, function)
			return
		}
	}
	if address, ok := parent.(*ast.UnaryExpr); ok && address.Op == token.AND {
		verbs, ok := w.usesOfAddress(f, address, parents[:len(parents)-1], function)
		w.failed = w.failed || !ok
		w.already++
		w.accesses[function]++
		if !onlyLoads(verbs) {
			w.writes[function]++
		}
		return
	}
	if fresh {
		return // nothing else knows it yet
	}
	w.accesses[function]++
	w.plain[function]++
	w.rewriteAccess(f, e, parent, function)
}

// wholeAccess is for an access to an array or slice and not to an element: a loop over its elements, which
// loads each, or its length.
//
//	for _, n := range s.counts {       for i := range s.counts {
//		sum += n                       	n := atomic.LoadInt64(&s.counts[i])
//	}                                  	sum += n
//	                                   }
func (w *atomicRewriting) wholeAccess(f *source.File, e ast.Expr, parent, function ast.Node) {
	if call, ok := parent.(*ast.CallExpr); ok && (syntax.IsBuiltin(f.Info, call, "len") || syntax.IsBuiltin(f.Info, call, "cap")) {
		return
	}
	loop, ok := parent.(*ast.RangeStmt)
	if !ok || loop.X != e || loop.Tok != token.DEFINE {
		w.failed = true
		return
	}
	if loop.Value == nil {
		return
	}
	key, _ := loop.Key.(*ast.Ident)
	value, ok := loop.Value.(*ast.Ident)
	atomic, err := w.Of(f).ImportStd("sync/atomic")
	if key == nil || !ok || err != nil {
		w.failed = true
		return
	}
	index := key.Name
	if index == "_" {
		index = source.NamesIn(function).Free("i")
	}
	w.accesses[function]++
	w.plain[function]++
	w.Note(f, loop)
	w.Of(f).ReplaceBetween(loop.Key.Pos(), loop.Value.End(), index)
	w.Of(f).InsertAfter(loop.Body.Lbrace+1, fmt.Sprintf("\n%s := %s.Load%s(&%s[%s])", value.Name, atomic, functionFor(w.variable), f.TextOf(e), index))
}

// onlyLoads reports whether functions of sync/atomic do nothing but load.
func onlyLoads(verbs []string) bool {
	return !slices.ContainsFunc(verbs, func(name string) bool { return !strings.HasPrefix(name, "Load") })
}

// usesOfAddress are the functions of sync/atomic that an address is for: it is given to one, or to a
// function of the program whose parameter is, or is the value of a variable that is. It is false if
// the address is for anything else.
func (w *atomicRewriting) usesOfAddress(f *source.File, address ast.Expr, parents []ast.Node, function ast.Node) (verbs []string, ok bool) {
	switch parent := parents[len(parents)-1].(type) {
	case *ast.CallExpr:
		if syntax.IsAtomic(f.Info, parent) {
			return []string{syntax.CalleeName(parent)}, parent.Args[0] == address
		}
		decl, in := w.run.Declaration(f, parent)
		if decl == nil || decl.Body == nil || decl.Recv != nil {
			return nil, false
		}
		for _, field := range decl.Type.Params.List {
			for _, name := range field.Names {
				if syntax.ArgumentOf(in.Info, parent, decl.Type, nil, in.Info.Defs[name]) == address {
					return atomicUses(in, decl, in.Info.Defs[name])
				}
			}
		}
	case *ast.AssignStmt:
		if name, value := definition(parent); name != nil && value == address {
			return atomicUses(f, function, f.Info.Defs[name])
		}
	}
	return nil, false
}

// atomicUses are the functions of sync/atomic that a pointer in a variable is given to. It is false if
// the pointer is used for anything else.
func atomicUses(f *source.File, function ast.Node, pointer types.Object) (verbs []string, ok bool) {
	ok = pointer != nil
	syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
		id, isID := n.(*ast.Ident)
		if !isID || f.Info.Uses[id] != pointer || !syntax.Within(n, function) {
			return
		}
		call, isCall := around[len(around)-1].(*ast.CallExpr)
		if !isCall || !syntax.IsAtomic(f.Info, call) || call.Args[0] != ast.Expr(id) {
			ok = false
			return
		}
		verbs = append(verbs, syntax.CalleeName(call))
	})
	return verbs, ok && len(verbs) > 0
}

// minusOne is what Add takes to count down a word of a type.
func minusOne(kind *types.Basic) string {
	if kind.Info()&types.IsUnsigned != 0 {
		return "^" + kind.Name() + "(0)"
	}
	return "-1"
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
		step := "1"
		if parent.Tok == token.DEC {
			step = minusOne(f.Info.TypeOf(e).Underlying().(*types.Basic))
		}
		w.Of(f).Replace(parent, call("Add", ", "+step))
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
