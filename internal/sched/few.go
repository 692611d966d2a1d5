package sched

// Few leaves the search to another strategy, after it has looked whether there is anything
// to search: it begins as DFS without a bound, and when that has tried all schedules within
// a few runs, it is done. Many tests have one schedule, or a handful, and strategies that
// go by chance would try it again and again until their time is up.
type Few struct {
	Strategy // the one in charge
	first    *DFS
	then     Strategy
	runs     int
	points   int // in this run
	choices  int // at so many of them somebody else could have gone
}

// What counts as few: runs, and in each points and choices. DFS keeps all points of a run
// in mind, and looks through them at each choice.
const (
	fewRuns    = 32
	fewPoints  = 20_000
	fewChoices = 500
)

// NewFew returns a strategy that does what then does unless there are only a few schedules.
func NewFew(then Strategy) *Few {
	d := NewDFS(-1)
	return &Few{Strategy: d, first: d, then: then}
}

func (f *Few) Begin() {
	if f.first != nil && (f.runs == fewRuns || f.first.Exhausted() && !f.all()) {
		f.Strategy, f.first = f.then, nil
	}
	f.runs++
	f.points, f.choices = 0, 0
	f.Strategy.Begin()
}

func (f *Few) Pick(p *Point) int {
	if f.first != nil {
		if f.points++; len(p.Ready) > 1 {
			f.choices++
		}
		if f.points > fewPoints || f.choices > fewChoices {
			// The rest of the run is as good a part of the other search as any.
			f.Strategy, f.first = f.then, nil
			f.Strategy.Begin()
		}
	}
	return f.Strategy.Pick(p)
}

// all reports whether all schedules were tried.
func (f *Few) all() bool { return f.first != nil && f.first.complete && f.first.exact() }

func (f *Few) Exhausted() bool { return f.all() || f.first == nil && f.then.Exhausted() }

func (f *Few) Progress() string {
	if f.all() {
		return f.first.Progress()
	}
	return f.then.Progress()
}
