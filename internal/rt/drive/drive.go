// Package drive is the part of an instrumented program that takes the tool's orders:
// it runs a test or the main function again and again under the scheduler of package
// rt, with a strategy of package sched, and reports what happened (package wire).
//
// Runs are repeated in one process, which is what makes thousands of them a second
// possible. What a run stores to package-level variables and to what they refer to is
// taken back by package rt, so that each run begins where the first one began. That
// holds for what is under control; what is not (tables that the standard library or a
// dependency builds at the first use, files) stays: it is the run's residue. So a search
// begins with a warm-up, the run by the default schedule made twice. If the two differ,
// the tool is told: it tries some schedules in fresh processes too if the second took
// other steps (wire.ChangesSteps), and all of them if it ended in another way
// (wire.ChangesEndings). And it checks each failure in a fresh process before it believes
// it; after a warm-up if the residue changes steps.
//
// The collector is off while a run is under way, so that no address is given out
// twice in it, and is run in between when enough has been allocated.
//
//	drive.go         orders and answers, and one run of a target
//	explore.go       runs until one fails
//	leaks.go         what runs leave waiting
//	one.go           one schedule, recorded or not
//	halt.go          a run that waits for a debugger (halt_linux.go, halt_other.go)
//	outcome.go       what a run came to, in the words of a trace
//	cause.go         what a panic comes from, by the words of Go's runtime
//	sites.go         the table of sites, and calls of the standard library
//	sleep.go         what the process does while the watchdog sleeps (sleep_linux.go, sleep_other.go)
//	texts_unsafe.go  the strings that a run loads and stores
//	inherit_unix.go, inherit_other.go  the pipes are not for the programs that this one starts
package drive

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

func init() {
	value := os.Getenv(wire.Env)
	if value == "" {
		return
	}
	// It is not for the programs that this one starts, such as itself a second time.
	os.Unsetenv(wire.Env)
	os.Unsetenv(wire.DayEnv)
	pipes, err := wire.ParsePipes(value)
	if err != nil {
		panic(err) // the tool is of another version
	}
	keepFromPrograms(pipes)
	rt.Driver = func(main func()) {
		os.Exit(serve(pipes, []string{""}, func([]int) bool {
			main()
			return false
		}))
	}
	rt.Drive = func(names []string, run func(which []int) (failed bool)) int { return serve(pipes, names, run) }
}

// A target is what an order is about: a test, tests that run in parallel with each other, or
// the main function.
type target struct {
	name  string
	tests []int // of those that the program has
}

// A server answers the tool's orders.
type server struct {
	targets []target
	// run runs some of a program's tests, or the program itself.
	runTests func(which []int) (failed bool)
	out      *json.Encoder
	events   *os.File // of the ring for what is recorded; nil if there is none
	waited   int      // how often for the reader of events
	halted   bool     // a run has waited for a debugger
	runs     int
	warm     map[int]bool // targets that have had their warm-up
	prints   prints
	before   int // goroutines that were there before anything was under control
	// bystanders is how many of the process's goroutines are neither before nor of a run.
	bystanders int
	// reportEvery is how often the tool hears of the progress.
	reportEvery time.Duration
}

// serve makes the process ready for runs and takes the tool's orders. It returns the exit
// code.
func serve(pipes wire.Pipes, names []string, runTests func(which []int) (failed bool)) int {
	rt.Thaw()
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memoryLimit)
	openFirst()
	if err := wire.Prime(); err != nil {
		return 2 // the tool and the program do not agree about messages
	}
	s := newServer(os.NewFile(pipes.Reports, "reports"), names, runTests)
	s.bystanders = 1
	s.before = runtime.NumGoroutine() - s.bystanders
	if pipes.Events != 0 {
		s.events = os.NewFile(pipes.Events, "events")
	}
	return s.answer(os.NewFile(pipes.Orders, "orders"))
}

func newServer(reports io.Writer, names []string, runTests func(which []int) (failed bool)) *server {
	s := &server{runTests: runTests, warm: map[int]bool{}, out: json.NewEncoder(reports), reportEvery: 200 * time.Millisecond}
	for i, name := range names {
		s.targets = append(s.targets, target{name, []int{i}})
	}
	return s
}

