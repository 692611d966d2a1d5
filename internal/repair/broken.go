package repair

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/trace/show"
)

// A FailingRun is what there is to tell of a run that fails: the one to be fixed, or the one
// that shows that a candidate is no fix.
type FailingRun struct {
	Kind    event.FailureKind `json:"kind"`
	Message string            `json:"message"`
	// Shape is why goroutines wait for ever, if they do.
	Shape string `json:"shape,omitempty"`
	// Schedule is the one that leads to it.
	Schedule string `json:"schedule,omitempty"`
	// Places say where, in lines of the source without changes: the accesses of a race, the line
	// that panics, or which goroutine waits for what and which one has it.
	Places []string `json:"places,omitempty"`
}

func (b *FailingRun) String() string { return b.Kind.String() + ": " + b.Message }

// where says where it happens, and by which schedule. What comes first says most: the circle of a
// deadlock, or the line that panics.
func (b *FailingRun) where() string {
	const most = 2
	text := strings.Join(b.Places[:min(most, len(b.Places))], "; ")
	return text + " (by the schedule " + b.Schedule + ")"
}

// NewFailingRun tells of the worst failure of a recorded run.
func NewFailingRun(r *trace.Reader) *FailingRun {
	return newFailingRun(r, func(_ string, line int) int { return line })
}

// newFailingRun tells of the worst failure of a recorded run of a changed program, in lines of the
// program without changes.
func newFailingRun(r *trace.Reader, lineBefore func(file string, line int) int) *FailingRun {
	place := func(file string, line int) string {
		return fmt.Sprintf("%s:%d", filepath.Base(file), lineBefore(file, line))
	}
	failure := r.Outcome.Worst()
	b := &FailingRun{Kind: failure.Kind, Message: failure.Message, Schedule: r.Header.Schedule}
	if shape := failure.Shape(); shape != event.UnknownShape {
		b.Shape = shape.String()
	}
	switch {
	case failure.Kind == event.FailureRace:
		for _, at := range append([]trace.Point{failure.Point}, failure.Others...) {
			b.addAccess(r, &at, place)
		}
	case len(failure.Waiting) > 0:
		if circle := show.Circle(r, failure); circle != "" {
			b.Places = append(b.Places, circle)
		}
		for i := range failure.Waiting {
			if w := &failure.Waiting[i]; !w.Library && w.G != 1 {
				b.addWaiter(r, w, place)
			}
		}
	default:
		if file, line := ownLine(r, &failure.Point); line > 0 {
			b.Places = append(b.Places, place(file, line))
		}
	}
	return b
}

// ownLine is the innermost line of the program's own code at a point, and of any if there is none.
func ownLine(r *trace.Reader, at *trace.Point) (file string, line int) {
	stack := explore.Stack(r, at)
	for _, call := range stack {
		if slices.ContainsFunc(r.Header.Own, func(path string) bool { return strings.HasPrefix(call.Function, path+".") }) {
			return call.File, call.Line
		}
	}
	if site, ok := r.Site(at.Site); ok && site.Line > 0 {
		return site.File, site.Line
	}
	if len(stack) > 0 {
		return stack[0].File, stack[0].Line
	}
	return "", 0
}

// addAccess adds one side of a race.
func (b *FailingRun) addAccess(r *trace.Reader, at *trace.Point, place func(file string, line int) string) {
	site, ok := r.Site(at.Site)
	if !ok {
		return
	}
	b.Places = append(b.Places, fmt.Sprintf("%s of %s at %s", at.Op, site.Expr, place(site.File, site.Line)))
}

// addWaiter adds a goroutine that waits for ever, and where.
func (b *FailingRun) addWaiter(r *trace.Reader, w *trace.Waiter, place func(file string, line int) string) {
	text := show.Waiting(r, w)
	if site, ok := r.Site(w.Site); ok && site.Line > 0 {
		text += " (at " + place(site.File, site.Line) + ")"
	}
	b.Places = append(b.Places, text)
}
