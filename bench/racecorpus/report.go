package racecorpus

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A Report is the result.
type Report struct {
	Machine  measure.Machine  `json:"machine"`
	Changes  []string         `json:"changes"` // of the copy against the corpus
	Tests    []Test           `json:"tests"`
	Explored Score            `json:"explored"`
	Detector Score            `json:"detector"`
	Targets  []measure.Target `json:"targets"`
}

// A Test is one program of the corpus.
type Test struct {
	Name     string  `json:"name"`
	Explored Verdict `json:"explored"`
	Detector Verdict `json:"detector"`
	// Why is the explanation of an exception.
	Why string `json:"why,omitempty"`
}

// A Verdict is what was said about a test.
type Verdict struct {
	Race    bool    `json:"race"`
	Report  string  `json:"report,omitempty"` // the race, or another failure
	Skipped bool    `json:"skipped,omitempty"`
	Runs    int     `json:"runs"` // to the report
	Cut     int     `json:"cut,omitempty"`
	Seconds float64 `json:"seconds"`
	Note    string  `json:"note,omitempty"`
	Error   string  `json:"error,omitempty"` // why there is no verdict
}

// A Score counts.
type Score struct {
	Racing  int     `json:"racing"`
	Found   int     `json:"found"`
	Fine    int     `json:"fine"`
	False   int     `json:"false"`   // data races reported where there are none
	Other   int     `json:"other"`   // other failures reported where there is no race
	Errors  int     `json:"errors"`  // no verdict
	Skipped int     `json:"skipped"` // by the test itself
	Seconds float64 `json:"seconds"`
}

func (t *Test) racing() bool { return strings.HasPrefix(t.Name, racing) }

func (s *Score) add(t *Test, v *Verdict) {
	s.Seconds += v.Seconds
	switch {
	case v.Skipped:
		s.Skipped++
		return
	case v.Error != "":
		s.Errors++
	}
	if t.racing() {
		s.Racing++
		if v.Race {
			s.Found++
		}
		return
	}
	s.Fine++
	switch {
	case v.Race:
		s.False++
	case v.Report != "":
		s.Other++
	}
}

// exception reports whether the verdict is another than the test's name.
func (t *Test) exception(v *Verdict) bool {
	return !v.Skipped && (v.Error != "" || v.Race != t.racing() || !t.racing() && v.Report != "")
}

func (r *Report) judge() {
	why := explanations()
	for i := range r.Tests {
		t := &r.Tests[i]
		// A test that skips itself ends at once under both.
		t.Explored.Skipped = t.Detector.Skipped
		r.Explored.add(t, &t.Explored)
		r.Detector.add(t, &t.Detector)
		if t.exception(&t.Explored) {
			if t.Why = why[t.Name]; t.Why == "" {
				t.Why = "not explained yet"
			}
		}
	}
	found := 100 * float64(r.Explored.Found) / float64(max(r.Explored.Racing, 1))
	wrong := float64(r.Explored.False + r.Explored.Other)
	r.Targets = []measure.Target{
		measure.Target{Name: "racing programs found", Unit: "%", Limit: 98, AtLeast: true, Measured: found, Low: found, High: found}.Judge(),
		measure.Target{Name: "false reports", Unit: "programs", Limit: 0, Measured: wrong, Low: wrong, High: wrong}.Judge(),
	}
}

func (r *Report) print(w io.Writer) {
	fmt.Fprintf(w, "Go's race detector corpus, %s, %d cores\n\n", r.Machine.Go, r.Machine.Cores)
	table := measure.Table{Head: []string{"", "racing", "found", "missed", "not racing", "false races", "other reports", "no verdict", "skipped", "seconds"}}
	for _, row := range []struct {
		name string
		s    Score
	}{{"cofferdam explore", r.Explored}, {"go test -race", r.Detector}} {
		table.Row(row.name, row.s.Racing, fmt.Sprintf("%d (%.1f %%)", row.s.Found, 100*float64(row.s.Found)/float64(max(row.s.Racing, 1))),
			row.s.Racing-row.s.Found, row.s.Fine, row.s.False, row.s.Other, row.s.Errors, row.s.Skipped, fmt.Sprintf("%.0f", row.s.Seconds))
	}
	table.Write(w)
	r.exceptions(w, "cofferdam explore", func(t *Test) *Verdict { return &t.Explored }, true)
	r.exceptions(w, "go test -race", func(t *Test) *Verdict { return &t.Detector }, false)
	fmt.Fprintf(w, "\nThe copy differs from the corpus in this:\n")
	for _, c := range r.Changes {
		fmt.Fprintln(w, measure.Wrap(c, "  ", 100))
	}
	(&measure.Report{Machine: r.Machine, Targets: r.Targets}).Conclude(w)
}

func (r *Report) exceptions(w io.Writer, name string, of func(*Test) *Verdict, explain bool) {
	fmt.Fprintf(w, "\nExceptions of %s:\n", name)
	none := true
	for i := range r.Tests {
		t := &r.Tests[i]
		v := of(t)
		if !t.exception(v) {
			continue
		}
		none = false
		what := fmt.Sprintf("missed in %d schedules", v.Runs)
		switch {
		case v.Error != "":
			what = "no verdict: " + v.Error
		case v.Report != "":
			what = v.Report
		case !explain:
			what = "missed"
		}
		fmt.Fprintf(w, "  %s: %s\n", t.Name, what)
		if explain {
			fmt.Fprintln(w, measure.Wrap(t.Why, "      ", 100))
		}
	}
	if none {
		fmt.Fprintln(w, "  none")
	}
}

//go:embed exceptions.txt
var exceptionsText string

// explanations reads exceptions.txt: a test's name and the reason.
func explanations() map[string]string {
	all := make(map[string]string)
	for s := bufio.NewScanner(strings.NewReader(exceptionsText)); s.Scan(); {
		if name, why, ok := strings.Cut(s.Text(), " "); ok && name != "#" {
			all[name] = why
		}
	}
	return all
}
