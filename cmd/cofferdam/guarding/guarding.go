// Package guarding has the subcommand guards, which prints which lock guards what, and the accesses that deviate.
//
//	guarding.go  the command
//	report.go    what it prints
package guarding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/publication"
	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/settings"
)

// options are the flags.
type options struct {
	json, write, tests, deviations, doubtful bool
	min                                      Confidence
	tags                                     string
	publication.Flags
}

// A Confidence is a flag: a number from 0 to 1.
type Confidence float64

func (c *Confidence) String() string { return strconv.FormatFloat(float64(*c), 'g', -1, 64) }

func (c *Confidence) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return errors.New("a confidence is between 0 and 1")
	}
	*c = Confidence(v)
	return nil
}

// NewCommand returns cofferdam guards.
func NewCommand() *command.Command {
	o := &options{min: 0.5}
	c := command.New("guards", "[packages]", "say which lock guards what, and which accesses deviate").BuildsPrograms()
	c.Long = `Guards finds the locks of packages, the fields and variables that each of them
guards, and the accesses that deviate: those that do not hold the lock, or write
while holding it for reading only. Guards are inferred from how often data is
touched with which lock held, and from what annotations, comments, names and the
order of fields say.

Each variable has a line: the way to its lock, how sure that is (0 to 1), the
writing and reading lines that hold the lock, those that do not, those that cannot be
judged, and the signs. Lines that initialise an object before others can reach it count
for nothing.

Deviating accesses follow. An access is in doubt, and shown with -doubtful only, if it
holds another lock, reads what only construction writes, or uses the lock of an owner that
has a mere pointer to the object; and if nothing shows that it can happen beside an access
with the lock, or that goroutines share the object.`
	c.Notes = `Examples:

  cofferdam guards ./...
  cofferdam guards -min 0.8 -json ./internal/server
  cofferdam guards -w ./...

Exit codes: 0 nothing deviates, 1 something does, 2 error.`
	c.Flags.BoolVar(&o.json, "json", false, "print one JSON object")
	c.Flags.BoolVar(&o.write, "w", false, "write +checklocks annotations into the source")
	c.Flags.BoolVar(&o.tests, "tests", false, "analyse test files too")
	c.Flags.BoolVar(&o.deviations, "deviations", false, "print only the deviating accesses")
	c.Flags.BoolVar(&o.doubtful, "doubtful", false, "also report accesses without the lock that may be meant to be so")
	c.Flags.Var(&o.min, "min", "leave out what is less sure than this `confidence`")
	c.Flags.StringVar(&o.tags, "tags", "", "build `tags`, as for go build")
	o.Declare(c.Flags)
	c.Work = func(_ context.Context, inv *command.Invocation) error {
		if err := o.Exclusive(c, o.json); err != nil {
			return err
		}
		return printGuards(inv, o)
	}
	return c
}

func printGuards(inv *command.Invocation, o *options) error {
	patterns := inv.Operands
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	inv.Status.Phase("loading " + strings.Join(patterns, " "))
	c := load.Config{Patterns: patterns, Tests: o.tests}
	if o.tags != "" {
		c.Flags = []string{"-tags=" + o.tags}
	}
	pkgs, err := load.Packages(c)
	if err != nil {
		return err
	}
	inv.Status.Phase("analysing which lock guards what")
	all := guard.Infer(pkgs)
	inv.Status.Phase("")
	list := all.AtLeast(float64(o.min))
	r := &report{dir: dir, w: inv.Stdout, doubtful: o.doubtful, settings: inv.Settings}
	deviations, doubtful, suppressed := 0, 0, 0
	for _, g := range list {
		for _, d := range g.Data {
			told, others := r.split(g, d)
			deviations += len(told)
			suppressed += others
			doubtful += len(d.Deviations) - len(d.Firm())
		}
	}
	switch {
	case o.json:
		err = r.json(list)
	case o.Silent():
	case o.deviations:
		r.deviations(list)
	default:
		r.text(list, deviations)
		if doubtful > 0 && !o.doubtful {
			fmt.Fprintf(inv.Stdout, "%s without the lock may be meant to be so: -doubtful lists them, with the reason\n", count(doubtful, "access"))
		}
	}
	if suppressed > 0 {
		fmt.Fprintf(inv.Stderr, "cofferdam: %s\n", settings.Suppressed(suppressed))
	}
	if err != nil {
		return err
	}
	if err := errors.Join(o.Add(inv.Stdout, r.results(list)...), o.Finish(inv, "guards")); err != nil {
		return err
	}
	if o.write {
		if err := annotate(inv.Stderr, r, all, float64(o.min)); err != nil {
			return err
		}
	}
	if deviations > 0 {
		return &command.Exit{Code: command.ExitFound}
	}
	return nil
}

func annotate(stderr io.Writer, r *report, all *guard.Guards, min float64) error {
	a, err := all.Annotate(min)
	if err != nil {
		return err
	}
	for name, text := range a.Files {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, text, info.Mode().Perm()); err != nil {
			return fmt.Errorf("writing annotations: %w", err)
		}
	}
	for _, s := range a.Skipped {
		fmt.Fprintf(stderr, "%s: %s not annotated: %s\n", r.place(s.At), s.Name, s.Reason)
	}
	fmt.Fprintf(stderr, "%s written into %s\n", count(a.Added, "annotation"), count(len(a.Files), "file"))
	return nil
}
