package show

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// WriteTimeline writes a trace as a column for each goroutine, time going down, with
// the steps that matter:
//
//	goroutine 1 (TestSteady)      goroutine 2 (toctou_test.go:12)
//	----------------------------  -------------------------------
//	load m.count = 0
//	  toctou.go:17
//	                              store m.count 0 -> 1
//	                                toctou.go:11
//	load m.count = 1
//	  toctou.go:18
//
// What matters are accesses to memory that two goroutines touch and at least one
// changes, and what goroutines do with each other. What the standard library does inside is
// left out, but not what it does to the program's memory, as when it prints a map: what it does
// there in one go is one step. Of more than limit steps, those at the end are shown, since that is where the failure is.
func WriteTimeline(w io.Writer, r *trace.Reader, limit int) error {
	t, skipped, err := endOfRun(r, limit)
	if err != nil {
		return err
	}
	if skipped > 0 {
		fmt.Fprintf(w, "(%d earlier steps are left out; cofferdam trace has them all)\n\n", skipped)
	}
	return t.write(w)
}

// A TimelineStep is a step as a timeline shows it, for those that draw one in another form.
type TimelineStep struct {
	Goroutine uint32 // 0 for what no goroutine does: that time passes
	Lane      string // the goroutine, with where it comes from
	What      string
	At        trace.Site // where; without a line if that is not known
}

// TimelineSteps returns the steps that WriteTimeline shows.
func TimelineSteps(r *trace.Reader, limit int) ([]TimelineStep, error) {
	t, _, err := endOfRun(r, limit)
	if err != nil {
		return nil, err
	}
	heads, err := t.heads()
	if err != nil {
		return nil, err
	}
	all := make([]TimelineStep, len(t.steps))
	for i := range t.steps {
		s := &t.steps[i]
		if s.Kind == event.Stall {
			all[i] = TimelineStep{What: stallText(s)}
			continue
		}
		what, at := t.text(s)
		all[i] = TimelineStep{Goroutine: s.G, What: what, At: at}
		if lane := slices.Index(t.goroutines, s.G); lane >= 0 {
			all[i].Lane = heads[lane]
		}
	}
	return all, nil
}

// endOfRun is the timeline of the last steps that matter, and how many it leaves out.
func endOfRun(r *trace.Reader, limit int) (t *timeline, skipped int, err error) {
	relevance, err := NewRelevance(r)
	if err != nil {
		return nil, 0, err
	}
	steps, skipped, err := lastSteps(relevance, limit, 0)
	if err != nil {
		return nil, 0, err
	}
	// Others may have gone on for long after the last that is left waiting began to.
	if last, err := lastWait(r); err != nil {
		return nil, 0, err
	} else if last > 0 && len(steps) > 0 && steps[0].Seq > last {
		if steps, skipped, err = lastSteps(relevance, limit, last); err != nil {
			return nil, 0, err
		}
	}
	return newTimeline(r, steps), skipped, nil
}

type timeline struct {
	r          *trace.Reader
	steps      []step
	goroutines []uint32
	printer    *Printer
}

func newTimeline(r *trace.Reader, steps []step) *timeline {
	t := &timeline{r: r, steps: steps, printer: NewPrinter(r)}
	for i := range steps {
		if g := steps[i].G; g != 0 && !slices.Contains(t.goroutines, g) {
			t.goroutines = append(t.goroutines, g)
		}
	}
	slices.Sort(t.goroutines)
	return t
}

// maxColumns is how many goroutines get a column of their own; of more, the steps are
// written below each other with the goroutine's number in front.
const (
	maxColumns = 4
	maxColumn  = 48
)

func (t *timeline) write(w io.Writer) error {
	heads, err := t.heads()
	if err != nil {
		return err
	}
	columns := len(t.goroutines) <= maxColumns
	widths := make([]int, len(heads))
	texts := make([][2]string, len(t.steps))
	for i := range t.steps {
		what, at := t.text(&t.steps[i])
		texts[i] = [2]string{what, place(&at)}
	}
	if columns {
		for i, h := range heads {
			widths[i] = utf8.RuneCountInString(h)
		}
		for i := range t.steps {
			if t.steps[i].G == 0 {
				continue
			}
			at := slices.Index(t.goroutines, t.steps[i].G)
			for _, s := range texts[i] {
				widths[at] = max(widths[at], min(utf8.RuneCountInString(s), maxColumn))
			}
		}
		var head, rule strings.Builder
		for i, h := range heads {
			fmt.Fprintf(&head, "%-*s  ", widths[i], h)
			rule.WriteString(strings.Repeat("-", widths[i]) + "  ")
		}
		fmt.Fprintf(w, "%s\n%s\n", strings.TrimRight(head.String(), " "), strings.TrimRight(rule.String(), " "))
	} else {
		for _, h := range heads {
			fmt.Fprintln(w, h)
		}
		fmt.Fprintln(w)
	}
	last := ""
	for i := range t.steps {
		if t.steps[i].Kind == event.Stall {
			fmt.Fprintf(w, "-- %s --\n", stallText(&t.steps[i]))
			last = ""
			continue
		}
		at := slices.Index(t.goroutines, t.steps[i].G)
		indent := ""
		if columns {
			for _, width := range widths[:at] {
				indent += strings.Repeat(" ", width+2)
			}
		} else {
			indent = fmt.Sprintf("%4d  ", t.steps[i].G)
		}
		place := fmt.Sprint(at, texts[i][1])
		if texts[i][1] != "" && place != last {
			fmt.Fprintf(w, "%s%s:\n", indent, texts[i][1])
		}
		last = place
		if _, err := fmt.Fprintf(w, "%s  %s\n", indent, texts[i][0]); err != nil {
			return fmt.Errorf("writing the timeline: %w", err)
		}
	}
	return nil
}

