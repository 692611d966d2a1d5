// Package wire is what the tool and an instrumented program say to each other.
//
// The tool starts the program with two pipes, orders in and reports out, as lines
// of JSON. It sends one order at a time; the program answers each with any number
// of progress reports and one last report. A program that is started without the
// pipes runs as if it had not been instrumented. The events of a run that is recorded are
// too many for a pipe, and go through memory (package ring).
//
// Everything that either side decides on crosses as data. Sentences for a person are made
// from it by the tool, at the very end.
//
// # Terms
//
// Runs are repeated in one process. What a run leaves there for the next one to see,
// though what it stored was taken back, is its residue: a table that the standard library
// builds at its first use, a file. A fresh process has no residue. A warm-up is a run that
// is made only so that the runs after it all meet the same residue. Messages leave some too:
// prime.go has all of it there before the first run.
//
//	wire.go   orders and reports
//	table.go  the table of sites, in a file
//	prime.go  what messages leave behind, before the first run
package wire

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// Env is the environment variable that tells an instrumented program that it is driven, and
// the numbers of its pipes.
const Env = "COFFERDAM_DRIVEN"

// DayEnv is the environment variable that tells it which day it is: when that begins, in seconds
// since 1970. Certificates and the like are valid on the day on which a test is explored.
const DayEnv = "COFFERDAM_DAY"

// Pipes are an instrumented program's ends of the pipes: descriptors, or the handles of
// Windows. Events is the file of a ring (package ring) for what is recorded; 0 if the program
// is not to record.
type Pipes struct{ Orders, Reports, Events uintptr }

// String is the value of Env.
func (p Pipes) String() string { return fmt.Sprintf("%d,%d,%d", p.Orders, p.Reports, p.Events) }

// ParsePipes reads the value of Env.
func ParsePipes(value string) (p Pipes, err error) {
	if _, err := fmt.Sscanf(value, "%d,%d,%d", &p.Orders, &p.Reports, &p.Events); err != nil {
		return p, fmt.Errorf("%s=%s: %w", Env, value, err)
	}
	return p, nil
}

// A Verb is what an order asks for.
type Verb string

const (
	List    Verb = "list"    // name the targets
	Explore Verb = "explore" // do some units of a search
	Run     Verb = "run"     // run one schedule, once
)

// An Order is one request of the tool.
type Order struct {
	Verb   Verb
	Target string // a test's name, or several, see Together; empty for a main program

	// Exploring.
	Units []sched.Unit `json:",omitempty"`
	// AnyFailure stops at the first run that fails. Otherwise one with nothing but races is
	// not enough: the search goes on for a run that fails visibly.
	AnyFailure bool `json:",omitempty"`
	// Pairs has the pairs of conflicting operations reported that were not before.
	Pairs bool `json:",omitempty"`
	// All goes on after any failure, and reports all that are unlike those before.
	All bool `json:",omitempty"`

	// Budget is after how long no other run is begun.
	Budget time.Duration
	// Failure, if it is set, is the only one that counts: the schedule that led to it is being
	// shrunk. The first run that fails like it ends the order. Among says that it need not be
	// the worst of a run.
	Failure *trace.Failure `json:",omitempty"`
	Among   bool           `json:",omitempty"`

	// Running one schedule.
	Schedule string
	// Record has the run's events put into the ring. Sites is the file with the program's
	// sites.
	Record bool   `json:",omitempty"`
	Sites  string `json:",omitempty"`
	// Halt is where the run waits for a debugger.
	Halt Halt `json:",omitzero"`

	// Alone says that no other process explores the target at the same time.
	Alone bool `json:",omitempty"`

	// All of them.
	Seed uint64
	// WarmUp runs the target by the default schedule before the first run that counts, so
	// that every such run meets the residue of another. An exploration does it twice, to
	// see whether there is any.
	WarmUp bool
	Steps  uint64 // a run's limit
	// Within is a run's limit of real time; 0 for none.
	Within time.Duration `json:",omitempty"`
	Races  bool          // a data race is a failure
	// LibrarySteps makes steps of the accesses of the standard library.
	LibrarySteps bool
	// Unseen says that there are packages of which not every access is seen.
	Unseen bool
	Leaks  bool // a goroutine that is left waiting when the test is over is a failure
	// OwnSites is the first site that is not in the standard library.
	OwnSites uint32
	// Stall is for how long time may move on, in a run, while goroutines are ready.
	Stall time.Duration
}

