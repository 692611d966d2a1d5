package exploring

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A Report is the result of bench explore.
type Report struct {
	Machine    measure.Machine  `json:"machine"`
	Searches   []Search         `json:"searches"`
	Fine       []Fine           `json:"fine,omitempty"`
	Rates      []Rate           `json:"rates"`
	Scalings   []Scaling        `json:"scalings"`
	Crowds     []Crowd          `json:"crowds,omitempty"`
	Handovers  []Handover       `json:"handovers,omitempty"`
	Recordings []Recording      `json:"recordings"`
	Targets    []measure.Target `json:"targets"`
}

// The targets.
const (
	withinSeconds = 2
	schedulesRate = 28000 // in one process
	twoProcesses  = 1.8   // times as many in two
	recordingCost = 2
)

// recordingTakes is what costs the target of recording.
const recordingTakes = "a merge sort does little but access memory: 14 ns an access under -race, 26 under control (the hook and the shadow that races are found by), some 9 more to leave it, with its values, calls and returns, for the tool to write down"

// busy is the share of the processors, in percent, from which on times are in doubt.
const busy = 10

func (r *Report) judge() {
	slowest := measure.Target{Name: "slowest example to a failure other than a race", Unit: "s", Limit: withinSeconds}
	missed := measure.Target{Name: "bugs missed", Unit: "searches"}
	for _, s := range r.Searches {
		missed.Measured += float64(s.Ours.Tried - s.Ours.Found + s.Harm.Tried - s.Harm.Found)
		if s.Ours.Found < s.Ours.Tried || s.Harm.Found < s.Harm.Tried {
			missed.Where += " " + s.Test
		}
		if !strings.HasPrefix(s.Suite, exampleSuite) {
			continue
		}
		if m := measure.Median(s.Harm.Seconds); m >= slowest.Measured {
			slowest.Measured, slowest.Where = m, s.Suite
			slowest.Low, slowest.High = slices.Min(s.Harm.Seconds), slices.Max(s.Harm.Seconds)
		}
	}
	wrong := measure.Target{Name: "false reports", Unit: "programs"}
	for _, f := range r.Fine {
		if f.False != "" {
			wrong.Measured++
			wrong.Where += " " + f.Test + " (" + f.False + ")"
		}
	}
	rate := measure.Target{Name: "schedules per second on toctou, one process", Unit: "/s", Limit: schedulesRate, AtLeast: true}
	for _, x := range r.Rates {
		if m := measure.Median(x.PerSecond); x.Program == "toctou" && x.Strategy == "pct" {
			rate.Measured, rate.Low, rate.High = m, slices.Min(x.PerSecond), slices.Max(x.PerSecond)
		}
	}
	scaling := r.scalingTarget()
	cost := measure.Target{Name: "recording over -race, the worst test", Unit: "x", Limit: recordingCost, Cost: recordingTakes}
	for _, x := range r.Recordings {
		if ratio, ok := x.Ratio(recorded, race); ok && ratio.Mid >= cost.Measured {
			cost.Measured, cost.Low, cost.High, cost.Where = ratio.Mid, ratio.Low, ratio.High, x.Name
		}
	}
	crowd := r.crowdTarget()
	missed.Low, missed.High = missed.Measured, missed.Measured
	wrong.Low, wrong.High = wrong.Measured, wrong.Measured
	// The rounds of one run share its load, so that their range does not show what the
	// load does: a rate was seen to differ by a factor of eight between two runs.
	if r.Machine.Others >= busy {
		doubt := fmt.Sprintf("other programs used %.0f %% of the processors", r.Machine.Others)
		slowest.Doubt, rate.Doubt, scaling.Doubt, cost.Doubt, crowd.Doubt = doubt, doubt, doubt, doubt, doubt
	}
	r.Targets = nil
	for _, t := range []struct {
		measure.Target
		of bool // it was measured
	}{
		{slowest, len(r.Searches) > 0}, {missed, len(r.Searches) > 0}, {wrong, len(r.Fine) > 0}, {rate, len(r.Rates) > 0}, {scaling, len(r.Scalings) > 0},
		{crowd, len(r.Crowds) > 0}, {r.handoverTarget(), len(r.Handovers) > 0}, {cost, len(r.Recordings) > 0},
	} {
		if t.of {
			r.Targets = append(r.Targets, t.Judge())
		}
	}
}

func (r *Report) print(w io.Writer) {
	fmt.Fprintf(w, "Finding bugs, %s, %d cores\n", r.Machine.Go, r.Machine.Cores)
	for _, part := range []struct {
		of    int
		print func(io.Writer)
	}{
		{len(r.Searches), r.printSearches}, {len(r.Rates), r.printRates}, {len(r.Scalings), r.printScalings},
		{len(r.Crowds), r.printCrowds}, {len(r.Handovers), r.printHandovers}, {len(r.Recordings), r.printRecordings},
	} {
		if part.of > 0 {
			part.print(w)
		}
	}
	(&measure.Report{Machine: r.Machine, Targets: r.Targets}).Conclude(w)
}

