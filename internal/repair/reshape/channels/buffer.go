package channels

import (
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
// loop over something that has a length.
func (r *finder) makeRoom(f *source.File, channel *types.Var) []*change.Change {
	made, body := syntax.Making(f, channel)
	if made == nil {
		return nil
	}
	room, ok := syntax.Answers(f, channel, made, body)
	if !ok {
		return nil
	}
	w := r.Rewrite()
	w.Of(f).InsertAfter(made.Args[0].End(), ", "+room)
	w.Note(f, made)
	return w.Finish(&change.Change{
		Words:   "the channel " + channel.Name() + " has room for what nothing may be left to receive",
		Mistake: "the goroutine that receives may have gone on without an answer",
		Reason:  "a goroutine that sends does not wait, whether its answer is received or not, so that it ends",
	})
}
