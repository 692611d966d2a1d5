package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

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
func (o *protectOptions) compileTransactions(ctx context.Context, inv *invocation) error {
	if o.mode.given {
		return errors.New("-stm and -protect rewrite the same sources: give one of them")
	}
	inv.status.Phase("compiling the transactions of " + strings.Join(o.patterns, " "))
	build, err := txcompile.Prepare(txcompile.Config{
		Patterns: o.patterns, Tests: o.verb == "test", Flags: o.load, Strict: o.stm == stmStrict, Progress: inv.status.Detail,
	})
	if err != nil {
		return err
	}
	defer build.Close()
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.summary {
		fmt.Fprint(inv.stderr, build.Report)
	}
	inv.status.Phase("building")
	tool := gotool.New("", nil)
	args := slices.Concat([]string{o.verb}, build.Flags, o.pass)
	if o.verb == "build" {
		cmd := tool.Command(ctx, args...)
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = inv.environment, inv.inherited.stdin, inv.stdout, inv.stderr
		return goExit(cmd.Run())
	}
	inv.status.Close() // the streams are the program's
	return passOn(inv, tool, args)
}

// passOn has the go command run a program or tests. Signals are the program's.
func passOn(inv *invocation, tool *gotool.Tool, args []string) error {
	cmd := tool.Command(context.Background(), args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = inv.environment, inv.inherited.stdin, inv.inherited.stdout, inv.inherited.stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	onTerminal := console.Detect(inv.inherited.stderr, os.Getenv).Terminal
	inv.signals.to(func(s os.Signal) {
		if s != os.Interrupt || !onTerminal { // a terminal has sent it to all
			_ = cmd.Process.Signal(s.(syscall.Signal))
		}
	})
	defer inv.signals.to(nil)
	return goExit(cmd.Wait())
}