// answer takes orders until there are no more, and returns the exit code: 2 if the tool
// cannot be understood any more, or is gone.
func (s *server) answer(orders io.Reader) int {
	in := json.NewDecoder(bufio.NewReader(orders))
	for {
		var o wire.Order
		if err := in.Decode(&o); errors.Is(err, io.EOF) {
			return 0
		} else if err != nil {
			return 2
		}
		start := time.Now()
		r, err := s.obey(&o)
		if err != nil {
			r = &wire.Report{Error: err.Error()}
		} else if r.Done != nil {
			r.Done.Elapsed = time.Since(start)
		}
		if s.out.Encode(r) != nil {
			return 2 // the tool is gone
		}
	}
}

// openFirst does what opening a file does for the first time in a process. One that records
// opens a file before the run, and another does not: the runs must be the same.
func openFirst() {
	if f, err := os.Open(os.DevNull); err == nil {
		f.Close()
	}
}

func (s *server) obey(o *wire.Order) (*wire.Report, error) {
	if o.Verb == wire.List {
		return &wire.Report{Targets: s.names()}, nil
	}
	i, err := s.find(o.Target)
	if err != nil {
		return nil, err
	}
	var residue wire.Residue
	if o.WarmUp && !s.warm[i] {
		s.warm[i] = true
		var done *wire.Done
		if residue, done = s.warmUp(i, o); done != nil {
			return &wire.Report{Done: done}, nil
		}
	}
	var done *wire.Done
	switch o.Verb {
	case wire.Explore:
		if done, err = s.explore(i, o); done != nil && done.Residue == wire.NoResidue {
			done.Residue = residue
		}
	case wire.Run:
		done, err = s.one(i, o)
	default:
		err = fmt.Errorf("unknown order %q", o.Verb)
	}
	return &wire.Report{Done: done}, err
}

// warmUp runs a target by the default schedule, before a search twice, and returns how
// the second run differed; or the result of the order, if the runs already say it all: the
// first one was all that there is to try, or took too long to be made again, or the second
// one ended in another way.
func (s *server) warmUp(i int, o *wire.Order) (wire.Residue, *wire.Done) {
	if o.Verb != wire.Explore || o.Failure != nil {
		once := *o
		once.Races = false // they are not reported
		s.run(i, &once, sched.NewReplay(sched.Schedule{}), nil)
		return wire.NoResidue, nil
	}
	x := s.exploring(i, o)
	root := sched.Unit{Method: sched.MethodDFS, Limited: true}
	var runs [2]*rt.Result
	var steps [2]uint64
	for n := range runs {
		strategy := root.Strategy()
		rec := sched.NewRecorder(strategy, true)
		r := s.run(i, o, rec, nil)
		runs[n], steps[n] = r, rec.Fingerprint()
		if r.NotBeside != "" && !o.Alone {
			return wire.NoResidue, &wire.Done{NotBeside: r.NotBeside}
		}
		if n > 0 {
			break
		}
		alone := !r.Residue && len(r.Outside) == 0 && root.Done(strategy).Sequential
		if wholeTree(o.Units) && (alone || r.TookTooLong) {
			var done wire.UnitDone
			x.note(&done, r, rec)
			x.finish(&root, strategy, &done)
			return wire.NoResidue, x.done
		}
		if r.TookTooLong {
			return wire.NoResidue, nil
		}
	}
	switch {
	case runs[1].TookTooLong: // it was ended anywhere, and says nothing
		return wire.NoResidue, nil
	case runs[0].Failed() != runs[1].Failed(), runs[0].Residue, runs[1].Residue:
		return wire.ChangesEndings, &wire.Done{Residue: wire.ChangesEndings}
	case steps[0] != steps[1]:
		return wire.ChangesSteps, nil
	}
	return wire.NoResidue, nil
}

// wholeTree reports whether units are those that a search begins with.
func wholeTree(units []sched.Unit) bool {
	return len(units) == 1 && units[0].Method == sched.MethodDFS && len(units[0].Root.Turns) == 0
}

