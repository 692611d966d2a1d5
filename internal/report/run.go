package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair"
	"github.com/cofferdam-go/cofferdam/internal/report/lanes"
	"github.com/cofferdam-go/cofferdam/internal/report/page"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// What fix -report writes for a failing test: three files of one name.
const (
	traceSuffix = ".trace"
	afterSuffix = ".fixed.trace" // the failing schedule in the program with the fix
	fixSuffix   = ".fix.json"
)

// loadRun makes the document of a recorded run, with what came of its fix if that lies beside it.
func loadRun(file string, o Options) (*page.Document, error) {
	name, fixed := strings.CutSuffix(file, afterSuffix)
	if !fixed {
		name = strings.TrimSuffix(file, traceSuffix)
	}
	fix, err := readFix(name + fixSuffix)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fix = &FixResult{}
	case err != nil:
		return nil, err
	}
	if fixed {
		run, err := readRun(file, fix.fixed, o)
		if err != nil {
			return nil, err
		}
		return runDocument(run, file), nil
	}
	run, err := readRun(file, fix.before, o)
	if err != nil {
		return nil, err
	}
	d := runDocument(run, file)
	if fix.Version == 0 {
		return d, nil // there is none
	}
	return d, addFix(d, fix, file, filepath.Dir(file), o)
}

func runDocument(run *lanes.Run, file string) *page.Document {
	d := &page.Document{Title: runTitle(run.Test, run.Package), Run: run, Sentences: run.Sentences, Facts: runFacts(run, file)}
	d.Badge, d.Tone = runBadge(run.Kind, run.Outcome)
	return d
}

// readRun reads a trace, whole or cut off, with source files as they were in its run.
func readRun(file string, source func(string) ([]byte, error), o Options) (*lanes.Run, error) {
	r, err := trace.Open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	run, err := lanes.New(r, lanes.Options{Source: source, Progress: o.Progress})
	if err != nil {
		return nil, fmt.Errorf("reading trace %s: %w", file, err)
	}
	if cut := r.Truncated(); cut != nil {
		o.warn(file, cut)
		run.Sentences = append(run.Sentences, "The file is not whole: "+cut.Error()+".")
	}
	return run, nil
}

// runTitle is the test, or the last element of the program's path.
func runTitle(test, pkg string) string {
	if test == "" {
		return path.Base(filepath.ToSlash(pkg))
	}
	return test
}

// runBadge is the failure in a word.
func runBadge(kind, outcome string) (badge, tone string) {
	switch {
	case kind != "":
		return kind, ""
	case outcome == "":
		return "cut off", "warn"
	}
	return "passed", "good"
}

func runFacts(run *lanes.Run, file string) []page.Fact {
	facts := []page.Fact{{Name: "package", Text: run.Package}, {Name: "schedule", Text: run.Schedule}, {Name: "events", Text: fmt.Sprint(run.Events)}}
	if run.Go != "" {
		facts = append(facts, page.Fact{Name: "go", Text: run.Go})
	}
	return append(facts, page.Fact{Name: "run it again", Text: "cofferdam replay " + file})
}

// readFix reads what fix has written of a failure.
func readFix(file string) (*FixResult, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	fix := new(FixResult)
	if err := json.Unmarshal(data, fix); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	if fix.Version != FixVersion {
		return nil, fmt.Errorf("reading %s: it has version %d, and this program reads version %d: run cofferdam fix -report again", file, fix.Version, FixVersion)
	}
	return fix, nil
}

// loadFix makes the document of what fix has written. If the trace is not beside it, there is no
// run to show.
func loadFix(file string, o Options) (*page.Document, error) {
	fix, err := readFix(file)
	if err != nil {
		return nil, err
	}
	if fix.Trace != "" {
		if recorded := fileBeside(filepath.Dir(file), fix.Trace); recorded != "" {
			run, err := readRun(recorded, fix.before, o)
			if err != nil {
				return nil, err
			}
			d := runDocument(run, recorded)
			return d, addFix(d, fix, recorded, filepath.Dir(file), o)
		}
	}
	d := &page.Document{Title: runTitle(fix.Test, fix.Package)}
	if fix.Failure != nil {
		d.Badge, d.Sentences = fix.Failure.Kind.String(), []string{firstLine(fix.Failure.String())}
	}
	d.Facts = []page.Fact{{Name: "package", Text: fix.Package}}
	return d, addFix(d, fix, "", filepath.Dir(file), o)
}

