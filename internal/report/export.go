package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/report/lanes"
	"github.com/cofferdam-go/cofferdam/internal/report/page"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/trace/show"
)

// mostMarkdown is how many lines a summary for a review has at most.
const mostMarkdown = 15

// WriteMarkdown writes a summary for a review: at most 15 lines.
func WriteMarkdown(w io.Writer, d *page.Document) error {
	lines := []string{"### " + markdown(d.Title)}
	if d.Badge != "" {
		lines[0] += " — " + markdown(d.Badge)
	}
	lines = append(lines, "")
	for i, s := range d.Sentences {
		if i < 4 { // the fourth says that the file is not whole
			lines = append(lines, fmt.Sprintf("%d. %s", i+1, markdown(s)))
		}
	}
	if f := d.Fix; f != nil {
		switch {
		case f.Proven:
			lines = append(lines, "", "**Fix** (proven): "+markdown(f.Change)+" in "+markdown(changedFiles(f.Diff)))
		case f.FixedBy != nil:
			lines = append(lines, "", "**Fix**: with that of "+markdown(strings.Join(f.FixedBy, ", ")))
		default:
			lines = append(lines, "", "**No fix**: "+markdown(firstLine(f.Refusal)))
		}
	}
	if f := d.Findings; f != nil {
		var figures []string
		for _, x := range f.Figures {
			figures = append(figures, x.Name+" "+x.Text)
		}
		lines = append(lines, markdown(strings.Join(figures, " · ")))
		for _, r := range f.Rows {
			lines = append(lines, fmt.Sprintf("- %s: %s at `%s`, %s%s", r.Kind, markdown(r.Access), r.Place, count(int(r.Count), "time"), outcomeNote(r.Outcome)))
		}
	}
	if g := d.Guards; g != nil {
		lines = append(lines, fmt.Sprintf("%s, %s, %s", count(len(g.Locks), "lock"), count(g.Data, "guarded variable"), count(g.Deviations, "deviation")))
		for _, v := range g.DeviationsByPlace {
			lines = append(lines, fmt.Sprintf("- `%s`: %s in `%s`: %s", v.Place, markdown(v.What), v.Function, markdown(v.Why)))
		}
	}
	if c := d.Campaign; c != nil {
		if len(d.Sentences) > 0 {
			lines = append(lines, "") // or it goes on with the last sentence
		}
		lines = append(lines, fmt.Sprintf("%s, %s", count(len(c.Targets), "test"), count(len(c.Findings), "finding")))
		for _, f := range c.Findings {
			lines = append(lines, fmt.Sprintf("- %s `%s`: %s at `%s` in %s: %s", f.Status, f.ID, markdown(f.Kind), f.Place, markdown(f.Package+"."+f.Test), markdown(f.What)))
		}
	} else if l := d.List; l != nil {
		for _, e := range l.Entries {
			lines = append(lines, fmt.Sprintf("- **%s** %s: %s", markdown(e.Title), markdown(e.Badge), markdown(e.Text)))
		}
	}
	var last string
	for _, f := range d.Facts {
		if f.Name == "run it again" {
			last = "Run it again: `" + f.Text + "`"
		}
	}
	room := mostMarkdown
	if last != "" {
		room -= 2
	}
	if len(lines) > room {
		lines = append(lines[:room-1], fmt.Sprintf("… and %d more", len(lines)-room+1))
	}
	if last != "" {
		lines = append(lines, "", last)
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

func outcomeNote(outcome string) string {
	if outcome == "" {
		return ""
	}
	return " (" + outcome + ")"
}

// changedFiles are the names of a diff's files.
func changedFiles(diff []page.FileDiff) string {
	var names []string
	for _, f := range diff {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// markdown keeps what a program says from being taken for markup.
func markdown(text string) string {
	return strings.NewReplacer("\n", " ", "<", "&lt;", "`", "'", "*", "\\*", "_", "\\_", "[", "\\[", "|", "\\|").Replace(text)
}

// A chromeEvent is an event of the trace event format, which Perfetto and chrome://tracing read.
type chromeEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat"`
	Phase    string         `json:"ph"`
	Time     uint64         `json:"ts"` // microseconds: here the number of the event
	Duration uint64         `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   uint32         `json:"tid"`
	Scope    string         `json:"s,omitempty"`
	Flow     int            `json:"id,omitempty"` // the same at both ends of an arrow
	Binds    string         `json:"bp,omitempty"` // e: to the slice around it
	Args     map[string]any `json:"args,omitempty"`
}

// An arrowEnd is an end of an arrow, at an event.
type arrowEnd struct {
	id   int
	name string
	ends bool // the arrow ends here
}

// chromeArrows are the arrows of a run, by the numbers of the events at their ends.
func chromeArrows(r *trace.Reader) (map[uint64][]arrowEnd, error) {
	links, err := lanes.Links(r)
	if err != nil {
		return nil, err
	}
	arrows := map[uint64][]arrowEnd{}
	for i, l := range links {
		arrows[l.From] = append(arrows[l.From], arrowEnd{id: i + 1, name: l.Name})
		arrows[l.To] = append(arrows[l.To], arrowEnd{id: i + 1, name: l.Name, ends: true})
	}
	return arrows, nil
}

// WriteChrome writes a trace in the trace event format (JSON). A run under control has no time in
// which its steps take place, only an order: an event takes one microsecond there. Each goroutine is
// a thread with its calls as slices and its steps as moments in them. Arrows are what synchronisation orders:
// from a go statement to what it starts, from an unlock to the next lock by another goroutine, from a send to
// its receive, and to what waits.
func WriteChrome(w io.Writer, path string, o Options) error {
	r, err := trace.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	o.warn(path, r.Truncated())
	out := bufio.NewWriter(w)
	names, err := show.GoroutineNames(r)
	if err != nil {
		return err
	}
	fmt.Fprint(out, `{"displayTimeUnit":"ms","traceEvents":[`)
	first := true
	emit := func(e chromeEvent) error {
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if !first {
			out.WriteByte(',')
		}
		first = false
		out.WriteString("\n")
		_, err = out.Write(data)
		return err
	}
	title := runTitle(r.Header.Test, r.Header.Package)
	if err := emit(chromeEvent{Name: "process_name", Category: "__metadata", Phase: "M", Process: 1, Args: map[string]any{"name": title}}); err != nil {
		return err
	}
	goroutines, _ := r.Goroutines()
	for i, g := range goroutines {
		if err := emit(chromeEvent{Name: "thread_sort_index", Category: "__metadata", Phase: "M", Process: 1, Thread: g, Args: map[string]any{"sort_index": i}}); err != nil {
			return err
		}
		name := fmt.Sprintf("%s %d", show.Noun(r), g)
		if names[g] != "" {
			name += " (" + names[g] + ")"
		}
		if err := emit(chromeEvent{Name: "thread_name", Category: "__metadata", Phase: "M", Process: 1, Thread: g, Args: map[string]any{"name": name}}); err != nil {
			return err
		}
	}
	arrows, err := chromeArrows(r)
	if err != nil {
		return err
	}
	printer := show.NewPrinter(r)
	open := map[uint32]int{} // slices of each goroutine
	last := uint64(0)
	c := r.Cursor(trace.Filter{})
	for c.Next() {
		e := c.Event()
		last = e.Seq
		site, _ := r.Site(e.Site)
		one := chromeEvent{Category: e.Kind.String(), Time: e.Seq, Process: 1, Thread: e.G}
		switch e.Kind {
		case event.Alloc:
			continue
		case event.Call:
			one.Name, one.Phase = site.Function, "B"
			open[e.G]++
		case event.Return:
			if open[e.G] == 0 {
				continue // of a call that the trace does not have
			}
			one.Name, one.Phase = "return", "E"
			open[e.G]--
		default:
			one.Name, one.Phase, one.Scope = printer.Operation(e), "i", "t"
			if len(arrows[e.Seq]) > 0 { // an arrow is drawn from a slice to a slice, and not at all without them
				one.Phase, one.Scope, one.Duration = "X", "", 1
			}
			if place := site.Position(); place != "" {
				one.Args = map[string]any{"at": place}
			}
		}
		if err := emit(one); err != nil {
			return err
		}
		for _, flow := range arrows[e.Seq] {
			end := chromeEvent{Name: flow.name, Category: "order", Phase: "s", Time: e.Seq, Process: 1, Thread: e.G, Flow: flow.id}
			if flow.ends {
				end.Phase, end.Binds = "f", "e"
			}
			if err := emit(end); err != nil {
				return err
			}
		}
	}
	if err := c.Err(); err != nil {
		return err
	}
	for _, g := range slices.Sorted(maps.Keys(open)) {
		for range open[g] {
			if err := emit(chromeEvent{Name: "cut off", Category: event.Return.String(), Phase: "E", Time: last + 1, Process: 1, Thread: g}); err != nil {
				return err
			}
		}
	}
	fmt.Fprint(out, "\n]}\n")
	return out.Flush()
}
