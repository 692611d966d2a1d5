package publication

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/publish"
)

// findingsOptions are the flags of cofferdam findings.
type findingsOptions struct {
	baseline string
	json     bool
	Flags
}

// NewFindingsCommand returns cofferdam findings.
func NewFindingsCommand() *command.Command {
	o := &findingsOptions{}
	c := command.New("findings", "FILE ...", "show what protected programs and searches have found, or hand it on")
	c.Long = `Findings reads files of findings, which run, build and test -protect -findings and explore
-json write, one JSON object per line. What several files or processes tell of the same
defect is one finding. It prints them as text, or in the form that another tool reads.`
	c.Notes = `Examples:

  cofferdam findings /var/log/server.jsonl
  cofferdam findings -sarif -baseline known.jsonl server-*.jsonl >found.sarif

Exit codes: 0 there are none beside those of the baseline, 1 there are some, 2 error.`
	c.Flags.StringVar(&o.baseline, "baseline", "", "leave out what is in this `file` of findings")
	c.Flags.BoolVar(&o.json, "json", false, "write them as lines of JSON, those of one defect merged")
	o.Declare(c.Flags)
	c.Work = func(_ context.Context, inv *command.Invocation) error {
		if err := o.Exclusive(c, o.json); err != nil {
			return err
		}
		if len(inv.Operands) == 0 {
			return c.Errorf("name a file of findings")
		}
		return o.show(inv)
	}
	return c
}

func (o *findingsOptions) show(inv *command.Invocation) error {
	var log finding.Log
	for _, name := range inv.Operands {
		found, err := readFindings(name)
		if err != nil {
			return err
		}
		for _, f := range found {
			log.Add(f)
		}
	}
	fresh := log.Findings()
	if o.baseline != "" {
		known, err := ReadBaseline(o.baseline)
		if err != nil {
			return err
		}
		all := len(fresh)
		fresh = known.New(fresh)
		if left := all - len(fresh); left > 0 {
			fmt.Fprintf(inv.Stderr, "cofferdam: %s\n", finding.Suppressed(left))
		}
	}
	if n := log.Dropped(); n > 0 {
		gap := fmt.Sprintf("%d findings are left out: there are too many that differ", n)
		o.Gap(gap)
		fmt.Fprintf(inv.Stderr, "cofferdam: %s\n", gap)
	}
	var err error
	switch {
	case o.json:
		err = finding.WriteJSON(inv.Stdout, fresh)
	case !o.Silent():
		err = finding.WriteText(inv.Stdout, fresh)
	}
	err = errors.Join(err, o.Add(inv.Stdout, publish.Results(fresh)...), o.Finish(inv, "findings"))
	if err == nil && len(fresh) > 0 {
		err = &command.Exit{Code: command.ExitFound}
	}
	return err
}

func readFindings(name string) ([]finding.Finding, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found, err := finding.ReadJSON(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return found, nil
}

// ReadBaseline reads a file of findings that are known.
func ReadBaseline(name string) (*finding.Baseline, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the baseline: %w", err)
	}
	defer f.Close()
	known, err := finding.ReadBaseline(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return known, nil
}
