// Package wire is what the tool and an instrumented program say to each other.
//
// The tool starts the program with two pipes, orders in and reports out, as lines
// of JSON. It sends one order at a time; the program answers each with any number
// of progress reports and one last report. A program that is started without the
// pipes runs as if it had not been instrumented.
package wire

import (
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// The environment variable that tells an instrumented program that it is driven,
// and the descriptors of its two pipes.
const (
	Env     = "COFFERDAM_DRIVEN"
	Orders  = 3
	Reports = 4
)

// A Verb is what an order asks for.
type Verb string

const (
	List    Verb = "list"    // name the targets
	Explore Verb = "explore" // run until a run fails
	Run     Verb = "run"     // run one schedule, once
)

// An Order is one request of the tool.
type Order struct {
	Verb   Verb
	Target string // a test's name; empty for a main program

	// Exploring.
	Strategy    string // pct, random or dfs
	Seed        uint64
	Preemptions int
	Budget      time.Duration
	Runs        int // at most; 0: as many as fit the budget
	// Harm is how long to go on after a race that did no visible harm, in search of
	// a schedule under which it does.
	Harm time.Duration
	// NoShrink leaves the failing schedule as it was found.
	NoShrink bool `json:",omitempty"`

	// Running one schedule.
	Schedule string
	// Trace is the file to record to, and Sites the file with the program's sites.
	Trace, Sites string
	Header       *trace.Header `json:",omitempty"`

	// Both.
	// Cold leaves out the run before the first, which does what a process does only
	// once; see package drive.
	Cold  bool   `json:",omitempty"`
	Steps uint64 // a run's limit
	Races bool   // a data race is a failure
}

// A Table is what is in the file of an order's Sites.
type Table struct {
	Sites []trace.Site
	// Calls are the calls of the standard library, without numbers; the Kind of each is the
	// name of what is called.
	Calls []trace.Site `json:",omitempty"`
}

// A Report is one answer of the program.
type Report struct {
	Targets  []string  `json:",omitempty"`
	Progress *Progress `json:",omitempty"`
	Done     *Done     `json:",omitempty"` // the last one of an order
	Error    string    `json:",omitempty"` // instead of Done
}

// Progress is how far an exploration has come.
type Progress struct {
	Runs    int
	Classes int    // distinct orders of conflicting operations seen
	Cut     int    // runs that reached the limit of steps
	Steps   uint64 // of all runs together
	Note    string // the strategy's own words
	Best    string // the best failure so far
	Elapsed time.Duration
}

// Done is the result of an order.
type Done struct {
	Progress
	Exhausted bool `json:",omitempty"` // there is nothing left to try
	// Outcome is that of the failing run, or of the only one; nil if no run failed.
	Outcome *trace.Outcome `json:",omitempty"`
	// First is how many runs it took to the first failing one, and After how long;
	// Shrinking how many more were spent on shrinking it.
	First     int           `json:",omitempty"`
	After     time.Duration `json:",omitempty"`
	Shrinking int           `json:",omitempty"`
	// Minimal says that no schedule with fewer preemptions fails like this.
	Minimal bool `json:",omitempty"`
	// Before is how many goroutines were started before the first run, and are not under
	// control.
	Before int `json:",omitempty"`
	// Outside is in how many runs something was not under control.
	Outside int `json:",omitempty"`
	// Varied says that the target took other steps the second time by the same schedule,
	// Unrepeatable that it ended in another way: what it leaves behind is in the way of
	// another run in the same process.
	Varied       bool `json:",omitempty"`
	Unrepeatable bool `json:",omitempty"`
	// Diverged is where a run left the schedule it was given.
	Diverged string `json:",omitempty"`
}

// FreshShare is which part of a search is left for fresh processes if the target
// Varied: one in so many.
const FreshShare = 4

// Kinds of failures, as trace.Failure has them, the most telling first.
const (
	Panic    = "panic"
	Fatal    = "fatal error"
	Deadlock = "deadlock"
	Exit     = "exit"
	TestFail = "test failed"
	Race     = "data race"
)

// Worst returns the most telling failure of an outcome, nil if it has none.
func Worst(o *trace.Outcome) *trace.Failure {
	if o == nil {
		return nil
	}
	for _, kind := range []string{Panic, Fatal, Deadlock, Exit, TestFail, Race} {
		for i := range o.Failures {
			if o.Failures[i].Kind == kind {
				return &o.Failures[i]
			}
		}
	}
	return nil
}

// Same reports whether two failures are the same one, whatever the schedule that led
// there.
func Same(f, g *trace.Failure) bool {
	if f.Kind != g.Kind {
		return false
	}
	switch f.Kind {
	case TestFail: // its words may have values in them
		return top(&f.Point) == top(&g.Point)
	case Panic, Fatal:
		return f.Message == g.Message && samePlace(&f.Point, &g.Point) && top(&f.Point) == top(&g.Point)
	case Race:
		if len(f.Others) != 1 || len(g.Others) != 1 {
			return false
		}
		return samePlace(&f.Point, &g.Point) && samePlace(&f.Others[0], &g.Others[0]) ||
			samePlace(&f.Others[0], &g.Point) && samePlace(&f.Point, &g.Others[0])
	case Exit:
		return f.Message == g.Message
	}
	return true
}

// samePlace reports whether two operations are at the same site. Calls of the standard
// library get their numbers as they come, in each process anew.
func samePlace(p, q *trace.Point) bool {
	if p.Site >= event.CallSites && q.Site >= event.CallSites {
		return top(p) == top(q)
	}
	return p.Site == q.Site
}

func top(p *trace.Point) trace.Call {
	if len(p.Stack) == 0 {
		return trace.Call{}
	}
	return p.Stack[0]
}
