package campaign

import "time"

// An agenda says whose turn it is. Half of the time is divided evenly, so that no target is left out,
// and half goes where turns still show something new: schedules unlike those before, and above all
// pairs of accesses that were not seen, or not in this order.
//
// Each target has a virtual time, which goes the slower the larger its share is; the one that is
// furthest behind is next. So turns can be of any length, and side by side.
type agenda struct{ all []*appointment }

// An appointment is what an agenda knows of a target.
type appointment struct {
	*target
	virtual float64 // seconds
	shown   float64 // by its last turn, for each second
	turns   int
	busy    bool
	// troubles is how many turns of this session did not come to their end.
	troubles int
	over     bool
}

const (
	firstTurn = 500 * time.Millisecond
	longTurn  = 5 * time.Second
	// pairWorth is how many new schedules a new pair counts for.
	pairWorth = 20
)

// next returns what is next; nil if all are over, or at work.
func (a *agenda) next() *appointment {
	var best *appointment
	for _, p := range a.all {
		if !p.busy && !p.over && (best == nil || p.turns == 0 && best.turns > 0 || p.virtual < best.virtual && (p.turns == 0) == (best.turns == 0)) {
			best = p
		}
	}
	return best
}

// turn is how long a turn is: short at first, because most targets have few schedules.
func (p *appointment) turn() time.Duration {
	return min(firstTurn<<min(p.turns, 8), longTurn)
}

// had takes note of a turn.
func (a *agenda) had(p *appointment, took time.Duration, schedules, pairs int) {
	seconds := max(took.Seconds(), 0.001)
	p.turns++
	// With one more, a turn in which few runs fitted says little against a target.
	p.shown = float64(schedules+pairWorth*pairs+1) / seconds
	n, sum := 0.0, 0.0
	for _, q := range a.all {
		if !q.over {
			n++
			sum += q.shown
		}
	}
	share := 0.5/max(n, 1) + 0.5*p.shown/max(sum, p.shown)
	p.virtual += seconds / share
}
