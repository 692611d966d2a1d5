package channels

import (
	"go/ast"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// roomForAnswer gives a channel of a function as much room as there are answers that
// goroutines of the function may send to it, so that none of them is left with its answer.
func (r *finder) roomForAnswer() []*change.Change {
	if !r.Blocked() {
		return nil
	}
	var changes []*change.Change
	var seen []*types.Var
	for i := range r.Failure.Waiting {
		waiter := &r.Failure.Waiting[i]
		if waiter.Shape != event.AbandonedChannel || waiter.Capacity > 0 {
			continue
		}
		f, line := r.LineOf(&waiter.Point)
		if f == nil {
			continue
		}
		for _, channel := range syntax.SentOn(f, line) {
			if syntax.Contains(seen, channel) {
				continue
			}
			seen = append(seen, channel)
			changes = append(changes, r.makeRoom(f, channel)...)
		}
	}
	return changes
}

// makeRoom gives a channel room for all that is sent to it, if that can be counted: each send
// happens at most once in its goroutine, and goroutines start once, or once for each round of a
// loop over something that has a length. Channels that a select receives from beside it get room too: what
// leaves the one may leave the others.
func (r *finder) makeRoom(f *source.File, channel *types.Var) []*change.Change {
	made, body := syntax.Making(f, channel)
	if made == nil {
		return nil
	}
	w := r.Rewrite()
	names := ""
	for _, c := range append([]*types.Var{channel}, receivedBeside(f, body, channel)...) {
		made, in := syntax.Making(f, c)
		if made == nil || in != body {
			continue
		}
		room, ok := syntax.Answers(f, c, made, body)
		switch {
		case ok:
			w.Of(f).InsertAfter(made.Args[0].End(), ", "+room)
			w.Note(f, made)
			if names != "" {
				names += " and "
			}
			names += c.Name()
		case c == channel:
			return nil
		}
	}
	words := "the channel " + names + " has room for what nothing may be left to receive"
	if names != channel.Name() {
		words = "the channels " + names + " have room for what nothing may be left to receive"
	}
	return w.Finish(&change.Change{
		Words:   words,
		Mistake: "the goroutine that receives may have gone on without an answer",
		Reason:  "a goroutine that sends does not wait, whether its answer is received or not, so that it ends",
	})
}

// receivedBeside are the channels from which a select of a function receives that receives from a certain one.
func receivedBeside(f *source.File, body *ast.BlockStmt, channel *types.Var) []*types.Var {
	var all []*types.Var
	ast.Inspect(body, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectStmt)
		if !ok {
			return true
		}
		var received []*types.Var
		for _, clause := range s.Body.List {
			comm := clause.(*ast.CommClause).Comm
			if comm == nil {
				continue
			}
			ast.Inspect(comm, func(n ast.Node) bool {
				if u, ok := n.(*ast.UnaryExpr); ok {
					if c := syntax.ChannelOf(f, u); c != nil {
						received = append(received, c)
					}
				}
				return true
			})
		}
		if syntax.Contains(received, channel) {
			for _, c := range received {
				if c != channel && !syntax.Contains(all, c) {
					all = append(all, c)
				}
			}
		}
		return true
	})
	return all
}
