package exploring

import (
	"fmt"
	"io"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A ModulesReport is the result of bench explore-modules.
type ModulesReport struct {
	Machine   measure.Machine `json:"machine"`
	Schedules int             `json:"schedules"`
	Modules   []Module        `json:"modules"`
	Seconds   float64         `json:"seconds"`
}

// A Module is a real one.
type Module struct {
	Path    string       `json:"path"`
	Version string       `json:"version"`
	Tests   []ModuleTest `json:"tests"`
	Error   string       `json:"error,omitempty"` // why there are no tests, or no more
	Seconds float64      `json:"seconds"`
}

// A ModuleTest is one of its tests.
type ModuleTest struct {
	Package string  `json:"package"`
	Test    string  `json:"test"`
	Default Tried   `json:"default"` // under the default schedule
	Every   bool    `json:"every"`   // under every schedule there is
	Random  Tried   `json:"random"`  // under random ones, if there are others
	Seconds float64 `json:"seconds"`
	Reason  Reason  `json:"reason"`           // of a failure
	NoTurn  bool    `json:"noTurn,omitempty"` // the time was over before
}

// Tried is what came of some schedules.
type Tried struct {
	Runs    int      `json:"runs"`
	Cut     int      `json:"cut,omitempty"`
	Fresh   bool     `json:"fresh,omitempty"` // a process for each run
	Steps   uint64   `json:"steps,omitempty"`
	Seconds float64  `json:"seconds,omitempty"`
	Failure string   `json:"failure,omitempty"`
	Stack   []string `json:"stack,omitempty"`
	Error   string   `json:"error,omitempty"`
	Detail  string   `json:"detail,omitempty"`
	Why     []string `json:"why,omitempty"` // not more was seen
}

// A Reason is why a test fails.
type Reason struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// The kinds of reasons. One that is not known is that of a defect of Cofferdam, until it
// has been examined.
const (
	theirs  = "theirs"  // a bug of the module, or of its test
	outside = "outside" // the test does what cannot be brought under control
)

func (t *Tried) failed() bool { return t.Failure != "" || t.Error != "" }

func (t *ModuleTest) failed() bool { return t.Default.failed() || t.Random.failed() }

// large reports whether t was cut off under the default schedule.
func (t *ModuleTest) large() bool { return !t.Default.failed() && t.Default.Cut > 0 }

// extent says in a few words how far a test was explored.
func (t *ModuleTest) extent(schedules int) string {
	switch {
	case t.NoTurn:
		return "no time was left"
	case t.failed() && t.Reason.Kind == theirs:
		return "fails, by a bug of the module"
	case t.failed() && t.Reason.Kind == outside:
		return "outside control"
	case t.Default.Error != "" || t.Random.Error != "":
		return "given up"
	case t.failed():
		return "fails"
	case t.large():
		return "too large: cut off under the default schedule"
	case t.Every:
		return fmt.Sprintf("every schedule (%d)", t.Random.Runs)
	case t.Random.Cut > 0:
		return fmt.Sprintf("%d schedules, %d of them cut off", t.Random.Runs, t.Random.Cut)
	case t.short(schedules):
		return fmt.Sprintf("%d schedules, for want of time", t.Random.Runs)
	}
	return fmt.Sprintf("%d schedules", t.Random.Runs)
}

// because says why a test was not explored further, or how it fails.
func (t *ModuleTest) because() string {
	for _, tried := range []*Tried{&t.Default, &t.Random} {
		switch {
		case tried.Error != "":
			return tried.Error
		case tried.Failure != "" && t.Reason.Text != "":
			return t.Reason.Text
		case tried.Failure != "":
			return tried.Failure
		}
	}
	return strings.Join(append(t.Random.Why, t.Default.Why...), "; ")
}

// printTests prints a line for each test.
func (r *ModulesReport) printTests(w io.Writer) {
	for i := range r.Modules {
		m := &r.Modules[i]
		fmt.Fprintf(w, "\n%s@%s, %.0f s\n\n", m.Path, m.Version, m.Seconds)
		table := measure.Table{Head: []string{"", "explored", "steps each", "seconds", "because"}}
		for j := range m.Tests {
			t := &m.Tests[j]
			steps := uint64(0)
			if t.Default.Runs > 0 {
				steps = t.Default.Steps / uint64(t.Default.Runs)
			}
			table.Row(t.Test, t.extent(r.Schedules), steps, fmt.Sprintf("%.1f", t.Seconds), t.because())
		}
		table.Write(w)
	}
}

// short reports whether t passed, but under fewer schedules than it should have.
func (t *ModuleTest) short(schedules int) bool {
	return !t.failed() && !t.Every && !t.large() && (t.NoTurn || t.Random.Runs < schedules || t.Random.Cut > 0)
}

func (r *ModulesReport) print(w io.Writer) {
	fmt.Fprintf(w, "Real modules' own tests under control, %s, %d cores, %.0f s\n\n", r.Machine.Go, r.Machine.Cores, r.Seconds)
	random := fmt.Sprintf("%d random", r.Schedules)
	t := measure.Table{Head: []string{"", "tests", "pass: default", "every schedule", random, "fewer", "too large", "fail: theirs", "outside control", "unexplained", "fresh processes", "seconds"}}
	var sum counts
	whole := 0
	for i := range r.Modules {
		m := &r.Modules[i]
		c := m.count(r.Schedules)
		c.row(&t, m.Path+"@"+m.Version)
		sum.add(c)
		if c.tests > 0 && m.Error == "" && c.short+c.unexplained == 0 {
			whole++
		}
	}
	sum.row(&t, "all")
	t.Write(w)
	fmt.Fprintf(w, "\n%d of %d modules pass as a whole: under the default schedule, and under every schedule or %s ones, but for what is explained below.\n", whole, len(r.Modules), random)
	for i := range r.Modules {
		if m := &r.Modules[i]; m.Error != "" {
			fmt.Fprintf(w, "\n%s was not tried to the end: %s\n", m.Path, m.Error)
		}
	}
	r.list(w, "Bugs of the modules, or of their tests", func(t *ModuleTest) bool { return t.failed() && t.Reason.Kind == theirs })
	r.list(w, "Outside control", func(t *ModuleTest) bool { return t.failed() && t.Reason.Kind == outside })
	r.list(w, "Too large: cut off under the default schedule, and not tried under others", (*ModuleTest).large)
	r.list(w, "Not explained", (*ModuleTest).unexplained)
	r.list(w, "Fewer schedules than there should be, or cut off", func(t *ModuleTest) bool { return t.short(r.Schedules) })
}

func (t *ModuleTest) unexplained() bool {
	return t.failed() && t.Reason.Kind != theirs && t.Reason.Kind != outside
}

// list prints the tests of a kind under a heading.
func (r *ModulesReport) list(w io.Writer, heading string, of func(*ModuleTest) bool) {
	none := true
	for i := range r.Modules {
		m := &r.Modules[i]
		for j := range m.Tests {
			t := &m.Tests[j]
			if !of(t) {
				continue
			}
			if none {
				fmt.Fprintf(w, "\n%s\n", heading)
				none = false
			}
			t.print(w, m.Path)
		}
	}
}

func (t *ModuleTest) print(w io.Writer, module string) {
	fmt.Fprintf(w, "  %s %s\n", module, t.Test)
	t.Default.print(w, "default schedule")
	t.Random.print(w, "random schedules")
	if t.Reason.Text != "" {
		fmt.Fprintln(w, measure.Wrap("reason: "+t.Reason.Text, "      ", 100))
	}
}

func (t *Tried) print(w io.Writer, name string) {
	switch {
	case t.Error != "":
		fmt.Fprintf(w, "      %s: error: %s\n", name, t.Error)
	case t.Failure != "":
		fmt.Fprintf(w, "      %s: %s\n", name, t.Failure)
	case t.Runs > 0:
		fmt.Fprintf(w, "      %s: %d passed in %.0f s, %d steps each", name, t.Runs-t.Cut, t.Seconds, t.Steps/uint64(t.Runs))
		if t.Cut > 0 {
			fmt.Fprintf(w, "; %d cut off", t.Cut)
		}
		fmt.Fprintln(w)
	}
	for _, why := range t.Why {
		fmt.Fprintln(w, measure.Wrap("because "+why, "        ", 100))
	}
}

// counts are the sums of a module.
type counts struct {
	tests, defaultPass, every, random, short, large, theirs, outside, unexplained, fresh int
	seconds                                                                              float64
}

func (m *Module) count(schedules int) counts {
	c := counts{tests: len(m.Tests), seconds: m.Seconds}
	for i := range m.Tests {
		t := &m.Tests[i]
		if !t.NoTurn && !t.Default.failed() && !t.large() {
			c.defaultPass++
		}
		switch {
		case t.unexplained():
			c.unexplained++
		case t.failed() && t.Reason.Kind == theirs:
			c.theirs++
		case t.failed():
			c.outside++
		case t.large():
			c.large++
		case t.Every:
			c.every++
		case t.short(schedules):
			c.short++
		default:
			c.random++
		}
		if t.Random.Fresh || t.Default.Fresh {
			c.fresh++
		}
	}
	return c
}

func (c *counts) add(d counts) {
	c.tests += d.tests
	c.defaultPass += d.defaultPass
	c.every += d.every
	c.random += d.random
	c.short += d.short
	c.large += d.large
	c.theirs += d.theirs
	c.outside += d.outside
	c.unexplained += d.unexplained
	c.fresh += d.fresh
	c.seconds += d.seconds
}

func (c *counts) row(t *measure.Table, name string) {
	t.Row(name, c.tests, c.defaultPass, c.every, c.random, c.short, c.large, c.theirs, c.outside, c.unexplained, c.fresh, fmt.Sprintf("%.0f", c.seconds))
}
