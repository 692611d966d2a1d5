package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// A Recorder is a strategy that does what another one does and keeps the schedule of
// the run, and a fingerprint of it if asked.
type Recorder struct {
	Strategy
	schedule Schedule
	branches []uint64 // choices made so far, by goroutine
	prints   *fingerprint
	pairs    *Pairs
}

// NewRecorder returns a recorder around s. With fingerprints it watches every step, so
// that a run costs somewhat more.
func NewRecorder(s Strategy, fingerprints bool) *Recorder {
	r := &Recorder{Strategy: s}
	if fingerprints {
		r.prints = newFingerprint()
	}
	return r
}

// Gather has the pairs of conflicting operations gathered, beside the fingerprint.
func (r *Recorder) Gather(pairs *Pairs) { r.pairs = pairs }

func (r *Recorder) Begin() {
	r.schedule.Switches = r.schedule.Switches[:0]
	r.schedule.Branches = r.schedule.Branches[:0]
	r.schedule.Stalls = r.schedule.Stalls[:0]
	r.schedule.Chance = 0
	clear(r.branches)
	if r.prints != nil {
		r.prints.begin()
	}
	if r.pairs != nil {
		r.pairs.begin()
	}
	r.Strategy.Begin()
}

func (r *Recorder) Chance() uint64 {
	r.schedule.Chance = r.Strategy.Chance()
	return r.schedule.Chance
}

func (r *Recorder) Pick(p *Turn) int {
	i := r.Strategy.Pick(p)
	switch {
	case len(p.Ready) == 1, i == p.Default():
	case p.Ready[i] == Time && p.Stalled > 0:
		r.schedule.Stalls[len(r.schedule.Stalls)-1].Moments++
	case p.Ready[i] == Time:
		r.schedule.Stalls = append(r.schedule.Stalls, Stall{G: p.Last, N: p.Taken, Idle: p.Idle, Moments: 1})
	default:
		r.schedule.Switches = append(r.schedule.Switches, Switch{G: p.Last, N: p.Taken, To: p.Ready[i], Preempt: p.Preempts(i)})
	}
	if r.prints != nil {
		r.prints.step(p.Ready[i], &p.Ops[i])
	}
	if r.pairs != nil {
		r.pairs.step(p.Ready[i], &p.Ops[i])
	}
	return i
}

func (r *Recorder) Branch(c Choice) int {
	g, i := c.G, r.Strategy.Branch(c)
	for int(g) >= len(r.branches) {
		r.branches = append(r.branches, 0)
	}
	r.branches[g]++
	if i != 0 {
		r.schedule.Branches = append(r.schedule.Branches, Branch{G: g, N: r.branches[g], Choice: i, Unlikely: c.unlikely()})
	}
	if r.prints != nil {
		r.prints.branch(g, i)
	}
	return i
}

// End leaves the sequence of random numbers out of the schedule if it made no difference.
func (r *Recorder) End(how event.Ending, used Used) {
	if used == (Used{}) {
		r.schedule.Chance = 0
	}
	r.Strategy.End(how, used)
}

func (r *Recorder) Watches() bool { return r.prints != nil || r.Strategy.Watches() }

func (r *Recorder) Next(g uint32) uint64 {
	if r.prints != nil {
		return 0
	}
	return r.Strategy.Next(g)
}

// Schedule returns the schedule of the run so far, or of the one just done.
func (r *Recorder) Schedule() Schedule { return r.schedule.Clone() }

// Preemptions returns how many there were in the run so far, with what is counted like one.
func (r *Recorder) Preemptions() int { return r.schedule.Preemptions() }

// Fingerprint returns a number that is the same for two runs if they differ only in the
// order of steps that do not depend on each other, and different otherwise, except by
// chance. It is 0 if fingerprints were not asked for.
func (r *Recorder) Fingerprint() uint64 {
	if r.prints == nil {
		return 0
	}
	return r.prints.sum
}
