// Package publication has the flags by which commands hand what they find to other tools, and
// the command that does so with what was found before.
//
//	publication.go  the flags, and what becomes of results
//	findings.go     cofferdam findings
//
// A command embeds [Flags], adds what it finds while it works, and calls Finish at its end, also
// when it was interrupted: what was found by then is not lost.
package publication

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/publish"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/trace/show"
)

// Flags are what a command writes for other tools, beside its text or instead of it.
type Flags struct {
	sarif  fileFlag
	github bool
	// junit and asEvents are of explore alone: they tell of tests that pass as well.
	junit    string
	asEvents bool

	// Results are those so far.
	Results []publish.Result
	tests   []publish.Test
	gaps    []string
	events  *publish.Events
}

// Declare adds the flags of all commands that find something.
func (p *Flags) Declare(fl *flag.FlagSet) {
	fl.Var(&p.sarif, "sarif", "write findings as SARIF 2.1.0, for code scanning and editors; with -sarif=`file` to a file, beside the usual output")
	fl.BoolVar(&p.github, "github", false, "write annotations as well, which GitHub shows beside the lines of a pull request")
}

// DeclareTests adds those for what came of each test.
func (p *Flags) DeclareTests(fl *flag.FlagSet) {
	fl.StringVar(&p.junit, "junit", "", "write what came of each test to this `file`, as JUnit's XML")
	fl.BoolVar(&p.asEvents, "test2json", false, "write what came of each test as events, as go test -json does")
}

// A fileFlag is a flag that may be given without a value, and then means standard output.
type fileFlag string

// standardOutput is the value of a fileFlag that was given without one.
const standardOutput fileFlag = "-"

func (f *fileFlag) String() string   { return string(*f) }
func (f *fileFlag) IsBoolFlag() bool { return true }

func (f *fileFlag) Set(text string) error {
	switch text {
	case "true":
		*f = standardOutput
	case "false":
		*f = ""
	case "":
		return errors.New("give a file, or no value for standard output")
	default:
		*f = fileFlag(text)
	}
	return nil
}

// DeclareFile adds -sarif to a command whose standard output is a program's.
func (p *Flags) DeclareFile(fl *flag.FlagSet) {
	fl.Var(&p.sarif, "sarif", "write what is found and not in the baseline to a `file` as SARIF 2.1.0, when the program has ended: -sarif=file")
}

// FileGiven reports whether -sarif was given, and makes the name of its file absolute: a command
// that has a file must have the name of one.
func (p *Flags) FileGiven() (given bool, err error) {
	switch p.sarif {
	case "":
		return false, nil
	case standardOutput:
		return false, errors.New("-sarif: standard output is the program's: give a file, -sarif=found.sarif")
	}
	name, err := filepath.Abs(string(p.sarif))
	p.sarif = fileFlag(name)
	return true, err
}

// Gap says what was not looked at.
func (p *Flags) Gap(sentences ...string) { p.gaps = append(p.gaps, sentences...) }

// Exclusive says which flag has standard output for itself; it refuses two that want it.
func (p *Flags) Exclusive(c *command.Command, asJSON bool) error {
	var taken []string
	for _, form := range []struct {
		given bool
		name  string
	}{{asJSON, "-json"}, {p.sarif == standardOutput, "-sarif"}, {p.asEvents, "-test2json"}} {
		if form.given {
			taken = append(taken, form.name)
		}
	}
	if len(taken) > 1 {
		return c.Errorf("%s and %s both write to standard output: give one of them", taken[0], taken[1])
	}
	if len(taken) == 1 && p.github {
		return c.Errorf("-github writes lines of text, which do not go together with %s: leave it out, or give -sarif=FILE", taken[0])
	}
	for _, file := range []struct{ flag, name string }{{"sarif", string(p.sarif)}, {"junit", p.junit}} {
		if dir := filepath.Dir(file.name); file.name != "" {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return fmt.Errorf("-%s %s: there is no directory %s", file.flag, file.name, dir)
			}
		}
	}
	return nil
}

// Silent reports whether standard output is for something else than text.
func (p *Flags) Silent() bool { return p.sarif == standardOutput || p.asEvents }

// Add takes results to publish, and annotates them at once.
func (p *Flags) Add(w io.Writer, results ...publish.Result) error {
	p.Results = append(p.Results, results...)
	if !p.github {
		return nil
	}
	root, err := here()
	if err != nil {
		return err
	}
	return publish.WriteGitHub(w, root, results)
}

// AddTest takes what came of a test.
func (p *Flags) AddTest(w io.Writer, t publish.Test) error {
	p.tests = append(p.tests, t)
	if !p.asEvents {
		return nil
	}
	if p.events == nil {
		p.events = publish.NewEvents(w, time.Now)
	}
	return p.events.Write(&t)
}

// Finish writes what is written at the end, also of a command that was interrupted.
func (p *Flags) Finish(inv *command.Invocation, name string) error {
	var all []error
	if p.events != nil {
		all = append(all, p.events.Close())
	}
	if p.junit != "" {
		all = append(all, toFile(p.junit, func(w io.Writer) error { return publish.WriteJUnit(w, p.tests) }))
	}
	if p.sarif != "" {
		root, err := here()
		if err != nil {
			return errors.Join(append(all, err)...)
		}
		report := &publish.Report{Command: name, Version: ownVersion(), Root: root, Results: p.Results, Gaps: p.gaps}
		if p.sarif == standardOutput {
			all = append(all, publish.WriteSARIF(inv.Stdout, report))
		} else {
			all = append(all, toFile(string(p.sarif), func(w io.Writer) error { return publish.WriteSARIF(w, report) }))
		}
	}
	return errors.Join(all...)
}

// toFile writes a file at once, so that one which cannot be written is not half written.
func toFile(name string, write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	return os.WriteFile(name, text.Bytes(), 0o666)
}

// here is what names of files are published relative to.
func here() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return publish.Root(dir), nil
}

// ownVersion is the version that this program was built as; "" if it has none.
func ownVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return ""
}

// publishedSteps is how much of a run is published with a finding.
const publishedSteps = 60

// RecordedResults are the failures of a recorded run, the worst with the steps that lead to it.
func RecordedResults(r *trace.Reader, file string) ([]publish.Result, error) {
	results := publish.Results(explore.Findings(r, file))
	if len(results) == 0 {
		return nil, nil
	}
	steps, err := show.TimelineSteps(r, publishedSteps)
	if err != nil {
		return nil, err
	}
	worst := 0
	for i := range r.Outcome.Failures {
		if &r.Outcome.Failures[i] == r.Outcome.Worst() {
			worst = i
		}
	}
	for _, s := range steps {
		results[worst].Steps = append(results[worst].Steps, publish.Step{
			Goroutine: uint64(s.Goroutine), Lane: s.Lane, What: s.What,
			At: finding.Frame{Function: s.At.Function, File: s.At.File, Line: s.At.Line},
		})
	}
	return results, nil
}

// Site is where a result is, as file and line; "" if that is not known.
func Site(r *publish.Result) string {
	if len(r.Accesses) == 0 || r.Accesses[0].Site().Line == 0 {
		return ""
	}
	return r.Accesses[0].Site().String()
}
