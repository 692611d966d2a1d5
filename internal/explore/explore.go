// Package explore finds schedules under which a program fails: it drives an
// instrumented program (package drive, on the other end of package wire) and turns
// what comes back into something to read.
//
// # How a failure is found
//
// A Program is built once. Explore has processes of it, one for each processor, run a test
// under one schedule after another until a run fails, and one of them shrink that schedule
// to the fewest preemptions. A sched.Plan says which process does what; what is found does
// not depend on how many there are. The failure is believed only when a fresh process, given the schedule,
// fails in the same way: what an earlier run has left in global variables cannot be
// the cause then. That run is recorded, and the trace is what everything else works
// on: Replay, the timeline, and the search for a fix.
//
// What a run did to memory is taken back after it (package drive). What stays for the next
// run to see is its residue (package wire). A program whose runs end in another way by it
// is run in a fresh process each time, which is some hundred times slower; Explore notices
// by itself, because a run repeated ends in another way, because the failure does not come
// back, or because the program died. Where a run only takes other steps than the one
// before it in the process, both are done.
//
//	explore.go   options
//	recording.go  the run that is recorded
//	search.go    a search: in processes that make many runs, in fresh ones, or in both
//	shrink.go    the smallest schedule that fails likewise, by several processes
//	all.go       all failures of a search, recorded
//	pass.go      one of the two, which package search does
//	crew.go      the processes that do its units; elsewhere.go a search whose units are done elsewhere
//	state.go     a search that is left, and taken up by another process
//	confirm.go   a failure that was gathered, seen again; a schedule run again in an edited program
//	manifest.go  a program as data, for other machines
//	limits_linux.go, limits_other.go  what a process may take of its machine
//	result.go    what a search came to, and how far it can be trusted
//	program.go   building and identity
//	targets.go   what there is to explore; selection.go which of the tests, timetable.go how long
//	replay.go    running a trace again, image.go where a program lies in memory
//	debug.go     the same for a debugger to look into
//	tracedir.go  where traces are kept
//	child.go     the process; child_unix.go, child_windows.go what it inherits, and how it is ended
//	death.go     how the process ends when it should not
//	report.go    failures as findings and text
//	waiting.go   deadlocks and leaks in them
package explore

