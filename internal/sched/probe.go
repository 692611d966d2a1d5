package sched

// Probe leaves the search to another strategy, after it has looked whether there is
// anything to search: it begins as DFS without a bound, and when that has tried all
// schedules within a few runs, it is done. Many tests have one schedule, or a handful, and
// strategies that go by chance would try it again and again until their time is up. A
// program that draws random numbers is not looked at any further: no few runs are all.
type Probe struct {
	Strategy // the one in charge
	probing  *DFS
	then     Strategy
	runs     int
	points   int // in this run
	choices  int // points of this run with more than one ready goroutine
}

// How long a probe lasts: runs, and in each points and choices. DFS keeps all points of a
// run in mind, and looks through them at each choice.
const (
	probeRuns    = 32
	probePoints  = 20_000
	probeChoices = 500
)

// NewProbe returns a strategy that does what then does unless there are only a few
// schedules.
func NewProbe(then Strategy) *Probe {
	d := NewDFS(-1)
	return &Probe{Strategy: d, probing: d, then: then}
}

func (p *Probe) Begin() {
	if p.probing != nil && (p.runs == probeRuns || p.probing.drew || p.probing.Exhausted() && !p.triedAll()) {
		p.Strategy, p.probing = p.then, nil
	}
	p.runs++
	p.points, p.choices = 0, 0
	p.Strategy.Begin()
}

func (p *Probe) Pick(at *Turn) int {
	if p.probing != nil {
		if p.points++; len(at.Ready) > 1 {
			p.choices++
		}
		if p.points > probePoints || p.choices > probeChoices {
			// The rest of the run is as good a part of the other search as any.
			p.Strategy, p.probing = p.then, nil
			p.Strategy.Begin()
		}
	}
	return p.Strategy.Pick(at)
}

// triedAll reports whether the probe has tried all schedules.
func (p *Probe) triedAll() bool {
	return p.probing != nil && p.probing.complete && p.probing.exact() && !p.probing.drew
}

func (p *Probe) Exhausted() bool { return p.triedAll() || p.probing == nil && p.then.Exhausted() }

func (p *Probe) Progress() Progress {
	if p.triedAll() {
		return p.probing.Progress()
	}
	return p.then.Progress()
}
