// Package repair writes the fix: it turns the sections that the engine derived from
// a failing run (internal/sli) into locks in the source, and proves that they help.
//
// # How
//
// The engine derives sections, fragments of functions that one lock must cover. For each a
// region of statements is found around the fragment, and package cover writes a lock around
// the regions. What comes out is a candidate. With a counter that two goroutines add to, the
// engine's section is the load and the store of n:
//
//	func (c *counter) add() {     func (c *counter) add() {
//		n := c.n                  	c.mu.Lock()
//		c.n = n + 1               	n := c.n
//	}                             	c.n = n + 1
//	                              	c.mu.Unlock()
//	                              }
//
// Unless the smallest fix is asked for, a candidate is made whole first: all accesses to the
// data that the lock is to guard are covered, also those that the run does not have.
//
// A candidate is compiled, vetted and then proven: the failing schedule is run again as far
// as it still applies, all schedules with at most two preemptions are tried or up to 10,000 by
// PCT, and the test is run natively under the race detector. A candidate that another
// failure is found in is analysed itself, so that a fix may grow in rounds; one that
// deadlocks, or that fails as before, is dropped. A candidate that is not proven is never
// applied.
//
// Where no lock is missing, the shape of the failure may call for another change: package
// reshape writes it, and it is audited and proven in the same way.
//
//	repair.go      the search for a proven fix, round by round
//	run.go         the failed run: its trace, the program's source and its lifted form
//	sections.go    the engine's sections as regions of the source
//	behind.go      data that a function is given, and the locks that guard it elsewhere
//	fallback.go    sections without a machine, operations.go of operations that came into each
//	               other, which package disturbed finds
//	wholeness.go   all other accesses to the same data
//	companions.go  other data that needs the same lock
//	larger.go      data that the lock would guard by half
//	fewer.go       one lock where rounds have led to several
//	leavingless.go another lock, where one leaves data uncovered
//	candidates.go  which changes may be a fix, the best first
//	reshaped.go    those for which no lock is missing
//	proof.go       what a candidate has to stand: schedules, and package tried how many
//	shorter.go     and the test with fewer rounds, where its runs are long
//	leaks.go       and that it leaves no goroutine waiting for ever
//	check.go       and the compiler, vet, and the race detector
//	broken.go      the run that shows that a candidate is no fix
//	refuse.go      why there is no fix, and package nolock which failures no lock mends
//	apply.go       diffs, and writing a fix
//	report.go      the result for programs to read
//	story.go       what happens, why, and what must not come together, in sentences
//	explain.go     the report for a person
package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/overlay"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/gotest"
	"github.com/cofferdam-go/cofferdam/internal/repair/nolock"
	"github.com/cofferdam-go/cofferdam/internal/repair/tried"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// Options say how hard to try.
type Options struct {
	// Explore is how schedules are searched for the proof. Its Trace is not used.
	Explore explore.Options
	// Budget is how long to look for a fix, from when the program was read: the analysis, and
	// building and proving candidates. Proof is how long one candidate's schedules may take though
	// the budget is used up.
	Proof  time.Duration
	Budget time.Duration
	// Least is how many schedules a proof must have tried where all are too many; tried.LeastAll
	// accepts none but all, 0 stands for tried.DefaultLeast.
	Least int
	// Minimal asks for a fix of what the run showed and nothing else.
	Minimal bool
	// Native is how many times the test is run under the race detector.
	Native int
	// Judge, if set, decides instead of schedules and native runs whether a candidate is a
	// fix: it is given the texts of the changed files, and says why it is none.
	Judge func(ctx context.Context, files map[string][]byte) (why string, err error)
	// Temp is a directory for traces.
	Temp string
	// RecordFixed has the failing schedule recorded in the program with each candidate, see
	// Candidate.Trace.
	RecordFixed bool
	// Progress is told what is going on, and how far that is; it may be nil.
	Progress func(phase, detail string)
}

// trying is how the schedules of a candidate are tried.
func (o *Options) trying() *tried.Options {
	return &tried.Options{Explore: o.Explore, Proof: o.Proof, Least: o.Least}
}

// A Result is a fix, or why there is none.
type Result struct {
	// Failure is what is to be fixed, Analysis what the engine made of it; nil if no lock is
	// missing.
	Failure  trace.Failure
	Analysis *sli.Analysis
	run      *failedRun
	// Missed are the places where the run accessed memory and the analysis saw no code for
	// it: no section can hold what happens there.
	Missed []trace.Site
	// Proven is the fix; nil if no candidate is proven.
	Proven *Candidate
	// Tried are the candidates that were not proven, the most promising first; Considered all,
	// with the one that is.
	Tried      []*Candidate
	Considered []*Candidate
	// Refusal says why there is no fix; nil if there is one.
	Refusal *Refusal
	// AnalysisTime is without exploring and building.
	AnalysisTime time.Duration
	LiftTime     time.Duration
	// analysisMemory is what the process had taken from the operating system after that.
	analysisMemory uint64
}

