// Package arrays writes the repairs for slices that share an array with others. No lock helps where a
// slice was handed over and its array is filled again while its new owner reads it: the owner is done with
// the lock, and reads what it was given.
//
//	items := b.items             items := b.items
//	b.items = b.items[:0]        b.items = nil
//	go write(items)              go write(items)
//
// A slice that users see, or that is compared with nil, stays one that is empty and not nil:
//
//	b.Items = b.Items[:0]        b.Items = b.Items[len(b.Items):]
//
// Nor does one where several goroutines append to what they have each been given:
//
//	return append(base, x)       return append(slices.Clip(base), x)
//
//	arrays.go     a slice that was handed over
//	clip.go       appends to one slice
package arrays

import (
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

// Changes returns the repairs, the best first.
func Changes(r *change.Run) []*change.Change {
	if r.Blocked() {
		return nil
	}
	return slices.Concat(handedOver(r), clip(r))
}

// handedOver gives slices new arrays where they are emptied, if they were handed over before. What calls a
// function with a slice mostly lends it: that counts if the run raced where the slice is used.
func handedOver(r *change.Run) []*change.Change {
	raced := racedSlices(r)
	w := r.Rewrite()
	var names []string
	for _, f := range r.Code.Files() {
		if strings.HasSuffix(f.Name, "_test.go") {
			continue
		}
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			set, ok := n.(*ast.AssignStmt)
			if !ok {
				return
			}
			x := emptied(f.Info, set)
			_, body := syntax.FunctionAround(around)
			if x == nil || body == nil {
				return
			}
			p, ok := syntax.PathOf(f.Info, x)
			if !ok {
				return
			}
			given := handing{f.Info, x, set, syntax.Contains(raced, p.Variable.Origin())}
			if !given.isIn(body) {
				return
			}
			u := usesOf(r, p.Variable)
			if u.beyondLength {
				r.Decline(f, set, "the array of "+p.Variable.Name()+" is filled again while what it was handed to may read it, and its capacity is used elsewhere")
				return
			}
			text := "nil"
			if u.comparedWithNil || p.Variable.Exported() {
				text = f.TextOf(x) + "[len(" + f.TextOf(x) + "):]"
			}
			w.Of(f).Replace(set.Rhs[0], text)
			w.Note(f, set)
			if !slices.Contains(names, p.Variable.Name()) {
				names = append(names, p.Variable.Name())
			}
		})
	}
	return w.Finish(&change.Change{
		Words:   strings.Join(names, " and ") + " begins a new array when it was handed over",
		Mistake: "the array that was handed over is filled again while it is read",
		Reason:  "what was handed over has its array to itself",
	})
}

// racedSlices are the variables that a side of a race of the run names: the new owner of an array has
// another name for it.
func racedSlices(r *change.Run) []*types.Var {
	var all []*types.Var
	for i := range r.Failures {
		race := &r.Failures[i]
		if race.Kind != event.FailureRace {
			continue
		}
		all = append(all, r.VariablesAt(&race.Point)...)
		for j := range race.Others {
			all = append(all, r.VariablesAt(&race.Others[j])...)
		}
	}
	return all
}

// emptied is the slice that a statement empties in place; nil if it does not.
func emptied(info *types.Info, set *ast.AssignStmt) ast.Expr {
	if set.Tok != token.ASSIGN || len(set.Lhs) != 1 || len(set.Rhs) != 1 {
		return nil
	}
	part, ok := ast.Unparen(set.Rhs[0]).(*ast.SliceExpr)
	if !ok || !isEmptyPart(info, part) || !source.SameExpression(info, set.Lhs[0], part.X) {
		return nil
	}
	if _, ok := info.TypeOf(part.X).Underlying().(*types.Slice); !ok {
		return nil
	}
	return set.Lhs[0]
}

// isEmptyPart reports whether a slice expression is x[:0].
func isEmptyPart(info *types.Info, part *ast.SliceExpr) bool {
	if part.Low != nil || part.High == nil || part.Max != nil {
		return false
	}
	value := info.Types[part.High].Value
	return value != nil && value.String() == "0"
}

// A handing is what is looked for in a function that empties a slice: that it gives the slice another
// name, or to something else.
type handing struct {
	info     *types.Info
	slice    ast.Expr
	emptying ast.Stmt
	byCalls  bool // an argument of any call is handed over, and not only one of a go statement
}

// isIn reports whether a slice is handed over in a body. In a loop that may stand below where it is emptied.
func (h *handing) isIn(body *ast.BlockStmt) bool {
	found := false
	var around []ast.Node
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return false
		}
		if e, ok := n.(ast.Expr); ok && source.SameExpression(h.info, e, h.slice) {
			found = found || h.hasNewOwner(e, around)
		}
		around = append(around, n)
		return true
	})
	return found
}

// hasNewOwner reports whether a slice, or a part of it, is assigned, sent, or an argument or element of
// something, with what is around it.
func (h *handing) hasNewOwner(e ast.Expr, around []ast.Node) bool {
	for i := len(around) - 1; i >= 0; i-- {
		switch outer := around[i].(type) {
		case *ast.ParenExpr:
			e = outer
		case *ast.SliceExpr:
			if outer.X != e {
				return false
			}
			e = outer
		case *ast.AssignStmt:
			return outer != h.emptying && slices.Contains(outer.Rhs, e)
		case *ast.ValueSpec:
			return slices.Contains(outer.Values, e)
		case *ast.SendStmt:
			return outer.Value == e
		case *ast.KeyValueExpr:
			return outer.Value == e
		case *ast.CompositeLit:
			return slices.Contains(outer.Elts, e)
		case *ast.CallExpr:
			_, builtin := h.info.Uses[source.CalleeName(outer)].(*types.Builtin)
			_, starts := around[max(i-1, 0)].(*ast.GoStmt)
			return !builtin && slices.Contains(outer.Args, e) && (starts || h.byCalls)
		default:
			return false
		}
	}
	return false
}

// uses are what a program does with a slice besides its elements.
type uses struct {
	comparedWithNil bool
	// beyondLength says that it asks for the capacity, or takes a part by its own bounds, which may lie
	// behind the length.
	beyondLength bool
}

func usesOf(r *change.Run, v *types.Var) (u uses) {
	for _, f := range r.Code.Files() {
		is := func(e ast.Expr) bool {
			p, ok := syntax.PathOf(f.Info, e)
			return ok && syntax.Same(p.Variable.Origin(), v.Origin())
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				u.comparedWithNil = u.comparedWithNil || is(n.X) && f.Info.Types[n.Y].IsNil() || is(n.Y) && f.Info.Types[n.X].IsNil()
			case *ast.CallExpr:
				u.beyondLength = u.beyondLength || syntax.IsBuiltin(f.Info, n, "cap") && is(n.Args[0])
			case *ast.SliceExpr:
				u.beyondLength = u.beyondLength || is(n.X) && n.High != nil && !isEmptyPart(f.Info, n)
			}
			return true
		})
	}
	return u
}
