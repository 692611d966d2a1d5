package explore

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/trace/show"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A trace outlives edits of its program. The schedule counts operations of goroutines, not
// lines, so it is followed in the edited program as it is; the two runs are then compared by
// what stands at their sites (package trace, place.go), and functions on the way that are not
// what they were are told. What else goes into a program, the version of Go and the hooks
// above all, decides which operations there are, and has to be the same.

// A ChangedError says that a trace was recorded from a program that was built in another way
// than the one at hand.
type ChangedError struct {
	Package string
	What    string // what differs
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s was built in another way when the trace was recorded (%s): its steps would not be the same; find the failure again with cofferdam explore", e.Package, e.What)
}

// A Replayed is what came of a recorded run that was made again.
type Replayed struct {
	*wire.Done
	// Parting is where the two runs part; nil if they are the same up to addresses and lines.
	Parting *Parting
	// Changed are the functions on the recorded run's way that differ in the program at hand.
	Changed []trace.Change
}

// A Parting is the first step in which two runs differ.
type Parting struct {
	What     string `json:"what"` // what differs, in words
	Recorded *Step  `json:"recorded,omitempty"`
	Now      *Step  `json:"now,omitempty"` // nil where a run has ended
}

// A Step is an event for a person.
type Step struct {
	Number    uint64 `json:"number"`
	Goroutine uint32 `json:"goroutine"`
	What      string `json:"what"`
	Function  string `json:"function,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Source    string `json:"source,omitempty"` // the line as it is now
}

func (s *Step) String() string {
	text := fmt.Sprintf("step %d, goroutine %d: %s", s.Number, s.Goroutine, s.What)
	if s.Function != "" {
		text += " in " + s.Function
	}
	if s.Line > 0 {
		text += fmt.Sprintf(", %s:%d", filepath.Base(s.File), s.Line)
	}
	return text
}

func (p *Parting) String() string {
	var b strings.Builder
	b.WriteString(p.What)
	for _, side := range []struct {
		name string
		step *Step
	}{{"recorded", p.Recorded}, {"now", p.Now}} {
		if side.step == nil {
			fmt.Fprintf(&b, "\n  %-9s the run has ended", side.name+":")
			continue
		}
		fmt.Fprintf(&b, "\n  %-9s %s", side.name+":", side.step)
		if side.step.Source != "" {
			fmt.Fprintf(&b, "\n            %s", side.step.Source)
		}
	}
	return b.String()
}

// Replay runs a recorded run again, in a fresh process, and compares the two event by
// event.
func (p *Program) Replay(ctx context.Context, r *trace.Reader) (*Replayed, error) {
	return p.replay(ctx, r, nil)
}

// replay is Replay with where the run waits for a debugger; nil for nowhere.
func (p *Program) replay(ctx context.Context, r *trace.Reader, halt *Halt) (*Replayed, error) {
	if err := p.sameInputs(&r.Header); err != nil {
		return nil, err
	}
	temp, err := scratch.Dir()
	if err != nil {
		return nil, fmt.Errorf("replaying: %w", err)
	}
	defer scratch.Remove(temp)
	return p.recordAgain(ctx, r, filepath.Join(temp, "again.trace"), halt)
}

// RecordAgain is Replay with the file that the second run is recorded to.
func (p *Program) RecordAgain(ctx context.Context, r *trace.Reader, file string) (*Replayed, error) {
	if err := p.sameInputs(&r.Header); err != nil {
		return nil, err
	}
	return p.recordAgain(ctx, r, file, nil)
}

// recordAgain is RecordAgain with where the run waits for a debugger; nil for nowhere.
func (p *Program) recordAgain(ctx context.Context, r *trace.Reader, file string, halt *Halt) (*Replayed, error) {
	_, o := Again("", &r.Header)
	o.Halt = halt
	out := &Replayed{}
	var err error
	if out.Done, err = p.Record(ctx, r.Header.Test, r.Header.Schedule, o, file); err != nil {
		return nil, err
	}
	if r.Header.Program != p.Hash {
		if out.Changed, err = r.ChangedSince(p.build.Sites); err != nil {
			return nil, err
		}
	}
	again, err := trace.Open(file)
	if err != nil {
		return nil, err
	}
	defer again.Close()
	diff, err := trace.Compare(r, again)
	if diff != nil {
		out.Parting = &Parting{What: diff.How, Recorded: step(r, diff.A, false), Now: step(again, diff.B, true)}
	}
	return out, err
}

// sameInputs refuses a trace that was recorded from a program with other inputs than its own
// source.
func (p *Program) sameInputs(h *trace.Header) error {
	if h.Program == p.Hash || h.Inputs == p.Inputs {
		return nil
	}
	what := "by another version of cofferdam, or with other build flags"
	switch {
	case h.Go != p.Go:
		what = "with " + h.Go + ", not " + p.Go
	case h.GOOS != runtime.GOOS || h.GOARCH != runtime.GOARCH:
		what = fmt.Sprintf("for %s/%s, not %s/%s", h.GOOS, h.GOARCH, runtime.GOOS, runtime.GOARCH)
	}
	return &ChangedError{Package: h.Package, What: what}
}

// SameFailure reports whether a run that was recorded again failed as the first did, though
// lines have moved: by the kind, the cause, and the function.
func SameFailure(r, again *trace.Reader) bool {
	was, is := r.Outcome.Worst(), again.Outcome.Worst()
	if was == nil || is == nil {
		return was == is
	}
	return was.Kind == is.Kind && was.Cause == is.Cause && functionOf(r, &was.Point) == functionOf(again, &is.Point)
}

// functionOf is the innermost function of the program at a point.
func functionOf(r *trace.Reader, p *trace.Point) string {
	if stack := Stack(r, p); len(stack) > 0 {
		return stack[0].Function
	}
	return ""
}

// StepAt describes the event of a number; nil if there is none.
func StepAt(r *trace.Reader, number uint64) (*Step, error) {
	e, err := r.At(number)
	return step(r, e, false), err
}

// step describes an event; nil if there is none. Its line is read if the source is at hand.
func step(r *trace.Reader, e *event.Event, atHand bool) *Step {
	if e == nil {
		return nil
	}
	s := &Step{Number: e.Seq, Goroutine: e.G, What: e.Kind.String()}
	site, ok := r.Site(e.Site)
	if !ok {
		caller, _ := show.Caller(r, e.Frame)
		s.Function = caller.Function
		return s
	}
	s.Function, s.File, s.Line = site.Function, site.File, site.Line
	if s.What = show.NewPrinter(r).Operation(e); e.Kind == event.Call {
		s.What, s.Function = "call of "+site.Function, ""
	}
	if atHand {
		s.Source = sourceLine(site.File, site.Line)
	}
	return s
}

// sourceLine returns a line of a file; "" if there is none.
func sourceLine(file string, line int) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if n == line {
			return strings.TrimSpace(lines.Text())
		}
	}
	return ""
}
