package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/instrument"
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

// FileName is the target's name in that of a file.
func (t Target) FileName() string { return t.Name() }

// Explore searches for a schedule under which the target fails.
func (t Target) Explore(ctx context.Context, o *Options) (*Result, error) {
	return t.Program.Explore(ctx, t.Test, o)
}

// ErrNoTests is why a program has nothing to explore that ends well without running tests: a
// TestMain may do so where the tests need what is not there.
var ErrNoTests = errors.New("its TestMain ended with exit code 0 and ran no tests")

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
	}
	switch {
	case len(all) > 0:
		return all, broken, nil
	case len(broken) == 1:
		return nil, nil, fmt.Errorf("%s: %w", broken[0].Package, broken[0].Err)
	case len(broken) > 1:
		return nil, nil, fmt.Errorf("no package's tests can be run; of %s: %w", broken[0].Package, broken[0].Err)
	}
	return nil, nil, errors.New("there is no test to explore: no test's name matches -run, or the packages have none")
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