import (
	"context"
	"runtime"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// Options say how to search.
type Options struct {
	Strategy    sched.Method
	Preemptions int  // for sched.MethodDFS
	AtOnce      bool // likewise; see sched.PlanOptions
	Seed        uint64
	// Day is the day that the program sees: when it begins, in seconds since 1970. 0 means today.
	Day    int64
	Budget time.Duration
	// Deadline is when all is to be over, if the search is one of several that have turns. A
	// turn may be over before: harm is looked for until here, and shrinking ends.
	Deadline time.Time
	Runs     int    // at most; 0: as many as fit into the budget
	Jobs     int    // processes side by side; 0: as many as there are processors
	Steps    uint64 // at most, in a run; 0 means DefaultSteps
	// Within is how long a run may take, in real time; 0 means DefaultWithin. A search that
	// is given less time than that has shorter runs, too.
	Within time.Duration
	Races  bool // a data race is a failure
	Leaks  bool // a goroutine that is left waiting when the test is over is a failure
	// Stall is for how long the machine may stall in a run: timers may overtake goroutines
	// that are ready by so much. 0 means DefaultStall, and NoStall that they never do.
	Stall time.Duration
	// Harm is how long to look for visible harm once a race is known.
	Harm time.Duration
	// All goes on after a failure, and gathers all that are unlike each other. They are
	// neither shrunk nor recorded, but by Search.RecordAll.
	All bool
	// Endless has a search by chance go on though nothing new was seen for long, Kept is how much
	// of what was seen it keeps in mind, 0 for as much as there is memory for, and Together how long
	// the units of an errand should take, 0 for what suits processes of this machine.
	Endless  bool
	Kept     int
	Together time.Duration
	// Pairs has the pairs of conflicting operations reported; see sched.Pairs.
	Pairs bool
	// Elsewhere, if it is there, does the units of a search.
	Elsewhere func(context.Context, *Errand) (*UnitsDone, error)
	// Trace is the file to record a failing run to.
	Trace string
	// Progress is told what is going on; it may be nil.
	Progress func(target string, p *wire.Progress)

	// Halt is where a recorded run waits for a debugger; nil for nowhere.
	Halt *Halt
	// warmUp has a recorded run meet the residue of another, as the runs of a search do.
	warmUp bool
	// librarySteps makes steps of the accesses of the standard library.
	librarySteps bool
}

// What a search does of which nothing else is said. The zero value of an option is never a
// search that sees less: what is to be left out has to be named.
const (
	DefaultStall = 250 * time.Millisecond
	DefaultSteps = 1_000_000

	NoStall time.Duration = -1
)

// stall is how much time may move on in a run though goroutines are ready.
func (o *Options) stall() time.Duration {
	if o.Stall == 0 {
		return DefaultStall
	}
	return max(o.Stall, 0)
}

// steps is how many steps a run may have.
func (o *Options) steps() uint64 {
	if o.Steps == 0 {
		return DefaultSteps
	}
	return o.Steps
}

// DefaultWithin is how long a run may take if nothing else is said. leastWithin is what one
// gets however little time there is for the search, and recordingTakes how many times as long
// a run may take that is recorded: it is the only one.
const (
	DefaultWithin  = 10 * time.Second
	leastWithin    = 2 * time.Second
	recordingTakes = 6
)

// within is how long a run of the search may take.
func (o *Options) within() time.Duration {
	limit := o.Within
	if limit == 0 {
		limit = DefaultWithin
	}
	if o.Budget == 0 {
		return limit
	}
	return min(limit, max(o.Budget, leastWithin))
}

// Explore searches for a schedule under which a target fails.
func (p *Program) Explore(ctx context.Context, target string, o *Options) (*Result, error) {
	s := p.NewSearch(target, o)
	if err := s.Continue(ctx, o.Budget, o.Processes()); err != nil {
		return nil, err
	}
	res, err := s.Finish(ctx)
	if err != nil || !o.All || o.librarySteps || !libraryRaced(res) {
		return res, err
	}
	again := *o
	again.librarySteps = true
	return p.Explore(ctx, target, &again)
}

// libraryRaced reports whether an access of the standard library has raced. Such accesses are no
// steps, so that there may be more ends than were found.
func libraryRaced(res *Result) bool {
	for i := range res.Failures {
		f := &res.Failures[i].Failure
		for _, p := range append([]trace.Point{f.Point}, f.Others...) {
			if f.Kind == event.FailureRace && p.Site >= event.CallSites && p.Op.IsMemory() {
				return true
			}
		}
	}
	return false
}

// Processes is how many processes may be used.
func (o *Options) Processes() int {
	if o.Jobs > 0 {
		return o.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

// A StuckError says that a run did not come to an end, not even when it was to be cut off.
type StuckError struct {
	Output string // the last of what it printed, with the stacks of its goroutines
}

func (e *StuckError) Error() string {
	return "a run did not come to an end, and could not be cut off"
}

// order is an order with what all have in common.
func (p *Program) order(verb wire.Verb, target string, o *Options) *wire.Order {
	return &wire.Order{
		Verb: verb, Target: target, Seed: o.Seed, Steps: o.steps(), Within: o.within(), Races: o.Races, Stall: o.stall(), Leaks: o.Leaks, OwnSites: p.build.OwnSites,
		LibrarySteps: o.librarySteps, Unseen: p.build.unseen(),
	}
}

// Targets lists what can be explored: the names of tests; one empty name for a main
// program.
func (p *Program) Targets(ctx context.Context) ([]string, error) {
	c, err := p.start(ctx, &Options{}, nil)
	if err != nil {
		return nil, err
	}
	report, err := c.order(&wire.Order{Verb: wire.List}, nil)
	if err != nil {
		return nil, err
	}
	c.close()
	return report.Targets, nil
}
