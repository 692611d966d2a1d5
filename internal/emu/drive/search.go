package drive

import (
	"context"
	"runtime"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/search"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// Options say how to search.
type Options struct {
	Method      sched.Method
	Preemptions int // for sched.MethodDFS
	Seed        uint64
	Budget      time.Duration
	Runs        int // at most; 0: as many as fit into the budget
	Jobs        int // emulated processes side by side; 0: as many as there are processors
	// Within is how long a run may take, in real time; 0 means DefaultWithin.
	Within time.Duration
	// Stall is for how long, in a run, timers may overtake threads that are ready.
	Stall time.Duration
	// Races takes a data race for a failure; Harm is how long to look for one that does
	// visible harm once a race is known.
	Races bool
	Harm  time.Duration
	// Ignore, if it is there, reports whether a failure is not what is looked for. It may be
	// called by several goroutines.
	Ignore func(*trace.Failure) bool
	// Progress is told what is going on; it may be nil.
	Progress func(*wire.Progress)
}

// DefaultWithin is how long a run may take if nothing else is said, leastWithin what one gets
// however little time there is for the search.
const (
	DefaultWithin = 10 * time.Second
	leastWithin   = 2 * time.Second
)

func (o *Options) within() time.Duration {
	limit := o.Within
	if limit == 0 {
		limit = DefaultWithin
	}
	return min(limit, max(o.Budget, leastWithin))
}

func (o *Options) jobs() int {
	if o.Jobs > 0 {
		return o.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

// How much is spent on shrinking.
const (
	shrinkRuns   = 5000
	shrinkWithin = 5 * time.Second
)

// Explore learns which memory is shared, searches, and shrinks the schedule that it finds.
func (p *Program) Explore(ctx context.Context, o *Options) (*wire.Summary, error) {
	p.findsRaces, p.stall = o.Races, int64(o.Stall)
	p.learn(ctx, o)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	done, found, err := p.search(ctx, o)
	if err != nil || found == nil {
		return done, err
	}
	if err := p.shrink(ctx, o, found, done); err != nil {
		return nil, err
	}
	return done, ctx.Err()
}

// Search is Explore without what comes before and after.
func (p *Program) Search(ctx context.Context, o *Options) (*wire.Summary, error) {
	p.findsRaces, p.stall = o.Races, int64(o.Stall)
	done, _, err := p.search(ctx, o)
	return done, err
}

// search runs the program under one schedule after another until one fails, nothing is left
// to try, or the time is up. It returns the failure that it ends with, nil if there is none.
func (p *Program) search(ctx context.Context, o *Options) (*wire.Summary, *wire.Found, error) {
	c := &crew{ctx: ctx, o: o, programs: []*Program{p}}
	c.search = search.New(search.Options{
		PlanOptions: sched.PlanOptions{Method: o.Method, Seed: o.Seed, Preemptions: o.Preemptions, Runs: o.Runs},
		Harm:        o.Harm, Learn: c.learn, Progress: o.Progress,
	})
	err := c.search.Run(c, o.Budget, o.jobs())
	best := c.search.Best()
	if best != nil && best == c.early {
		p.shared = wordSet{pages: c.earlyShared}
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return &c.search.Sum, best, err
}

// How many runs in a row have to find no more shared memory, and how many are made at most,
// before the search begins.
const (
	settled      = 6
	mostLearning = 60
)

// learningShare is which part of the time the learning may take: one in so many.
const learningShare = 4

// stopper tells a run to stop when the time is up, or it is not wanted any more.
func stopper(ctx context.Context, until time.Time) func() bool {
	return func() bool { return ctx.Err() != nil || time.Now().After(until) }
}

// learn makes runs by chance until they share no more memory than is known. Whether they
// fail does not matter: the search will.
func (p *Program) learn(ctx context.Context, o *Options) {
	stop := stopper(ctx, time.Now().Add(o.Budget/learningShare))
	for i, calm := uint64(0), 0; calm < settled && i < mostLearning && !stop(); i++ {
		r := &run{Program: p, strategy: sched.NewRandom(o.Seed + i), learns: true, stop: stop}
		r.execute()
		if calm++; r.learn() {
			calm = 0
		}
	}
}

// Try runs the program by a schedule as far as the schedule fits, and returns the failure
// that the run ends with, nil if it does not fail.
func (p *Program) Try(schedule string) (*trace.Failure, error) {
	parsed, err := sched.ParseSchedule(schedule)
	if err != nil {
		return nil, err
	}
	r := &run{Program: p, strategy: sched.NewReplay(parsed), learns: true}
	r.execute()
	r.learn()
	return r.failure, p.lacks()
}

// shrink finds the smallest schedule with the same failure, by as many processes as searched.
func (p *Program) shrink(ctx context.Context, o *Options, f *wire.Found, done *wire.Summary) error {
	from, err := sched.ParseSchedule(f.Schedule)
	if err != nil {
		return err
	}
	begin := time.Now()
	c := &crew{ctx: ctx, o: o, programs: []*Program{p}, failure: &f.Failure}
	small, failure, err := search.Shrink(from, c, begin.Add(shrinkWithin), shrinkRuns, o.jobs())
	if err != nil {
		return err
	}
	if failure == nil {
		failure = &f.Failure // it did not come back, which is found out when it is recorded
	}
	done.Outcome = &trace.Outcome{Result: event.Failed, Failures: []trace.Failure{*failure}, Schedule: small.Schedule.String()}
	done.Shrinking, done.ShrinkingTook, done.Minimal = small.Runs, time.Since(begin), small.Minimal
	return nil
}