// fileBeside is a file as another one names it: as it is, or by its name in the same folder, to
// which both may have been moved; "" if it is at neither.
func fileBeside(dir, name string) string {
	for _, at := range []string{filepath.Join(dir, filepath.Base(name)), name} {
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
			return at
		}
	}
	return ""
}

// addFix adds what came of the search for a fix. File is the trace of the failing run, "" if it is
// not there, and dir where the other files are.
func addFix(d *page.Document, fix *FixResult, file, dir string, o Options) error {
	if err := addMachine(d, fix, file); err != nil {
		return err
	}
	f := &page.Fix{
		Proven: fix.Fixed && fix.FixedBy == nil, Change: fix.Lock, Why: sentence(fix.Why), Refusal: sentence(fix.Refusal), Diff: page.SplitDiff(fix.Diff),
		Applied: fix.Applied, FixedBy: fix.FixedBy, Missed: fix.Missed,
	}
	if fix.Change != "" {
		f.Change = fix.Change
	}
	if p := fix.Proof; p != nil && f.Proven {
		f.Proof = proofLines(p)
	}
	for i := range fix.Uncovered {
		f.Uncovered = append(f.Uncovered, fix.Uncovered[i].String())
	}
	for i := range fix.Candidates {
		c := &fix.Candidates[i]
		one := page.Candidate{What: c.What, Reached: reachedWords(c.Reached), Proven: c.Reached == repair.Proven && c.Dropped == "", Dropped: c.Dropped, Cost: c.Cost, Places: c.Places, Diff: page.SplitDiff(c.Diff)}
		if c.Broken != nil {
			one.Broken, one.Schedule = strings.Join(append([]string{c.Broken.String()}, c.Broken.Places...), "; "), c.Broken.Schedule
		}
		f.Candidates = append(f.Candidates, one)
	}
	d.Fix = f
	if f.Proven && len(d.Sentences) > 2 && fix.Why != "" {
		d.Sentences[2] = sentence(fix.Why) + " The fix: " + f.Change + "."
	}
	if fix.After == "" {
		return nil
	}
	fixed := fileBeside(dir, fix.After)
	if fixed == "" {
		return nil
	}
	after, err := readRun(fixed, fix.fixed, o)
	d.After = after
	return err
}

// addMachine adds the machine, and where in the run its readings are.
func addMachine(d *page.Document, fix *FixResult, file string) error {
	if d.Machine = fix.Machine; d.Machine == nil || file == "" {
		return nil
	}
	r, err := trace.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	return locateReads(d.Machine, r)
}

// proofLines are what a fix has withstood.
func proofLines(p *repair.Proof) []string {
	var lines []string
	if p.Replayed {
		lines = append(lines, "The failing schedule was run again and passes.")
	}
	for _, s := range p.Searches {
		lines = append(lines, sentence(s))
	}
	lines = append(lines, sentence("the proof is "+p.Strength.String()))
	if len(p.Outside) > 0 {
		lines = append(lines, "Part of the program is not under control, and was tried only as it happened: "+strings.Join(p.Outside, ", ")+".")
	}
	switch {
	case p.Native > 0 && p.Races:
		lines = append(lines, fmt.Sprintf("The test passes %d times under the race detector.", p.Native))
	case p.Native > 0:
		lines = append(lines, fmt.Sprintf("The test passes %d times; data races were no failures.", p.Native))
	default:
		lines = append(lines, "It was not run under the race detector.")
	}
	if p.Others {
		lines = append(lines, "The package's other tests pass as before.")
	}
	return lines
}

// sentence is a text with a capital and a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// reachedWords say how far a candidate came.
func reachedWords(s repair.Stage) string {
	switch s {
	case repair.Derived:
		return "its sections, which cannot be written"
	case repair.Written:
		return "the changed source, which does not compile, or does worse with locks"
	case repair.Sound:
		return "the schedules, of which one still fails"
	case repair.Unfinished:
		return "the schedules, of which too few could be tried in the time"
	case repair.Explored:
		return "go test, which fails"
	case repair.Proven:
		return "the end of the proof"
	}
	panic(fmt.Sprintf("report: stage %v", s))
}
