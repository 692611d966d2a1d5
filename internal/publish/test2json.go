package publish

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// An Events writes what comes of tests as go test -json does, while it comes. See go doc
// test2json for the form.
type Events struct {
	w       io.Writer
	now     func() time.Time
	started map[string]*eventPackage
	order   []string
}

// An eventPackage is one of which an event was written.
type eventPackage struct {
	failed  bool
	any     bool // a test of it was explored
	elapsed time.Duration
}

// NewEvents returns a writer of events that take their times from a clock.
func NewEvents(w io.Writer, now func() time.Time) *Events {
	return &Events{w: w, now: now, started: map[string]*eventPackage{}}
}

type testEvent struct {
	Time    time.Time `json:",omitzero"`
	Action  string
	Package string   `json:",omitempty"`
	Test    string   `json:",omitempty"`
	Elapsed *float64 `json:",omitempty"`
	Output  string   `json:",omitempty"`
}

// Write writes the events of a test that is over.
func (e *Events) Write(t *Test) error {
	p := e.started[t.Package]
	var all []testEvent
	if p == nil {
		p = &eventPackage{}
		e.started[t.Package] = p
		e.order = append(e.order, t.Package)
		all = append(all, testEvent{Action: "start", Package: t.Package})
	}
	all = append(all, testEvent{Action: "run", Package: t.Package, Test: t.Name})
	action, word := "pass", "PASS"
	switch t.Verdict {
	case Passed:
		p.any = true
	case Failed:
		action, word, p.failed, p.any = "fail", "FAIL", true, true
	case Unexplored:
		action, word = "skip", "SKIP"
	default:
		panic(fmt.Sprintf("publish: unknown verdict %d", t.Verdict))
	}
	output := func(text string) {
		all = append(all, testEvent{Action: "output", Package: t.Package, Test: t.Name, Output: text})
	}
	output(fmt.Sprintf("=== RUN   %s\n", t.Name))
	if t.At != "" && t.Headline != "" {
		output(fmt.Sprintf("    %s: %s\n", t.At, t.Headline))
	}
	for line := range strings.Lines(t.Output) {
		output("    " + strings.TrimSuffix(line, "\n") + "\n")
	}
	output(fmt.Sprintf("--- %s: %s (%.2fs)\n", word, t.Name, t.Elapsed.Seconds()))
	all = append(all, testEvent{Action: action, Package: t.Package, Test: t.Name, Elapsed: elapsed(t.Elapsed)})
	p.elapsed += t.Elapsed
	return e.send(all)
}

// Close writes how each package ended.
func (e *Events) Close() error {
	var all []testEvent
	for _, name := range e.order {
		p := e.started[name]
		action, words := "pass", fmt.Sprintf("ok  \t%s\t%.3fs\n", name, p.elapsed.Seconds())
		switch {
		case p.failed:
			action, words = "fail", fmt.Sprintf("FAIL\t%s\t%.3fs\n", name, p.elapsed.Seconds())
		case !p.any:
			action, words = "skip", fmt.Sprintf("?   \t%s\t[no test was explored]\n", name)
		}
		all = append(all,
			testEvent{Action: "output", Package: name, Output: words},
			testEvent{Action: action, Package: name, Elapsed: elapsed(p.elapsed)})
	}
	return e.send(all)
}

func (e *Events) send(all []testEvent) error {
	enc := json.NewEncoder(e.w)
	for i := range all {
		all[i].Time = e.now()
		if err := enc.Encode(&all[i]); err != nil {
			return fmt.Errorf("writing events: %w", err)
		}
	}
	return nil
}

func elapsed(d time.Duration) *float64 {
	s := d.Seconds()
	return &s
}
