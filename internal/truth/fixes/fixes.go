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
// A package may also be one that makes a mistake for which no lock is missing
// (randprog.Mistake). Its functions that use it say what they may return; the fix is judged by
// all of them, and no race at all is allowed.
//
// A package may also be one whose operations are made of each other (compound.Compound). What two
// operations return and leave together must be what they return and leave in one of the two orders:
// otherwise one of them is torn. No race at all is allowed.
//
// The package is for tests and for the bench.
//
//	fixes.go    trials
//	judge.go    the verdict on a changed package with a racy type
//	mistake.go  the verdict on a changed package with a mistake
//	compound.go the verdict on a changed package whose operations are made of each other
//	context.go  package context, as the judge has it
package fixes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/judge"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/randprog/compound"
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
	// models are packages of the standard library that the judge has in another form.
	models []*judge.Program
}

// A Case is one package, and what came of it.
type Case struct {
	Name string
	// Object, Mistake or Compound is the package; the others are nil.
	Object   *randprog.Object
	Mistake  *randprog.Mistake
	Compound *compound.Compound
	// NoFailure says that the test did not fail under any schedule that was tried.
	NoFailure bool
	// Refusal is why there is no fix; "" if there is one.
	Refusal string
	// Diff is the fix, False what is wrong with it; "" if nothing is.
	Diff, False string
	// Uncovered are the methods that the fix says it does not cover, Told is in which words.
	Uncovered int
	Told      string
	// Judged are the pairs of methods that were judged, Unjudged those with too many schedules.
	Judged, Unjudged int
}

func (c *Case) String() string {
	source, _ := c.texts()
	verdict := c.False
	switch {
	case c.NoFailure:
		verdict = "it does not fail"
	case c.Refusal != "":
		verdict = "refused: " + c.Refusal
	case verdict == "":
		verdict = "the fix is true"
	}
	return fmt.Sprintf("%s: %s\n%s\nthe fix:\n%s\nnot covered:\n%s", c.Name, verdict, source, c.Diff, c.Told)
}

// texts are the package and its test, without package clauses.
func (c *Case) texts() (source, test string) {
	switch {
	case c.Mistake != nil:
		return c.Mistake.Source, c.Mistake.Test
	case c.Compound != nil:
		return c.Compound.Source, c.Compound.Test
	}
	return c.Object.Source, c.Object.Test
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
		source, test := c.texts()
		files[filepath.Join(c.Name, sourceFile)] = "package " + c.Name + "\n\n" + source
		files[filepath.Join(c.Name, "p_test.go")] = "package " + c.Name + "\n\n" + test
		if c.Compound != nil && c.Compound.Store != "" {
			files[filepath.Join(c.Name, compound.StorePath, "store.go")] = c.Compound.Store
		}
	}
	if err := write(dir, files); err != nil {
		return err
	}
	if err := t.loadLibrary(); err != nil {
		return err
	}
	build, err := explore.New(ctx, instrument.Config{Dir: dir, Patterns: []string{"./..."}, Tests: true})
	if err != nil {
		return err
	}
	defer build.Close()
	for _, p := range build.Programs {
		if strings.HasSuffix(p.Package, "/"+compound.StorePath) {
			continue
		}
		c := byPackage[p.Package]
		if c == nil {
			return fmt.Errorf("%s is none of the packages", p.Package)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := t.one(ctx, dir, p, c); err != nil {
			source, _ := c.texts()
			return fmt.Errorf("%s: %w\n%s", c.Name, err, source)
		}
	}
	return nil
}

// loadLibrary loads what packages import, for the judge. It is loaded anew for each lot, because it keeps
// all that was ever judged with it: ten megabytes a package.
func (t *Trial) loadLibrary() error {
	imports := slices.Concat(randprog.ObjectImports, randprog.MistakeImports, compound.Imports)
	library, err := judge.LoadLibrary(slices.Compact(slices.Sorted(slices.Values(imports)))...)
	if err != nil {
		return err
	}
	model, err := library.Package("context", map[string][]byte{"context.go": []byte(contextModel)})
	if err != nil {
		return fmt.Errorf("the model of package context: %w", err)
	}
	t.library, t.models = library, []*judge.Program{model}
	return nil
}

// one finds the failure of a package, has it fixed, and judges the fix.
func (t *Trial) one(ctx context.Context, dir string, p *explore.Program, c *Case) error {
	temp, err := os.MkdirTemp(t.Temp, "traces")
	if err != nil {
		return fmt.Errorf("making a folder for traces: %w", err)
	}
	defer os.RemoveAll(temp)
	o := explore.Options{Strategy: sched.MethodPCT, Seed: 1, Races: true, Budget: t.Budget, Steps: 100_000, Leaks: c.Mistake != nil, Trace: filepath.Join(temp, "failure.trace")}
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
	v := t.verdictsOn(dir, c)
	result, err := repair.Fix(ctx, instrument.Config{Dir: dir, Patterns: []string{p.Package}, Tests: true}, r, &repair.Options{
		Explore: o, Budget: time.Minute, Temp: temp, Judge: v.onlyShown,
	})
	if err != nil {
		return err
	}
	if result.Proven == nil {
		c.Refusal = result.Refusal.String()
		return nil
	}
	c.Diff = result.Proven.Diff(dir)
	uncovered := make(map[string]bool)
	for _, u := range result.Proven.Uncovered {
		c.Told += "  " + u.String() + "\n"
		uncovered[u.Func[strings.LastIndexByte(u.Func, '.')+1:]] = true
	}
	c.Uncovered = len(uncovered)
	c.False, c.Judged, c.Unjudged, err = v.all(result.Proven, uncovered)
	return err
}

// A verdict judges versions of one package.
type verdict interface {
	// onlyShown says what is wrong with changed files for what the test shows; "" if nothing.
	onlyShown(ctx context.Context, files map[string][]byte) (why string, err error)
	// all says what is wrong with a fix for what it was not shown, but for functions that it
	// says it does not cover; how much was judged, and how much has too many schedules to be.
	all(fix *repair.Candidate, except map[string]bool) (wrong string, judged, unjudged int, err error)
}

func (t *Trial) verdictsOn(dir string, c *Case) verdict {
	v := versions{states: t.States, folder: filepath.Join(dir, c.Name), name: c.Name, library: t.library, models: t.models}
	switch {
	case c.Mistake != nil:
		return &driveVerdicts{versions: v, mistake: c.Mistake}
	case c.Compound != nil:
		return &compoundVerdicts{versions: v, compound: c.Compound}
	}
	return &pairVerdicts{versions: v, object: c.Object}
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
