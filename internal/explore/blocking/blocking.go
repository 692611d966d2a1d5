// Package blocking is a corpus of small tests in which goroutines wait for ever, each beside
// one that does the same without the bug, and what exploration makes of them.
//
// The programs are in testdata, many in one package, so that one build is enough. A test
// whose name begins with TestBug has above it how it fails:
//
//	// want: partial deadlock, lock order
//	func TestBugThreeForks(t *testing.T) {
//
// which is the kind of the failure, and its shape. One that begins with TestFine does not
// fail. Together they cover the shapes of event.WaitShape and what can be mistaken for them:
// goroutines that a timer wakes, that spin, and locks that are handed from one goroutine to
// another.
//
//	blocking.go  the corpus, and a run over it
//
// The package is for tests and for the bench.
package blocking

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

//go:embed testdata
var corpus embed.FS

// A Result is what exploration made of one program.
type Result struct {
	Test string
	// Want and Got are a kind of failure and a shape, both empty for none.
	Want, Got string
	Schedules int
}

// Bug reports whether the program has a bug.
func (r *Result) Bug() bool { return r.Want != "" }

// Right reports whether the bug was found and named, or none was.
func (r *Result) Right() bool { return r.Want == r.Got }

// Options say how to explore.
type Options struct {
	// Temp is a directory for the programs and traces.
	Temp string
	// Seed is that of the search, Runs how many schedules it may take for a program.
	Seed uint64
	Runs int
}

// Run explores all programs of the corpus, and tells each result when it has it.
func Run(ctx context.Context, o Options, tell func(Result)) (err error) {
	dir, err := os.MkdirTemp(o.Temp, "blocking")
	if err != nil {
		return fmt.Errorf("making a module of the corpus: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	wants, err := write(dir)
	if err != nil {
		return err
	}
	build, err := explore.New(ctx, instrument.Config{Dir: dir, Patterns: []string{"."}, Tests: true})
	if err != nil {
		return err
	}
	defer build.Close()
	program := build.Programs[0]
	targets, err := program.Targets(ctx)
	if err != nil {
		return err
	}
	for _, test := range targets {
		want, known := wants[test]
		if !known {
			return fmt.Errorf("%s: a test of the corpus is named TestBug, with what is wanted above it, or TestFine", test)
		}
		res, err := program.Explore(ctx, test, &explore.Options{
			Strategy: sched.MethodPCT, Seed: o.Seed, Budget: time.Minute, Runs: o.Runs, Steps: 100_000, Races: true, Leaks: true,
			Trace: filepath.Join(dir, "run.trace"),
		})
		if err != nil {
			return fmt.Errorf("exploring %s: %w", test, err)
		}
		one := Result{Test: test, Want: want, Schedules: res.Runs}
		if f := res.Failure; f != nil {
			one.Got = f.Kind.String() + ", " + f.Shape().String()
		}
		tell(one)
	}
	return nil
}

// write writes the corpus as a module, and returns what is wanted of each test.
func write(dir string) (map[string]string, error) {
	files, err := corpus.ReadDir("testdata")
	if err != nil {
		return nil, fmt.Errorf("reading the corpus: %w", err)
	}
	texts := map[string][]byte{"go.mod": []byte("module blocking\n\ngo 1.26\n")}
	wants := map[string]string{}
	for _, f := range files {
		text, err := corpus.ReadFile("testdata/" + f.Name())
		if err != nil {
			return nil, fmt.Errorf("reading the corpus: %w", err)
		}
		texts[f.Name()] = text
		if err := addWants(wants, f.Name(), text); err != nil {
			return nil, err
		}
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return nil, fmt.Errorf("writing the corpus: %w", err)
		}
	}
	return wants, nil
}

// addWants reads what is wanted of the tests of a file.
func addWants(wants map[string]string, name string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
	if err != nil {
		return fmt.Errorf("reading the corpus: %w", err)
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
			continue
		}
		_, want, found := strings.Cut(f.Doc.Text(), "want: ")
		if found == strings.HasPrefix(f.Name.Name, "TestBug") {
			wants[f.Name.Name] = strings.TrimSpace(want)
		}
	}
	return nil
}
