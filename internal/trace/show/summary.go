package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// WriteSummary writes what a trace is of and what is in it. It reads no events but
// those that created the goroutines.
func WriteSummary(w io.Writer, r *trace.Reader) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(&b, "%-10s  %s\n", name, oneLine(text))
		}
	}
	h := &r.Header
	line("program", "%s", strings.TrimSpace(h.Package+" "+h.Test))
	line("arguments", "%s", strings.Join(h.Args, " "))
	line("identity", "%s", h.Program)
	line("go", "%s", strings.TrimSpace(h.Go+" "+strings.Trim(h.GOOS+"/"+h.GOARCH, "/")))
	line("schedule", "%s", h.Schedule)
	line("seed", "%d", h.Seed)
	line("strategy", "%s", h.Strategy)
	if o := r.Outcome; o != nil {
		line("outcome", "%s", o.Result)
		for i := range o.Failures {
			f := &o.Failures[i]
			line("failure", "%s", failureText(r, f))
			line("shape", "%s", ShapeWords(f.Shape()))
			for j := range f.Waiting {
				line("waiting", "%s", Waiting(r, &f.Waiting[j]))
			}
		}
		line("taken", "%s", o.Schedule)
		if o.Elapsed != 0 || o.Virtual != 0 {
			line("duration", "%v, %v by the program's clock", o.Elapsed, o.Virtual)
		}
		for _, s := range o.Outside {
			line("outside", "%s", s)
		}
	} else {
		line("outcome", "not known: the recording was cut off")
	}
	n := r.Len()
	line("events", "%d in %d blocks", n, r.Blocks())
	perEvent := 0.0
	if n > 0 {
		perEvent = float64(r.Size()) / float64(n)
	}
	line("size", "%d bytes, %.1f for each event", r.Size(), perEvent)
	line("sites", "%d", len(r.Sites()))

	starts, err := starts(r)
	if err != nil {
		return err
	}
	fmt.Fprintln(&b, "\ngoroutine  events")
	gs, events := r.Goroutines()
	for i, g := range gs {
		fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("%9d  %6d  %s", g, events[i], oneLine(starts[g])), " "))
	}
	fmt.Fprintln(&b, "\nkind              events")
	for _, k := range event.Kinds() {
		if n := r.Count(k); n > 0 {
			fmt.Fprintf(&b, "%-16s  %6d\n", k, n)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the summary of a trace: %w", err)
	}
	return nil
}

// failureText says how a run failed, and where.
func failureText(r *trace.Reader, f *trace.Failure) string {
	s := f.String()
	if f.G != 0 {
		s += fmt.Sprintf(" (goroutine %d", f.G)
		if site, ok := r.Site(f.Site); ok {
			s += " at " + site.Position()
		}
		if f.Seq != 0 {
			s += fmt.Sprintf(", event %d", f.Seq)
		}
		s += ")"
	}
	return s
}

// maxStarts is for how many goroutines it is said where they came from.
const maxStarts = 1000

// starts tells where goroutines were created.
func starts(r *trace.Reader) (map[uint32]string, error) {
	from := map[uint32]string{}
	c := r.Cursor(trace.Filter{Kinds: []event.Kind{event.Go}})
	for len(from) < maxStarts && c.Next() {
		e := c.Event()
		from[uint32(e.Arg)] = fmt.Sprintf("started by %d", e.G)
		if s, ok := r.Site(e.Site); ok {
			from[uint32(e.Arg)] += " at " + s.Position()
		}
	}
	return from, c.Err()
}
