package lockset

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A context is analysed again whenever the exits of one that it calls change, and a function that makes many calls
// comes to the next of them only when the last is known to return:
//
//	a()      new: nothing is known of its exits, so that the first analysis ends here
//	b()      met by the second
//	c()      met by the third
//
// Gone through from the start each time, a function costs the square of its calls. So a context keeps what
// its visits of blocks led to. The next analysis would make the same ones in the same order until a call in
// one of them has other exits than it had, and begins at that call.

// A visit is one pass over a block in the analysis of a context.
type visit struct {
	block int
	calls []callMade
	// changed are the blocks to which the visit brought paths that they did not have.
	changed []arrival
	exits   []exit // of the context, as they were known after the visit
	// at is the instruction that the visit has come to, before the paths that lead to it.
	at     int
	before []locks.Path
}

// A callMade is a context that a call led to, with how often its exits had changed by then.
type callMade struct {
	at     int          // the index of the instruction in the block
	before []locks.Path // that lead to it
	callee *Context
	change int
}

// An arrival is the paths that are known to lead to a block.
type arrival struct {
	block int
	paths []locks.Path
}

// stillHold returns the visits of the last analysis that the next one would begin with, too, and the one in
// which it would come to a call that has other exits now, up to there.
func (ctx *Context) stillHold() (whole []visit, begun *visit) {
	for i, v := range ctx.visits {
		for _, c := range v.calls {
			if c.callee.changes != c.change {
				first := slices.IndexFunc(v.calls, func(d callMade) bool { return d.at == c.at })
				return ctx.visits[:i:i], &visit{block: v.block, calls: v.calls[:first:first], at: c.at, before: c.before}
			}
		}
	}
	return ctx.visits, nil
}

// note notes that the visit that is being made has called a context. An instruction may lead to several.
func (v *visit) note(callee *Context) {
	c := callMade{v.at, v.before, callee, callee.changes}
	if n := len(v.calls); n > 0 && v.calls[n-1].at == c.at && v.calls[n-1].callee == callee {
		return
	}
	v.calls = append(v.calls, c)
}
