package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// staticcheck is the version that the code is checked with.
const staticcheck = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"

// everything is all packages of this module and of bench, which is in the workspace but
// not below a pattern of this module.
var everything = []string{"./...", "./bench/..."}

// raced is what runs in several goroutines, in users' programs or by itself. Code that
// starts none and is called by one at a time, such as sched and trace, has nothing that the
// race detector could find.
var raced = []string{"./isolate", "./stm", "./tolerate", "./internal/rt/...", "./internal/page", "./internal/finding", "./internal/goroutine"}

// A platform is one that the packages are compiled for though no test runs there, with those
// that do not support it.
type platform struct {
	os, arch string
	refused  []string
}

// platforms has the operating system that differs most, and the size of words that does. On a
// machine that has compiled nothing yet, each takes half a minute.
var platforms = []platform{
	{"windows", "amd64", nil},
	{"linux", "386", []string{"./stm"}}, // its logs are made of words that hold a pointer and are eight bytes
}

// A check is one run of the command.
type check struct {
	stdout, stderr io.Writer
	slowest        int           // tests to tell
	timeout        time.Duration // of the tests of a package
}

// A step is one thing that is checked.
type step struct {
	name  string
	about string
	run   func(context.Context, *check) error
}

var steps = []step{
	{"build", "go build", func(ctx context.Context, c *check) error { return c.goTool(ctx, "build", everything...) }},
	{"format", "gofmt -l", func(ctx context.Context, c *check) error { return c.format(ctx) }},
	{"platforms", "what compiles for other platforms", func(ctx context.Context, c *check) error { return c.buildElsewhere(ctx) }},
	{"vet", "go vet", func(ctx context.Context, c *check) error { return c.goTool(ctx, "vet", everything...) }},
	{"staticcheck", staticcheck, func(ctx context.Context, c *check) error {
		return c.goTool(ctx, "run", append([]string{staticcheck}, everything...)...)
	}},
	{"test", "go test", func(ctx context.Context, c *check) error { return c.test(ctx, everything...) }},
	{"race", "go test -race -short, of what runs in several goroutines", func(ctx context.Context, c *check) error { return c.race(ctx) }},
}

// goTool runs the go command with its output connected.
func (c *check) goTool(ctx context.Context, command string, args ...string) error {
	cmd := gotool.New("", nil).Command(ctx, append([]string{command}, args...)...)
	cmd.Stdout, cmd.Stderr = c.stdout, c.stderr
	return gotool.Check(ctx, cmd, "", cmd.Run())
}

// buildElsewhere compiles the packages for platforms other than this one. A package that is
// refused somewhere has to fail there, or README's table is out of date.
func (c *check) buildElsewhere(ctx context.Context) error {
	for _, p := range platforms {
		env := append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0")
		tool := gotool.New("", env)
		listed, err := tool.Output(ctx, "list", "-f", `{{.ImportPath}}{{range .Deps}} {{.}}{{end}}`, "./...")
		if err != nil {
			return err
		}
		refuses := func(path string) bool {
			return slices.ContainsFunc(p.refused, func(refused string) bool { return strings.HasSuffix(path, strings.TrimPrefix(refused, ".")) })
		}
		var supported []string
		for line := range strings.Lines(string(listed)) {
			// A package goes with those that it stands on.
			if paths := strings.Fields(line); !slices.ContainsFunc(paths, refuses) {
				supported = append(supported, paths[0])
			}
		}
		// Unlike go build, go list -export compiles without linking.
		if _, err := tool.Output(ctx, append([]string{"list", "-export"}, supported...)...); err != nil {
			return fmt.Errorf("for %s/%s: %w", p.os, p.arch, err)
		}
		for _, refused := range p.refused {
			if _, err := tool.Output(ctx, "list", "-export", refused); err == nil {
				return fmt.Errorf("for %s/%s: %s builds, though it is said not to", p.os, p.arch, refused)
			}
		}
	}
	return nil
}

// format fails if gofmt would change a file.
func (c *check) format(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "gofmt", "-l", ".").Output()
	switch {
	case err != nil:
		return fmt.Errorf("gofmt: %w", err)
	case len(out) > 0:
		return fmt.Errorf("gofmt -w would change:\n%s", out)
	}
	return nil
}

// race runs tests under the race detector, which needs a C compiler. Where there is none
// the step passes, and says that it did not check.
func (c *check) race(ctx context.Context) error {
	env, err := gotool.New("", nil).Environment()
	if err != nil {
		return err
	}
	compiler, _, _ := strings.Cut(env.CC, " ")
	if _, err := exec.LookPath(compiler); err != nil {
		fmt.Fprintf(c.stderr, "check: no C compiler (%q), so NOT checked with the race detector: install gcc or clang for that\n", compiler)
		return nil
	}
	return c.test(ctx, append([]string{"-race", "-short"}, raced...)...)
}
