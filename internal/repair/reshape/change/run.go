// Package change has what all repairs without a lock begin and end with: the failing run that shows the
// shape of a failure, and a change of the program with its words.
//
// A repair asks a Run where in the source something happened, and collects its edits in a Rewriting:
//
//	w := r.Rewrite()
//	w.Of(f).Replace(call, text)
//	w.Note(f, call)
//	return w.Finish(&Change{Words: ..., Mistake: ..., Reason: ...})
//
// run.go has the run, rewriting.go the edits.
package change

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Run is a failing run, as far as the shape of its failure goes.
type Run struct {
	Code *cover.Code
	// Base is the patch that the run was made with, nil for none.
	Base     *cover.Patch
	Failure  *trace.Failure
	Failures []trace.Failure // all of the run
	// Site says where an operation of the run is in the source, and FileAtRun which file of Code a
	// name in a stack of the run stands for: that of a dependency is a copy. Nil means that no
	// name is another.
	Site      func(site uint32) (Line, bool)
	FileAtRun func(name string) string
	// Started has the lines whose go statements started goroutines in the run.
	Started map[Line]bool
	// Minimal asks for changes of what the run showed and nothing else.
	Minimal bool
	// Split are the variables with atomic operations, and what takes updates of them apart.
	Split []SplitUpdate
	// Declined are mistakes that were seen and not changed, each with its place and the reason.
	// Changes fills it.
	Declined []string
}

// Decline notes a mistake that is not changed.
func (r *Run) Decline(f *source.File, n ast.Node, why string) {
	r.Declined = append(r.Declined, fmt.Sprintf("%s (%s:%d)", why, filepath.Base(f.Name), f.LineBefore(n.Pos())))
}

// A SplitUpdate is a variable of sync/atomic, or a sync.Map, and the functions that change it by what
// they have read, in several operations.
type SplitUpdate struct {
	Variable  *types.Var
	Functions []ast.Node
}

// A Line is a line of a source file.
type Line struct {
	File string
	Line int
}

// A Change is a repair that may help.
type Change struct {
	// Words say what is changed, Mistake what is wrong without it, and Reason why it helps.
	Words, Mistake, Reason string
	// Check says what is wrong with the changed program; "" if nothing. Nil if there is nothing
	// to look for that other checks do not see.
	Check func(after *cover.Code) string
	Patch *cover.Patch
	// Atomic says that data becomes atomic, which goroutines accessed without any order.
	Atomic bool
	// Whole are variables of which no update may be taken apart any more.
	Whole []*types.Var
	// Section is what the change is made of if it is a lock over regions alone: the lock can cover more, for data
	// beside. Nil for any other.
	Section *Section
}

// A Section is a lock, regions that it covers, and the data that they are there for.
type Section struct {
	Lock    *cover.Lock
	Regions []*cover.Region
	Data    *cover.Data
}

// Blocked reports whether the failure is one of goroutines that wait for ever.
func (r *Run) Blocked() bool {
	switch r.Failure.Kind {
	case event.FailureDeadlock, event.FailurePartialDeadlock, event.FailureLeak:
		return true
	}
	return false
}

// LineOf returns the innermost line of the program at a point.
func (r *Run) LineOf(at *trace.Point) (*source.File, int) {
	if line, ok := r.Site(at.Site); ok {
		if f := r.Code.File(line.File); f != nil {
			return f, line.Line
		}
	}
	for _, call := range at.Stack {
		if f := r.FileOfRun(call.File); f != nil {
			return f, call.Line
		}
	}
	return nil, 0
}

// FileOfRun is the file of the program that a stack of the run names; nil if it is none.
func (r *Run) FileOfRun(name string) *source.File {
	if r.FileAtRun != nil {
		name = r.FileAtRun(name)
	}
	return r.Code.File(name)
}

// StartedBy reports whether the run started a goroutine at a go statement.
func (r *Run) StartedBy(f *source.File, n *ast.GoStmt) bool {
	for line := f.Line(n.Pos()); line <= f.Line(n.Call.Lparen); line++ {
		if r.Started[Line{f.Name, line}] {
			return true
		}
	}
	return false
}