// heads names the goroutines by where they come from.
func (t *timeline) heads() ([]string, error) {
	names, err := GoroutineNames(t.r)
	if err != nil {
		return nil, err
	}
	heads := make([]string, len(t.goroutines))
	for i, g := range t.goroutines {
		heads[i] = fmt.Sprintf("%s %d", Noun(t.r), g)
		if name := names[g]; name != "" {
			heads[i] += " (" + name + ")"
		}
	}
	return heads, nil
}

// GoroutineNames says where goroutines come from: the test or function that one runs, or where it
// was started. What is not known has no name.
func GoroutineNames(r *trace.Reader) (map[uint32]string, error) {
	names, test, err := origins(r)
	switch {
	case r.Header.Test == "":
		names[1] = "main"
	case !strings.Contains(r.Header.Test, "|"):
		names[test] = r.Header.Test // of several tests, the first call names each
	}
	return names, err
}

// Noun is what a trace calls what runs in it: goroutines, or the threads of a program
// without source.
func Noun(r *trace.Reader) string {
	if r.Header.Binary != nil {
		return "thread"
	}
	return "goroutine"
}

// place names a site by file and line; an instruction by where in its function it is.
func place(s *trace.Site) string {
	if s.Line == 0 {
		return s.Function
	}
	return fmt.Sprintf("%s:%d", filepath.Base(s.File), s.Line)
}

// origins says where goroutines were started. One that a library started for the program
// is known by the first function of the program that it runs. Test is the one that runs the
// test: the first that goroutine 1 has started by no statement of a program.
func origins(r *trace.Reader) (from map[uint32]string, test uint32, err error) {
	from, test = map[uint32]string{}, 2
	first := true
	own := ownFiles(r)
	c := r.Cursor(trace.Filter{Kinds: []event.Kind{event.Go, event.Call}})
	for c.Next() {
		e := c.Event()
		if e.Kind == event.Go && e.Site == 0 && first {
			test, first = uint32(e.Arg), false
		}
		s, ok := r.Site(e.Site)
		if !ok || !own[s.File] {
			continue
		}
		switch g := uint32(e.Arg); {
		case e.Kind == event.Go:
			from[g] = place(&s)
			if name := calledByGo(s.Expr); name != "" {
				from[g] = name + ", " + from[g]
			}
		case from[e.G] == "" && s.Line == 0:
			from[e.G] = s.Function
		case from[e.G] == "":
			from[e.G] = s.Function + ", " + place(&s)
		}
	}
	return from, test, c.Err()
}

// calledByGo is what a go statement calls, such as c.janitor; "" for a function literal, which has no name.
func calledByGo(expr string) string {
	call, ok := strings.CutPrefix(expr, "go ")
	name, _, isCall := strings.Cut(call, "(")
	if !ok || !isCall || strings.HasPrefix(call, "func") || strings.ContainsAny(name, " \t\n") {
		return ""
	}
	return name
}

// stallText says that time passes although goroutines could go on.
func stallText(s *step) string {
	return fmt.Sprintf("%s passes: the machine is slow", time.Duration(s.Arg))
}

// text says what a step did, and where.
func (t *timeline) text(s *step) (what string, at trace.Site) {
	switch s.Kind {
	case event.Fail, event.Panic, event.Exit:
		return t.end(s.Kind)
	}
	site, _ := t.r.Site(s.Site)
	switch l := s.library; {
	case l == nil || l.call != 0 && l.isOne():
		return t.printer.Operation(&s.Event), site
	case l.call != 0 && site.Expr == "":
		return l.String(), site
	case l.call != 0:
		return site.Expr + ": " + l.String(), site
	default:
		caller, _ := Caller(t.r, s.Frame)
		return l.String() + " in " + cmp.Or(l.in, "the standard library"), trace.Site{Function: caller.Function}
	}
}

// end says how the run failed, and where: in the innermost call of the program's own. The
// worst of its failures may be one that was found later.
func (t *timeline) end(kind event.Kind) (what string, at trace.Site) {
	f := t.r.Outcome.Worst()
	if f == nil {
		return "", trace.Site{}
	}
	if kind == event.Fail {
		for i := range t.r.Outcome.Failures {
			if g := &t.r.Outcome.Failures[i]; g.Kind == event.FailureTest {
				f = g
			}
		}
	}
	message, _, more := strings.Cut(f.Message, "\n")
	if more {
		message += " ..."
	}
	what = f.Kind.String() + ": " + message
	own := ownFiles(t.r)
	if s, ok := t.r.Site(f.Site); ok && f.Kind == event.FailureFatal && own[s.File] {
		return what, s
	}
	for _, c := range f.Stack {
		if own[c.File] {
			return what, trace.Site{File: c.File, Line: c.Line, Function: c.Function}
		}
	}
	return what, trace.Site{}
}
