package racecorpus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/command"
)

// How the corpus names its tests.
const (
	racing = "TestRace"
	fine   = "TestNoRace"
)

// A corpus is the copy.
type corpus struct {
	dir string
}

// A change is what code outside the standard library needs.
type change struct {
	file, from, to, why string
}

var changes = []change{
	{"synctest_test.go", `"internal/synctest"`, `"testing/synctest"`, "internal to the standard library"},
	{"synctest_test.go", "synctest.Run(func() {", "synctest.Test(t, func(*testing.T) {", "the public name of the same"},
	{"mop_test.go", "runtime.RaceDisable()", "raceDisable()", "exists under -race only; a function that does nothing without it"},
}

// leftOut are files of the corpus that are not copied.
var leftOut = map[string]string{
	"cgo_test.go": "has one test, which calls go run -race on another program: it is about the race detector and cgo, and nothing in it runs here",
}

// added are files of the copy alone.
var added = map[string]string{
	"with_race_test.go":    "//go:build race\n\npackage race_test\n\nimport \"runtime\"\n\nfunc raceDisable() { runtime.RaceDisable() }\n",
	"without_race_test.go": "//go:build !race\n\npackage race_test\n\nfunc raceDisable() {}\n",
}

// newCorpus copies the corpus of the Go installation to a directory, which it makes.
func newCorpus(ctx context.Context, dir string) (*corpus, error) {
	out, err := command.Go(ctx, "", "env", "GOROOT", "GOVERSION")
	if err != nil {
		return nil, err
	}
	root, version, _ := strings.Cut(out, "\n")
	files, err := filepath.Glob(filepath.Join(root, "src", "runtime", "race", "testdata", "*_test.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("the Go installation in %s has no src/runtime/race/testdata: install its sources", root)
	}
	c := &corpus{dir: dir}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	if err := c.fill(files, version); err != nil {
		return nil, fmt.Errorf("copying the corpus: %w", err)
	}
	return c, nil
}

func (c *corpus) fill(files []string, version string) error {
	// The corpus is written in the language of its installation.
	language, _, _ := strings.Cut(strings.TrimPrefix(version, "go"), " ")
	if parts := strings.SplitN(language, ".", 3); len(parts) == 3 {
		language = parts[0] + "." + parts[1]
	}
	if err := c.write("go.mod", "module racecorpus\n\ngo "+language+"\n"); err != nil {
		return err
	}
	for name, text := range added {
		if err := c.write(name, text); err != nil {
			return err
		}
	}
	for _, file := range files {
		name := filepath.Base(file)
		if leftOut[name] != "" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text := string(data)
		for _, ch := range changes {
			if ch.file != name {
				continue
			}
			if !strings.Contains(text, ch.from) {
				return fmt.Errorf("%s has no %s: this version of Go has another corpus than the one this was written for", name, ch.from)
			}
			text = strings.ReplaceAll(text, ch.from, ch.to)
		}
		if err := c.write(name, text); err != nil {
			return err
		}
	}
	return nil
}

func (c *corpus) write(name, text string) error {
	return os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o666)
}

// changes lists what is different in the copy.
func (c *corpus) changes() []string {
	var all []string
	for name, why := range leftOut {
		all = append(all, fmt.Sprintf("%s is left out: it %s", name, why))
	}
	for _, ch := range changes {
		all = append(all, fmt.Sprintf("%s: %s instead of %s: %s", ch.file, ch.to, ch.from, ch.why))
	}
	return all
}
