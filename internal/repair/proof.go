package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A Proof is what a candidate has stood.
type Proof struct {
	// Replayed says that the failing schedule was run again, as far as it applies;
	// Diverged where it did not apply any more.
	Replayed bool
	Diverged string
	// Searches are the explorations, in the words of their strategies.
	Searches []string
	Runs     int
	// Native is how many times the test ran under the race detector.
	Native int
}

func (p *Proof) String() string {
	var b strings.Builder
	if p.Replayed {
		b.WriteString("the failing schedule was run again and passes")
		if p.Diverged != "" {
			b.WriteString(" (it could be followed until " + p.Diverged + ")")
		}
		b.WriteString("; ")
	}
	b.WriteString(strings.Join(p.Searches, "; "))
	if p.Native > 0 {
		fmt.Fprintf(&b, "; go test -race -count=%d passes", p.Native)
	}
	return b.String()
}

// pctRuns is how many schedules by PCT stand for all, where those are too many.
const pctRuns = 10_000

// prove tries a candidate. If it fails, c.Why says how; next is the trace of a failing
// run that is another failure than those before, so that the candidate may be improved.
func (f *fixer) prove(ctx context.Context, c *Candidate) (next string, err error) {
	c.Proof = &Proof{}
	if c.Why, err = f.compiles(ctx, c); err != nil || c.Why != "" {
		return "", err
	}
	config := f.config
	config.Overlay = c.Patch.overlay(config.Overlay)
	build, err := explore.New(config)
	if err != nil {
		c.Why = "it does not compile: " + err.Error()
		return "", nil
	}
	defer build.Close()
	program := build.Programs[0]
	for _, p := range build.Programs {
		if p.Package == f.config.Patterns[0] {
			program = p
		}
	}
	first := f.opts.Explore
	done, err := program.Record(ctx, f.target, f.schedule, &first, "")
	if err != nil {
		return "", err
	}
	c.Proof.Replayed, c.Proof.Diverged = true, done.Diverged
	if failure := wire.Worst(done.Outcome); failure != nil {
		return f.dropped(ctx, program, c, done.Outcome, failure)
	}
	o := f.opts.Explore
	o.Strategy, o.Preemptions, o.Budget, o.Harm = "dfs", 2, f.opts.Proof, 50*time.Millisecond
	o.Trace = filepath.Join(f.opts.Temp, fmt.Sprintf("candidate%d.trace", f.tried))
	for _, strategy := range []string{"dfs", "pct"} {
		o.Strategy = strategy
		if strategy == "pct" {
			o.Runs, o.Budget = pctRuns, max(10*f.opts.Proof, 30*time.Second)
		}
		res, err := program.Explore(ctx, f.target, &o)
		if err != nil {
			return "", err
		}
		c.Proof.Runs += res.Runs
		if res.Failure != nil {
			return f.dropped(ctx, program, c, res.Outcome, res.Failure)
		}
		if strategy == "dfs" && res.Exhausted && strings.HasPrefix(res.Done.Note, "all schedules") && !strings.Contains(res.Done.Note, "but ") {
			c.Proof.Searches = append(c.Proof.Searches, res.Done.Note)
			break
		}
		if strategy == "pct" {
			c.Proof.Searches = append(c.Proof.Searches, fmt.Sprintf("%d schedules by PCT tried", res.Runs))
			if res.Runs < pctRuns {
				c.Why = fmt.Sprintf("only %d of %d schedules could be tried in the time", res.Runs, pctRuns)
				return "", nil
			}
			continue
		}
		c.Proof.Searches = append(c.Proof.Searches, res.Done.Note)
	}
	c.Why, err = f.native(ctx, c)
	return "", err
}

// dropped says why a candidate is no fix, and records the run that shows it if it is worth
// going on from there.
func (f *fixer) dropped(ctx context.Context, program *explore.Program, c *Candidate, o *trace.Outcome, failure *trace.Failure) (next string, err error) {
	c.Why = "a schedule still leads to " + failure.Kind + ": " + failure.Message
	switch failure.Kind {
	case wire.Deadlock:
		c.Why = "with it, all goroutines can wait for each other for ever"
		return "", nil
	case wire.Race, wire.Panic, wire.TestFail, wire.Fatal:
	default:
		return "", nil
	}
	return f.record(ctx, program, o)
}

