package protect

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
)

// doesNotBuildRewritten is why a function is left alone.
const doesNotBuildRewritten = "it does not build when it is rewritten"

// maxAttempts is how often a program is rewritten: each time without the functions that did
// not build before, at last without data on pages.
const maxAttempts = 4

// compile compiles the rewritten packages. The go command remembers what it has compiled, so
// that the build that follows need not do it again.
func (c *Config) compile(b *Build) error {
	args := []string{"list", "-export", "-f", "{{.ImportPath}}"}
	if c.Tests {
		args = append(args, "-test")
	}
	args = slices.Concat(args, c.Flags, b.compiling, []string{"--"}, c.Patterns)
	_, err := gotool.New(c.Dir, nil).Output(context.Background(), args...)
	return err
}

// complaints returns those of the compiler, about the files that the user knows. Lines are the
// same there. The go command names files from the directory that it runs in, wherever that is shorter.
func (c *Config) complaints(b *Build, err error) []gotool.Diagnostic {
	var failed *gotool.Error
	if !errors.As(err, &failed) {
		return nil
	}
	all := failed.Diagnostics()
	for i := range all {
		if written := c.absolute(all[i].File); b.overlay.Source(written) != written {
			all[i].File = b.overlay.Source(written)
		}
		all[i].Column = 0 // it is that of the rewritten line
	}
	return all
}

// leaveAlone takes the functions out that the compiler complains about. It reports whether
// there is anything to try: a function that is left alone already may still have uses of
// data on pages, which are given up then.
func (c *Config) leaveAlone(complaints []gotool.Diagnostic) bool {
	before := len(c.alone)
	for _, d := range complaints {
		at := plan.Alone{File: c.absolute(d.File), Line: d.Line, Why: doesNotBuildRewritten}
		if !slices.Contains(c.alone, at) {
			c.alone = append(c.alone, at)
		}
	}
	if len(c.alone) > before {
		return true
	}
	if len(complaints) > 0 && c.Mode == Auto && c.Unprotected == "" {
		c.Unprotected = "the program does not build with data on pages: " + complaints[0].String()
		return true
	}
	return false
}

// absolute returns the whole name of a file that the go command names.
func (c *Config) absolute(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	if abs, err := filepath.Abs(filepath.Join(c.Dir, file)); err == nil {
		return abs
	}
	return file
}

// doesNotBuild is the error for a program that does not build whatever is left alone.
func doesNotBuild(complaints []gotool.Diagnostic, err error) error {
	if len(complaints) == 0 {
		return fmt.Errorf("compiling the rewritten program: %w", err)
	}
	return fmt.Errorf("the rewritten program does not build, although the program does: %s; use -protect=detect, or report it with the function that this is about", complaints[0])
}
