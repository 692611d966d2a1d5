package channels

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// sendInSection has a function that looks up channels in a section, and sends to them behind it, send
// within the section, and so it has those close that take a channel from there in a section and close it
// behind that. A channel is then closed before it can be looked up, or after it was sent to. Only a send
// that does not wait can be there.
//
//	b.mu.Lock()                            b.mu.Lock()
//	ch := b.subs[id]                       defer b.mu.Unlock()
//	delete(b.subs, id)                     ch := b.subs[id]
//	b.mu.Unlock()                          delete(b.subs, id)
//	close(ch)                              close(ch)
func (r *finder) sendInSection() []*change.Change {
	if r.Failure.Cause != event.SendOnClosed {
		return nil
	}
	f, line := r.LineOf(&r.Failure.Point)
	if f == nil {
		return nil
	}
	var changes []*change.Change
	syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
		send, ok := n.(*ast.SendStmt)
		if !ok || len(changes) > 0 {
			return
		}
		choice := syntax.SelectOf(around)
		if at := f.Line(send.Pos()); at != line && (choice == nil || f.Line(choice.Pos()) != line) {
			return
		}
		_, body := syntax.FunctionAround(around)
		if choice == nil || body == nil || !hasDefault(choice) {
			return
		}
		section := r.sectionBefore(f, body, send)
		if section == nil {
			return
		}
		if behind, ok := r.closesBehind(f.Info.TypeOf(send.Chan), section); ok {
			changes = r.keepSections(append([]*sectionBefore{section}, behind...))
		}
	})
	return changes
}

func hasDefault(s *ast.SelectStmt) bool {
	return slices.ContainsFunc(s.Body.List, func(clause ast.Stmt) bool { return clause.(*ast.CommClause).Comm == nil })
}

// A sectionBefore is a section among the statements of a function, and a statement behind it that sends
// or closes.
type sectionBefore struct {
	file                  *source.File
	class                 *types.Var // of its lock
	mode                  locks.Mode
	list                  []ast.Stmt
	taken, released, acts int // in list
}

// sectionBefore is the last section before a node; nil if there is none, or something waits in between.
func (r *finder) sectionBefore(f *source.File, body *ast.BlockStmt, n ast.Node) *sectionBefore {
	s := &sectionBefore{file: f, list: body.List, taken: -1, released: -1}
	s.acts = slices.IndexFunc(body.List, func(stmt ast.Stmt) bool { return syntax.Within(n, stmt) })
	for i, stmt := range body.List[:max(s.acts, 0)] {
		call := syntax.CallOf(stmt)
		if call == nil {
			continue
		}
		if op, ok := r.Code.Locks().Op(f.Info, call); ok {
			class := r.Code.Locks().Places.ClassOf(op)
			switch {
			case op.Verb != locks.Release:
				s.class, s.mode, s.taken, s.released = class, op.Mode, i, -1
			case s.taken >= 0 && syntax.Same(class, s.class):
				s.released = i
			}
		}
	}
	if s.class == nil || s.released < 0 || syntax.MayWait(f, s.list[s.released+1:s.acts]) {
		return nil
	}
	return s
}

// closesBehind are the sections behind which channels of a type are closed that another section looks up.
// All closes of such channels must be in a section of the lock or behind one, and there must be one.
func (r *finder) closesBehind(channel types.Type, looks *sectionBefore) (behind []*sectionBefore, ok bool) {
	element := channel.Underlying().(*types.Chan).Elem()
	closes, all := 0, true
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok || !syntax.IsBuiltin(f.Info, call, "close") {
				return
			}
			if t, ok := f.Info.TypeOf(call.Args[0]).Underlying().(*types.Chan); !ok || !types.Identical(t.Elem(), element) {
				return
			}
			closes++
			function, body := syntax.FunctionAround(around)
			flow := r.Code.Locks().Flow(function)
			if flow != nil && slices.ContainsFunc(flow.Held(call), func(h locks.Held) bool {
				return !h.Maybe && h.Mode == locks.Write && syntax.Same(r.Code.Locks().Places.Class(h.Lock), looks.class)
			}) {
				return
			}
			s := (*sectionBefore)(nil)
			if body != nil {
				s = r.sectionBefore(f, body, call)
			}
			if s == nil || !syntax.Same(s.class, looks.class) || s.mode != locks.Write || !s.takesOut(looks) || syntax.MayWait(f, s.list[s.acts:s.acts+1]) {
				all = false
				return
			}
			if !slices.ContainsFunc(behind, func(o *sectionBefore) bool { return o.list[o.taken] == s.list[s.taken] }) {
				behind = append(behind, s)
			}
		})
	}
	return behind, closes > 0 && all
}

// takesOut reports whether a section changes, or takes something out of, a field that another one looks at.
func (s *sectionBefore) takesOut(looks *sectionBefore) bool {
	looksAt := func(x ast.Expr) bool {
		if element, ok := ast.Unparen(x).(*ast.IndexExpr); ok {
			x = element.X
		}
		p, ok := syntax.PathOf(s.file.Info, x)
		return ok && p.Variable.IsField() && slices.ContainsFunc(looks.list[looks.taken:looks.released], func(stmt ast.Stmt) bool {
			return syntax.MentionsField(looks.file, stmt, p.Variable.Origin())
		})
	}
	found := false
	for _, stmt := range s.list[s.taken:s.released] {
		ast.Inspect(stmt, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				removes := syntax.IsBuiltin(s.file.Info, n, "delete") || syntax.IsBuiltin(s.file.Info, n, "clear")
				found = found || removes && looksAt(n.Args[0])
			case *ast.AssignStmt:
				found = found || slices.ContainsFunc(n.Lhs, looksAt)
			}
			return !found
		})
	}
	return found
}

// keepSections has sections last until what follows them is done.
func (r *finder) keepSections(all []*sectionBefore) []*change.Change {
	w := r.Rewrite()
	for _, s := range all {
		s.keep(w)
		w.Note(s.file, s.list[s.acts])
	}
	return w.Finish(&change.Change{
		Words:   "the lock " + all[0].class.Name() + " is held until the channels are sent to, or closed, that were looked up with it",
		Mistake: "a channel is closed between the look for it and the send",
		Reason:  "a close is in the section that takes the channel out, so that it comes before the look or after the send, which does not wait",
	})
}

// keep has a section last until the statement behind it is done: to the end of the function, if no more
// than a return follows, and so whichever way leads out.
func (s *sectionBefore) keep(w *change.Rewriting) {
	release := s.file.TextOf(s.list[s.released])
	edits := w.Of(s.file)
	if !endsWith(s.list[s.acts:]) {
		edits.Delete(s.list[s.released])
		edits.LineAfter(s.list[s.acts], release)
		return
	}
	edits.LineAfter(s.list[s.taken], "defer "+release)
	for _, stmt := range s.list[s.taken:s.acts] {
		ast.Inspect(stmt, func(n ast.Node) bool {
			if x, ok := n.(*ast.ExprStmt); ok && s.file.TextOf(x) == release {
				edits.Delete(x)
			}
			return true
		})
	}
}
