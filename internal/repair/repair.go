// Package repair writes the fix: it turns the sections that the engine derived from
// a failing run (internal/sli) into locks in the source, and proves that they help.
//
// # How
//
// A fix is a set of sections, fragments of functions that one lock must cover. For
// each a Region is found: the smallest run of statements around the fragment. Then a
// lock is chosen for all regions of the fix. In this order: a mutex that the struct
// with the data has already, a new mutex beside the data in its struct (or beside the
// variable that closures share), a mutex of the package. With a lock, each region
// becomes Lock and Unlock at statement boundaries, on all ways out of it.
//
// What comes out is a candidate. It is compiled, vetted and then proven: the failing
// schedule is run again as far as it still applies, all schedules with at most two
// preemptions are tried or 10,000 by PCT, and the test is run natively under the race
// detector. A candidate that another failure is found in is analysed itself, so that a
// fix may grow in rounds; one that deadlocks, or that fails as before, is dropped. A
// candidate that is not proven is never applied.
//
//	repair.go   the search for a proven fix
//	program.go  the program's source, its lifted form and its failure
//	region.go   fragments to statements
//	lock.go     which lock: those that the program has
//	newlock.go  where a new one goes
//	lockname.go how a region names it
//	exits.go    the ways out of a region
//	patch.go    edits, formatting, diff
//	audit.go    what a patch does to the program's use of its locks
//	proof.go    what a candidate has to stand
//	refuse.go   why there is no fix
//	explain.go  the report for a person
package repair

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/overlay"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// Options say how hard to try.
type Options struct {
	// Explore is how schedules are searched for the proof. Its Trace is not used.
	Explore explore.Options
	// Proof is how long one candidate's schedules may take; Until is when to give up.
	Proof time.Duration
	Until time.Time
	// Native is how many times the test is run under the race detector.
	Native int
	// Temp is a directory for traces.
	Temp string
	// Progress is told what is going on, and how far that is; it may be nil.
	Progress func(phase, detail string)
}

// A Result is a fix, or why there is none.
type Result struct {
	// Failure is what is to be fixed, Analysis what the engine made of it.
	Failure  trace.Failure
	Analysis *sli.Analysis
	program  *Program
	// Fix is proven; nil if no candidate is.
	Fix *Candidate
	// Tried are the candidates that were not proven, the most promising first.
	Tried []*Candidate
	// Refusal says why no lock helps, if there is no fix.
	Refusal string
	// AnalysisTime is without exploring and building.
	AnalysisTime time.Duration
	LiftTime     time.Duration
}

// A Candidate is a change that may be a fix.
type Candidate struct {
	program *Program          // that it was written for
	config  instrument.Config // to build it
	Patch   *Patch
	Fix     *sli.Fix
	Lock    string // in words
	Reason  string // for its rank
	Proof   *Proof
	// Why is why it was dropped.
	Why string
	// Rounds are the failures that were met on the way, each fixed by this candidate.
	Rounds []trace.Failure
}

// A fixer is one call of Fix.
type fixer struct {
	config instrument.Config
	target string
	opts   *Options
	result *Result
	copies *overlay.Copies // nil if dependencies are left alone
	seen   map[string]bool // patches that were tried
	tried  int
	// schedule is what led to the failure, vetted what go vet says of the program as it is.
	schedule string
	vetted   *string
	// phase is what Progress was told last.
	phase string
	// before is what comes of the package's tests without any change; nil if unknown.
	before *testRun
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
	f := &fixer{config: config, target: r.Header.Test, opts: o, result: &Result{}, seen: map[string]bool{}, schedule: r.Header.Schedule}
	worst := r.Outcome.Worst()
	if worst == nil {
		return nil, errors.New("the trace is of a run that did not fail")
	}
	f.result.Failure = *worst
	if why := hopeless(worst); why != "" {
		f.result.Refusal = why
		return f.result, nil
	}
	if config.Deps {
		env, err := f.tool(config.Env).Environment()
		if err != nil {
			return nil, err
		}
		f.copies = overlay.NewCopies(env, filepath.Join(o.Temp, "modules"))
	}
	found, err := f.round(ctx, r, nil, nil)
	if err != nil {
		return nil, err
	}
	f.result.Fix = found
	if found == nil {
		f.result.Refusal = f.refusal()
	}
	return f.result, nil
}

