package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/report"
	"github.com/cofferdam-go/cofferdam/internal/report/page"
)

// reportOptions are the flags of cofferdam report.
type reportOptions struct {
	out, http        string
	markdown, chrome bool
	dot, svg         bool
}

func newReportCommand() *command.Command {
	o := &reportOptions{}
	c := command.New("report", "FILE|DIR", "write a page of a recorded run, of findings, guards or a folder of them").BuildsPrograms()
	c.Long = `Report writes one HTML file that needs nothing else: it works from a disk, without a
network. FILE is a trace that explore or fix has written, findings of run or test
-findings, or output of fix -json or guards -json. DIR is a folder of those, such as the
.cofferdam of a campaign: its page has the tests, how coverage grows, and the findings.

The page of a failing run says what happened in three sentences, and shows a lane for
each goroutine, with preemptions, what synchronisation orders, and the accesses that race.
A click on a step shows its source, the value before and after, the stack and the locks
held. With what fix -report DIR leaves beside the trace it also shows the fix as a diff,
what else was tried, the machine that predicts the failure, and the same schedule with
the fix.

A recording that was cut off is shown as far as it goes, with a warning.

Of a folder, -o names a folder to which a page for each file is written, and index.html.`
	c.Notes = `Examples:

  cofferdam report toctou/testdata/cofferdam/TestSteady.trace
  cofferdam fix -report out ./toctou; cofferdam report -http :0 out
  cofferdam report -http :0 .cofferdam
  cofferdam report -md toctou/testdata/cofferdam/TestSteady.trace

Exit codes: 0 written, 2 error.

See also: cofferdam help traces`
	c.Flags.StringVar(&o.out, "o", "", "write to this `file`, or the pages of a folder to this directory; - is standard output (default for a page: FILE.html in the current directory; for -md, -chrome, -dot and -svg: standard output)")
	c.Flags.StringVar(&o.http, "http", "", "serve the pages at this `address` instead, as they change; :0 takes a free port of this machine")
	c.Flags.BoolVar(&o.markdown, "md", false, "print a summary for a review instead, in Markdown of at most 15 lines")
	c.Flags.BoolVar(&o.chrome, "chrome", false, "print the run for Perfetto or chrome://tracing instead, as JSON")
	c.Flags.BoolVar(&o.dot, "dot", false, "print the machine that predicts the failure instead, for Graphviz")
	c.Flags.BoolVar(&o.svg, "svg", false, "print that machine as a drawing instead, an SVG file")
	c.Work = func(ctx context.Context, inv *command.Invocation) error {
		if len(inv.Operands) != 1 {
			return c.Errorf("want one file or folder, not %d", len(inv.Operands))
		}
		if err := errors.Join(c.Exclusive("http", "md", "chrome", "dot", "svg"), c.Exclusive("o", "http")); err != nil {
			return err
		}
		return o.report(ctx, inv, inv.Operands[0])
	}
	return c
}

func (o *reportOptions) report(ctx context.Context, inv *command.Invocation, path string) error {
	settings := report.Options{
		Progress: func(done, all uint64) { inv.Status.Detail(fmt.Sprintf("%d of %d events", done, all)) },
		Warn:     func(file string, cut error) { fmt.Fprintf(inv.Stderr, "cofferdam: warning: %s: %v\n", file, cut) },
	}
	if o.http != "" {
		return serveReports(ctx, inv, path, o.http)
	}
	inv.Status.Phase("reading " + path)
	if o.chrome {
		return o.write(inv, func(w io.Writer) error { return report.WriteChrome(w, path, settings) })
	}
	kind, err := report.Detect(path)
	if err != nil {
		return err
	}
	if kind == report.Folder && !o.markdown && !o.dot && !o.svg {
		return o.writeFolder(inv, path, settings)
	}
	d, err := report.Load(path, settings)
	if err != nil {
		return err
	}
	inv.Status.Phase("")
	switch {
	case o.markdown:
		return o.write(inv, func(w io.Writer) error { return report.WriteMarkdown(w, d) })
	case (o.dot || o.svg) && d.Machine == nil:
		return fmt.Errorf("%s: it has no machine, which comes from the search for a fix: run cofferdam fix -report DIR, and report on the trace in there", path)
	case o.dot:
		return o.write(inv, writeText(d.Machine.DOT()))
	case o.svg:
		return o.write(inv, writeText(d.Machine.SVG()))
	}
	if o.out == "" {
		o.out = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) + ".html"
	}
	return o.write(inv, func(w io.Writer) error { return page.Write(w, d) })
}

func writeText(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// write writes to the file that -o names, or to standard output.
func (o *reportOptions) write(inv *command.Invocation, text func(io.Writer) error) error {
	if o.out == "" || o.out == "-" {
		return text(inv.Stdout)
	}
	if err := writeWhole(o.out, text); err != nil {
		return err
	}
	fmt.Fprintf(inv.Stdout, "written: %s\n", o.out)
	return nil
}

// writeWhole writes a file whole, or not at all.
func writeWhole(file string, text func(io.Writer) error) error {
	var out bytes.Buffer
	if err := text(&out); err != nil {
		return err
	}
	if err := os.WriteFile(file, out.Bytes(), 0o666); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func writePage(file string, d *page.Document) error {
	return writeWhole(file, func(w io.Writer) error { return page.Write(w, d) })
}

// writeFolder writes a page for each file of a folder, and the list of them.
func (o *reportOptions) writeFolder(inv *command.Invocation, dir string, settings report.Options) error {
	if o.out == "-" {
		return errors.New("-o -: a folder becomes several pages; name a directory for them")
	}
	out := o.out
	if out == "" {
		out = "cofferdam-report"
	}
	list, err := report.Scan(dir)
	if err != nil {
		return err
	}
	if list.Empty() {
		return fmt.Errorf("%s: there is nothing in it to report on: no campaign, trace, findings, or JSON of fix or guards", dir)
	}
	for i := range list.Items {
		item := &list.Items[i]
		inv.Status.Phase("reading " + item.Path)
		d, err := report.Load(filepath.Join(dir, filepath.FromSlash(item.Path)), settings)
		if err != nil {
			fmt.Fprintf(inv.Stderr, "cofferdam: %s: left out: %v\n", item.Path, err)
			continue
		}
		d.Home = strings.Repeat("../", strings.Count(item.Path, "/")) + "index.html"
		file := filepath.Join(out, filepath.FromSlash(item.Path)+".html")
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		if err := writePage(file, d); err != nil {
			return err
		}
	}
	inv.Status.Phase("")
	index := filepath.Join(out, "index.html")
	if err := writePage(index, list.Document()); err != nil {
		return err
	}
	fmt.Fprintf(inv.Stdout, "written: %s\n", index)
	return nil
}

// serveReports serves until the command is interrupted. An address without a host is one of this
// machine alone: what is in a trace is not for everybody on the network.
func serveReports(ctx context.Context, inv *command.Invocation, path, address string) error {
	if _, err := report.Detect(path); err != nil {
		return err
	}
	if strings.HasPrefix(address, ":") {
		address = "localhost" + address
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("-http: %w", err)
	}
	fmt.Fprintf(inv.Stdout, "serving http://%s/ until it is interrupted\n", l.Addr())
	server := report.NewServer(path, report.Options{})
	server.Interval = time.Second
	return server.Serve(ctx, l)
}