// A Halt is where a recorded run waits: where the first of these is come to, until a debugger has
// attached to the process, and at the others if one still is.
type Halt struct {
	// Events are the numbers of events, ascending.
	Events []uint64 `json:",omitempty"`
	// Preemption is before the how-many-th preemption, from 1; 0 for none.
	Preemption int `json:",omitempty"`
}

// On reports whether there is anything to halt at.
func (h *Halt) On() bool { return len(h.Events) > 0 || h.Preemption > 0 }

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

// A Report is one answer of the program.
type Report struct {
	Targets  []string  `json:",omitempty"`
	Progress *Progress `json:",omitempty"`
	Halted   bool      `json:",omitempty"` // the run waits for a debugger
	Done     *Done     `json:",omitempty"` // the last one of an order
	Error    string    `json:",omitempty"` // instead of Done
}

// Progress is how far an exploration has come. The program fills in the first fields, for
// the order that it is at; the tool completes them.
type Progress struct {
	Runs int
	Cut  int // runs that reached the limit of steps
	// Best is the most telling failure so far.
	Best *trace.Failure `json:",omitempty"`

	Classes int            `json:",omitempty"` // distinct orders of conflicting operations seen
	Steps   uint64         `json:",omitempty"` // of all runs together
	Search  sched.Progress `json:",omitzero"`  // what was tried
	Elapsed time.Duration  `json:",omitempty"`
	// Fresh says that each run has a process of its own.
	Fresh bool `json:",omitempty"`
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
	// Elapsed is how long the order took.
	Elapsed time.Duration
	// Units are what came of the units of an exploration, as far as they were done.
	Units []UnitDone `json:",omitempty"`
	// Outcome is that of the only run.
	Outcome *trace.Outcome `json:",omitempty"`
	// Calls are, of a run that was recorded, its sites that are calls of the standard
	// library: the table of sites does not have them.
	Calls []trace.Site `json:",omitempty"`
	// Before is how many goroutines were started before the first run, and are not under
	// control.
	Before int `json:",omitempty"`
	// Residue is what the target's runs leave behind. An exploration that finds
	// ChangesEndings stops there, and has no other result.
	Residue Residue `json:",omitempty"`
	// NotBeside is why no other process may explore the target at the same time. An exploration
	// that finds this, and is not alone, stops there, and has no other result.
	NotBeside string `json:",omitempty"`
	// Diverged is where a run left the schedule it was given.
	Diverged sched.Divergence
}

// A UnitDone is what came of a unit.
type UnitDone struct {
	sched.UnitDone
	Prints []byte `json:",omitempty"` // the fingerprints of runs, 8 bytes each, that were not reported before
	// Pairs are those of sched.Pairs, if they were asked for.
	Pairs   []uint64 `json:",omitempty"`
	Outside int      `json:",omitempty"` // runs in which something was not under control
	// OutsideWhat are the first few of what that was, in words.
	OutsideWhat []string `json:",omitempty"`
	// HeldFixed is what another run could have found otherwise, and no schedule decides.
	HeldFixed sched.Held `json:",omitzero"`
	Failed    int        `json:",omitempty"` // runs that failed
	// NothingRan is in how many runs none of the target's subtests was selected.
	NothingRan int `json:",omitempty"`
	Timing
	// Leaks are the goroutines that were left waiting when the test was over, each kind as a
	// failure of its own, whether that is asked for or not. Undecided is in how many runs
	// something still went on then, so that it is not known whether those in Unclear wait for
	// ever.
	Leaks     []Found `json:",omitempty"`
	Undecided int     `json:",omitempty"`
	Unclear   []Found `json:",omitempty"`
	// Failures are those of them that are unlike each other, in the order in which they
	// were found.
	Failures []Found `json:",omitempty"`
	// Shared are, of a program without source, words of memory that threads were found to
	// share, and whose accesses are steps from the next wave on; Atomics words that were found
	// to be accessed by atomic instructions.
	Shared  []uint64 `json:",omitempty"`
	Atomics []uint64 `json:",omitempty"`
}

