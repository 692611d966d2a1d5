// Package vetting is cofferdam vet, and what go vet -vettool=cofferdam calls.
//
//	vetting.go      the command
//	tool.go         the tool
//	diagnostics.go  what go vet tells, as findings
//
// The command is a thin layer: it has go vet run the analyzers of package vet by calling this very
// program as its tool, so that packages are analysed side by side, results are cached, and facts
// go from a package to those that import it.
package vetting

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/publication"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/publish"
	"github.com/cofferdam-go/cofferdam/internal/settings"
	"github.com/cofferdam-go/cofferdam/vet"
)

// options are the flags of cofferdam vet.
type options struct {
	json, fix, diff bool
	tags            string
	min             float64
	only            string
	publication.Flags
}

// NewCommand returns cofferdam vet.
func NewCommand() *command.Command {
	o := &options{}
	c := command.New("vet", "[packages]", "report accesses without their lock, split sections, and what transactions must not do").BuildsPrograms()
	c.Long = `Vet runs three analyzers over packages and their tests: guards reports accesses to data
without the lock that guards it elsewhere, splitsection data that is checked in one section
of its lock and used in another, stmcheck what must not be in a transaction of package stm.

It is go vet with this program as its tool: go vet -vettool=$(which cofferdam) ./...
does the same. What is inferred of exported fields holds for packages that import them.

A comment //cofferdam:ignore with a reason, on the line or above it, silences guards and
splitsection there; //stmcheck:ok with a reason silences stmcheck.`
	c.Notes = `Examples:

  cofferdam vet ./...
  cofferdam vet -only guards -fix ./...
  cofferdam vet -sarif ./... >found.sarif

Exit codes: 0 nothing is reported, 1 something is, 2 error.`
	c.Flags.BoolVar(&o.json, "json", false, "print what go vet -json does")
	c.Flags.BoolVar(&o.fix, "fix", false, "apply the fixes that the analyzers suggest")
	c.Flags.BoolVar(&o.diff, "diff", false, "print these fixes as a diff instead of applying them")
	c.Flags.StringVar(&o.tags, "tags", "", "build `tags`, as for go build")
	c.Flags.StringVar(&o.only, "only", "", "run only these `analyzers`, with commas between them")
	c.Flags.Float64Var(&o.min, "min", 0.5, "how sure it must be, from 0 to 1, that a lock guards something: a `confidence`")
	o.Declare(c.Flags)
	c.Work = func(ctx context.Context, inv *command.Invocation) error {
		if err := o.Exclusive(c, o.json); err != nil {
			return err
		}
		if o.min < 0 || o.min > 1 {
			return c.Errorf("-min %v: a confidence is between 0 and 1", o.min)
		}
		if (o.fix || o.diff) && (o.json || o.Silent()) {
			return c.Errorf("-fix and -diff do not go together with -json and -sarif")
		}
		args, err := o.arguments(inv.Operands)
		if err != nil {
			return c.Errorf("%w", err)
		}
		return o.run(ctx, inv, args)
	}
	return c
}

// arguments are those of the go command.
func (o *options) arguments(patterns []string) ([]string, error) {
	self, err := ownPath()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	args := []string{"vet", "-vettool=" + self}
	switch {
	case o.fix:
		args = append(args, "-fix")
	case o.diff:
		args = append(args, "-fix", "-diff")
	case o.json:
		args = append(args, "-json")
	default:
		args = append(args, "-json", "-"+suppressedFlag)
	}
	if o.tags != "" {
		args = append(args, "-tags="+o.tags)
	}
	var names []string
	for _, a := range vet.Analyzers() {
		names = append(names, a.Name)
	}
	for name := range strings.SplitSeq(o.only, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") {
			return nil, fmt.Errorf("-only %s: there is no such analyzer; there are %s", name, strings.Join(names, ", "))
		}
		args = append(args, "-"+name)
	}
	args = append(args, fmt.Sprintf("-guards.min=%v", o.min))
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	return append(args, patterns...), nil
}

// ownPath is the path by which this program was called: a program that does several things by
// its name is called by the same name again.
func ownPath() (string, error) {
	called, err := exec.LookPath(os.Args[0])
	if err != nil {
		return os.Executable()
	}
	return filepath.Abs(called)
}

func (o *options) run(ctx context.Context, inv *command.Invocation, args []string) error {
	inv.Status.Phase("analysing")
	cmd := gotool.New("", nil).Command(ctx, args...)
	cmd.Env = inv.Environment
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	inv.Status.Phase("")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if o.fix || o.diff {
		_, _ = inv.Stdout.Write(stdout.Bytes())
		_, _ = inv.Stderr.Write(stderr.Bytes())
		return exitOf(err)
	}
	results, failed := readDiagnostics(append(stdout.Bytes(), stderr.Bytes()...))
	switch said := bytes.TrimSpace(stderr.Bytes()); {
	case err != nil && failed != nil && len(said) > 0: // it has not come to look for anything
		return fmt.Errorf("the packages do not build:\n\t%s", bytes.ReplaceAll(said, []byte("\n"), []byte("\n\t")))
	case failed != nil || err != nil && len(results) == 0:
		return fmt.Errorf("go vet: %w\n%s", errors.Join(err, failed), said)
	}
	results, suppressed := settings.Told(inv.Settings, results, func(r *publish.Result) *finding.Finding { return &r.Finding })
	if suppressed > 0 {
		fmt.Fprintf(inv.Stderr, "cofferdam: %s\n", settings.Suppressed(suppressed))
	}
	switch {
	case o.json:
		_, err = inv.Stdout.Write(append(stdout.Bytes(), stderr.Bytes()...))
	case !o.Silent():
		writeText(inv.Stdout, results)
	}
	if err := errors.Join(err, o.Add(inv.Stdout, results...), o.Finish(inv, "vet")); err != nil {
		return err
	}
	if len(results) > 0 {
		return &command.Exit{Code: command.ExitFound}
	}
	return nil
}

// exitOf turns the end of go vet into ours.
func exitOf(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &command.Exit{Code: exit.ExitCode()}
	}
	return err
}
