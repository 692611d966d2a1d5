package exploring

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A test that takes more than largeSteps by the default schedule is too large to be run a
// hundred times; another schedule may take more, up to moduleSteps. Of one that takes
// more than longSteps the first few schedules of a search of all are tried before random
// ones are, since tests of one goroutine have no others; but not of the longest, for
// which the search needs gigabytes.
const (
	largeSteps   = 5_000_000
	moduleSteps  = 10_000_000
	longSteps    = 100_000
	longestSteps = 1_500_000
	few          = 6
)

// leastTime is what a test gets of the time for all, as long as there is any.
const leastTime = time.Second

// try explores the tests of a module.
func (o *moduleOptions) try(ctx context.Context, tried command.Module) (Module, error) {
	m := Module{Path: tried.Path, Version: tried.Version}
	temp, err := os.MkdirTemp("", "module-")
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "module")
	if err := tried.Copy(ctx, dir); err != nil {
		return m, err
	}
	build, err := explore.New(ctx, instrument.Config{Dir: dir, Patterns: tried.Patterns(), Tests: true}, "-test.short")
	if err != nil {
		return m, err
	}
	defer build.Close()
	deadline := time.Now().Add(o.total)
	for _, p := range build.Programs {
		targets, err := p.Targets(ctx)
		if err != nil {
			return m, fmt.Errorf("listing the tests of %s: %w", p.Package, err)
		}
		tests := make([]ModuleTest, 0, len(targets))
		for _, target := range targets {
			if o.run.MatchString(target) && strings.HasPrefix(target, "Test") {
				tests = append(tests, ModuleTest{Package: p.Package, Test: target})
			}
		}
		o.tryTests(ctx, p, temp, tests, deadline)
		m.Tests = append(m.Tests, tests...)
	}
	if ctx.Err() != nil {
		return m, ctx.Err()
	}
	why := failures()
	for i := range m.Tests {
		t := &m.Tests[i]
		// That a test has a bug does not explain that it could not be run.
		if r := why[tried.Path+" "+t.Test]; t.failed() && (r.Kind != theirs || t.Default.Error == "" && t.Random.Error == "") {
			t.Reason = r
		}
	}
	return m, nil
}

// tryTests explores tests of a program, some at a time, until the time for all is over.
func (o *moduleOptions) tryTests(ctx context.Context, p *explore.Program, temp string, tests []ModuleTest, deadline time.Time) {
	progress := measure.NewProgress(os.Stderr, len(tests))
	defer progress.Clear()
	next := make(chan int)
	var (
		mu    sync.Mutex // guards progress
		group sync.WaitGroup
	)
	for worker := range o.parallel {
		group.Go(func() {
			for i := range next {
				budget := o.budget
				if o.total > 0 {
					// What the tests before have left is for this one and those after it.
					rounds := (len(tests) - i + o.parallel - 1) / o.parallel
					budget = min(budget, max(time.Until(deadline)/time.Duration(rounds), min(leastTime, time.Until(deadline))))
				}
				if tests[i].NoTurn = budget <= 0; !tests[i].NoTurn {
					tests[i].try(ctx, o.schedules, budget, p, filepath.Join(temp, fmt.Sprintf("%d.trace", worker)))
				}
				mu.Lock()
				progress.Done(1)
				mu.Unlock()
			}
		})
	}
	for i := range tests {
		mu.Lock()
		progress.Show("%s %s", p.Package, tests[i].Test)
		mu.Unlock()
		next <- i
	}
	close(next)
	group.Wait()
}

