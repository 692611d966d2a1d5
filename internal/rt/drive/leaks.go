package drive

import (
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// leaks are the goroutines that the runs of a unit left waiting, for ever or as far as is
// known. Where each run leaves the
// same ones, that must cost next to nothing: so they are known by numbers, which are the
// same in all runs of a process that are not recorded.
type leaks struct {
	known map[leakKey]int // index in found
	found []wire.Found
	last  []int // for each of found, the last run that had it
}

type leakKey struct {
	kind        event.Kind
	site, frame uint32
}

// add takes note of those goroutines that a run left, the n-th of the unit, which count.
// schedule is that of the run, asked for when it left something new.
func (l *leaks) add(n int, r *rt.Result, counts func(*rt.Blocked) bool, schedule func() string) {
	for i := range r.Left {
		b := &r.Left[i]
		if !counts(b) {
			continue
		}
		key := leakKey{b.Op.Kind, b.Op.Site, b.Frame}
		at, ok := l.known[key]
		if !ok {
			if l.known == nil {
				l.known = map[leakKey]int{}
			}
			at = l.place(n, r, b, schedule)
			l.known[key] = at
		}
		if l.last[at] != n {
			l.last[at] = n
			l.found[at].Runs++
		}
	}
}

// place returns the index of a goroutine that is new by its numbers. It may have come another
// way to where it waits.
func (l *leaks) place(n int, r *rt.Result, b *rt.Blocked, schedule func() string) int {
	f := trace.Failure{Kind: event.FailureLeak, Message: rt.LeakMessage, Waiting: []trace.Waiter{waiter(r, b)}}
	f.Point = f.Waiting[0].Point
	for i := range l.found {
		if f.Same(&l.found[i].Failure) {
			return i
		}
	}
	l.found = append(l.found, wire.Found{Failure: f, Schedule: schedule(), At: n})
	l.last = append(l.last, 0)
	return len(l.found) - 1
}

func leaked(b *rt.Blocked) bool    { return b.Leaked }
func undecided(b *rt.Blocked) bool { return b.Undecided }
