package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A Target is what a search is about: a test of a program, its parallel tests together, or
// the program itself.
//
// Each test is explored by itself, which is how most bugs are found soonest, and how a failure
// is smallest. What tests do to each other shows only together: those that call t.Parallel
// are one more target, run as go test runs them.
type Target struct {
	Program *Program
	Test    string // as wire.Together has several; "" for a main program
}

// Tests are the names of the target's tests.
func (t Target) Tests() []string { return wire.Tests(t.Test) }

// Together reports whether the target is several tests.
func (t Target) Together() bool { return len(t.Tests()) > 1 }

// Without returns the target without some of its tests, which has a target of its own found to
// fail: they would fail here too.
func (t Target) Without(tests []string) Target {
	left := slices.DeleteFunc(t.Tests(), func(name string) bool { return slices.Contains(tests, name) })
	return Target{t.Program, wire.Together(left)}
}

// longName is what the name of a target has at most, in characters.
const longName = 60

// Name is what the target is called; a main program has no name of its own.
func (t Target) Name() string {
	switch {
	case t.Test == "":
		return "main"
	case t.Together() && len(t.Test) > longName:
		return fmt.Sprintf("%d parallel tests", len(t.Tests()))
	}
	return t.Test
}

// FileName is the target's name in that of a file.
func (t Target) FileName() string {
	if t.Together() {
		return "parallel"
	}
	return t.Name()
}

// NewSearch returns the search of the target that has not begun yet.
func (t Target) NewSearch(o *Options) *Search { return t.Program.NewSearch(t.Test, o) }

// Explore searches for a schedule under which the target fails.
func (t Target) Explore(ctx context.Context, o *Options) (*Result, error) {
	return t.Program.Explore(ctx, t.Test, o)
}

// ErrNoTests is why a program has nothing to explore that ends well without running tests: a
// TestMain may do so where the tests need what is not there.
var ErrNoTests = errors.New("its TestMain ended with exit code 0 and ran no tests")

// ErrNothingSelected is why nothing is explored although all that was asked for builds.
var ErrNothingSelected = errors.New("there is no test to explore: -run and -skip select none, or the packages have none")

// Targets returns what all programs have to explore, and the programs that could not be
// asked, because their TestMain or an init function ended them. There is at least one
// target, or an error.
func (b *Build) Targets(ctx context.Context) (all []Target, broken []instrument.Broken, err error) {
	for _, p := range b.Programs {
		names, err := p.Targets(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, nil, context.Cause(ctx)
		case err != nil:
			broken = append(broken, instrument.Broken{Package: p.Package, Err: unlisted(err)})
			continue
		}
		for _, name := range names {
			all = append(all, Target{p, name})
		}
		together := slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(p.Parallel, name) })
		if len(together) > 1 {
			all = append(all, Target{p, wire.Together(together)})
		}
	}
	switch {
	case len(all) > 0:
		return all, broken, nil
	case len(broken) == 1:
		return nil, nil, fmt.Errorf("%s: %w", broken[0].Package, broken[0].Err)
	case len(broken) > 1:
		return nil, nil, fmt.Errorf("no package's tests can be run; of %s: %w", broken[0].Package, broken[0].Err)
	}
	return nil, nil, ErrNothingSelected
}

// unlisted is the error that a program could not be asked for its tests.
func unlisted(err error) error {
	var died *DeathError
	if !errors.As(err, &died) {
		return fmt.Errorf("listing the tests: %w", err)
	}
	if errors.Is(died.Cause, io.EOF) {
		return ErrNoTests
	}
	text := "the program ended before its tests could run, in TestMain or in an init function"
	var exit *exec.ExitError
	if errors.As(died.Cause, &exit) {
		text += " (" + exit.Error() + ")"
	}
	if died.Output != "" {
		text += "; the last it printed:\n" + died.Output
	}
	return errors.New(text)
}

// leastShare is what a target gets though those before it have used up the time: enough
// to run it by more than one schedule.
const leastShare = 100 * time.Millisecond

// Share returns how long to look at one target, if so many are left, itself included, until
// the deadline. What earlier targets did not need is for the later ones.
func Share(deadline time.Time, left int) time.Duration {
	return max(time.Until(deadline)/time.Duration(left), leastShare)
}
