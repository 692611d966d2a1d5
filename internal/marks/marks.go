// Package marks finds the tests that are marked by package explore.
//
// Which tests may call explore.Test is seen in their source: a test function that calls it, or a
// function of the same package's tests that does. These are run once by go test, with explore.Test
// telling its options instead of running anything.
//
//	marks.go  the tests, and what they ask for
//	calls.go  which of them may be marked
//	seeds.go  the schedules that failed before
package marks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
)

// A Test is one that is marked.
type Test struct {
	Package string `json:"-"`
	Dir     string `json:"-"`
	// Name is that of the test function: what is around the subtests is run with them.
	Name        string        `json:"test"`
	Strategy    string        `json:"strategy"`
	Preemptions int           `json:"preemptions"`
	Budget      time.Duration `json:"budget"`
	Runs        int           `json:"runs"`
}

const listVariable = "COFFERDAM_LIST_MARKED"

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath, Dir           string
	TestGoFiles, XTestGoFiles []string
}

// Find returns the marked tests of packages, in their order. Flags are those that decide what
// packages are made of.
func Find(ctx context.Context, environment, flags, patterns []string) ([]Test, error) {
	tool := gotool.New("", nil)
	out, err := tool.Output(ctx, slices.Concat([]string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles"}, flags, patterns)...)
	if err != nil {
		return nil, err
	}
	var all []Test
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("listing packages: %w", err)
		}
		candidates, err := p.candidates()
		if err != nil {
			return nil, err
		}
		if len(candidates) == 0 {
			continue
		}
		marked, err := p.ask(ctx, tool, environment, flags, candidates)
		if err != nil {
			return nil, err
		}
		all = append(all, marked...)
	}
}

// ask runs the tests that may be marked, and reads what they ask for.
func (p *goPackage) ask(ctx context.Context, tool *gotool.Tool, environment, flags, candidates []string) ([]Test, error) {
	dir, err := scratch.Dir()
	if err != nil {
		return nil, err
	}
	defer scratch.Remove(dir)
	file := filepath.Join(dir, "marked")
	cmd := tool.Command(ctx, slices.Concat([]string{"test", "-count=1", "-vet=off", "-run=^(" + strings.Join(candidates, "|") + ")$"}, flags, []string{p.ImportPath})...)
	cmd.Env = append(slices.Clone(environment), listVariable+"="+file)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("asking the tests of %s what to explore: %w\n%s", p.ImportPath, err, bytes.TrimSpace(output))
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return p.read(text)
}

// read reads what the tests have written. A test function that marks several subtests is
// explored once, with the options of the first.
func (p *goPackage) read(text []byte) ([]Test, error) {
	var all []Test
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		t := Test{Package: p.ImportPath, Dir: p.Dir}
		if err := d.Decode(&t); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading which tests of %s are marked: %w", p.ImportPath, err)
		}
		t.Name, _, _ = strings.Cut(t.Name, "/")
		if !slices.ContainsFunc(all, func(u Test) bool { return u.Name == t.Name }) {
			all = append(all, t)
		}
	}
}
