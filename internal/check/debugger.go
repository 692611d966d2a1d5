package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// delve is the version of the debugger that replay -debug is tested with. To build it takes longer
// than all else that the check does for so few tests, so it is a step to ask for.
const delve = "github.com/go-delve/delve/cmd/dlv@v1.27.2"

// tellWithoutDebugger says that there is no debugger, if so: then nothing attaches to runs that
// wait for one.
func (c *check) tellWithoutDebugger() {
	if _, err := exec.LookPath("dlv"); err != nil {
		fmt.Fprintln(c.stderr, "check: no dlv, so replay -debug is NOT checked with it; go run ./internal/check debugger does")
	}
}

// debugger builds the debugger, and runs the tests that use it.
func (c *check) debugger(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "dlv")
	if err != nil {
		return fmt.Errorf("a folder for the debugger: %w", err)
	}
	defer os.RemoveAll(dir)
	install := gotool.New("", append(os.Environ(), "GOBIN="+dir)).Command(ctx, "install", delve)
	install.Stdout, install.Stderr = c.stdout, c.stderr
	if err := gotool.Check(ctx, install, "", install.Run()); err != nil {
		return err
	}
	if err := os.Setenv("PATH", os.Getenv("PATH")+string(filepath.ListSeparator)+dir); err != nil {
		return fmt.Errorf("the debugger on the PATH: %w", err)
	}
	return c.test(ctx, "-count=1", "-run=TestScripts/replay_debug", "./cmd/cofferdam")
}
