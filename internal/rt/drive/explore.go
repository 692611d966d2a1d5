package drive

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// prints are the fingerprints of the runs of a target, as far as they were reported, and the
// races of runs that had nothing else; pairs are the conflicting operations, likewise.
type prints struct {
	target   int
	reported map[uint64]struct{}
	races    map[raceKey]struct{}
	pairs    *sched.Pairs
}

// maxPrints is how many fingerprints are kept in mind. The tool knows all; it is only told
// some of them again.
const maxPrints = 1 << 20

// add appends a fingerprint to what is reported, if it was not before.
func (p *prints) add(print uint64, to []byte) []byte {
	if _, ok := p.reported[print]; ok {
		return to
	}
	if len(p.reported) >= maxPrints {
		clear(p.reported)
	}
	p.reported[print] = struct{}{}
	return binary.LittleEndian.AppendUint64(to, print)
}

// An exploration is one order to explore, in progress.
type exploration struct {
	s        *server
	target   int
	order    *wire.Order
	deadline time.Time
	reported time.Time
	now      time.Time // when the last run ended
	progress wire.Progress
	leaks    leaks // of the present unit
	unclear  leaks // that may be leaks
	done     *wire.Done
}

// explore does the units of an order one after the other until a run fails, or the time
// is up. Only the first of them is begun whatever the time.
//
// A race is a failure, but one that has done no visible harm yet. Unless the order says
// that any failure will do, the search goes on in the hope of a panic or a failing test,
// which tell a person more. A goroutine that is left waiting does not end the search at
// all: it may be meant, and must not hide anything else. After a run that took too long,
// which may go on computing in the process, the tool decides whether to go on.
func (s *server) explore(i int, o *wire.Order) (*wire.Done, error) {
	x := s.exploring(i, o)
	for n := range o.Units {
		if n > 0 && !x.now.Before(x.deadline) {
			break
		}
		switch stop, err := x.unit(&o.Units[n]); {
		case err != nil:
			return nil, err
		case x.done.Residue != wire.NoResidue, x.done.NotBeside != "":
			return &wire.Done{Residue: x.done.Residue, NotBeside: x.done.NotBeside}, nil
		case stop:
			return x.done, nil
		}
	}
	return x.done, nil
}

func (s *server) exploring(i int, o *wire.Order) *exploration {
	if s.prints.reported == nil || s.prints.target != i {
		s.prints = prints{target: i, reported: map[uint64]struct{}{}, races: map[raceKey]struct{}{}, pairs: &sched.Pairs{}}
	}
	now := time.Now()
	return &exploration{s: s, target: i, order: o, deadline: now.Add(o.Budget), reported: now, now: now, done: &wire.Done{Before: s.before}}
}

// unit does one unit, and reports whether the order is done because a run failed.
func (x *exploration) unit(u *sched.Unit) (stop bool, err error) {
	strategy := u.Strategy()
	if strategy == nil {
		return false, fmt.Errorf("unknown strategy %q: use pct, random or dfs", u.Method)
	}
	rec := sched.NewRecorder(strategy, !x.shrinks())
	if x.order.Pairs {
		rec.Gather(x.s.prints.pairs)
	}
	var done wire.UnitDone
	x.leaks, x.unclear = leaks{}, leaks{}
	for first := true; !stop && x.more(u, strategy, &done, first); first = false {
		r := x.s.run(x.target, x.order, rec, nil)
		if r.NotBeside != "" && !x.order.Alone {
			x.done.NotBeside = r.NotBeside
			return true, nil
		}
		if r.Residue && x.order.WarmUp && !x.shrinks() {
			x.done.Residue = wire.ChangesEndings
			return true, nil
		}
		stop = x.note(&done, r, rec)
		if err := x.tell(); err != nil {
			return true, err
		}
	}
	x.finish(u, strategy, &done)
	return stop, nil
}

// shrinks reports whether the order is for one failure alone.
func (x *exploration) shrinks() bool { return x.order.Failure != nil }

// more reports whether a unit has another run, and there is time for it.
func (x *exploration) more(u *sched.Unit, strategy sched.Strategy, done *wire.UnitDone, first bool) bool {
	switch {
	case first:
		return true
	case strategy.Exhausted(), u.Method == sched.MethodReplay, u.Runs > 0 && done.Runs >= u.Runs, u.Steps > 0 && done.Steps >= u.Steps:
		return false
	}
	return x.now.Before(x.deadline)
}

