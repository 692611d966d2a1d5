package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// Time is what can go next beside the goroutines: it moves on to the next moment at which
// a timer does something. It has a number that no goroutine has.
//
// Time moves by itself, as a step that is not asked about, when no goroutine is ready. That
// it moves although some are is a stall: the machine was slow, and what the goroutines were
// about to do took longer than until that moment. A stall is counted like a preemption, and
// may go over several moments for the same price. After it, the turn is the same one again,
// with what the timers have made ready.
const Time uint32 = 0

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
	// Idle is how often time has moved by itself since that step, Stalled over how many
	// moments by choice since then.
	Idle, Stalled uint32
	// Ready lists the goroutines that can take a step, in ascending order, and after them
	// Time if it may move on. It is never empty. Time is alone in it when it moves by
	// itself, which is shown to strategies that watch.
	//
	// One that is about to do something for which it may have to wait (to lock, to
	// receive...) is ready until it has tried: to find that it has to wait is a step of
	// its own, after which Current is 0. Afterwards it is ready again when it can go on,
	// or may try again. So a goroutine is never seen to wait for something that it was
	// not seen to ask for, and the order in which several ask is in the schedule.
	Ready []uint32
	// Ops is parallel to Ready: what each of them will do if it is picked.
	Ops []event.Op
	// Arrivals counts how often a goroutine has become ready in this run; 0 if that is not
	// counted. Arrived is the one that did so last.
	Arrivals uint64
	Arrived  uint32
}

// A Strategy decides which goroutine goes next, in one run after the other.
//
// Each run is Begin, Chance, then any number of calls of Pick and Branch, then End.
type Strategy interface {
	Begin()
	// Chance returns which sequence of random numbers the program draws from in this run.
	Chance() uint64
	// Pick returns the index in Ready of what goes next.
	Pick(*Turn) int
	// Branch returns which of the possibilities of a choice is taken, from 0.
	Branch(Choice) int
	// End is told how the run ended, and what the program used of Chance.
	End(how event.Ending, used Used)
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

// Used is what a program used of the sequence of random numbers that it was given.
type Used struct {
	Draws bool // it drew some
	Clock bool // it asked for the time of day, a little of which follows from the sequence
}

// A Choice is what a goroutine comes upon in the middle of its step.
type Choice struct {
	G, Site uint32
	// N is how many possibilities there are, at least 2.
	N int
	// Kind is what the choice is about: event.Select, for which of the cases that are
	// possible is taken; event.Random, for what the program draws by chance from a few
	// possibilities; event.Outside, for whether time moves on (1) before what is outside
	// control comes back (0).
	Kind event.Kind
}

// unlikely reports whether all possibilities but the first are counted like a preemption.
// The cases of a select are not: there are as many schedules as before of each of them,
// whereas a program that draws again and again would have too many.
func (c *Choice) unlikely() bool { return c.Kind != event.Select }

// Default returns the choice that is made where a schedule says nothing: the current
// goroutine goes on; if it cannot, or asks for others to go first, the ready one with
// the next higher number, and after the highest the lowest. Time moves on if it is alone.
//
// Going round, instead of always taking the lowest, is what lets a run end in which
// several goroutines wait for another by yielding.
func (p *Turn) Default() int {
	n := p.goroutines()
	if i := p.current(); i >= 0 && (!yields(&p.Ops[i]) || n == 1) {
		return i
	}
	if i := p.from(p.Last + 1); i < n {
		return i
	}
	return 0
}

// goroutines returns how many goroutines are ready: all but Time, which comes last.
func (p *Turn) goroutines() int {
	n := len(p.Ready)
	if p.Ready[n-1] == Time {
		return n - 1
	}
	return n
}

// mayStall reports whether time may move on although goroutines are ready.
func (p *Turn) mayStall() bool { return len(p.Ready) > 1 && p.Ready[len(p.Ready)-1] == Time }

// current returns the index of the current goroutine, -1 if it cannot go on.
func (p *Turn) current() int {
	if p.Current == 0 {
		return -1
	}
	return p.index(p.Current)
}

// index returns the index of g among the ready, -1 if it is not.
func (p *Turn) index(g uint32) int {
	if i := p.from(g); i < p.goroutines() && p.Ready[i] == g {
		return i
	}
	return -1
}

// from returns the index of the first of the ready goroutines that is g or comes after it.
func (p *Turn) from(g uint32) int {
	lo, hi := 0, p.goroutines()
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
// have gone on and did not offer it, or begins a stall.
func (p *Turn) Preempts(i int) bool {
	if p.Ready[i] == Time {
		return len(p.Ready) > 1 && p.Stalled == 0
	}
	c := p.current()
	return c >= 0 && c != i && !yields(&p.Ops[c])
}

// yields reports whether the goroutine asks for others to go first. One that is about
// to sleep is going to be out of the way by itself.
func yields(op *event.Op) bool { return op.Yield && op.Kind != event.Sleep }
