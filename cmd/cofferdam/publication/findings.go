package publication

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/publish"
)

// Findings are what cofferdam findings hands on, and how: as text, or in the form that another tool
// reads.
type Findings struct {
	Flags
	// JSON has them written as lines of JSON.
	JSON     bool
	baseline string
}

// Declare adds the flags.
func (o *Findings) Declare(fl *flag.FlagSet) {
	fl.StringVar(&o.baseline, "baseline", "", "leave out what is in this `file` of findings")
	fl.BoolVar(&o.JSON, "json", false, "write them as lines of JSON, those of one defect merged")
	o.Flags.Declare(fl)
}

// ShowFiles shows the findings in files.
func (o *Findings) ShowFiles(inv *command.Invocation) error {
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
	if n := log.Dropped(); n > 0 {
		gap := fmt.Sprintf("%d findings are left out: there are too many that differ", n)
		o.Gap(gap)
		fmt.Fprintf(inv.Stderr, "cofferdam: %s\n", gap)
	}
	fresh, err := o.fresh(inv, log.Findings())
	if err != nil {
		return err
	}
	if !o.JSON && !o.Silent() {
		err = finding.WriteText(inv.Stdout, fresh)
	}
	if err = errors.Join(err, o.HandOn(inv, fresh, publish.Results(fresh))); err == nil && len(fresh) > 0 {
		err = &command.Exit{Code: command.ExitFound}
	}
	return err
}

// fresh are the findings that are not in the baseline.
func (o *Findings) fresh(inv *command.Invocation, fresh []finding.Finding) ([]finding.Finding, error) {
	if o.baseline != "" {
		known, err := ReadBaseline(o.baseline)
		if err != nil {
			return nil, err
		}
		all := len(fresh)
		fresh = known.New(fresh)
		if left := all - len(fresh); left > 0 {
			fmt.Fprintf(inv.Stderr, "cofferdam: %s\n", finding.Suppressed(left))
		}
	}
	return fresh, nil
}

// HandOn writes findings for other tools, and their results in the forms of the flags.
func (o *Findings) HandOn(inv *command.Invocation, all []finding.Finding, results []publish.Result) error {
	var err error
	if o.JSON {
		err = finding.WriteJSON(inv.Stdout, all)
	}
	return errors.Join(err, o.Add(inv.Stdout, results...), o.Finish(inv, "findings"))
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
