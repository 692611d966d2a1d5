package reshape

import (
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/arrays"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/atomics"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/channels"
)

// A finder looks for the mistakes that a failing run may show. Each repair is a method of it.
type finder struct{ *change.Run }

// families are the repairs, the most promising first.
var families = []func(*finder) []*change.Change{
	(*finder).countBeforeStart,
	(*finder).startLater,
	func(r *finder) []*change.Change { return channels.Closing(r.Run) },
	(*finder).checkAgain,
	(*finder).oneLockOrder,
	(*finder).takePairsInTurn,
	(*finder).releaseOnEveryWay,
	(*finder).releaseBeforeWait,
	(*finder).splitMethod,
	(*finder).releaseBeforeCallback,
	(*finder).waitInLoop,
	(*finder).signalUnderLock,
	func(r *finder) []*change.Change { return channels.Waiting(r.Run) },
	(*finder).lockOriginal,
	(*finder).lockElements,
	(*finder).oneLock,
	func(r *finder) []*change.Change { return atomics.Changes(r.Run) },
	func(r *finder) []*change.Change { return arrays.Changes(r.Run) },
	(*finder).variableForEach,
	(*finder).keepFirstError,
	(*finder).waitForGoroutine,
}

// Changes returns the repairs that the shape of a failure calls for, the best first.
func Changes(r *change.Run) []*change.Change {
	var all []*change.Change
	for _, family := range families {
		all = append(all, family(&finder{r})...)
	}
	return all
}
