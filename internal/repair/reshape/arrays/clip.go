package arrays

import (
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// clip has an append make a new array if what it returns is not to take the place of what it is given: of
// two goroutines that append to one slice, each writes its element to the same room behind the last.
//
//	func (c Chain) Use(s Step) Chain {
//		c.steps = append(c.steps, s)     c.steps = append(slices.Clip(c.steps), s)
//		return c
//	}
func clip(r *change.Run) []*change.Change {
	var clipped []*types.Var
	for i := range r.Failures {
		race := &r.Failures[i]
		if race.Kind != event.FailureRace {
			continue
		}
		for _, at := range append(race.Others[:len(race.Others):len(race.Others)], race.Point) {
			f, line := r.LineOf(&at)
			if f == nil {
				continue
			}
			eachShared(f, func(a *ast.CallExpr, v *types.Var) {
				if f.Line(a.Pos()) == line && !syntax.Contains(clipped, v) {
					clipped = append(clipped, v)
				}
			})
		}
	}
	w := r.Rewrite()
	var names []string
	for _, f := range r.Code.Files() {
		if strings.HasSuffix(f.Name, "_test.go") {
			continue
		}
		eachShared(f, func(a *ast.CallExpr, v *types.Var) {
			if !syntax.Contains(clipped, v) {
				return
			}
			x := f.TextOf(a.Args[0])
			text := x + "[:len(" + x + "):len(" + x + ")]"
			if m := f.Package.Module; m != nil && version.Compare("go"+m.GoVersion, "go1.21") >= 0 {
				if name, err := w.Of(f).ImportStd("slices"); err == nil {
					text = name + ".Clip(" + x + ")"
				}
			}
			w.Of(f).Replace(a.Args[0], text)
			w.Note(f, a)
			if !slices.Contains(names, v.Name()) {
				names = append(names, v.Name())
			}
		})
	}
	return w.Finish(&change.Change{
		Words:   "what is appended to " + strings.Join(names, " and ") + " goes into a new array",
		Mistake: "an append writes into the room behind a slice that others append to as well",
		Reason:  "each slice that append returns has its last elements to itself",
	})
}

// eachShared calls visit for each append of a file to a slice that stays what it is, with the field or
// variable that is appended to.
func eachShared(f *source.File, visit func(a *ast.CallExpr, v *types.Var)) {
	syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
		a, ok := n.(*ast.CallExpr)
		if !ok || !syntax.IsBuiltin(f.Info, a, "append") || len(a.Args) < 2 {
			return
		}
		p, ok := syntax.PathOf(f.Info, a.Args[0])
		_, body := syntax.FunctionAround(around)
		if !ok || body == nil || p.Variable == nil {
			return
		}
		set, isSet := around[len(around)-1].(*ast.AssignStmt)
		switch {
		case isSet && len(set.Lhs) != len(set.Rhs):
			return
		case isSet && source.SameExpression(f.Info, set.Lhs[slices.Index(set.Rhs, ast.Expr(a))], a.Args[0]):
			if loop, _ := syntax.LoopAround(around); loop != nil || !isCopyOfCaller(f, a.Args[0], around) {
				return // in a loop, each round would copy what the rounds before have appended
			}
		case isPutBack(f, body, a.Args[0], set):
			return
		}
		visit(a, p.Variable.Origin())
	})
}

// isCopyOfCaller reports whether an expression names a part of a parameter or receiver that is a copy of
// what the caller has: its array is the caller's, and only that.
func isCopyOfCaller(f *source.File, e ast.Expr, around []ast.Node) bool {
	for {
		s, ok := ast.Unparen(e).(*ast.SelectorExpr)
		if !ok {
			break
		}
		if selection := f.Info.Selections[s]; selection == nil || selection.Indirect() {
			return false
		}
		e = s.X
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	fn, _ := syntax.FunctionAround(around)
	var lists []*ast.FieldList
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		lists = []*ast.FieldList{fn.Recv, fn.Type.Params}
	case *ast.FuncLit:
		lists = []*ast.FieldList{fn.Type.Params}
	}
	for _, list := range lists {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, name := range field.Names {
				if f.Info.Defs[name] == f.Info.Uses[id] {
					return true
				}
			}
		}
	}
	return false
}

// isPutBack reports whether what a statement makes of a slice takes the slice's place later in the function.
func isPutBack(f *source.File, body *ast.BlockStmt, slice ast.Expr, made *ast.AssignStmt) bool {
	if made == nil {
		return false
	}
	back := false
	ast.Inspect(body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || set == made || set.Tok != token.ASSIGN {
			return !back
		}
		for _, to := range set.Lhs {
			back = back || source.SameExpression(f.Info, to, slice)
		}
		return !back
	})
	return back
}
