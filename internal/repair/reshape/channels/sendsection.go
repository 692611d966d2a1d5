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
// within the section: whatever closes such a channel holds the same lock, and has taken it from where
// it is looked up. Only a send that does not wait can be there.
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
		if section := r.sectionBefore(f, body, send); section != nil && r.closesHold(f.Info.TypeOf(send.Chan), section.class) {
			changes = r.keepOverSend(f, section)
		}
	})
	return changes
}

func hasDefault(s *ast.SelectStmt) bool {
	return slices.ContainsFunc(s.Body.List, func(clause ast.Stmt) bool { return clause.(*ast.CommClause).Comm == nil })
}

// A sectionBefore is a section among the statements of a function, and a statement behind it that sends.
type sectionBefore struct {
	class                  *types.Var // of its lock
	list                   []ast.Stmt
	taken, released, sends int // in list
}

// sectionBefore is the last section before a send; nil if there is none, or something waits in between.
func (r *finder) sectionBefore(f *source.File, body *ast.BlockStmt, send *ast.SendStmt) *sectionBefore {
	s := &sectionBefore{list: body.List, taken: -1, released: -1}
	s.sends = slices.IndexFunc(body.List, func(stmt ast.Stmt) bool { return syntax.Within(send, stmt) })
	for i, stmt := range body.List[:max(s.sends, 0)] {
		call := syntax.CallOf(stmt)
		if call == nil {
			continue
		}
		if op, ok := r.Code.Locks().Op(f.Info, call); ok {
			class := r.Code.Locks().Places.ClassOf(op)
			switch {
			case op.Verb != locks.Release:
				s.class, s.taken, s.released = class, i, -1
			case s.taken >= 0 && syntax.Same(class, s.class):
				s.released = i
			}
		}
	}
	if s.class == nil || s.released < 0 || syntax.MayWait(f, s.list[s.released+1:s.sends]) {
		return nil
	}
	return s
}

// closesHold reports whether all closes of channels of a type hold a lock, and there are any.
func (r *finder) closesHold(channel types.Type, class *types.Var) bool {
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
			function, _ := syntax.FunctionAround(around)
			flow := r.Code.Locks().Flow(function)
			all = all && flow != nil && slices.ContainsFunc(flow.Held(call), func(h locks.Held) bool {
				return !h.Maybe && h.Mode == locks.Write && syntax.Same(r.Code.Locks().Places.Class(h.Lock), class)
			})
		})
	}
	return closes > 0 && all
}

// keepOverSend has the section last until the send is done.
func (r *finder) keepOverSend(f *source.File, s *sectionBefore) []*change.Change {
	w := r.Rewrite()
	release := f.TextOf(s.list[s.released])
	w.Of(f).Delete(s.list[s.released])
	if s.sends == len(s.list)-1 {
		w.Of(f).LineAfter(s.list[s.taken], "defer "+release)
	} else {
		w.Of(f).LineAfter(s.list[s.sends], release)
	}
	w.Note(f, s.list[s.sends])
	return w.Finish(&change.Change{
		Words:   "the lock " + s.class.Name() + " is held until the channels are sent to that were looked up with it",
		Mistake: "a channel is closed between the look for it and the send",
		Reason:  "the close holds the lock too, so that it comes before the look or after the send, which does not wait",
	})
}
