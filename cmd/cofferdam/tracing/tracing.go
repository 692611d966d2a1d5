// Package tracing has the subcommand trace, which prints a recorded run: tracing.go prints events, filter.go
// chooses them.
package tracing

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/trace/show"
)

// options are the flags of cofferdam trace.
type options struct {
	goroutines, variable, addr, kinds, seqs, site string
	json, summary, check                          bool
}

// NewCommand returns the command.
func NewCommand() *command.Command {
	o := &options{}
	c := command.New("trace", "FILE.trace", "print a recorded run, or part of it")
	c.Long = `Trace prints the events of a recorded run, a line for each: number, goroutine,
kind, function, file:line:column, expression, address (with the allocation it is
in), the value before and after, and what else there is to say.

Flags that choose events are combined: an event is printed if all of them allow it.
A recording that was cut off is printed as far as it goes, with a warning.`
	c.Notes = `Examples:

  cofferdam trace -g 2 -kind load,store run.trace
  cofferdam trace -var '\.balance$' run.trace
  cofferdam trace -range 100:200 -json run.trace

Exit codes: 0 printed, 1 -check has found something, 2 error.

See also: cofferdam help traces`
	f := c.Flags
	f.StringVar(&o.goroutines, "g", "", "only these `goroutines`: 1,3")
	f.StringVar(&o.variable, "var", "", "only where the expression matches a `regexp`")
	f.StringVar(&o.addr, "addr", "", "only this memory: `address[,length]`")
	f.StringVar(&o.kinds, "kind", "", "only these `kinds`: load,store,map-read")
	f.StringVar(&o.seqs, "range", "", "only the events `first:last`, by number; either can be left out")
	f.StringVar(&o.site, "site", "", "only at this `place`: file.go, file.go:12 or file.go:12:5")
	f.BoolVar(&o.json, "json", false, "print JSON objects, one on each line")
	f.BoolVar(&o.summary, "summary", false, "print what the trace is of and what is in it")
	f.BoolVar(&o.check, "check", false, "look for what no run can have done, and exit with 1 if there is any")
	c.Work = func(_ context.Context, inv *command.Invocation) error {
		if len(inv.Operands) != 1 {
			return c.Errorf("want the name of one trace file, not %d", len(inv.Operands))
		}
		if err := errors.Join(c.Exclusive("summary", "json", "check"), c.Exclusive("var", "addr")); err != nil {
			return err
		}
		return printTrace(inv.Stdout, inv.Stderr, inv.Operands[0], o)
	}
	return c
}

func printTrace(stdout, stderr io.Writer, path string, o *options) error {
	filter, err := o.filter()
	if err != nil {
		return err
	}
	r, err := trace.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	switch {
	case o.summary:
		err = show.WriteSummary(stdout, r)
	case o.check:
		err = checkTrace(stdout, r)
	default:
		var some bool
		if some, err = o.sites(r, filter); err == nil && some {
			err = printEvents(stdout, stderr, r, filter, o.json)
		}
	}
	if cut := r.Truncated(); cut != nil {
		fmt.Fprintf(stderr, "cofferdam: warning: %s: %v\n", path, cut)
	}
	return err
}

// printEvents goes on behind pieces that cannot be read.
func printEvents(stdout, stderr io.Writer, r *trace.Reader, filter *trace.Filter, json bool) error {
	out := bufio.NewWriterSize(stdout, 64<<10)
	p := show.NewPrinter(r)
	c := r.Cursor(*filter)
	var line []byte
	bad := 0
	for {
		for c.Next() {
			if json {
				line = p.AppendJSON(line[:0], c.Event())
			} else {
				line = p.AppendText(line[:0], c.Event())
			}
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
		var corrupt *trace.CorruptError
		if !errors.As(c.Err(), &corrupt) || corrupt.Last == 0 || corrupt.Last == math.MaxUint64 {
			break
		}
		// In the order of the lines around it.
		if err := out.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(stderr, "cofferdam: %v\n", corrupt)
		bad++
		c.Seek(corrupt.Last + 1)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if err := c.Err(); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d blocks of the trace could not be read", bad)
	}
	return nil
}

func checkTrace(stdout io.Writer, r *trace.Reader) error {
	problems, err := trace.Validate(r)
	for _, p := range problems {
		if _, err := fmt.Fprintln(stdout, p); err != nil {
			return err
		}
	}
	if err == nil && len(problems) > 0 {
		return &command.Exit{Code: command.ExitFound}
	}
	return err
}
