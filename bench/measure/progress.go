package measure

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Progress tells a person how far a long run is. On a terminal it is one line
// that is rewritten; elsewhere, as in the log of a CI job, a line now and then.
// A nil Progress tells nothing.
type Progress struct {
	w        io.Writer
	terminal bool
	total    int
	done     int
	begun    time.Time
	shown    time.Time
}

// NewProgress returns the progress of a number of steps.
func NewProgress(f *os.File, steps int) *Progress {
	info, err := f.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	now := time.Now()
	return &Progress{w: f, terminal: terminal, total: steps, begun: now, shown: now}
}

// Show says what is being done now, if it is time to say something.
func (p *Progress) Show(format string, args ...any) {
	if p == nil {
		return
	}
	pause := 15 * time.Second
	if p.terminal {
		pause = 200 * time.Millisecond
	}
	if time.Since(p.shown) < pause {
		return
	}
	p.shown = time.Now()
	line := fmt.Sprintf("[%3d %%, %s] %s", 100*p.done/max(p.total, 1), p.left(), fmt.Sprintf(format, args...))
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	} else {
		fmt.Fprintln(p.w, line)
	}
}

// left guesses the time to the end from the time so far.
func (p *Progress) left() string {
	if p.done == 0 {
		return "just begun"
	}
	gone := time.Since(p.begun)
	left := gone * time.Duration(max(p.total-p.done, 0)) / time.Duration(p.done)
	return left.Round(time.Second).String() + " left"
}

// Done says that some steps are done.
func (p *Progress) Done(steps int) {
	if p != nil {
		p.done += steps
	}
}

// Drop says that some steps need not be done: they say nothing of how long the others take.
func (p *Progress) Drop(steps int) {
	if p != nil {
		p.total -= steps
	}
}

// Clear takes the line away, before something else is printed.
func (p *Progress) Clear() {
	if p != nil && p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
