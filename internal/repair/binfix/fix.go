package binfix

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/binpatch"
	"github.com/cofferdam-go/cofferdam/internal/emu/drive"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	lifting "github.com/cofferdam-go/cofferdam/internal/lift/x86"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// Options say how to fix.
type Options struct {
	Binary trace.Binary
	Steps  uint64 // of a run, at most
	Search drive.Options
	// Copy asks for a patched copy of the program instead of a shared object.
	Copy bool
	// Native is how often the patched program is run on the processor.
	Native int
	// Proof is how long all schedules are tried before so many by PCT are.
	Proof     time.Duration
	Schedules int
	Until     time.Time
	// Temp is a directory for files that are not kept.
	Temp string
	// Progress is told what is going on.
	Progress func(phase, detail string)
}

// A Result is what came of it.
type Result struct {
	// Search is how the failure was found; nil in it is an outcome if none was.
	Search   *wire.Summary
	Failure  *trace.Failure
	Schedule string
	Program  *drive.Program
	// Confirmation is what the schedule did on the processor, nil if nothing was to run there.
	Confirmation *Confirmation

	Image    *lifting.Image
	Analysis *sli.Analysis
	Events   uint64 // of the run, as the engine reads it
	// Lifting, Replaying and Analysing are how long that took, all analyses together.
	Lifting, Analysing time.Duration

	// Proven is the fix, nil if there is none: then Refusal says why.
	Proven  *Candidate
	Refusal string
	// Rejected are the fixes that were tried and not proven.
	Rejected []*Candidate
}

// A Candidate is a fix with its patch.
type Candidate struct {
	*sli.Fix
	Patch *binpatch.Patch
	// File is the shared object, or the patched copy.
	File     []byte
	Sections []binpatch.Section // by the addresses of the program's file
	Proof    Proof
	// Reason says why it is no fix.
	Reason     string
	fails      bool // the patched program still fails
	lastResort bool // it encloses whole functions, because nothing less was found
	mayThrow   bool // and a section may be left by an exception
}

// maxCandidates bounds the fixes that are tried of one analysis.
const maxCandidates = 8

// Fix finds a failure of a program and fixes it.
func Fix(ctx context.Context, o *Options) (*Result, error) {
	f := &fixer{Options: o, result: &Result{}}
	o.Progress("loading "+o.Binary.Path, "")
	program, err := drive.Load(o.Binary, o.Steps)
	if err != nil {
		return nil, err
	}
	f.result.Program = program
	if err := f.preloads(); err != nil {
		return nil, err
	}
	o.Progress("looking for a failure", "")
	done, err := program.Explore(ctx, &o.Search)
	if err != nil {
		return nil, err
	}
	f.result.Search, f.result.Failure = done, done.Outcome.Worst()
	if f.result.Failure == nil {
		return f.result, nil
	}
	f.result.Schedule = done.Outcome.Schedule
	if f.result.Confirmation, err = f.confirm(done.Outcome); err != nil {
		return nil, err
	}
	first, err := f.observe(done.Outcome)
	if err != nil || f.result.Refusal != "" {
		return f.result, err
	}
	f.cases = append(f.cases, first)
	if err := f.rounds(ctx); err != nil {
		return f.result, err
	}
	if f.result.Proven == nil {
		f.refuse()
	}
	return f.result, nil
}

// preloads is the error that the program would not load a shared object, if it is to.
func (f *fixer) preloads() error {
	if f.Copy {
		return nil
	}
	image := f.result.Program.Process().Program()
	if !image.Dynamic() {
		return fmt.Errorf("%s is static, and loads no shared object: have a patched copy of it made, with -copy", f.Binary.Path)
	}
	if info, err := os.Stat(f.Binary.Path); err == nil && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		return fmt.Errorf("%s runs as another user or group than the one that calls it, and then ignores LD_PRELOAD: have a patched copy of it made, with -copy, and give the copy its owner and mode", f.Binary.Path)
	}
	return nil
}

// A fixer is one call of Fix.
type fixer struct {
	*Options
	result *Result
	data   []byte // of the program's file
	cases  []*failingCase
	tried  map[string]bool
}

// A failingCase is one way in which the program fails. A fix may show that there are more:
// what was kept from failing in one place goes on to the next.
type failingCase struct {
	failure *trace.Failure
	run     *lifting.Run
	at      *lifting.Failure
	process *linux.Process
	program *lifting.Program
	log     *exec.Log
	fixes   []*sli.Fix
}

