package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
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

// undebugged has programs linked without what only debuggers read, which is most of what it takes to
// link a hundred of them.
const undebugged = "-ldflags=-w"

// A check is one run of the command.
type check struct {
	stdout, stderr io.Writer
	slowest        int           // tests to tell
	timeout        time.Duration // of the tests of a package
	// browser is told when there is one, or why there is none; nil if none is looked for.
	browser chan error
}

// A step is one thing that is checked.
type step struct {
	name  string
	about string
	run   func(context.Context, *check) error
	// byName says that the step is done only if it is named.
	byName bool
}

var steps = []step{
	{name: "browser", about: "a browser for the tests of reports, which is installed meanwhile if there is none", run: func(ctx context.Context, c *check) error { return c.findBrowser(ctx) }},
	{name: "build", about: "go build", run: func(ctx context.Context, c *check) error {
		return c.goTool(ctx, "build", append([]string{undebugged}, everything...)...)
	}},
	{name: "format", about: "gofmt -l", run: func(ctx context.Context, c *check) error { return c.format(ctx) }},
	{name: "platforms", about: "what type-checks for other platforms", run: func(ctx context.Context, _ *check) error { return checkPlatforms(ctx) }},
	{name: "vet", about: "go vet", run: func(ctx context.Context, c *check) error { return c.goTool(ctx, "vet", everything...) }},
	{name: "staticcheck", about: staticcheck, run: func(ctx context.Context, c *check) error {
		return c.goTool(ctx, "run", append([]string{staticcheck}, everything...)...)
	}},
	{name: "test", about: "go test", run: func(ctx context.Context, c *check) error {
		c.awaitBrowser()
		c.tellWithoutDebugger()
		return c.test(ctx, everything...)
	}},
	{name: "race", about: "go test -race -short, of what runs in several goroutines", run: func(ctx context.Context, c *check) error { return c.race(ctx) }},
	{name: "debugger", about: "replay -debug, with " + delve + ", which is built for it", run: func(ctx context.Context, c *check) error { return c.debugger(ctx) }, byName: true},
	{name: "install", about: "go install of a tag, and the command elsewhere", run: func(ctx context.Context, c *check) error { return c.install(ctx) }, byName: true},
	{name: "golangci", about: "the plugin, in " + golangci + ", which is built for it", run: func(ctx context.Context, c *check) error { return c.lint(ctx) }, byName: true},
}

// goTool runs the go command with its output connected.
func (c *check) goTool(ctx context.Context, command string, args ...string) error {
	cmd := gotool.New("", nil).Command(ctx, append([]string{command}, args...)...)
	cmd.Stdout, cmd.Stderr = c.stdout, c.stderr
	return gotool.Check(ctx, cmd, "", cmd.Run())
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
	// Models are followed by one goroutine, and the detector has nothing to see there.
	return c.test(ctx, append([]string{"-race", "-short", "-skip=^TestModel"}, raced...)...)
}
