package exploring

import (
	"fmt"
	"io"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A ModulesReport is the result of bench explore-modules.
type ModulesReport struct {
	Machine   measure.Machine `json:"machine"`
	Schedules int             `json:"schedules"`
	Modules   []Module        `json:"modules"`
}

// A Module is a real one.
type Module struct {
	Path    string       `json:"path"`
	Version string       `json:"version"`
	Tests   []ModuleTest `json:"tests"`
	Notes   []string     `json:"notes,omitempty"`
	Error   string       `json:"error,omitempty"` // why there are no tests, or no more
}

// A ModuleTest is one of its tests.
type ModuleTest struct {
	Package string  `json:"package"`
	Test    string  `json:"test"`
	Default Tried   `json:"default"` // under the default schedule
	Random  Tried   `json:"random"`  // under random ones
	Seconds float64 `json:"seconds"`
	Why     string  `json:"why,omitempty"` // the reason of a failure
}

// Tried is what came of some schedules.
type Tried struct {
	Runs    int      `json:"runs"`
	Cut     int      `json:"cut,omitempty"`
	Fresh   bool     `json:"fresh,omitempty"` // a process for each run
	Failure string   `json:"failure,omitempty"`
	Stack   []string `json:"stack,omitempty"`
	Error   string   `json:"error,omitempty"`
	Detail  string   `json:"detail,omitempty"`
}

func (t *Tried) failed() bool { return t.Failure != "" || t.Error != "" }

func (t *ModuleTest) failed() bool { return t.Default.failed() || t.Random.failed() }

func (r *ModulesReport) print(w io.Writer) {
	fmt.Fprintf(w, "Real modules' own tests under control, %s, %d cores\n\n", r.Machine.Go, r.Machine.Cores)
	t := measure.Table{Head: []string{"", "tests", "default: pass", "fail", fmt.Sprintf("%d random: pass", r.Schedules), "fail", "fewer schedules", "cut off", "fresh processes", "seconds"}}
	var sum counts
	for i := range r.Modules {
		c := r.Modules[i].count(r.Schedules)
		c.row(&t, r.Modules[i].Path+"@"+r.Modules[i].Version)
		sum.add(c)
	}
	sum.row(&t, "all")
	t.Write(w)
	fmt.Fprintf(w, "\nFailures\n")
	for i := range r.Modules {
		m := &r.Modules[i]
		if m.Error != "" {
			fmt.Fprintf(w, "  %s: %s\n", m.Path, m.Error)
		}
		for _, note := range m.Notes {
			fmt.Fprintf(w, "  %s: %s\n", m.Path, note)
		}
		for j := range m.Tests {
			m.Tests[j].print(w, m.Path)
		}
	}
}

func (t *ModuleTest) print(w io.Writer, module string) {
	if !t.failed() {
		return
	}
	fmt.Fprintf(w, "  %s %s\n", module, t.Test)
	for _, x := range []struct {
		name string
		t    *Tried
	}{{"default schedule", &t.Default}, {"random schedules", &t.Random}} {
		switch {
		case x.t.Error != "":
			fmt.Fprintf(w, "      %s: error: %s\n", x.name, x.t.Error)
		case x.t.Failure != "":
			fmt.Fprintf(w, "      %s: %s\n", x.name, x.t.Failure)
		}
	}
	fmt.Fprintln(w, measure.Wrap("reason: "+t.Why, "      ", 100))
}

// counts are the sums of a module.
type counts struct {
	tests, defaultPass, defaultFail, randomPass, randomFail, short, cut, fresh int
	seconds                                                                    float64
}

func (m *Module) count(schedules int) counts {
	c := counts{tests: len(m.Tests)}
	for i := range m.Tests {
		t := &m.Tests[i]
		if t.Default.failed() {
			c.defaultFail++
		} else {
			c.defaultPass++
		}
		switch {
		case t.Random.failed():
			c.randomFail++
		case t.Random.Runs < schedules:
			c.short++
		default:
			c.randomPass++
		}
		if t.Random.Cut > 0 {
			c.cut++
		}
		if t.Random.Fresh {
			c.fresh++
		}
		c.seconds += t.Seconds
	}
	return c
}

func (c *counts) add(d counts) {
	c.tests += d.tests
	c.defaultPass += d.defaultPass
	c.defaultFail += d.defaultFail
	c.randomPass += d.randomPass
	c.randomFail += d.randomFail
	c.short += d.short
	c.cut += d.cut
	c.fresh += d.fresh
	c.seconds += d.seconds
}

func (c *counts) row(t *measure.Table, name string) {
	t.Row(name, c.tests, c.defaultPass, c.defaultFail, c.randomPass, c.randomFail, c.short, c.cut, c.fresh, fmt.Sprintf("%.0f", c.seconds))
}
