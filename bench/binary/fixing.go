package binary

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/emu/drive"
	"github.com/cofferdam-go/cofferdam/internal/repair/binfix"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Fixing is what came of a program.
type Fixing struct {
	Name     string  `json:"name"`
	Fixed    bool    `json:"fixed"`
	Refusal  string  `json:"refusal,omitempty"`
	Fixes    int     `json:"fixes"`
	Machines int     `json:"machines"`
	States   int     `json:"states"`
	Events   uint64  `json:"events"`
	Cost     int     `json:"cost,omitempty"`
	Size     int     `json:"size,omitempty"` // of the shared object
	Analysis float64 `json:"analysisSeconds"`
	// Seconds are of the clock, all told, Processor of the processor without native runs.
	Seconds   float64       `json:"seconds"`
	Processor float64       `json:"processorSeconds"`
	Proof     *binfix.Proof `json:"proof,omitempty"`
}

// Targets: seconds until a program is fixed or refused, bytes of a patch.
const (
	fixTarget   = 15
	patchTarget = 16 << 10
)

// A paperRow is what the paper's tables 1 and 2 say of a bug.
type paperRow struct {
	fixes, machines, states int
	seconds                 float64
}

var paper = map[string]paperRow{
	"toctou": {1, 9, 19, 0.51}, "twovar": {1, 13, 31, 0.75}, "publish": {2, 8, 24, 0.48}, "privatize": {2, 9, 25, 2.34}, "glibc": {8, 19, 139, 2.46}, "thunderbird": {1, 7, 15, 356},
}

// fixExamples fixes the six bugs of the paper in twelve stripped programs.
func fixExamples(s *command.Session) ([]Fixing, error) {
	root, err := s.Root()
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(s.Out, "The bugs of the paper, fixed in stripped programs (in brackets: tables 1 and 2 of the paper, which has no proof)\n\n")
	fmt.Fprintf(s.Out, "%-15s %-9s %9s %11s %11s %7s %9s %9s %13s %11s %6s\n", "", "", "fixes", "machines", "states", "events", "analysis", "processor", "clock", "schedules", "patch")
	var all []Fixing
	for _, name := range []string{"toctou", "twovar", "publish", "privatize", "glibc", "thunderbird"} {
		for _, level := range []string{"O0", "O2"} {
			if s.Context.Err() != nil {
				return all, nil
			}
			one, err := fixExample(s, filepath.Join(root, "examples", "binary", "bin", name+"."+level))
			if err != nil {
				return all, err
			}
			all = append(all, one)
			tell(s, &one, paper[name])
		}
	}
	inTime, small := true, true
	for i := range all {
		inTime = inTime && (all[i].Fixed || all[i].Refusal != "") && all[i].Processor <= fixTarget
		small = small && all[i].Size <= patchTarget
	}
	fmt.Fprintln(s.Out, "\nAnalysis is in milliseconds of the clock, the rest in seconds, with the search, all schedules or 10,000, and 200 native runs.")
	fmt.Fprintf(s.Out, "Targets, for all: %d s of the processor, %s; a patch of %d KiB, %s.\n", fixTarget, verdict(inTime), patchTarget>>10, verdict(small))
	fmt.Fprintln(s.Out)
	return all, nil
}

func tell(s *command.Session, f *Fixing, p paperRow) {
	beside := func(ours, theirs int) string { return fmt.Sprintf("%d (%d)", ours, theirs) }
	verdict, schedules := "fixed", ""
	if !f.Fixed {
		verdict = "refused"
	} else if schedules = fmt.Sprint(f.Proof.Schedules); f.Proof.Complete {
		schedules = "all " + schedules
	}
	fmt.Fprintf(s.Out, "%-15s %-9s %9s %11s %11s %7d %9.1f %9.1f %13s %11s %6d\n", f.Name, verdict, beside(f.Fixes, p.fixes), beside(f.Machines, p.machines), beside(f.States, p.states),
		f.Events, 1000*f.Analysis, f.Processor, fmt.Sprintf("%.1f (%.2f)", f.Seconds, p.seconds), schedules, f.Size)
}

func fixExample(s *command.Session, path string) (Fixing, error) {
	one := Fixing{Name: filepath.Base(path)}
	dir := s.Temp(one.Name + ".fix")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return one, err
	}
	defer os.RemoveAll(dir)
	o := &binfix.Options{
		Binary: trace.Binary{Path: path, Args: []string{path}, Env: os.Environ()}, Steps: 1_000_000, Native: 200, Proof: 3 * time.Second, Schedules: 10_000,
		Search: drive.Options{Method: sched.MethodPCT, Seed: 1, Budget: 30 * time.Second}, Until: time.Now().Add(5 * time.Minute), Temp: dir, Progress: func(string, string) {},
	}
	if s.Quick {
		o.Native, o.Proof, o.Schedules = 20, time.Second, 1000
	}
	start, processor := time.Now(), processorTime()
	r, err := binfix.Fix(s.Context, o)
	if err != nil {
		return one, fmt.Errorf("fixing %s: %w", one.Name, err)
	}
	one.Seconds, one.Processor = time.Since(start).Seconds(), (processorTime() - processor).Seconds()
	one.Machines, one.States, one.Events, one.Analysis, one.Refusal = r.Machines(), r.States(), r.Events, (r.Lifting + r.Analysing).Seconds(), strings.TrimSpace(r.Refusal)
	if r.Analysis != nil {
		one.Fixes = len(r.Analysis.Fixes)
	}
	if c := r.Proven; c != nil {
		one.Fixed, one.Cost, one.Size, one.Proof = true, c.Cost, len(c.File), &c.Proof
	}
	return one, nil
}
