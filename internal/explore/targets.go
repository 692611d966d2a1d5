package explore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// A Target is what a search is about: a test of a program, or the program itself.
type Target struct {
	Program *Program
	Test    string // "" for a main program
}

// Name is what the target is called; a main program has no name of its own.
func (t Target) Name() string {
	if t.Test == "" {
		return "main"
	}
	return t.Test
}

// Explore searches for a schedule under which the target fails.
func (t Target) Explore(ctx context.Context, o *Options) (*Result, error) {
	return t.Program.Explore(ctx, t.Test, o)
}

// Matching returns the targets of all programs whose names match a pattern. There is at
// least one, or an error.
func (b *Build) Matching(ctx context.Context, pattern *regexp.Regexp) ([]Target, error) {
	var all []Target
	for _, p := range b.Programs {
		names, err := p.Targets(ctx)
		if err != nil {
			return nil, fmt.Errorf("listing the tests of %s: %w", p.Package, err)
		}
		for _, name := range names {
			if pattern.MatchString(name) {
				all = append(all, Target{p, name})
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New("there is no test to explore: no test's name matches -run, or the packages have none")
	}
	return all, nil
}

// leastShare is what a target gets though those before it have used up the time: enough
// to run it by more than one schedule.
const leastShare = 100 * time.Millisecond

// Share returns how long to look at one target, if so many are left, itself included, until
// the deadline. What earlier targets did not need is for the later ones.
func Share(deadline time.Time, left int) time.Duration {
	return max(time.Until(deadline)/time.Duration(left), leastShare)
}
