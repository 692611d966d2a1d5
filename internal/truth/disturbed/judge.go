// Package disturbed holds protected programs against the table that says what is protected of
// them.
//
//	cases --> protected build --> table: what is protected in which section
//	              |                  |
//	              `--> run --------> which sections saw their data change
//
// Each [Case] is a section that looks at its data twice. In between it has careless code write
// to the data, which code without protection always sees. A section that the table calls
// protected must not see it, and of a section that does, the table must say that it is open:
// left alone, with a gap, or only by the header.
//
//	x.mu.Lock()
//	a := x.f
//	pause()         careless: x.f = 2
//	b := x.f        a == b, or the table says why not
//	x.mu.Unlock()
//
// The cases are all combinations of where data lives, how sections look and what type the data
// has, and not drawn at random, since they are few enough.
//
//	judge.go   programs and tables
//	cases.go   data, and all cases
//	shapes.go  sections
//	ways.go    careless code
package disturbed

import (
	"bytes"
	"context"
	"fmt"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/protect"
	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
	"github.com/cofferdam-go/cofferdam/internal/protect/supervise"
)

// A Verdict is what the table says of a case's section.
type Verdict string

const (
	Protected Verdict = "protected" // from lock to unlock
	Open      Verdict = "open"      // it is told that, and why, it is not
	Untold    Verdict = "untold"    // the table has the lock, but not that the section uses the data
	Unknown   Verdict = "unknown"   // the table does not have the lock
)

// A Result is what came of a case.
type Result struct {
	Case
	Verdict   Verdict
	Why       string // it is open
	Disturbed int    // in how many rounds the section saw its data change
	// Surrendered is how often the program has told that it let careless code into the
	// section: on pages that is what becomes of an access that waits for too long.
	Surrendered int
}

// Wrong reports whether the table says what is not so, and the program did not tell. A section that the table leaves out is
// one in which nothing can be disturbed.
func (r Result) Wrong() bool {
	return (r.Verdict == Protected || r.Verdict == Untold) && r.Disturbed > r.Surrendered
}

func (r Result) String() string {
	text := fmt.Sprintf("%s: the table says %q", r.Name, r.Verdict)
	if r.Why != "" {
		text += " (" + r.Why + ")"
	}
	return fmt.Sprintf("%s, and its data changed in %d of %d rounds\n%s", text, r.Disturbed, rounds, r.text)
}

// rounds is how often each section runs.
const rounds = 3

// How often a section looks whether careless code has run: where nothing keeps that from
// running, until it has; otherwise for a millisecond.
const (
	untilItHas = math.MaxInt
	shortly    = 300_000
)

// Run builds a program of cases in an empty directory, protected in one mode, and runs it.
func Run(ctx context.Context, dir string, mode protect.Mode, cases []Case) ([]Result, error) {
	for name, text := range Files(cases) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			return nil, err
		}
	}
	build, err := protect.Prepare(protect.Config{Dir: dir, Patterns: []string{"."}, Mode: mode, Least: 0.5})
	if err != nil {
		return nil, err
	}
	defer build.Close()
	program := filepath.Join(dir, "program")
	args := slices.Concat([]string{"build", "-ldflags=-s -w", "-o", program}, build.Flags, []string{"."})
	if out, err := gotool.New(dir, nil).Command(ctx, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building: %w\n%s", err, out)
	}
	patience := untilItHas
	if len(build.OnPages) > 0 {
		patience = shortly
	}
	disturbed, findings, err := run(ctx, program, patience)
	if err != nil {
		return nil, err
	}
	var all []Result
	for _, c := range cases {
		r := Result{Case: c, Disturbed: disturbed[c.number()], Surrendered: surrendered(c, findings)}
		r.Verdict, r.Why = verdict(build.Plan, c)
		all = append(all, r)
	}
	return all, nil
}

// longestRun is how long a program may run. It needs a few seconds.
const longestRun = 2 * time.Minute

// run returns in how many rounds the section of each case was disturbed, and what the program
// has found.
func run(ctx context.Context, program string, patience int) (map[int]int, []finding.Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, longestRun)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, fmt.Sprint(patience), fmt.Sprint(rounds))
	cmd.Env = os.Environ()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	supervised, err := supervise.Start(cmd)
	if err != nil {
		return nil, nil, err
	}
	defer supervised.Close()
	if err := supervised.Wait(); err != nil {
		return nil, nil, fmt.Errorf("%w\n%s%s", err, lastOf(stdout.String()), lastOf(stderr.String()))
	}
	all := make(map[int]int)
	for line := range strings.Lines(stdout.String()) {
		var number, disturbed int
		if _, err := fmt.Sscan(line, &number, &disturbed); err != nil {
			return nil, nil, fmt.Errorf("the program printed %q", line)
		}
		all[number] = disturbed
	}
	findings, err := supervised.Findings()
	return all, findings, err
}

// surrendered counts how often accesses were let into the section of a case.
func surrendered(c Case, findings []finding.Finding) int {
	n := 0
	for _, f := range findings {
		if len(f.Accesses) == 2 && filepath.Base(f.Accesses[1].Site().File) == c.File {
			n += int(f.Outcomes.Surrendered)
		}
	}
	return n
}

// lastOf returns the end of a text.
func lastOf(text string) string { return text[max(0, len(text)-2000):] }

// verdict returns what the table says of a case.
func verdict(p *plan.Plan, c Case) (Verdict, string) {
	verdict, why := Unknown, ""
	if slices.ContainsFunc(p.Guards, func(g *guard.Guard) bool { return c.declares(g) }) {
		verdict = Untold
	}
	for _, s := range p.Sections {
		if !c.has(s.At) {
			continue
		}
		switch data := slices.Concat(s.Protected, s.Isolated); {
		case s.Why != "":
			return Open, s.Why
		case len(s.Left) > 0:
			return Open, s.Left[0].Why
		case len(s.Gaps) > 0:
			return Open, "a gap: " + s.Gaps[0].Why
		case s.Piecewise && c.pair:
			return Open, "piece by piece"
		case c.Elements && len(s.HeaderOnly) > 0:
			return Open, "the header only: " + s.HeaderOnly[0].Why
		case len(data) == 0:
		case c.Elements && len(s.WithEntries) == 0 && !slices.Contains(data, c.Datum):
			return Open, "the header only"
		default:
			verdict = Protected
		}
	}
	return verdict, why
}

// has reports whether a section is the one of a case: those of the careful code around it are
// in another file, apart from functions that take the lock for it.
func (c Case) has(at token.Position) bool { return filepath.Base(at.Filename) == c.File }

// declares reports whether the lock of a guard is that of a case.
func (c Case) declares(g *guard.Guard) bool {
	name := filepath.Base(g.Lock.At.Filename)
	return name == c.File || name == "rest_"+c.File
}

func (c Case) number() int {
	var n int
	fmt.Sscanf(c.File, "case%d.go", &n)
	return n
}