// try explores t: the default schedule, then random ones, unless it is known that there
// are no others. The budget is for all of that.
func (t *ModuleTest) try(ctx context.Context, schedules int, budget time.Duration, p *explore.Program, trace string) {
	start := time.Now()
	defer func() { t.Seconds = time.Since(start).Seconds() }()
	left := func() time.Duration { return max(0, budget-time.Since(start)) }
	t.Default = byDefault(ctx, budget, p, t.Test, trace)
	switch {
	case t.Default.Error != "":
		t.Random = t.Default // as any other schedule would
		return
	case t.large():
		return
	case t.Default.Steps > longSteps && t.Default.Steps < longestSteps && !t.Default.failed():
		search := explore.Options{Races: true, Strategy: sched.MethodDFS, Preemptions: -1, Runs: few, Budget: left(), Within: left(), Steps: moduleSteps, Trace: trace, Seed: 1}
		res, err := p.Explore(ctx, t.Test, &search)
		if err == nil && (res.Search.Exhausted && res.Cut == 0 || res.Failure != nil) {
			t.Random, t.Every = tried(res, err), res.Failure == nil
			return
		}
	}
	random := explore.Options{Races: true, Strategy: sched.MethodRandom, Runs: schedules, Budget: left(), Steps: moduleSteps, Trace: trace, Seed: 1}
	res, err := p.Explore(ctx, t.Test, &random)
	t.Random = tried(res, err)
	t.Every = err == nil && res.Search.Exhausted && res.Cut == 0 && res.Failure == nil
}

// byDefault runs a test by the default schedule.
func byDefault(ctx context.Context, budget time.Duration, p *explore.Program, test, trace string) Tried {
	first := explore.Options{Races: true, Strategy: sched.MethodDFS, Runs: 1, Budget: budget, Within: budget, Steps: largeSteps, Trace: trace, Seed: 1, Jobs: 1}
	return tried(p.Explore(ctx, test, &first))
}

func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSuffix(text, "; the last it printed:")
}

// tried puts the result of a search into few words.
func tried(res *explore.Result, err error) Tried {
	if err != nil {
		return Tried{Error: firstLine(err), Detail: err.Error()}
	}
	t := Tried{Runs: res.Runs, Cut: res.Cut, Fresh: res.Fresh, Steps: res.Steps, Seconds: res.Elapsed.Seconds(), Why: why(res)}
	t.fail(res.Failure)
	return t
}

// why says what kept a search from seeing more, and what would help.
func why(res *explore.Result) (all []string) {
	if res.TookTooLong > 0 {
		var b strings.Builder
		res.WriteLate(&b)
		all = append(all, fmt.Sprintf("a run takes more than %v of real time (more: -within); %s", res.Within.Round(time.Second), strings.Join(strings.Fields(b.String()), " ")))
	} else if res.Cut > 0 {
		all = append(all, "a run takes more steps than are allowed (more: -steps)")
	}
	if res.Outside > 0 {
		all = append(all, "outside control: "+strings.Join(res.OutsideWhat, ", "))
	}
	if res.Before > 0 {
		all = append(all, fmt.Sprintf("%d goroutines from before the tests are outside control", res.Before))
	}
	if res.Ended != nil {
		all = append(all, firstLine(res.Ended))
	}
	return all
}

// fail takes note of a failure, if there is one.
func (t *Tried) fail(f *trace.Failure) {
	if f == nil {
		return
	}
	t.Failure = f.String()
	for _, call := range f.Stack {
		t.Stack = append(t.Stack, fmt.Sprintf("%s %s:%d", call.Function, filepath.Base(call.File), call.Line))
	}
	for _, other := range f.Others {
		for _, call := range other.Stack {
			t.Stack = append(t.Stack, fmt.Sprintf("with %s %s:%d", call.Function, filepath.Base(call.File), call.Line))
		}
	}
}

//go:embed failures.txt
var failuresText string

// failures reads failures.txt: module, test, kind, reason.
func failures() map[string]Reason {
	all := make(map[string]Reason)
	for s := bufio.NewScanner(strings.NewReader(failuresText)); s.Scan(); {
		f := strings.SplitN(s.Text(), " ", 4)
		if len(f) == 4 && f[0] != "#" {
			all[f[0]+" "+f[1]] = Reason{Kind: f[2], Text: f[3]}
		}
	}
	return all
}