// A fixer is one call of Fix.
type fixer struct {
	config instrument.Config
	target string
	args   []string // of the program
	opts   *Options
	result *Result
	copies *overlay.Copies // nil if dependencies are left alone
	// sources reads the program's source.
	sources *sourceReader
	seen    map[string]bool // patches that were tried
	// tried and untried count candidates: those that were looked at, and those that were not,
	// because the time was over or there were too many.
	tried, untried int
	outOfTime      bool
	// late says that the analysis was not brought to its end in the time.
	late bool
	// until is when the time is over.
	until time.Time
	// schedule is what led to the failure, vetted what go vet says of the program as it is.
	schedule string
	vetted   *string
	// phase is what Progress was told last.
	phase string
	// shortened is a shorter test that fails in the same way; triedShorter says that it was looked
	// for.
	shortened    *ShorterTest
	triedShorter bool
	// native is the test as go test runs it; nil before the first candidate.
	native *gotest.Test
	// leaksBefore are the goroutines that the program leaves waiting without any change, by
	// their identities; nil if unknown.
	leaksBefore map[string]bool
}

// maxRounds and maxCandidates bound the search.
const (
	maxRounds     = 4
	maxCandidates = 16
	// moreCandidates are tried when one is proven that needs more than one new lock.
	moreCandidates = 2
)

// Fix looks for a fix of the failure in a trace, which was recorded from the program
// that config describes.
func Fix(ctx context.Context, config instrument.Config, r *trace.Reader, o *Options) (*Result, error) {
	opts := *o
	f := &fixer{config: config, target: r.Header.Test, args: r.Header.Args, opts: &opts, result: &Result{}, seen: map[string]bool{}, schedule: r.Header.Schedule}
	worst := r.Outcome.Worst()
	if worst == nil {
		return nil, errors.New("the trace is of a run that did not fail")
	}
	if err := os.MkdirAll(opts.Temp, 0o777); err != nil {
		return nil, fmt.Errorf("making a directory for traces: %w", err)
	}
	f.result.Failure = *worst
	if worst.Kind != event.FailureLeak {
		opts.Explore.Leaks = false // they are compared with those of the program as it is
	}
	if len(config.Deps) > 0 {
		env, err := f.tool(config.Env).Environment()
		if err != nil {
			return nil, err
		}
		f.copies = overlay.NewCopies(env, filepath.Join(o.Temp, "modules"))
	}
	f.sources = &sourceReader{copies: f.copies}
	found, err := f.round(ctx, r, nil, nil)
	if err != nil {
		return nil, err
	}
	f.result.Proven = found
	if found == nil {
		f.result.Refusal = f.refusal()
	} else {
		found.Reached = Proven
	}
	return f.result, nil
}

