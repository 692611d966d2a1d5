package repair

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/repair/tried"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Proof is what a candidate has stood.
type Proof struct {
	// Replayed says that the failing schedule was run again, as far as it applies;
	// Diverged where it did not apply any more.
	Replayed bool             `json:"replayed"`
	Diverged sched.Divergence `json:"-"`
	Strength tried.Strength   `json:"strength"`
	// Searches are the explorations, in the words of their strategies.
	Searches []string `json:"searches"`
	Runs     int      `json:"runs"`
	// Shorter is a shorter test that the candidate has stood as well, where its own is too long for
	// all schedules to be tried.
	Shorter *ShorterTest `json:"shorter,omitempty"`
	// Outside is what in a run is not under control, so that no search decides about it.
	Outside []string `json:"outside,omitempty"`
	// Native is how many times the test ran by go test, under the race detector if Races, in a
	// process each time if Processes; Others says that the package's other tests, which passed
	// before, still do.
	Native    int  `json:"native"`
	Races     bool `json:"races"`
	Processes bool `json:"processes,omitempty"`
	Others    bool `json:"others"`
}

func (p *Proof) String() string {
	var b strings.Builder
	if p.Replayed {
		b.WriteString("the failing schedule was run again and passes")
		if until := p.Diverged.String(); until != "" {
			b.WriteString(" (it could be followed until " + until + ")")
		}
		b.WriteString("; ")
	}
	b.WriteString(strings.Join(p.Searches, "; "))
	if len(p.Outside) > 0 {
		b.WriteString("; part of the program is not under control, and was tried only as it happened: " + strings.Join(p.Outside, ", "))
	}
	switch {
	case p.Native > 0 && p.Races && p.Processes:
		fmt.Fprintf(&b, "; go test -race -count=1 passes %d times (the test passes once in a process)", p.Native)
	case p.Native > 0 && p.Processes:
		fmt.Fprintf(&b, "; go test -count=1 passes %d times (the test passes once in a process), and data races were no failures", p.Native)
	case p.Native > 0 && p.Races:
		fmt.Fprintf(&b, "; go test -race -count=%d passes", p.Native)
	case p.Native > 0:
		fmt.Fprintf(&b, "; go test -count=%d passes, and data races were no failures", p.Native)
	default:
		b.WriteString("; it was not run under the race detector")
	}
	if p.Others {
		b.WriteString("; so do the package's other tests")
	}
	return b.String()
}

