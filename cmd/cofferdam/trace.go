package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// traceOptions are the flags of cofferdam trace.
type traceOptions struct {
	goroutines, variable, addr, kinds, seqs, site string
	json, summary, check                          bool
}

func newTraceCommand() *cobra.Command {
	var o traceOptions
	cmd := &cobra.Command{
		Use:   "trace [flags] FILE.trace",
		Short: "Print a recorded run, or part of it",
		Long: `Trace prints the events of a recorded run, a line for each: number, goroutine,
kind, function, file:line:column, expression, address (with the allocation it is
in), the value before and after, and what else there is to say.

Flags that choose events are combined: an event is printed if all of them allow it.
A recording that was cut off is printed as far as it goes, with a warning.`,
		Example: `  cofferdam trace -g 2 -kind load,store run.trace
  cofferdam trace -var '\.balance$' run.trace
  cofferdam trace -range 100:200 -json run.trace`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("want the name of one trace file, not %d; see %s -help", len(args), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			err := printTrace(cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0], &o)
			// Whoever reads the output has enough, as head does.
			if errors.Is(err, syscall.EPIPE) {
				return nil
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.goroutines, "g", "", "only these `goroutines`: 1,3")
	f.StringVar(&o.variable, "var", "", "only where the expression matches a `regexp`")
	f.StringVar(&o.addr, "addr", "", "only this memory: `address[,length]`")
	f.StringVar(&o.kinds, "kind", "", "only these `kinds`: load,store,map-read")
	f.StringVar(&o.seqs, "range", "", "only the events `first:last`, by number; either can be left out")
	f.StringVar(&o.site, "site", "", "only at this `place`: file.go, file.go:12 or file.go:12:5")
	f.BoolVar(&o.json, "json", false, "print JSON objects, one on each line")
	f.BoolVar(&o.summary, "summary", false, "print what the trace is of and what is in it")
	f.BoolVar(&o.check, "check", false, "look for what no run can have done, and exit with 1 if there is any")
	cmd.MarkFlagsMutuallyExclusive("summary", "json", "check")
	cmd.MarkFlagsMutuallyExclusive("var", "addr")
	return cmd
}

func printTrace(stdout, stderr io.Writer, path string, o *traceOptions) error {
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
		err = trace.WriteSummary(stdout, r)
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
	p := trace.NewPrinter(r)
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
		return &exitError{code: 1}
	}
	return err
}

// filter makes a filter of the flags, but for those that need the table of sites.
func (o *traceOptions) filter() (*trace.Filter, error) {
	f := &trace.Filter{}
	for _, text := range list(o.goroutines) {
		g, err := strconv.ParseUint(strings.TrimPrefix(text, "g"), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("-g %s: %q is not the number of a goroutine", o.goroutines, text)
		}
		f.Goroutines = append(f.Goroutines, uint32(g))
	}
	for _, text := range list(o.kinds) {
		k, ok := kindNamed(text)
		if !ok {
			return nil, fmt.Errorf("-kind %s: there is no kind %q; the kinds are %s", o.kinds, text, kindNames())
		}
		f.Kinds = append(f.Kinds, k)
	}
	if o.addr != "" {
		text, length, hasLength := strings.Cut(o.addr, ",")
		var err error
		if f.Addr, err = strconv.ParseUint(text, 0, 64); err != nil || f.Addr == 0 {
			return nil, fmt.Errorf("-addr %s: %q is not an address, such as 0xc000012018", o.addr, text)
		}
		if f.Size = 1; hasLength {
			if f.Size, err = strconv.ParseUint(length, 0, 64); err != nil || f.Size == 0 {
				return nil, fmt.Errorf("-addr %s: %q is not a length in bytes", o.addr, length)
			}
		}
	}
	if o.seqs != "" {
		first, last, ok := strings.Cut(o.seqs, ":")
		if !ok {
			last = first
		}
		for _, bound := range []struct {
			text string
			to   *uint64
		}{{first, &f.First}, {last, &f.Last}} {
			if bound.text == "" {
				continue
			}
			n, err := strconv.ParseUint(bound.text, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("-range %s: %q is not the number of an event", o.seqs, bound.text)
			}
			*bound.to = n
		}
		if last != "" && f.Last < max(f.First, 1) {
			return nil, fmt.Errorf("-range %s has no events: they are numbered from 1", o.seqs)
		}
	}
	return f, nil
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// kindNamed accepts the names of kinds with any of " ", "-", "_" and nothing between
// their words.
func kindNamed(text string) (event.Kind, bool) {
	plain := strings.NewReplacer(" ", "", "-", "", "_", "").Replace
	for _, k := range event.Kinds() {
		if strings.EqualFold(plain(k.String()), plain(text)) {
			return k, true
		}
	}
	return 0, false
}

func kindNames() string {
	var names []string
	for _, k := range event.Kinds() {
		names = append(names, strings.ReplaceAll(k.String(), " ", "-"))
	}
	return strings.Join(names, ", ")
}

// sites adds to a filter the sites that -var and -site allow. It reports false if
// that is none, which a filter cannot say.
func (o *traceOptions) sites(r *trace.Reader, f *trace.Filter) (some bool, err error) {
	if o.variable == "" && o.site == "" {
		return true, nil
	}
	expr, err := regexp.Compile(o.variable)
	if err != nil {
		return false, fmt.Errorf("-var: %w", err)
	}
	place, err := parsePlace(o.site)
	if err != nil {
		return false, err
	}
	for _, s := range r.Sites() {
		if (o.variable == "" || s.Expr != "" && expr.MatchString(s.Expr)) && (o.site == "" || place.has(s)) {
			f.Sites = append(f.Sites, s.ID)
		}
	}
	return len(f.Sites) > 0, nil
}

// A place is a file, or a line or column of it; 0 is any.
type place struct {
	file         string
	line, column int
}

func parsePlace(text string) (place, error) {
	p := place{file: text}
	for _, to := range []*int{&p.column, &p.line} {
		colon := strings.LastIndexByte(p.file, ':')
		if colon < 0 {
			break
		}
		n, err := strconv.Atoi(p.file[colon+1:])
		if err != nil || n < 1 {
			return place{}, fmt.Errorf("-site %s: %q is not a line or column", text, p.file[colon+1:])
		}
		*to, p.file = n, p.file[:colon]
	}
	if p.column != 0 && p.line == 0 {
		p.line, p.column = p.column, 0
	}
	return p, nil
}

// has reports whether a site is at the place, whose file can be the end of the
// site's path.
func (p place) has(s trace.Site) bool {
	return (s.File == p.file || strings.HasSuffix(s.File, "/"+p.file)) && (p.line == 0 || p.line == s.Line) && (p.column == 0 || p.column == s.Column)
}