// names are those of the tests.
func (s *server) names() []string {
	var all []string
	for _, t := range s.targets {
		if len(t.tests) == 1 {
			all = append(all, t.name)
		}
	}
	return all
}

// find returns the target of a name. Tests that are to run together become a target the
// first time that they are asked for.
func (s *server) find(name string) (int, error) {
	for i, t := range s.targets {
		if t.name == name {
			return i, nil
		}
	}
	together := target{name: name}
	for _, one := range wire.Tests(name) {
		i := slices.IndexFunc(s.targets, func(t target) bool { return t.name == one })
		if i < 0 {
			return 0, fmt.Errorf("there is no test %s", one)
		}
		together.tests = append(together.tests, s.targets[i].tests...)
	}
	s.targets = append(s.targets, together)
	return len(s.targets) - 1, nil
}

// endsRun reports whether a failure is the end of a run, and not found at it.
func endsRun(f rt.Failure) bool {
	return f.Kind != event.FailureLeak && f.Kind != event.FailurePartialDeadlock
}

// forgiveLeaks takes back that goroutines are left: a test that has failed, and says why, need
// not have stopped them.
func forgiveLeaks(r *rt.Result) {
	r.Failures = slices.DeleteFunc(r.Failures, func(f rt.Failure) bool { return f.Kind == event.FailureLeak })
	for i := range r.Left {
		r.Left[i].Leaked = false
	}
}

// succeeded reports whether a failure is that a program ended with the code for success.
// A test must not do that, but a program may.
func succeeded(f rt.Failure) bool { return f.Kind == event.FailureExit && f.Code == 0 }

// memoryLimit is when the collector starts although it is off: a run that allocates
// more is better seen with an address used twice than not at all. collectAfter is
// what may pile up between two collections.
const (
	memoryLimit  = 2 << 30
	collectAfter = 8 << 20
)

// realTime is the real time in nanoseconds. To ask package time for it would be a step of the
// program where that is patched.
func realTime() int64 {
	if rt.Patched.Now != nil {
		return rt.Patched.Now()
	}
	return time.Now().UnixNano()
}

// run runs a target once, and records it if to is not nil.
func (s *server) run(i int, o *wire.Order, strategy sched.Strategy, to *recording) *rt.Result {
	if s.runs++; s.runs%64 == 0 {
		var m runtime.MemStats
		if runtime.ReadMemStats(&m); m.HeapAlloc > collectAfter {
			runtime.GC()
		}
	}
	failed := false
	config := rt.Config{
		Strategy: strategy,
		Seed:     o.Seed,
		Stall:    int64(o.Stall),
		MaxSteps: o.Steps,
		Within:   int64(o.Within),
		Now:      realTime,
		Races:    o.Races,
		// A program that ends takes all of its goroutines with it.
		Leaks:       o.Leaks && s.targets[i].name != "",
		OwnSites:    o.OwnSites,
		Bystanders:  s.bystanders,
		RunOn:       to != nil,
		Sleep:       sleep,
		HasChildren: hasChildren,
		Ended: func(r *rt.Result) {
			if s.targets[i].name == "" {
				r.Failures = slices.DeleteFunc(r.Failures, succeeded)
			}
			if failed && !o.All {
				forgiveLeaks(r)
			}
			if failed && !slices.ContainsFunc(r.Failures, endsRun) {
				f := r.Reported
				if f.Test == "" {
					f.Test = s.targets[i].name
				}
				f.Kind, f.Message = event.FailureTest, strings.TrimSuffix(f.Test+": "+strings.TrimSpace(f.Message), ": ")
				r.Failures = append(r.Failures, f)
			}
		},
	}
	config.LibrarySteps = o.LibrarySteps
	if to != nil {
		config.Record, config.Accesses = to.event, to.ring.Accesses
		config.Halt, config.HaltAt = to.halt, o.Halt.Events
	}
	return rt.Run(config, func() {
		rt.StartEarly()
		failed = s.runTests(s.targets[i].tests)
	})
}