// prove tries a candidate. If it fails, c.Why says how; next is the trace of a failing
// run that is another failure than those before, so that the candidate may be improved.
func (f *fixer) prove(ctx context.Context, c *Candidate) (next string, err error) {
	c.Proof, c.Reached = &Proof{}, Written
	if c.config, err = f.changedConfig(c.Patch, c.run); err != nil {
		return "", err
	}
	c.config.Progress = f.detail
	f.detail("compiling and vetting it")
	if c.Why, err = f.sound(ctx, c); err != nil || c.Why != "" {
		return "", err
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if f.opts.Judge != nil {
		c.Reached = Sound
		c.Why, err = f.opts.Judge(ctx, c.config.Overlay)
		return "", err
	}
	build, err := explore.New(ctx, c.config, f.args...)
	switch {
	case ctx.Err() != nil && err != nil:
		return "", context.Cause(ctx)
	case err != nil:
		c.Why = "it does not compile: " + err.Error()
		return "", nil
	}
	defer build.Close()
	c.Reached = Sound
	program := f.programOf(build)
	f.detail("running the failing schedule again")
	first := f.opts.Explore
	if f.opts.RecordFixed {
		c.Trace = filepath.Join(f.opts.Temp, fmt.Sprintf("fixed%d.trace", f.tried))
	}
	done, err := program.Record(ctx, f.target, f.schedule, &first, c.Trace)
	if err != nil {
		return "", err
	}
	c.Proof.Replayed, c.Proof.Diverged = true, done.Diverged
	if failure := done.Outcome.Worst(); failure != nil {
		return f.dropped(ctx, program, c, done.Outcome, failure)
	}
	c.Proof.Outside = done.Outcome.Outside
	if next, err = f.search(ctx, program, c, done.Outcome.Steps); err != nil || c.Why != "" {
		if err == nil && c.Reached == Unfinished {
			_, err = f.shorter(ctx) // which is what to offer then
		}
		return next, err
	}
	if c.Proof.Strength.Grade == tried.Sampled {
		if err = f.proveShorter(ctx, c); err != nil || c.Why != "" {
			return "", err
		}
	}
	if c.Why, err = f.leavesWaiting(ctx, program, c.leaks); err != nil || c.Why != "" {
		return "", err
	}
	c.Reached = Explored
	if c.Why, err = f.runNatively(ctx, c); err != nil || c.Why == "" {
		return "", err
	}
	return f.followUp(ctx, program, c)
}

// search tries the schedules of a candidate, whose runs take so many steps.
func (f *fixer) search(ctx context.Context, program *explore.Program, c *Candidate, steps uint64) (next string, err error) {
	o := *f.opts
	o.Explore.Progress = f.searching
	o.Explore.Trace = filepath.Join(f.opts.Temp, fmt.Sprintf("candidate%d.trace", f.tried))
	t, err := tried.Schedules(ctx, program, f.target, o.trying(), steps, f.until)
	if err != nil {
		return "", err
	}
	switch res := t.Result; {
	case res.Death != nil:
		c.Why = "a schedule ends the program: " + res.Death.Summary()
		return "", nil
	case res.Failure != nil:
		return f.dropped(ctx, program, c, res.Outcome, res.Failure)
	}
	c.leaks = append(c.leaks, t.Leaks...)
	c.Proof.Strength, c.Proof.Searches, c.Proof.Runs = t.Strength, t.Searches, t.Runs
	if t.Unfinished != "" {
		c.Why, c.Reached = t.Unfinished, Unfinished
	}
	return "", nil
}

// followUp looks for a schedule of a failure that the race detector has seen and the search
// has not: with one, the candidate may be improved.
func (f *fixer) followUp(ctx context.Context, program *explore.Program, c *Candidate) (next string, err error) {
	o := f.opts.Explore
	o.Strategy, o.Budget, o.Seed = sched.MethodRandom, max(f.opts.Proof/5, time.Second), o.Seed+1
	o.Trace = filepath.Join(f.opts.Temp, fmt.Sprintf("candidate%d.trace", f.tried))
	res, err := program.Explore(ctx, f.target, &o)
	if err != nil || res.Failure == nil || res.Death != nil {
		return "", err
	}
	why := c.Why
	next, err = f.dropped(ctx, program, c, res.Outcome, res.Failure)
	c.Why = why
	return next, err
}

// dropped says why a candidate is no fix, and records the run that shows it if it is worth
// going on from there.
func (f *fixer) dropped(ctx context.Context, program *explore.Program, c *Candidate, o *trace.Outcome, failure *trace.Failure) (next string, err error) {
	c.Why = "a schedule still leads to " + failure.String()
	c.stillFails = failure.Kind == f.result.Failure.Kind
	switch failure.Kind {
	case event.FailureDeadlock:
		if !c.stillFails {
			c.Why = "with it, all goroutines can wait for each other for ever"
		}
	case event.FailurePartialDeadlock:
		if !c.stillFails {
			c.Why = "with it, a goroutine can wait for ever for a lock that is never released"
		}
	}
	file, err := f.record(ctx, program, c, o)
	switch failure.Kind {
	case event.FailureRace, event.FailurePanic, event.FailureTest, event.FailureFatal:
		return file, err
	}
	return "", err
}

// record records the run that a candidate fails in, and takes from it what to tell.
func (f *fixer) record(ctx context.Context, program *explore.Program, c *Candidate, o *trace.Outcome) (string, error) {
	file := filepath.Join(f.opts.Temp, fmt.Sprintf("round%d.trace", f.tried))
	first := f.opts.Explore
	done, err := program.Record(ctx, f.target, o.Schedule, &first, file)
	if err != nil || done.Outcome.Worst() == nil {
		return "", err
	}
	r, err := trace.Open(file)
	if err != nil {
		return "", err
	}
	defer r.Close()
	c.Broken = newFailingRun(r, c.lineBefore)
	return file, nil
}

// lineBefore is the line, in the program without changes, that a line of the program with the candidate
// comes from.
func (c *Candidate) lineBefore(file string, line int) int {
	if c.changed == nil {
		return line
	}
	return c.changed.code.LineBefore(c.run.copies.AtRun(file), line)
}
