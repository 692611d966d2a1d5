package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/console"
	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/txcompile"
)

// A stmFlag is the value of -stm.
type stmFlag string

const (
	stmOn     stmFlag = "on"
	stmStrict stmFlag = "strict"
)

func (s *stmFlag) String() string   { return string(*s) }
func (s *stmFlag) IsBoolFlag() bool { return true }

func (s *stmFlag) Set(text string) error {
	switch text {
	case "true", "on":
		*s = stmOn
	case "strict":
		*s = stmStrict
	case "false":
		*s = ""
	default:
		return errors.New("give -stm or -stm=strict")
	}
	return nil
}

// compileTransactions is run, build and test with -stm: the program is not protected, but its
// transactions are compiled.
func (o *protectOptions) compileTransactions(ctx context.Context, inv *command.Invocation) error {
	if o.mode.given {
		return errors.New("-stm and -protect rewrite the same sources: give one of them")
	}
	inv.Status.Phase("compiling the transactions of " + strings.Join(o.patterns, " "))
	build, err := txcompile.Prepare(txcompile.Config{
		Patterns: o.patterns, Tests: o.verb == "test", Flags: o.load, Strict: o.stm == stmStrict, Progress: inv.Status.Detail,
	})
	if err != nil {
		return err
	}
	defer build.Close()
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.summary {
		fmt.Fprint(inv.Stderr, build.Report)
	}
	inv.Status.Phase("building")
	tool := gotool.New("", nil)
	args := slices.Concat([]string{o.verb}, build.Flags, o.pass)
	if o.verb == "build" {
		cmd := tool.Command(ctx, args...)
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = inv.Environment, inv.Inherited.Stdin, inv.Stdout, inv.Stderr
		return goExit(cmd.Run())
	}
	inv.Status.Close() // the streams are the program's
	return passOn(inv, tool, args)
}

// passOn has the go command run a program or tests. Signals are the program's.
func passOn(inv *command.Invocation, tool *gotool.Tool, args []string) error {
	cmd := tool.Command(context.Background(), args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = inv.Environment, inv.Inherited.Stdin, inv.Inherited.Stdout, inv.Inherited.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	onTerminal := console.Detect(inv.Inherited.Stderr, os.Getenv).Terminal
	inv.Signals.To(func(s os.Signal) {
		if s != os.Interrupt || !onTerminal { // a terminal has sent it to all
			_ = cmd.Process.Signal(s.(syscall.Signal))
		}
	})
	defer inv.Signals.To(nil)
	return goExit(cmd.Wait())
}