// round analyses a failing run of the program with patches applied, and tries its
// candidates.
func (f *fixer) round(ctx context.Context, r *trace.Reader, base *Patch, rounds []trace.Failure) (*Candidate, error) {
	f.begin("analysing the failure")
	f.detail("reading the program")
	start := time.Now()
	config, err := f.changedConfig(base, f.result.program)
	if err != nil {
		return nil, err
	}
	p, err := newProgram(config, f.copies, r)
	if err != nil {
		return nil, err
	}
	lifted := time.Now()
	f.detail("deriving what must not come together")
	analysis, err := p.analyse()
	if err != nil {
		return nil, err
	}
	if f.result.Analysis == nil {
		f.result.Analysis, f.result.program = analysis, p
		f.result.AnalysisTime, f.result.LiftTime = time.Since(lifted), lifted.Sub(start)
	}
	rounds = append(rounds, *r.Outcome.Worst())
	var best *Candidate
	spare := moreCandidates
	for _, c := range p.candidates(analysis, base, len(rounds)-1) {
		if c.Patch == nil {
			f.result.Tried = append(f.result.Tried, c)
			continue
		}
		c.Rounds, c.program = rounds, p
		key := c.Patch.key()
		if f.seen[key] {
			continue
		}
		f.seen[key] = true
		if f.tried++; f.tried > maxCandidates || time.Now().After(f.opts.Until) {
			break
		}
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
			if better(best, c) {
				best = c
			}
			if len(best.Patch.Locks) <= 1 || len(rounds) > 1 {
				return best, nil
			}
			continue
		}
		f.result.Tried = append(f.result.Tried, c)
		if next == "" || len(rounds) >= maxRounds {
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
		if len(best.Patch.Locks) <= 1 || len(rounds) > 1 {
			return best, nil
		}
	}
	return best, nil
}

// better reports whether c, which is proven, is better than the best so far: with fewer
// new locks. A fix that grew in rounds may have got one in each, where another way to
// begin needs one for all.
func better(best, c *Candidate) bool {
	return best == nil || len(c.Patch.Locks) < len(best.Patch.Locks)
}

// grow goes on from a candidate that helps but not enough.
func (f *fixer) grow(ctx context.Context, file string, c *Candidate, rounds []trace.Failure) (*Candidate, error) {
	r, err := trace.Open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if hopeless(r.Outcome.Worst()) != "" {
		return nil, nil
	}
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

// over is what some texts of files are with the patch, which may be nil.
func (p *Patch) over(texts map[string][]byte) map[string][]byte {
	all := map[string][]byte{}
	maps.Copy(all, texts)
	if p != nil {
		maps.Copy(all, p.Files)
	}
	return all
}

// changedConfig is how to build the program with a patch, nil for none; program is any that
// has its files. A patch goes by the names of files in the module cache; they are changed in
// copies.
func (f *fixer) changedConfig(patch *Patch, program *Program) (instrument.Config, error) {
	config := f.config
	config.Overlay = map[string][]byte{}
	for name, text := range patch.over(f.config.Overlay) {
		if f.copies.InCache(name) {
			file := program.byOriginal(name)
			if file == nil || file.pkg.Module == nil {
				return config, fmt.Errorf("%s is of no module that can be changed", name)
			}
			var err error
			if name, err = f.copies.Copy(name, file.pkg.Module); err != nil {
				return config, err
			}
		}
		config.Overlay[name] = text
	}
	var err error
	config.Flags, config.Env, err = f.copies.Use(config.Flags, config.Env)
	return config, err
}
