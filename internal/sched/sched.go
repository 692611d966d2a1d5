package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// A Turn is a moment of a run at which a goroutine has to be chosen for the next step.
// It and its slices belong to the caller, which uses them again for the next turn.
type Turn struct {
	// Step counts the steps taken so far by all goroutines.
	Step uint64
	// Current is the goroutine that took the last step, if it could go on; 0 if it
	// ended or waits for something.
	Current uint32
	// Last is the goroutine that took the last step, whether it can go on or not; 0
	// before the first step. Taken is how many steps it has taken in this run. Every
	// step counts in Taken, also those about which Pick was not asked.
	Last  uint32
	Taken uint64
	// Ready lists the goroutines that can take a step, in ascending order. It is never
	// empty.
	//
	// One that is about to do something for which it may have to wait (to lock, to
	// receive...) is ready until it has tried: to find that it has to wait is a step of
	// its own, after which Current is 0. Afterwards it is ready again when it can go on,
	// or may try again. So a goroutine is never seen to wait for something that it was
	// not seen to ask for, and the order in which several ask is in the schedule.
	Ready []uint32
	// Ops is parallel to Ready: what each of them will do if it is picked.
	Ops []event.Op
}

// A Strategy decides which goroutine goes next, in one run after the other.
//
// Each run is Begin, then any number of calls of Pick and Branch, then End.
type Strategy interface {
	Begin()
	// Pick returns the index in Ready of the goroutine that takes the next step.
	Pick(*Turn) int
	// Branch returns which of n possibilities (ready cases of a select, and the like)
	// goroutine g takes in the middle of its step, from 0. n is at least 2.
	Branch(g, site uint32, n int) int
	End(event.Ending)
	// Watches reports whether Pick has to be called at points with one ready goroutine
	// too. It may change between runs only, and makes no difference to Step and Taken: a
	// schedule means the same whether it is watched or not.
	Watches() bool
	// Next returns how many steps goroutine g has to have taken when Pick has to be called
	// for the choice after it: up to then, as long as g can go on and does not yield, Pick
	// would return the Default. 0 means always.
	Next(g uint32) uint64
	// Exhausted reports, between runs, that there is nothing left to try.
	Exhausted() bool
	// Progress returns, between runs, what has been tried.
	Progress() Progress
}

// Default returns the choice that is made where a schedule says nothing: the current
// goroutine goes on; if it cannot, or asks for others to go first, the ready one with
// the next higher number, and after the highest the lowest.
//
// Going round, instead of always taking the lowest, is what lets a run end in which
// several goroutines wait for another by yielding.
func (p *Turn) Default() int {
	if i := p.current(); i >= 0 && (!yields(&p.Ops[i]) || len(p.Ready) == 1) {
		return i
	}
	if i := p.from(p.Last + 1); i < len(p.Ready) {
		return i
	}
	return 0
}

// current returns the index of the current goroutine, -1 if it cannot go on.
func (p *Turn) current() int {
	if p.Current == 0 {
		return -1
	}
	return p.index(p.Current)
}

// index returns the index of g among the ready, -1 if it is not.
func (p *Turn) index(g uint32) int {
	if i := p.from(g); i < len(p.Ready) && p.Ready[i] == g {
		return i
	}
	return -1
}

// from returns the index of the first of the ready that is g or comes after it.
func (p *Turn) from(g uint32) int {
	lo, hi := 0, len(p.Ready)
	for lo < hi {
		if mid := (lo + hi) / 2; p.Ready[mid] < g {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Preempts reports whether the choice of i takes the turn from a goroutine that could
// have gone on and did not offer it.
func (p *Turn) Preempts(i int) bool {
	c := p.current()
	return c >= 0 && c != i && !yields(&p.Ops[c])
}

// yields reports whether the goroutine asks for others to go first. One that is about
// to sleep is going to be out of the way by itself.
func yields(op *event.Op) bool { return op.Yield && op.Kind != event.Sleep }