// Timing is about runs that would go on for too long, or for ever.
type Timing struct {
	// TookTooLong is how many of the runs that were cut off reached the limit of real time,
	// and Late what was not under control in the first of them when it did.
	TookTooLong int    `json:",omitempty"`
	Late        []Late `json:",omitempty"`
	// Livelocks is how many of the runs that were cut off had come to where nothing can change
	// any more, and Spinning what went on in the first of them.
	Livelocks int    `json:",omitempty"`
	Spinning  []Late `json:",omitempty"`
	// Stopped is in how many of the runs, which were not cut off, goroutines had to be stopped
	// after the test was over, and Going which in the first of them.
	Stopped int    `json:",omitempty"`
	Going   []Late `json:",omitempty"`
}

// Add adds what is known of later runs.
func (t *Timing) Add(later Timing) {
	if t.TookTooLong == 0 {
		t.Late = later.Late
	}
	if t.Livelocks == 0 {
		t.Spinning = later.Spinning
	}
	if t.Stopped == 0 {
		t.Going = later.Going
	}
	t.TookTooLong += later.TookTooLong
	t.Livelocks += later.Livelocks
	t.Stopped += later.Stopped
}

// A Found is a failure of an exploration.
type Found struct {
	trace.Failure
	Schedule string // of the first run that failed so
	At       int    // the number of that run, from 1
	Runs     int    // that failed so
	// Left says, of an exploration for all, that these runs also left goroutines waiting for
	// ever. Runs that did not are another failure.
	Left bool `json:",omitempty"`
}

// Like reports whether two failures count as one. Tests that fail with other words at the same
// place are told apart: that is what random programs tell their outcomes by.
func (f *Found) Like(g Found) bool {
	return f.Left == g.Left && f.Same(&g.Failure) && (f.Kind != event.FailureTest || f.Message == g.Message)
}

// Gather adds failures to others, those that are alike as one.
func Gather(all []Found, more ...Found) []Found {
	for _, f := range more {
		if i := slices.IndexFunc(all, f.Like); i >= 0 {
			all[i].Runs += f.Runs
		} else {
			all = append(all, f)
		}
	}
	return all
}

// A Summary is what a whole search came to. It does not cross the pipe, but is made of what
// does.
type Summary struct {
	Progress
	// Outcome is that of the failing run; nil if no run failed.
	Outcome *trace.Outcome
	// Failures are, if all were asked for, those that are unlike each other, in the order
	// in which they were found; Passed is how many runs did not fail.
	Failures []Found
	Passed   int
	// First is how many runs it took to the first failing one, and After how long;
	// Shrinking how many more were spent on shrinking it.
	First     int
	After     time.Duration
	Shrinking int
	// ShrinkingTook is for how long.
	ShrinkingTook time.Duration
	// Minimal says that no schedule with fewer preemptions fails like this.
	Minimal bool
	// Before is how many goroutines were started before the first run, and are not under
	// control; Outside in how many runs something was not under control.
	Before      int
	Outside     int
	OutsideWhat []string
	Residue     Residue
	// NothingRan is in how many runs none of the target's subtests was selected.
	NothingRan int
	Timing
	// Leaks, Undecided and Unclear are those of all units.
	Leaks     []Found
	Undecided int
	Unclear   []Found
	// Disbelieved are failures that did not come back when their schedule was run again. Their
	// runs were not under control, and count as cut off.
	Disbelieved []trace.Failure
}

// maxTexts is how many texts AddText gathers.
const maxTexts = 4

// AddText adds a text to a few that differ.
func AddText(all []string, text string) []string {
	if len(all) >= maxTexts || slices.Contains(all, text) {
		return all
	}
	return append(all, text)
}