// OnlyStarted reports whether every use of a function is a go statement in a list.
func (r *Run) OnlyStarted(decl *ast.FuncDecl) bool {
	uses, starts := 0, 0
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			switch n := n.(type) {
			case *ast.Ident:
				if fn, ok := f.Info.Uses[n].(*types.Func); ok && r.Code.Declaration(fn.Origin()) == decl {
					uses++
				}
			case *ast.GoStmt:
				if list, _ := syntax.ListAround(n, around); list != nil {
					if d, _ := r.Declaration(f, n.Call); d == decl {
						starts++
					}
				}
			}
		})
	}
	return uses == starts
}

// MadeAgain reports whether a channel may be another one later, which would have to be closed
// again: it is assigned anywhere but where its struct or the variable itself is made.
func (r *Run) MadeAgain(channel *types.Var) bool {
	again := false
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			switch n := n.(type) {
			case *ast.IncDecStmt:
				p, ok := syntax.PathOf(f.Info, n.X)
				again = again || ok && syntax.Same(p.Variable.Origin(), channel.Origin())
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					p, ok := syntax.PathOf(f.Info, left)
					if !ok || !syntax.Same(p.Variable.Origin(), channel.Origin()) {
						continue
					}
					if id, ok := left.(*ast.Ident); ok && f.Info.Defs[id] != nil {
						continue
					}
					again = again || !channel.IsField() || !syntax.FreshIn(f, p.Root, around)
				}
			case *ast.UnaryExpr:
				if p, ok := syntax.PathOf(f.Info, n.X); ok && n.Op == token.AND && syntax.Same(p.Variable.Origin(), channel.Origin()) {
					again = true
				}
			}
		})
	}
	return again
}

// RacedVariables are the variables and fields that both sides of a race of the run name.
func (r *Run) RacedVariables() []*types.Var {
	var all []*types.Var
	for i := range r.Failures {
		race := &r.Failures[i]
		if race.Kind != event.FailureRace || len(race.Others) != 1 {
			continue
		}
		other := r.VariablesAt(&race.Others[0])
		for _, v := range r.VariablesAt(&race.Point) {
			if syntax.Contains(other, v) && !syntax.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// VariablesAt are the variables that the line of a point names.
func (r *Run) VariablesAt(at *trace.Point) []*types.Var {
	f, line := r.LineOf(at)
	if f == nil {
		return nil
	}
	var all []*types.Var
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && f.Line(id.Pos()) == line {
			if v, ok := f.Info.ObjectOf(id).(*types.Var); ok {
				all = append(all, v.Origin())
			}
		}
		return true
	})
	return all
}

// Reaches reports whether a node, or a function of the program that is named in it, in turn,
// has a node that is looked for.
func (r *Run) Reaches(f *source.File, n ast.Node, found func(*source.File, ast.Node) bool) bool {
	seen := make(map[*ast.FuncDecl]bool)
	var look func(f *source.File, n ast.Node) bool
	look = func(f *source.File, n ast.Node) bool {
		hit := false
		ast.Inspect(n, func(n ast.Node) bool {
			if n == nil || hit {
				return false
			}
			if hit = found(f, n); hit {
				return false
			}
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			fn, ok := f.Info.Uses[id].(*types.Func)
			if !ok {
				return true
			}
			if d := r.Code.Declaration(fn.Origin()); d != nil && d.Body != nil && !seen[d] {
				seen[d] = true
				hit = look(r.Code.FileOf(d), d.Body)
			}
			return !hit
		})
		return hit
	}
	return look(f, n)
}

// Declaration returns where the function of a call is declared.
func (r *Run) Declaration(f *source.File, call *ast.CallExpr) (*ast.FuncDecl, *source.File) {
	var id *ast.Ident
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	default:
		return nil, nil
	}
	fn, ok := f.Info.Uses[id].(*types.Func)
	if !ok {
		return nil, nil
	}
	decl := r.Code.Declaration(fn.Origin())
	if decl == nil {
		return nil, nil
	}
	return decl, r.Code.FileOf(decl)
}

// FieldsBeside are the other fields of the struct that a field is declared in, of some kind.
func (r *Run) FieldsBeside(v *types.Var, kind func(*types.Var) bool) []*types.Var {
	var all []*types.Var
	if !v.IsField() {
		return nil
	}
	for _, f := range r.Code.Files() {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			st, ok := n.(*ast.StructType)
			if !ok || !syntax.DeclaredIn(v, st) {
				return true
			}
			for _, field := range st.Fields.List {
				for _, name := range field.Names {
					if other, ok := f.Info.Defs[name].(*types.Var); ok && !syntax.Same(other, v) && kind(other) {
						all = append(all, other)
					}
				}
			}
			return true
		})
	}
	return all
}