// maxRounds is how many ways to fail are looked at, at most.
const maxRounds = 4

// rounds tries fixes of the failures that are known and, while the patched program fails in
// another way, looks for that in the program as it is.
func (f *fixer) rounds(ctx context.Context) error {
	for range maxRounds {
		for _, c := range f.cases {
			if err := f.analyse(ctx, c, withoutRounds); err != nil {
				return err
			}
		}
		if err := f.tryAll(ctx); err != nil || f.result.Proven != nil || !f.failsElsewhere() {
			break
		}
		more, err := f.findOtherFailure(ctx)
		if err != nil {
			return err
		}
		if more == nil {
			break
		}
		f.cases = append(f.cases, more)
	}
	if f.result.Proven != nil || ctx.Err() != nil {
		return ctx.Err()
	}
	for _, c := range f.cases {
		if err := f.analyse(ctx, c, withRounds); err != nil {
			return err
		}
	}
	if err := f.tryAll(ctx); err != nil || f.result.Proven != nil {
		return err
	}
	whole, err := f.wholeRun()
	if err != nil {
		return err
	}
	for level := 0; level <= maxLevels && f.result.Proven == nil && time.Now().Before(f.Until); level++ {
		if fix := f.enclosing(level, whole); fix != nil {
			if err := f.tryFix(ctx, fix, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// How many earlier rounds of loops the engine goes through: see sli.Options.
const (
	withoutRounds = -1
	withRounds    = 0
)

// failsElsewhere reports whether a fix was dropped because the patched program failed.
func (f *fixer) failsElsewhere() bool {
	for _, c := range f.result.Rejected {
		if c.fails {
			return true
		}
	}
	return false
}

// findOtherFailure looks for a failure of the program that is none of those known.
func (f *fixer) findOtherFailure(ctx context.Context) (*failingCase, error) {
	f.Progress("looking for another failure", "")
	o := f.Search
	o.Budget = min(o.Budget, time.Until(f.Until)/3)
	o.Seed += uint64(len(f.cases))
	o.Ignore = func(failure *trace.Failure) bool {
		for _, c := range f.cases {
			if c.failure.Same(failure) {
				return true
			}
		}
		return false
	}
	done, err := f.result.Program.Explore(ctx, &o)
	if err != nil || done.Outcome == nil {
		return nil, err
	}
	return f.observe(done.Outcome)
}

// analyseWithin is how long one analysis may take; the first, of the likeliest place, may take
// four times as long. Those that come to anything mostly take some milliseconds; those of what ended a program, in code of a library that is linked into it,
// may go through all that the library does to print a line.
const analyseWithin = 3 * time.Second

// errLate says that a run could not be followed within that time.
var errLate = errors.New("the analysis takes too long")

// analyse derives fixes of a case. Where nothing comes of it for a program that ended
// itself, it is tried for the caller.
func (f *fixer) analyse(ctx context.Context, c *failingCase, loops int) error {
	if c.program != nil && loops == withoutRounds {
		return nil // in an earlier round
	}
	first := c.at
	c.log = c.run.Log(c.failure.G)
	within := 4 * analyseWithin
	for _, at := range f.places(c) {
		c.at = at
		if err := f.analyseAt(ctx, c, loops, within); err != nil || len(c.fixes) > 0 {
			return err
		}
		within = analyseWithin
	}
	c.at = first
	return nil
}

// analyseAt derives fixes for the failure at the place that the case has it at.
func (f *fixer) analyseAt(ctx context.Context, c *failingCase, loops int, within time.Duration) error {
	r := f.result
	f.Progress("analysing", "")
	if err := f.liftCase(c); err != nil {
		return err
	}
	r.Events = max(r.Events, c.log.Last())
	start := time.Now()
	until := start.Add(min(within, time.Until(f.Until)))
	analysis, err := sli.Analyse(c.program.Program, c.log, c.at.Engine(c.failure.G), sli.Options{Rounds: loops, Interrupted: func() error {
		if err := ctx.Err(); err != nil || !time.Now().After(until) {
			return err
		}
		return errLate
	}})
	r.Analysing += time.Since(start)
	if errors.Is(err, sli.ErrLost) || errors.Is(err, errLate) && len(analysis.Fixes) == 0 {
		if loops == withRounds && len(c.fixes) == 0 {
			r.Refusal = "the run cannot be followed through the lifted code to its failure"
		}
		return nil
	}
	if err != nil && !errors.Is(err, errLate) {
		return err
	}
	if r.Analysis == nil || len(r.Analysis.Fixes) == 0 {
		r.Analysis = analysis
	}
	c.fixes = analysis.Fixes
	return nil
}

// tryAll tries fixes of all cases together, the cheapest first, until one is proven.
func (f *fixer) tryAll(ctx context.Context) error {
	if f.tried == nil {
		f.tried = map[string]bool{}
	}
	for _, fix := range f.combined() {
		if time.Now().After(f.Until) || ctx.Err() != nil {
			return ctx.Err()
		}
		if err := f.tryFix(ctx, fix, false); err != nil || f.result.Proven != nil {
			return err
		}
	}
	return nil
}

// tryFix tries one fix. whole says that it is one of last resort.
func (f *fixer) tryFix(ctx context.Context, fix *sli.Fix, whole bool) error {
	c := &Candidate{Fix: fix, lastResort: whole}
	if err := f.candidate(ctx, c); err != nil {
		return err
	}
	switch {
	case c.Reason == "":
		f.result.Proven = c
	case c.Reason != repeated:
		f.result.Rejected = append(f.result.Rejected, c)
	}
	return nil
}

// combined are fixes with the sections of one fix of each case.
func (f *fixer) combined() []*sli.Fix {
	sets := [][]*sli.Fix{nil}
	for _, c := range f.cases {
		var next [][]*sli.Fix
		for _, fix := range c.fixes[:min(len(c.fixes), maxCandidates)] {
			for _, set := range sets {
				next = append(next, append(set[:len(set):len(set)], fix))
			}
		}
		if len(next) > 0 {
			sets = next[:min(len(next), 4*maxCandidates)]
		}
	}
	var all []*sli.Fix
	for _, set := range sets {
		switch len(set) {
		case 0:
		case 1:
			all = append(all, set[0])
		default:
			all = append(all, sli.Merge(sli.Options{}, set...))
		}
	}
	slices.SortStableFunc(all, func(a, b *sli.Fix) int { return a.Cost - b.Cost })
	return all[:min(len(all), maxCandidates)]
}

// repeated is the reason of a candidate that is the same in machine code as one before.
const repeated = "it is the same as another"

// candidate patches the program as a fix has it, and tries the patch.
func (f *fixer) candidate(ctx context.Context, c *Candidate) error {
	f.Progress("trying a fix", fmt.Sprintf("cost %d", c.Cost))
	if c.Reason = f.sections(c); c.Reason != "" {
		return nil
	}
	key := fmt.Sprint(c.Sections)
	if f.tried[key] {
		c.Reason = repeated
		return nil
	}
	f.tried[key] = true
	patch, err := binpatch.New(f.data, fileImage{f.result.Image}, c.Sections, f.jumps(), filepath.Base(f.Binary.Path), f.throws())
	if err != nil {
		c.Reason = err.Error()
		return nil
	}
	c.Patch, c.Sections = patch, patch.Sections()
	if f.Copy {
		c.File, err = patch.Copy()
	} else {
		c.File, err = patch.SharedObject()
	}
	if err != nil {
		c.Reason = err.Error()
		return nil
	}
	return f.prove(ctx, c)
}

// refuse says why there is no fix.
func (f *fixer) refuse() {
	r := f.result
	switch {
	case r.Refusal != "":
	case r.Analysis == nil:
		r.Refusal = "the run could not be analysed"
	case len(r.Analysis.Reasons) > 0 && !slices.ContainsFunc(r.Rejected, func(c *Candidate) bool { return !c.lastResort }):
		r.Refusal = r.Analysis.Reasons[0]
	case len(r.Rejected) > 0:
		last := r.Rejected[len(r.Rejected)-1]
		if i := slices.IndexFunc(r.Rejected, func(c *Candidate) bool { return c.mayThrow }); i >= 0 {
			last = r.Rejected[i] // which says more than that another one is not enough
		}
		r.Refusal = "none of the fixes that were found is one: " + last.Reason
	default:
		r.Refusal = "no set of sections was found that would prevent the failure"
	}
}
