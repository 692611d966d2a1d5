// Package fixes holds fixes against a judge that shares no code with the fixer.
//
// A [Trial] takes random packages (randprog.Object) with a type whose methods race. Of each,
// one pair of methods is shown to the fixer, as a test that fails. The fix is then judged by
// what it was not shown: every pair of methods that work on a field which the fix guards is
// run at the same time, under every schedule that the interpreter has (package judge), on the
// changed source. Methods that the fix lists as not covered are left out, and counted. A fix
// is false if
//
//   - a run ends in a deadlock, a panic, or with a goroutine that waits for ever;
//   - the field ends with a value that neither order of the two methods gives: a lost update;
//   - two accesses to the field can come at the same time.
//
// The judge also stands in for the proof: a candidate that the pair of the test still fails
// with is dropped, as exploration would have dropped it, and the next one is tried.
//
// The package is for tests and for the bench.
//
//	fixes.go  trials
//	judge.go  the verdict on a changed package
package fixes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/judge"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/repair"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Trial says how packages are tried.
type Trial struct {
	// Temp is a directory for modules and traces.
	Temp string
	// States bounds the judge, Budget the search for a failure.
	States int
	Budget time.Duration

	library *judge.Library
}

// A Case is one package, and what came of it.
type Case struct {
	Name   string
	Object *randprog.Object
	// NoFailure says that the test did not fail under any schedule that was tried.
	NoFailure bool
	// Refusal is why there is no fix; "" if there is one.
	Refusal string
	// Diff is the fix, False what is wrong with it; "" if nothing is.
	Diff, False string
	// Uncovered are the methods that the fix says it does not cover.
	Uncovered int
	// Unjudged are the pairs of methods with too many schedules to judge.
	Unjudged int
}

func (c *Case) String() string {
	return fmt.Sprintf("%s: %s\n%s\nthe fix:\n%s", c.Name, c.False, c.Object.Source, c.Diff)
}

// Run tries packages, which are built together. Their names differ.
func (t *Trial) Run(ctx context.Context, cases []*Case) (err error) {
	dir, err := os.MkdirTemp(t.Temp, "fixes")
	if err != nil {
		return fmt.Errorf("making a module of random packages: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	byPackage := make(map[string]*Case)
	files := map[string]string{"go.mod": "module random\n\ngo 1.26\n"}
	for _, c := range cases {
		byPackage["random/"+c.Name] = c
		files[filepath.Join(c.Name, "p.go")] = "package " + c.Name + "\n\n" + c.Object.Source
		files[filepath.Join(c.Name, "p_test.go")] = "package " + c.Name + "\n\n" + c.Object.Test
	}
	if err := write(dir, files); err != nil {
		return err
	}
	if t.library == nil {
		if t.library, err = judge.LoadLibrary(randprog.ObjectImports...); err != nil {
			return err
		}
	}
	build, err := explore.New(ctx, instrument.Config{Dir: dir, Patterns: []string{"./..."}, Tests: true})
	if err != nil {
		return err
	}
	defer build.Close()
	for _, p := range build.Programs {
		c := byPackage[p.Package]
		if c == nil {
			return fmt.Errorf("%s is none of the packages", p.Package)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := t.one(ctx, dir, p, c); err != nil {
			return fmt.Errorf("%s: %w\n%s", c.Name, err, c.Object.Source)
		}
	}
	return nil
}

// one finds the failure of a package, has it fixed, and judges the fix.
func (t *Trial) one(ctx context.Context, dir string, p *explore.Program, c *Case) error {
	temp, err := os.MkdirTemp(t.Temp, "traces")
	if err != nil {
		return fmt.Errorf("making a folder for traces: %w", err)
	}
	defer os.RemoveAll(temp)
	o := explore.Options{Strategy: sched.MethodPCT, Seed: 1, Races: true, Budget: t.Budget, Steps: 100_000, Trace: filepath.Join(temp, "failure.trace")}
	res, err := p.Explore(ctx, "TestIt", &o)
	if err != nil {
		return err
	}
	if c.NoFailure = res.Failure == nil; c.NoFailure {
		return nil
	}
	r, err := trace.Open(o.Trace)
	if err != nil {
		return err
	}
	defer r.Close()
	j := &verdicts{states: t.States, folder: filepath.Join(dir, c.Name), object: c.Object, name: c.Name, library: t.library}
	result, err := repair.Fix(ctx, instrument.Config{Dir: dir, Patterns: []string{p.Package}, Tests: true}, r, &repair.Options{
		Explore: o, Budget: time.Minute, Temp: temp, Judge: j.onlyShown,
	})
	if err != nil {
		return err
	}
	if result.Proven == nil {
		c.Refusal = result.Refusal
		return nil
	}
	c.Diff = result.Proven.Diff(dir)
	uncovered := make(map[string]bool)
	j.uncovered = make(map[int]bool)
	for _, u := range result.Proven.Uncovered {
		uncovered[u.Func[strings.LastIndexByte(u.Func, '.')+1:]] = true
		j.uncovered[u.Line] = true
	}
	c.Uncovered = len(uncovered)
	c.False, c.Unjudged, err = j.all(result.Proven.Patch.Files, guardedFields(result.Proven), uncovered)
	return err
}

func write(dir string, files map[string]string) error {
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return fmt.Errorf("making a module of random packages: %w", err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return fmt.Errorf("making a module of random packages: %w", err)
		}
	}
	return nil
}
