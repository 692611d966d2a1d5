// Package gotool runs the go command, and is the only package of the product that does.
//
// A [Tool] is the go command as it behaves in one directory with one environment. What it
// says of itself, a [Tool.Environment], is asked for once for each Tool. A run that fails is
// an [*Error], which has the exit code, what the command wrote to its standard error, and
// the complaints in it by file and line, so that nothing is decided by the text of an error:
//
//	out, err := tool.Output(ctx, "build", "-o", binary, "./...")
//	var failed *gotool.Error
//	if errors.As(err, &failed) {
//		for _, d := range failed.Diagnostics() {
//			// d.File, d.Line, d.Column, d.Message
//		}
//	}
//
// A command that is given up because its context is done is interrupted first and killed a
// little later, so that go test can pass the interruption on; its error wraps the context's
// cause.
//
//	gotool.go       Tool, and running
//	environment.go  what the go command says of itself
//	firstbuild.go   whether a build is slow because it is the first of its kind
//	error.go        failed runs and their diagnostics
package gotool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// interruptGrace is how long an interrupted go command has until it is killed, and how long
// its output is waited for after its end: a test that it ran may keep the output open.
const interruptGrace = 5 * time.Second

// A Tool is the go command in one directory with one environment. It may be used by many
// goroutines at once.
type Tool struct {
	dir string
	env []string

	environment func() (*Environment, error)
}

// New returns the go command as it behaves in a directory ("" is the current one) with an
// environment (nil is the process's own).
func New(dir string, env []string) *Tool {
	t := &Tool{dir: dir, env: env}
	t.environment = sync.OnceValues(t.readEnvironment)
	return t
}

// Output runs the go command and returns its standard output. Its standard error is in the
// error, if there is one.
func (t *Tool) Output(ctx context.Context, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	err := t.run(ctx, &stdout, &stderr, args)
	if err != nil {
		return nil, newError(ctx, args, stderr.String(), err)
	}
	return stdout.Bytes(), nil
}

// Combined runs the go command and returns its standard output and standard error in the
// order in which they were written, also if the run fails: go test tells of failed tests on
// one of them and of packages that do not build on the other.
func (t *Tool) Combined(ctx context.Context, args ...string) (string, error) {
	var both bytes.Buffer
	err := t.run(ctx, &both, &both, args)
	if err != nil {
		err = newError(ctx, args, both.String(), err)
	}
	return both.String(), err
}

func (t *Tool) run(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	cmd := t.Command(ctx, args...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		return nil // the command succeeded, and a process that it has left behind keeps its output open
	}
	return err
}

// Command returns a run of the go command that the caller starts and waits for, for a caller
// that connects it to a terminal or passes signals on. [Check] turns what Run or Wait
// returns into an [*Error].
func (t *Tool) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = t.dir, t.env
	cmd.Cancel = func() error { return interrupt(cmd.Process) }
	cmd.WaitDelay = interruptGrace
	return cmd
}

// interrupt asks a process to end; where that cannot be asked, it ends the process.
func interrupt(p *os.Process) error {
	if err := p.Signal(os.Interrupt); err != nil {
		return p.Kill()
	}
	return nil
}
