package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/marks"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
)

// markedBudget is how long a marked test is explored that does not say.
const markedBudget = 10 * time.Second

// exploreMarked explores the tests that package explore marks, each by what it asks for.
func (o *protectOptions) exploreMarked(ctx context.Context, inv *command.Invocation) error {
	if others := slices.DeleteFunc(slices.Clone(o.pass), func(arg string) bool { return slices.Contains(o.patterns, arg) || slices.Contains(o.load, arg) }); len(others) > 0 {
		return fmt.Errorf("-explore: leave out %s: what a marked test is explored with, it says itself; cofferdam explore has flags for all", strings.Join(others, " "))
	}
	inv.Status.Phase("looking for marked tests")
	tests, err := marks.Find(ctx, inv.Environment, o.load, o.patterns)
	if err != nil {
		return err
	}
	if len(tests) == 0 {
		return errors.New("-explore: no test of the packages calls explore.Test; cofferdam explore explores all")
	}
	f := &searchFlags{}
	f.declare(flag.NewFlagSet("test", flag.ContinueOnError), markedBudget)
	var names []string
	var packages []string
	for _, t := range tests {
		names = append(names, t.Name)
		packages = append(packages, t.Package)
	}
	slices.Sort(names)
	f.run, f.together, inv.Operands = "^("+strings.Join(slices.Compact(names), "|")+")$", false, slices.Compact(packages)
	e, targets, build, err := f.begin(ctx, inv)
	if err != nil {
		return err
	}
	defer build.Close()
	for i := range tests {
		at := slices.IndexFunc(targets, func(t explore.Target) bool {
			return t.Test == tests[i].Name && t.Program.Package == tests[i].Package
		})
		if at < 0 {
			f.unexplored = append(f.unexplored, tests[i].Name)
			continue
		}
		if err := e.exploreMarkedTest(ctx, targets[at], &tests[i]); err != nil {
			return err
		}
	}
	if len(e.failing) > 0 {
		return &command.Exit{Code: command.ExitFound}
	}
	return f.incomplete()
}

// exploreMarkedTest tries the schedules that have failed before, and then others.
func (e *exploration) exploreMarkedTest(ctx context.Context, target explore.Target, t *marks.Test) error {
	options, err := e.markedOptions(t)
	if err != nil {
		return err
	}
	options.Trace = e.files.next(target)
	e.inv.Status.Phase("exploring " + t.Name)
	again, err := e.trySeeds(ctx, target, t, options)
	if err != nil || again {
		return err
	}
	res, err := target.Explore(ctx, options)
	if err != nil {
		return err
	}
	if err := e.tell(target, res, options.Trace); err != nil || res.Failure == nil || res.Death != nil {
		return err
	}
	file, err := t.Keep(marks.Seed{Schedule: res.Outcome.Schedule, Failure: firstLine(res.Failure)})
	if err == nil {
		fmt.Fprintf(e.inv.Stdout, "The schedule is kept in %s, and tried first from now on.\n", fromHere(file))
	}
	return err
}

// markedOptions are what a test asks for.
func (e *exploration) markedOptions(t *marks.Test) (*explore.Options, error) {
	options := e.Options
	if t.Strategy != "" {
		options.Strategy = sched.Method(t.Strategy)
	}
	if !slices.Contains(strategies, options.Strategy) {
		return nil, fmt.Errorf("%s asks for the strategy %q: give pct, random or dfs; see cofferdam help strategies", t.Name, t.Strategy)
	}
	if t.Preemptions > 0 {
		options.Preemptions = t.Preemptions
	}
	if t.Budget > 0 {
		options.Budget = t.Budget
	}
	options.Runs = t.Runs
	return &options, nil
}

// trySeeds runs the schedules under which a test has failed before, and reports whether one
// fails again.
func (e *exploration) trySeeds(ctx context.Context, target explore.Target, t *marks.Test, options *explore.Options) (failed bool, err error) {
	seeds, err := t.Seeds()
	if err != nil || len(seeds) == 0 {
		return false, err
	}
	dir, err := scratch.Dir()
	if err != nil {
		return false, err
	}
	defer scratch.Remove(dir)
	for _, seed := range seeds {
		done, err := target.Program.Record(ctx, t.Name, seed.Schedule, options, filepath.Join(dir, "seed.trace"))
		if err != nil {
			return false, fmt.Errorf("%s by the schedule %s, which is kept: %w", t.Name, seed.Schedule, err)
		}
		worst := done.Outcome.Worst()
		if worst == nil {
			continue
		}
		if _, err := target.Program.Record(ctx, t.Name, seed.Schedule, options, options.Trace); err != nil {
			return false, err
		}
		fmt.Fprintf(e.inv.Stdout, "%s  %s  by the schedule %s, which is kept: %s\n", e.inv.Color.Bad("FAIL"), e.shown(target), seed.Schedule, firstLine(worst))
		e.files.used(options.Trace)
		e.failing = append(e.failing, t.Name)
		return true, e.report(options.Trace)
	}
	fmt.Fprintf(e.inv.Stdout, "%s  %s  %s passed: %s\n", e.inv.Color.Good("ok"), e.shown(target), plural(len(seeds), "schedule that failed before", "schedules that failed before"), "it goes on with others")
	return false, nil
}