func (f *fixer) record(ctx context.Context, program *explore.Program, o *trace.Outcome) (string, error) {
	file := filepath.Join(f.opts.Temp, fmt.Sprintf("round%d.trace", f.tried))
	first := f.opts.Explore
	done, err := program.Record(ctx, f.target, o.Schedule, &first, file)
	if err != nil || wire.Worst(done.Outcome) == nil {
		return "", err
	}
	return file, nil
}

// compiles checks that the changed packages compile and are vetted without complaints
// that they did not have before.
func (f *fixer) compiles(ctx context.Context, c *Candidate) (why string, err error) {
	overlay, err := f.overlayFile(c)
	if err != nil {
		return "", err
	}
	for _, cmd := range [][]string{{"build", "-o", os.DevNull}, {"vet"}} {
		args := append(append(cmd, "-overlay="+overlay), f.config.Flags...)
		out, err := f.run(ctx, append(args, f.config.Patterns...))
		if err == nil {
			continue
		}
		if cmd[0] == "build" {
			return "it does not compile: " + firstLines(out, 3), nil
		}
		if f.vetted == nil {
			before, _ := f.run(ctx, append([]string{"vet"}, append(f.config.Flags, f.config.Patterns...)...))
			f.vetted = &before
		}
		if news := newLines(*f.vetted, out); news != "" {
			return "go vet complains: " + firstLines(news, 3), nil
		}
	}
	return "", nil
}

// overlayFile writes a candidate's files and the file that maps to them.
func (f *fixer) overlayFile(c *Candidate) (string, error) {
	dir, err := os.MkdirTemp(f.opts.Temp, "overlay")
	if err != nil {
		return "", fmt.Errorf("writing a candidate: %w", err)
	}
	replace := map[string]string{}
	for name, text := range c.Patch.overlay(f.config.Overlay) {
		to := filepath.Join(dir, fmt.Sprintf("%d-%s", len(replace), filepath.Base(name)))
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return "", fmt.Errorf("writing a candidate: %w", err)
		}
		replace[name] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("writing a candidate: %w", err)
	}
	name := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		return "", fmt.Errorf("writing a candidate: %w", err)
	}
	return name, nil
}

// native runs the test as it is under the race detector.
func (f *fixer) native(ctx context.Context, c *Candidate) (why string, err error) {
	if f.opts.Native == 0 || !f.config.Tests {
		return "", nil
	}
	overlay, err := f.overlayFile(c)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	args := append([]string{"test", "-race", "-vet=off", "-timeout=60s", "-overlay=" + overlay,
		"-run=^" + regexp.QuoteMeta(f.target) + "$", fmt.Sprintf("-count=%d", f.opts.Native)}, f.config.Flags...)
	out, err := f.run(ctx, append(args, f.config.Patterns...))
	if err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return "", err
		}
		return "go test -race fails: " + firstLines(out, 6), nil
	}
	c.Proof.Native = f.opts.Native
	return "", nil
}

// run runs the go command and returns what it printed.
func (f *fixer) run(ctx context.Context, args []string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = f.config.Dir, f.config.Env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func firstLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[:min(n, len(lines))], "; ")
}

// position is what a line of go vet begins with.
var position = regexp.MustCompile(`^[^ ]*:\d+:\d+: `)

// newLines are the lines of after whose messages before does not have.
func newLines(before, after string) string {
	old := map[string]bool{}
	for _, l := range strings.Split(before, "\n") {
		old[position.ReplaceAllString(l, "")] = true
	}
	var news []string
	for _, l := range strings.Split(after, "\n") {
		if l != "" && !strings.HasPrefix(l, "#") && !old[position.ReplaceAllString(l, "")] {
			news = append(news, l)
		}
	}
	return strings.Join(news, "\n")
}

// Apply writes the files of a proven fix.
func (c *Candidate) Apply() error {
	for name, text := range c.Patch.Files {
		info, err := os.Stat(name)
		if err != nil {
			return fmt.Errorf("applying the fix: %w", err)
		}
		if err := os.WriteFile(name, text, info.Mode().Perm()); err != nil {
			return fmt.Errorf("applying the fix: %w", err)
		}
	}
	return nil
}
