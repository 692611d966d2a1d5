package repair

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/locks/audit"
	"github.com/cofferdam-go/cofferdam/internal/overlay"
	"github.com/cofferdam-go/cofferdam/internal/repair/gotest"
)

// sound checks a candidate without running it: that it compiles, does not make worse what
// the program does with its locks, and is vetted without complaints that there were not
// before.
func (f *fixer) sound(ctx context.Context, c *Candidate) (why string, err error) {
	after, err := f.changedBy(c)
	if err != nil {
		return "it does not compile: " + firstLines(err.Error(), 4), nil
	}
	if why := audit.Worse(c.run.code.Locks(), after.code.Locks()); why != "" {
		return why, nil
	}
	if c.Change != nil && c.Change.Check != nil {
		if why := c.Change.Check(after.code); why != "" {
			return why, nil
		}
	}
	if why := f.judgeWhole(c, after); why != "" || f.opts.Judge != nil {
		return why, nil
	}
	flags, err := f.candidateFlags(c)
	if err != nil {
		return "", err
	}
	out, err := f.tool(c.config.Env).Combined(ctx, slices.Concat([]string{"vet"}, flags, f.changedPackages(c, true))...)
	if err == nil {
		return "", nil
	}
	if f.vetted == nil {
		before, _ := f.tool(f.config.Env).Combined(ctx, slices.Concat([]string{"vet"}, f.config.Flags, f.changedPackages(c, true))...)
		f.vetted = &before
	}
	if news := gotool.NewComplaints(*f.vetted, out); len(news) > 0 {
		return "go vet complains: " + strings.Join(news[:min(3, len(news))], "; "), nil
	}
	return "", nil
}

// candidateFlags writes a candidate's files, and returns the flags that have the go command
// use them.
func (f *fixer) candidateFlags(c *Candidate) ([]string, error) {
	dir, err := os.MkdirTemp(f.opts.Temp, "overlay")
	if err != nil {
		return nil, fmt.Errorf("writing a candidate: %w", err)
	}
	env, err := f.tool(c.config.Env).Environment()
	if err != nil {
		return nil, err
	}
	o := overlay.New(env)
	for name, text := range c.config.Overlay {
		o.Text[name] = string(text)
	}
	flags, err := o.Write(dir, c.config.Flags)
	if err != nil {
		return nil, fmt.Errorf("writing a candidate: %w", err)
	}
	return slices.Concat(c.config.Flags, flags), nil
}

// runNatively runs the test as it is by go test, under the race detector, and the package's other tests.
// The tests of dependencies may need what the program does not have; they are left alone.
func (f *fixer) runNatively(ctx context.Context, c *Candidate) (why string, err error) {
	if f.opts.Native == 0 || !f.config.Tests {
		return "", nil
	}
	flags, err := f.candidateFlags(c)
	if err != nil {
		return "", err
	}
	if f.native == nil {
		f.native = &gotest.Test{
			Dir: f.config.Dir, Env: f.config.Env, Flags: f.config.Flags, Patterns: f.config.Patterns,
			Selection: explore.Selection(f.target, f.args), Arguments: explore.Circumstances(f.args),
			Count: f.opts.Native, Races: f.opts.Explore.Races, Temp: f.opts.Temp, Progress: f.detail,
		}
	}
	result, err := f.native.Try(ctx, gotest.Change{Env: c.config.Env, Flags: flags, Packages: f.changedPackages(c, false)})
	if err == nil && result.Why == "" {
		c.Proof.Native, c.Proof.Races, c.Proof.Processes, c.Proof.Others = f.opts.Native, f.opts.Explore.Races, result.Processes, result.Others
	}
	return result.Why, err
}

// changedPackages are the packages that were asked for and the packages that a candidate changes,
// with dependencies or without.
func (f *fixer) changedPackages(c *Candidate, deps bool) []string {
	all := slices.Clone(f.config.Patterns)
	for _, name := range slices.Sorted(maps.Keys(c.Patch.Files)) {
		if at := c.run.code.ByOriginal(name); at != nil && (deps || !f.copies.InCache(name)) {
			if path := strings.TrimSuffix(at.Package.PkgPath, "_test"); !slices.Contains(all, path) {
				all = append(all, path)
			}
		}
	}
	return all
}

// tool is the go command where the program is.
func (f *fixer) tool(env []string) *gotool.Tool { return gotool.New(f.config.Dir, env) }

func firstLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[:min(n, len(lines))], "; ")
}