func (r *Report) printSearches(w io.Writer) {
	fmt.Fprintln(w)
	fmt.Fprintln(w, measure.Wrap("Seconds and executions to the first failure: the median, and in brackets the least and the most. A number with > is of searches that found nothing in their time, and 3/7 says that 3 of 7 searches found the bug. Told is when a person has it: shrunk, and run again in a fresh process. Without races is the search for a failure that can be seen without a race detector, as go test has to.", "", 100))
	fmt.Fprintln(w)
	t := measure.Table{Head: []string{"", "explore: s", "executions", "told: s", "without races: s", "executions", "go test: s", "executions", "go test -race: s", "executions"}}
	suite := ""
	for _, s := range r.Searches {
		if kind, _, _ := strings.Cut(s.Suite, " "); suite != "" && kind != suite {
			t.Gap()
		}
		suite, _, _ = strings.Cut(s.Suite, " ")
		name := s.Test
		if _, example, ok := strings.Cut(s.Suite, " "); ok {
			name = example + " " + s.Test
		}
		t.Row(name, s.Ours.times(), s.Ours.executions(), fmt.Sprintf("%.2f", measure.Median(s.Ours.Told)), s.Harm.times(), s.Harm.executions(),
			s.Stock.times(), s.Stock.executions(), s.Race.times(), s.Race.executions())
	}
	t.Write(w)
	r.sums(w)
}

func (r *Report) printRates(w io.Writer) {
	fmt.Fprintf(w, "\nSchedules per second in one process\n\n")
	t := measure.Table{Head: []string{"", "median", "least", "most", "processor: us"}}
	for _, x := range r.Rates {
		processor := "-"
		if len(x.Processor) > 0 {
			processor = fmt.Sprintf("%.1f", measure.Median(x.Processor))
		}
		t.Row(x.Program+", "+x.Strategy, fmt.Sprintf("%.0f", measure.Median(x.PerSecond)), fmt.Sprintf("%.0f", slices.Min(x.PerSecond)), fmt.Sprintf("%.0f", slices.Max(x.PerSecond)), processor)
	}
	t.Write(w)
}

func (r *Report) printScalings(w io.Writer) {
	fmt.Fprintf(w, "\nSchedules per second by processes side by side; apart are as many searches that have nothing to do with each other\n\n")
	t := measure.Table{Head: []string{"", "processes", "one", "all", "all/one", "apart/one"}}
	for i := range r.Scalings {
		x := &r.Scalings[i]
		ratio := func(of []float64) string {
			if len(of) == 0 {
				return "-"
			}
			ratios := x.times(of)
			return fmt.Sprintf("%.2f [%.2f, %.2f]", measure.Median(ratios), slices.Min(ratios), slices.Max(ratios))
		}
		t.Row(x.Program, x.Processes, fmt.Sprintf("%.0f", measure.Median(x.One)), fmt.Sprintf("%.0f", measure.Median(x.All)), ratio(x.All), ratio(x.Apart))
	}
	t.Write(w)
}

func (r *Report) printRecordings(w io.Writer) {
	fmt.Fprintf(w, "\nOne run of a test in a process of its own, recorded under the default schedule and under -race: ms\n\n")
	t := measure.Table{Head: []string{"", "go test", "-race", "controlled", "recorded", "recorded/-race", "events", "KB"}}
	for _, x := range r.Recordings {
		ms := func(v measure.Variant) string {
			timing, _ := x.Timing(v)
			return fmt.Sprintf("%.1f", 1000*timing.Median)
		}
		ratio, _ := x.Ratio(recorded, race)
		t.Row(x.Name, ms(stock), ms(race), ms(control), ms(recorded), ratio.Times(), x.Events, x.Bytes/1024)
	}
	t.Write(w)
}

// sums says how many of the pairs each way found.
func (r *Report) sums(w io.Writer) {
	var bugs, ours, stock, race, falses int
	for _, s := range r.Searches {
		if s.Suite != pairSuite {
			continue
		}
		bugs++
		for _, a := range []struct {
			of  *Attempts
			sum *int
		}{{&s.Ours, &ours}, {&s.Stock, &stock}, {&s.Race, &race}} {
			if a.of.Found == a.of.Tried {
				*a.sum++
			}
		}
	}
	for _, f := range r.Fine {
		if f.False != "" {
			falses++
		}
	}
	if bugs > 0 {
		fmt.Fprintf(w, "\nOf the pairs' %d bugs explore found %d every time, go test %d, go test -race %d; %d false reports in %d programs without a bug.\n",
			bugs, ours, stock, race, falses, len(r.Fine))
	}
}

// times are the seconds to the failure.
func (a *Attempts) times() string { return a.spread(a.Seconds, "%.3f") }

func (a *Attempts) executions() string { return a.spread(a.Runs, "%.0f") }

func (a *Attempts) spread(xs []float64, format string) string {
	if len(xs) == 0 {
		return "-"
	}
	text := fmt.Sprintf(format, measure.Median(xs))
	switch {
	case a.Found == 0:
		text = ">" + text
	case a.Found < a.Tried:
		text += fmt.Sprintf(" %d/%d", a.Found, a.Tried)
	}
	if len(xs) > 1 {
		text += fmt.Sprintf(" ["+format+", "+format+"]", slices.Min(xs), slices.Max(xs))
	}
	return text
}
