package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/publication"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/protect/supervise"
	"github.com/cofferdam-go/cofferdam/internal/protect/write"
	"github.com/cofferdam-go/cofferdam/internal/publish"
	"github.com/cofferdam-go/cofferdam/internal/settings"
)

// findingOptions are the flags of run, build and test about what is found.
type findingOptions struct {
	findings string
	limit    sizeFlag
	baseline string
	strict   bool
	log      bool
	monitor  bool

	known    *finding.Baseline
	settings *settings.File
	// published is what is written for other tools, to files: standard output is the program's.
	published publication.Flags
}

func (o *findingOptions) declare(flags *flag.FlagSet) {
	o.limit = 40 << 20
	flags.StringVar(&o.findings, "findings", "", "write what is found to a `file`, one JSON object per line; a program that was built appends to it")
	flags.Var(&o.limit, "findings-limit", "how large that file may become in a program that was built, with three older ones that it is renamed to: a `size` such as 500KB or 40MB, 0 for no limit")
	flags.StringVar(&o.baseline, "baseline", "", "do not tell what is in a `file` that -findings has written before")
	flags.BoolVar(&o.strict, "strict", false, "exit with 1 if anything is found that is not in the baseline")
	flags.BoolVar(&o.log, "log", false, "have the program write what is new to its slog.Default, and not to standard error")
	o.published.DeclareFile(flags)
	flags.BoolVar(&o.monitor, "monitor", false, "serve findings at /debug/cofferdam of the program's http.DefaultServeMux, as package monitor does")
}

// A sizeFlag is a number of bytes.
type sizeFlag int64

func (s *sizeFlag) String() string {
	n := int64(*s)
	for _, u := range sizeUnits {
		if n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}}

func (s *sizeFlag) Set(text string) error {
	number, unit := strings.TrimSpace(text), int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(strings.ToUpper(number), u.name); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit {
		return errors.New("give a size such as 500KB or 40MB")
	}
	*s = sizeFlag(n * unit)
	return nil
}

// prepare makes names of files absolute, and reads the baseline, which the module's settings
// name if no flag does.
func (o *findingOptions) prepare(file *settings.File) error {
	o.settings = file
	if _, err := o.published.FileGiven(); err != nil {
		return err
	}
	if o.findings != "" {
		var err error
		if o.findings, err = filepath.Abs(o.findings); err != nil {
			return fmt.Errorf("-findings: %w", err)
		}
		if info, err := os.Stat(filepath.Dir(o.findings)); err != nil || !info.IsDir() {
			return fmt.Errorf("-findings %s: there is no directory %s", o.findings, filepath.Dir(o.findings))
		}
	}
	name := o.baseline
	if name == "" && file.Protect.Baseline != "" {
		name = filepath.Join(file.Root, file.Protect.Baseline)
	}
	known, err := &finding.Baseline{}, error(nil)
	if name != "" {
		known, err = publication.ReadBaseline(name)
	}
	if ids := file.Suppress.Findings; err == nil && len(ids) > 0 {
		// The program is to know them, too: it tells what it finds by itself.
		err = known.AddIDs(ids...)
	}
	o.known = known
	return err
}

// watching is what a program that was built does by itself.
func (o *findingOptions) watching() write.Watching {
	var known bytes.Buffer
	if o.known != nil {
		_, _ = o.known.WriteTo(&known) // to memory
	}
	return write.Watching{Findings: o.findings, Limit: int64(o.limit), Baseline: known.String(), Log: o.log, Strict: o.strict, Monitor: o.monitor}
}

// conclude tells what the processes of a program have found.
func (o *findingOptions) conclude(run *supervise.Run, stderr io.Writer, failed error) error {
	all, err := run.Findings()
	if err != nil {
		return errors.Join(failed, err)
	}
	if o.findings != "" {
		var text bytes.Buffer
		if err := finding.WriteJSON(&text, all); err != nil {
			return err
		}
		if err := os.WriteFile(o.findings, text.Bytes(), 0o666); err != nil {
			return fmt.Errorf("writing findings: %w", err)
		}
	}
	fresh, suppressed := settings.Told(o.settings, o.known.New(all), func(f *finding.Finding) *finding.Finding { return f })
	if err := finding.WriteText(stderr, fresh); err != nil {
		return err
	}
	o.published.Results = publish.Results(fresh)
	if err := o.published.Finish(nil, "protect"); err != nil {
		return errors.Join(failed, err)
	}
	if known := len(all) - len(fresh) - suppressed; known > 0 {
		fmt.Fprintf(stderr, "cofferdam: %s\n", finding.Suppressed(known))
	}
	if suppressed > 0 {
		fmt.Fprintf(stderr, "cofferdam: %s\n", settings.Suppressed(suppressed))
	}
	if failed == nil && o.strict && len(fresh) > 0 {
		return &command.Exit{Code: command.ExitFound}
	}
	return failed
}