// note takes note of a run, and reports whether it is the last one.
func (x *exploration) note(done *wire.UnitDone, r *rt.Result, rec *sched.Recorder) (stop bool) {
	x.now = time.Now()
	done.Runs++
	done.Steps += r.Steps
	x.progress.Runs++
	if r.CutOff {
		done.CutOff++
		x.progress.Cut++
	}
	if x.shrinks() {
		return x.failsAgain(done, r, rec)
	}
	done.Prints = x.s.prints.add(rec.Fingerprint(), done.Prints)
	if len(r.Outside) > 0 {
		done.Outside++
		for _, o := range r.Outside {
			done.OutsideWhat = wire.AddText(done.OutsideWhat, o.What)
		}
	}
	if r.Undecided {
		done.Undecided++
	}
	if r.NothingRan {
		done.NothingRan++
	}
	done.HeldFixed.Merge(r.Held)
	if r.TookTooLong {
		done.Add(wire.Timing{TookTooLong: 1, Late: lateGoroutines(r, r.Late)})
	}
	if r.Livelocked {
		done.Add(wire.Timing{Livelocks: 1, Spinning: lateGoroutines(r, r.Spinning)})
	}
	if len(r.Going) > 0 {
		done.Add(wire.Timing{Stopped: 1, Going: lateGoroutines(r, r.Going)})
	}
	if x.s.targets[x.target].name != "" {
		schedule := func() string { return rec.Schedule().String() }
		x.leaks.add(done.Runs, r, leaked, schedule)
		x.unclear.add(done.Runs, r, undecided, schedule)
	}
	if r.Failed() {
		done.Failed++
		stop = x.failed(done, r, rec)
	}
	return stop || r.TookTooLong
}

// failsAgain takes note of a run that fails like the failure of the order, and reports whether
// it does.
func (x *exploration) failsAgain(done *wire.UnitDone, r *rt.Result, rec *sched.Recorder) bool {
	if !r.Failed() {
		return false
	}
	out := outcome(r)
	if !out.FailsLike(x.order.Failure, x.order.Among) {
		return false
	}
	done.Failed++
	done.Failures = append(done.Failures, wire.Found{Failure: *out.Worst(), Schedule: rec.Schedule().String(), At: done.Runs, Runs: 1})
	return true
}

// failed takes note of a run that failed, and reports whether it is the last one.
func (x *exploration) failed(done *wire.UnitDone, r *rt.Result, rec *sched.Recorder) (stop bool) {
	if leaksOnly(r) && !x.order.All {
		return false
	}
	if x.racedBefore(r) {
		return false
	}
	out := outcome(r)
	failures := out.Failures
	worst := out.Worst()
	if !x.order.All {
		failures = []trace.Failure{*worst}
		stop = worst.Kind != event.FailureRace || x.order.AnyFailure
	}
	left := x.order.All && slices.ContainsFunc(r.Failures, func(f rt.Failure) bool { return !endsRun(f) })
	for i := range failures {
		found := wire.Found{Failure: failures[i], At: done.Runs, Runs: 1, Left: left}
		if at := slices.IndexFunc(done.Failures, found.Like); at >= 0 {
			done.Failures[at].Runs++
			continue
		}
		found.Schedule = rec.Schedule().String()
		done.Failures = append(done.Failures, found)
	}
	if x.progress.Best == nil || x.progress.Best.Kind == event.FailureRace {
		x.progress.Best = worst
	}
	return stop
}

// A raceKey is a race by numbers, which are the same in all runs of a process that are not
// recorded.
type raceKey struct {
	kinds         [2]event.Kind
	sites, frames [2]uint32
}

// raceOf returns the key of the race that is told of a run which has races only.
func raceOf(r *rt.Result) raceKey {
	a, b := &r.Races[0].First, &r.Races[0].Second
	return raceKey{kinds: [2]event.Kind{a.Kind, b.Kind}, sites: [2]uint32{a.Site, b.Site}, frames: [2]uint32{a.Frame, b.Frame}}
}

// racedBefore reports whether a run has races only, and the one that would be told of it was
// reported by this process before, in this unit or in one before it: then the tool, which
// looks for the first, knows of it. Where most runs race, to put the failure into words and
// to send it took a tenth of the time. It is reported anyway where it ends the search.
func (x *exploration) racedBefore(r *rt.Result) bool {
	if x.order.All || x.order.AnyFailure || len(r.Failures) > 0 || len(r.Races) == 0 {
		return false
	}
	key := raceOf(r)
	_, known := x.s.prints.races[key]
	x.s.prints.races[key] = struct{}{}
	return known
}

// leaksOnly reports whether the only thing wrong with a run is what it left waiting.
func leaksOnly(r *rt.Result) bool {
	return len(r.Races) == 0 && len(r.Failures) == 1 && r.Failures[0].Kind == event.FailureLeak
}

// tell tells the tool now and then how far the order is.
func (x *exploration) tell() error {
	if x.now.Sub(x.reported) < x.s.reportEvery {
		return nil
	}
	x.reported = x.now
	if err := x.s.out.Encode(&wire.Report{Progress: &x.progress}); err != nil {
		return fmt.Errorf("reporting progress: %w", err)
	}
	return nil
}

// finish completes what came of a unit with what its strategy knows.
func (x *exploration) finish(u *sched.Unit, strategy sched.Strategy, done *wire.UnitDone) {
	runs, steps, cut := done.Runs, done.Steps, done.CutOff
	done.UnitDone = u.Done(strategy)
	done.Runs, done.Steps, done.CutOff = runs, steps, cut
	done.Rounds = done.Rounds || done.KeptBack && x.order.Unseen
	done.Sequential = done.Sequential && done.Outside == 0 && done.TookTooLong == 0
	done.Leaks, done.Unclear = x.leaks.found, x.unclear.found
	if x.order.Pairs {
		done.Pairs = x.s.prints.pairs.Fresh()
	}
	x.done.Units = append(x.done.Units, *done)
}
