package search

import (
	"cmp"
	"encoding/binary"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// found are the failures that a pass may end with.
type found struct {
	first   *wire.Found // of any kind
	visible *wire.Found // one that does harm; the first of those
}

// harmRuns is after how many runs more the search for visible harm ends, however short they
// are: so that the result does not depend on the speed of the machine where runs are short.
const harmRuns = 10_000

// leakRuns is after how many runs more, without any failure, a goroutine that is left waiting is what
// the search ends with. They are more than for a race: what is left behind may be meant, and is
// not to hide what is not.
const leakRuns = 50_000

// Best is the failure that the pass ends with; nil if there is none.
func (x *Pass) Best() *wire.Found {
	if x.found.visible != nil {
		return x.found.visible
	}
	return x.found.first
}

// EndWith has the pass end with a failure that it has not ended with by itself.
func (x *Pass) EndWith(f *wire.Found) {
	x.found = found{first: f, visible: f}
	x.Sum.Best, x.Sum.First = &f.Failure, f.At
}

// Disbelieve forgets the failure of the pass, which did not come back: its run was not under
// control.
func (x *Pass) Disbelieve() {
	x.Sum.Disbelieved = append(x.Sum.Disbelieved, x.Best().Failure)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.found, x.until, x.Over = found{}, time.Time{}, false
	x.Sum.Outcome, x.Sum.Best, x.Sum.First, x.Sum.Cut = nil, nil, 0, x.Sum.Cut+1
}

// Of runs that took too long, this many may be left behind, where they may go on computing
// for ever, and this many are enough to give up if most runs are of this kind.
const (
	mostTooLong   = 8
	enoughTooLong = 3
)

// hopeless reports whether runs take too long too often.
func (x *Pass) hopeless() bool {
	n := x.Sum.TookTooLong
	return n >= mostTooLong || n >= enoughTooLong && 2*n > x.Sum.Runs
}

// merge takes note of what came of the units of a wave.
func (x *Pass) merge(units []wire.UnitDone) {
	done := make([]sched.UnitDone, len(units))
	for i := range units {
		u := &units[i]
		for j := range u.Failures {
			x.failure(&u.Failures[j])
		}
		u.Fresh = x.fingerprints(u.Prints)
		x.Sum.Runs += u.Runs
		x.Sum.Cut += u.CutOff
		x.Sum.Steps += u.Steps
		x.Sum.Outside += u.Outside
		for _, what := range u.OutsideWhat {
			x.Sum.OutsideWhat = wire.AddText(x.Sum.OutsideWhat, what)
		}
		x.Sum.Undecided += u.Undecided
		x.Sum.NothingRan += u.NothingRan
		x.held.Merge(u.HeldFixed)
		x.Sum.Timing.Add(u.Timing)
		for j := range u.Leaks {
			u.Leaks[j].At += x.Sum.Runs - u.Runs
		}
		x.Sum.Leaks = wire.Gather(x.Sum.Leaks, u.Leaks...)
		x.Sum.Unclear = wire.Gather(x.Sum.Unclear, u.Unclear...)
		x.Sum.Passed += u.Runs - u.Failed
		done[i] = u.UnitDone
	}
	x.plan.Merge(done)
	x.Sum.Classes = len(x.prints)
	switch f := &x.found; {
	case x.hopeless():
		x.Over = true
	case x.o.All:
	case f.first == nil:
		x.Over = x.endsWithLeak()
	case f.visible != nil, x.AnyFailure(), x.Sum.Runs >= f.first.At+harmRuns, x.harmOver():
		x.Over = true
	}
	if !x.Over && x.o.Learn != nil && x.o.Learn(units) {
		x.plan.StepsChanged()
	}
}

// endsWithLeak reports whether a goroutine that is left waiting is what the pass ends with.
func (x *Pass) endsWithLeak() bool {
	return x.o.Leaks && len(x.Sum.Leaks) > 0 && x.Sum.Runs >= x.Sum.Leaks[0].At+leakRuns
}

// failure takes note of a failure of a unit whose runs are not counted yet.
func (x *Pass) failure(f *wire.Found) {
	f.At += x.Sum.Runs
	if x.o.All {
		x.Sum.Failures = wire.Gather(x.Sum.Failures, *f)
		return
	}
	if x.found.first == nil {
		x.found.first = f
	}
	if f.Kind != event.FailureRace && x.found.visible == nil && f.At <= x.found.first.At+harmRuns {
		x.found.visible = f
	}
}

// maxClasses is how many fingerprints are kept: some hundred megabytes.
const maxClasses = 1 << 23

// fingerprints takes note of those of some runs, and returns how many are new.
func (x *Pass) fingerprints(prints []byte) (fresh int) {
	for ; len(prints) >= 8; prints = prints[8:] {
		print := binary.LittleEndian.Uint64(prints)
		if _, ok := x.prints[print]; ok {
			continue
		}
		fresh++
		if len(x.prints) < cmp.Or(x.o.Prints, maxClasses) {
			x.prints[print] = struct{}{}
		}
	}
	return fresh
}

// progress is what was tried.
func (x *Pass) progress() sched.Progress {
	p := x.plan.Progress()
	p.Held.Merge(x.held)
	return p
}

// A Tally is how far each worker of a crew is with the units at hand.
type Tally struct {
	mu   sync.Mutex
	live []wire.Progress
	told time.Time
}

// tellEvery is how often the progress of a search is reported.
const tellEvery = 200 * time.Millisecond

// Note takes note of how far a worker is, and tells how far all are.
func (t *Tally) Note(x *Pass, worker int, p wire.Progress) {
	t.mu.Lock()
	for worker >= len(t.live) {
		t.live = append(t.live, wire.Progress{})
	}
	t.live[worker] = p
	now := time.Now()
	if now.Sub(t.told) < tellEvery {
		t.mu.Unlock()
		return
	}
	t.told = now
	var all wire.Progress
	for i := range t.live {
		all.Runs += t.live[i].Runs
		all.Cut += t.live[i].Cut
		if all.Best == nil {
			all.Best = t.live[i].Best
		}
	}
	t.mu.Unlock()
	x.tell(all)
}

// tell tells how far the search is, given how far the crew is with the units at hand.
func (x *Pass) tell(p wire.Progress) {
	if x.o.Progress == nil {
		return
	}
	x.mu.Lock()
	p.Runs += x.Sum.Runs + x.settled.Runs
	p.Cut += x.Sum.Cut + x.settled.Cut
	x.mu.Unlock()
	p.Classes, p.Search, p.Elapsed, p.Fresh = x.Sum.Classes, x.progress(), time.Since(x.start), x.o.Single
	if best := x.Best(); best != nil && p.Best == nil {
		p.Best = &best.Failure
	}
	x.o.Progress(&p)
}
