package measure

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A Report is everything that one run of the command found out.
type Report struct {
	Machine     Machine  `json:"machine"`
	Interrupted bool     `json:"interrupted,omitempty"`
	Results     []Result `json:"results"`
	Costs       []Cost   `json:"costs,omitempty"`
	Targets     []Target `json:"targets,omitempty"`
	Notes       []string `json:"notes,omitempty"` // what could not be measured, and why
}

// A Machine is where it was measured.
type Machine struct {
	Go      string `json:"go"`
	System  string `json:"system"`
	CPU     string `json:"cpu"`
	Cores   int    `json:"cores"`
	Backend string `json:"backend,omitempty"`
	Reason  string `json:"reason,omitempty"` // why the backend is not the best one

	// Others is the share of the processors, in percent, that other programs
	// used meanwhile. Much of it makes the figures unsure.
	Others float64 `json:"othersPercent"`
}

// A Cost is what one thing costs by itself, in the unit that it names.
type Cost struct {
	Name    string  `json:"name"`
	Backend string  `json:"backend"`
	Guards  int     `json:"guards"` // that existed meanwhile
	Busy    bool    `json:"busy"`   // another thread was running meanwhile
	Unit    string  `json:"unit"`
	Median  float64 `json:"median"`
	P99     float64 `json:"p99,omitempty"`
	Samples int     `json:"samples"`
}

// NewCost makes a cost of samples.
func NewCost(name, unit string, samples []float64) Cost {
	return Cost{Name: name, Unit: unit, Median: Median(samples), P99: Quantile(samples, 0.99), Samples: len(samples)}
}

// Of returns the results of a figure.
func (r *Report) Of(figure string) []Result {
	var rs []Result
	for _, res := range r.Results {
		if res.Figure == figure {
			rs = append(rs, res)
		}
	}
	return rs
}

// String is the case in a line: its name and its parameters.
func (c Case) String() string { return c.Name + c.Params.String() }

// String is the result's case in a line.
func (r Result) String() string { return r.Name + r.Params.String() }

// String lists the parameters in the order of their names.
func (p Params) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if name == Writes || name == Careless {
			fmt.Fprintf(&b, ", %s %.0f %%", name, 100*p[name])
		} else {
			fmt.Fprintf(&b, ", %s %v", name, p[name])
		}
	}
	return b.String()
}

// Percent is a ratio as an overhead, with its spread: "+1.4 % [-0.2, 2.9]".
func (r Ratio) Percent() string {
	if math.IsNaN(r.Mid) {
		return "-"
	}
	return fmt.Sprintf("%+.1f %% [%+.1f, %+.1f]", Over(r.Mid), Over(r.Low), Over(r.High))
}

// Brief is a ratio as an overhead in a few characters: "+1.4 ±1.5".
func (r Ratio) Brief() string {
	if math.IsNaN(r.Mid) {
		return "-"
	}
	return fmt.Sprintf("%+.1f ±%.1f", Over(r.Mid), 50*(r.High-r.Low))
}

// Times is a ratio as a factor, with its spread: "1.95x [1.90, 2.02]".
func (r Ratio) Times() string {
	if math.IsNaN(r.Mid) {
		return "-"
	}
	return fmt.Sprintf("%.2fx [%.2f, %.2f]", r.Mid, r.Low, r.High)
}

// Over is a ratio as an overhead in percent.
func Over(ratio float64) float64 { return 100 * (ratio - 1) }