// round analyses a failing run of the program with patches applied, and tries its
// candidates.
func (f *fixer) round(ctx context.Context, r *trace.Reader, base *cover.Patch, rounds []trace.Failure) (*Candidate, error) {
	f.begin("analysing the failure")
	f.detail("reading the program")
	start := time.Now()
	config, err := f.changedConfig(base, f.result.run)
	if err != nil {
		return nil, err
	}
	run, err := newFailedRun(config, f.sources, r)
	if err != nil {
		return nil, err
	}
	run.minimal = f.opts.Minimal
	lifted := time.Now()
	if f.until.IsZero() {
		f.until = lifted.Add(f.opts.Budget)
	}
	var analysis *sli.Analysis // nil if no lock is missing
	if nolock.Why(r.Outcome.Worst()) == "" || nolock.IsDisturbed(r.Outcome) {
		f.detail(fmt.Sprintf("deriving what must not come together, from %d events", r.Len()))
		analysis, err = run.analyse(ctx, f.until)
		if f.late = errors.Is(err, errLate); err != nil && !f.late {
			return nil, err
		}
	}
	if f.result.run == nil {
		f.result.Analysis, f.result.run, f.result.Missed = analysis, run, run.missed
		f.result.AnalysisTime, f.result.LiftTime = time.Since(lifted), lifted.Sub(start)
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		f.result.analysisMemory = memory.Sys
	}
	rounds = append(rounds, *r.Outcome.Worst())
	var best *Candidate
	spare := moreCandidates
	var postponed []failedChange
	candidates := run.reshaped(run.changes(base), base)
	if analysis != nil {
		candidates = append(candidates, run.candidates(analysis, base, len(rounds)-1)...)
	}
	for len(candidates) > 0 {
		c := candidates[0]
		candidates = candidates[1:]
		c.Rounds, c.run = rounds, run
		if c.Patch == nil {
			f.result.Tried, f.result.Considered = append(f.result.Tried, c), append(f.result.Considered, c)
			continue
		}
		key := c.Patch.Key()
		if f.seen[key] {
			continue
		}
		larger, err := f.enlarge(c)
		if err != nil {
			return nil, err
		}
		if larger != nil {
			candidates = slices.Concat([]*Candidate{larger, c}, candidates)
			continue
		}
		f.seen[key] = true
		f.result.Considered = append(f.result.Considered, c)
		if c.covers.stillFails {
			c.Reached, c.Why = Written, "it was not tried: it covers less than one that still fails"
			continue
		}
		if over := f.tried > 0 && time.Now().After(f.until); over || f.tried == maxCandidates {
			f.untried, f.outOfTime = f.untried+1, f.outOfTime || over
			c.Reached, c.Why = Written, "it was not tried: the time was over"
			if !over {
				c.Why = fmt.Sprintf("it was not tried: %d others were", maxCandidates)
			}
			continue
		}
		f.tried++
		if best != nil {
			if spare--; spare < 0 {
				break
			}
		}
		f.begin(fmt.Sprintf("proving candidate %d: %s", f.tried, c.Lock))
		next, err := f.prove(ctx, c)
		switch {
		case err != nil:
			return nil, err
		case c.Why == "":
			fewer, err := f.withFewerLocks(ctx, c)
			if err != nil {
				return nil, err
			}
			if fewer != nil {
				c = fewer
			}
			if better(best, c) {
				best = c
			}
			if len(rounds) > 1 || len(best.Patch.NewLocks) <= 1 {
				return f.leavingLess(ctx, best, candidates)
			}
			continue
		}
		f.result.Tried = append(f.result.Tried, c)
		c.covers.stillFails = c.covers.stillFails || c.stillFails
		if next == "" || len(rounds) >= maxRounds || c.missesTheMistake(&f.result.Failure) {
			continue
		}
		if c.Change != nil {
			// One lock may be all that is missing: it is to have its turn first.
			postponed = append(postponed, failedChange{c, next})
			continue
		}
		grown, err := f.grow(ctx, next, c, rounds)
		if err != nil {
			return nil, err
		}
		if grown == nil {
			continue
		}
		if better(best, grown) {
			best = grown
		}
		if len(best.Patch.NewLocks) <= 1 || len(rounds) > 1 {
			return best, nil
		}
	}
	for _, p := range postponed {
		if best != nil {
			break
		}
		if best, err = f.grow(ctx, p.next, p.candidate, rounds); err != nil {
			return nil, err
		}
	}
	return best, nil
}

// A failedChange is a change without a lock that another failure was found with, in the trace next.
type failedChange struct {
	candidate *Candidate
	next      string
}

// missesTheMistake reports whether a candidate is a change without a lock that leaves the failure
// as it is: another mistake is to be mended, in the program as it was and not on top of the change.
// A data race that is left may be another one.
func (c *Candidate) missesTheMistake(failure *trace.Failure) bool {
	return c.Change != nil && c.stillFails && failure.Kind != event.FailureRace
}

// better reports whether c, which is proven, is better than the best so far: with fewer
// new locks. A fix that grew in rounds may have got one in each, where another way to
// begin needs one for all.
func better(best, c *Candidate) bool {
	return best == nil || len(c.Patch.NewLocks) < len(best.Patch.NewLocks)
}

// grow goes on from a candidate that helps but not enough.
func (f *fixer) grow(ctx context.Context, file string, c *Candidate, rounds []trace.Failure) (*Candidate, error) {
	r, err := trace.Open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return f.round(ctx, r, c.Patch, rounds)
}

// begin tells what is going on from now on.
func (f *fixer) begin(phase string) {
	f.phase = phase
	f.detail("")
}

// detail tells how far that is.
func (f *fixer) detail(text string) {
	if f.opts.Progress != nil {
		f.opts.Progress(f.phase, text)
	}
}

// searching tells how far a search is.
func (f *fixer) searching(_ string, p *wire.Progress) {
	f.detail(fmt.Sprintf("%d schedules tried", p.Runs))
}

// changedConfig is how to build the program with a patch, nil for none; run is any of a program
// that has its files. A patch goes by the names of files in the module cache; they are changed in
// copies.
func (f *fixer) changedConfig(patch *cover.Patch, run *failedRun) (instrument.Config, error) {
	config := f.config
	config.Overlay = map[string][]byte{}
	for name, text := range patch.Over(f.config.Overlay) {
		if f.copies.InCache(name) {
			file := run.code.ByOriginal(name)
			if file == nil || file.Package.Module == nil {
				return config, fmt.Errorf("%s is of no module that can be changed", name)
			}
			var err error
			if name, err = f.copies.Copy(name, file.Package.Module); err != nil {
				return config, err
			}
		}
		config.Overlay[name] = text
	}
	var err error
	config.Flags, config.Env, err = f.copies.Use(config.Flags, config.Env)
	return config, err
}
