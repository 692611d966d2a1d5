// Package wire is what the tool and an instrumented program say to each other.
//
// The tool starts the program with two pipes, orders in and reports out, as lines
// of JSON. It sends one order at a time; the program answers each with any number
// of progress reports and one last report. A program that is started without the
// pipes runs as if it had not been instrumented.
//
// Everything that either side decides on crosses as data. Sentences for a person are made
// from it by the tool, at the very end.
//
// # Terms
//
// Runs are repeated in one process. What a run leaves there for the next one to see,
// though what it stored was taken back, is its residue: a table that the standard library
// builds at its first use, a file. A fresh process has no residue. A warm-up is a run that
// is made only so that the runs after it all meet the same residue.
package wire

import (
	"fmt"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// Env is the environment variable that tells an instrumented program that it is driven, and
// the numbers of its two pipes.
const Env = "COFFERDAM_DRIVEN"

// Pipes are an instrumented program's ends of the pipes: descriptors, or the handles of
// Windows.
type Pipes struct{ Orders, Reports uintptr }

// String is the value of Env.
func (p Pipes) String() string { return fmt.Sprintf("%d,%d", p.Orders, p.Reports) }

// ParsePipes reads the value of Env.
func ParsePipes(value string) (p Pipes, err error) {
	if _, err := fmt.Sscanf(value, "%d,%d", &p.Orders, &p.Reports); err != nil {
		return p, fmt.Errorf("%s=%s: %w", Env, value, err)
	}
	return p, nil
}

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
	Target string // a test's name, or several, see Together; empty for a main program

	// Exploring.
	Method      sched.Method
	Seed        uint64
	Preemptions int // for sched.MethodDFS
	Budget      time.Duration
	Runs        int // at most; 0: as many as fit the budget
	// Harm is how long to go on after a race that did no visible harm, in search of
	// a schedule under which it does.
	Harm time.Duration
	// Shrink looks for the smallest schedule that fails like the one that was found.
	Shrink bool
	// All goes on after a failure, for as long as there is something to try, and reports
	// every failure that is unlike those before. Nothing is shrunk.
	All bool `json:",omitempty"`

	// Running one schedule.
	Schedule string
	// Trace is the file to record to, and Sites the file with the program's sites.
	Trace, Sites string
	Header       *trace.Header `json:",omitempty"`

	// Both.
	// WarmUp runs the target by the default schedule before the first run that counts, so
	// that every such run meets the residue of another. An exploration does it twice, to
	// see whether there is any.
	WarmUp bool
	Steps  uint64 // a run's limit
	// Within is a run's limit of real time; 0 for none.
	Within time.Duration `json:",omitempty"`
	Races  bool          // a data race is a failure
	Leaks  bool          // a goroutine that is left waiting when the test is over is a failure
	// OwnSites is the first site that is not in the standard library.
	OwnSites uint32
	// Stall is for how long time may move on, in a run, while goroutines are ready.
	Stall time.Duration
}

// Together is the target of tests that are run in parallel with each other. It is also a
// pattern that go test's -run matches them by.
func Together(tests []string) string { return strings.Join(tests, "|") }

// Tests are those of a target.
func Tests(target string) []string { return strings.Split(target, "|") }

// Residue is what a run leaves in its process for the next one to see, beyond what is
// taken back after it.
type Residue string

const (
	NoResidue      Residue = ""
	ChangesSteps   Residue = "steps"   // a second run takes other steps by the same schedule
	ChangesEndings Residue = "endings" // a second run may end in another way
)

// A Table is what is in the file of an order's Sites.
type Table struct {
	Sites []trace.Site
	// Calls are the calls of the standard library in the program's source.
	Calls []trace.LibraryCall `json:",omitempty"`
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
	Classes int            // distinct orders of conflicting operations seen
	Cut     int            // runs that reached the limit of steps or of real time
	Steps   uint64         // of all runs together
	Search  sched.Progress // what the strategy has tried
	// Best is the most telling failure so far.
	Best    *trace.Failure `json:",omitempty"`
	Elapsed time.Duration
	// Fresh says that each run has a process of its own.
	Fresh bool `json:",omitempty"`
	// TookTooLong is how many of the runs that were cut off reached the limit of real time,
	// and Late what was not under control in the first of them when it did.
	TookTooLong int    `json:",omitempty"`
	Late        []Late `json:",omitempty"`
}

// A Late goroutine was not under control when its run was cut off.
type Late struct {
	// Waits says that it waited natively, or was in a system call, and did not compute.
	Waits bool
	// Point is the last place it was seen at.
	Point trace.Point
}

// Done is the result of an order.
type Done struct {
	Progress
	// Outcome is that of the failing run, or of the only one; nil if no run failed.
	Outcome *trace.Outcome `json:",omitempty"`
	// Failures are, if the order was for All, those that differ in kind or message, in the
	// order in which they were found; Passed is how many runs did not fail.
	Failures []Found `json:",omitempty"`
	Passed   int     `json:",omitempty"`
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
	// Leaks are the goroutines that were left waiting when the test was over, each kind as a
	// failure of its own, whether that is asked for or not. Undecided is in how many runs
	// something still went on then, so that it is not known whether those in Unclear wait for
	// ever.
	Leaks     []Found `json:",omitempty"`
	Undecided int     `json:",omitempty"`
	Unclear   []Found `json:",omitempty"`
	// Residue is what the target's runs leave behind. An exploration that finds
	// ChangesEndings stops there, and has no other result.
	Residue Residue `json:",omitempty"`
	// Diverged is where a run left the schedule it was given.
	Diverged sched.Divergence
}

// A Found is one of the failures of an exploration for all.
type Found struct {
	trace.Failure
	Schedule string // of the first run that failed so
	Runs     int    // that failed so
	// Left says, of an exploration for all, that these runs also left goroutines waiting for
	// ever. Runs that did not are another failure.
	Left bool `json:",omitempty"`
}

// FreshShare is which part of a search is left for fresh processes if the target has a
// residue that ChangesSteps: one in so many.
const FreshShare = 4
