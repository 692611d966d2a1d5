package measure

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Target is a figure that was to be reached.
type Target struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Limit    float64 `json:"limit"`
	AtLeast  bool    `json:"atLeast,omitempty"` // the limit is the least, not the most
	Measured float64 `json:"measured"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Met      bool    `json:"met"`
	Doubt    string  `json:"doubt,omitempty"` // why the measurement itself cannot be relied on
	Where    string  `json:"where,omitempty"` // the case that decided
	Cost     string  `json:"cost,omitempty"`  // what costs it
}

// Judge says whether the target was met.
func (t Target) Judge() Target {
	t.Met = t.Measured <= t.Limit
	if t.AtLeast {
		t.Met = t.Measured >= t.Limit
	}
	return t
}

// Verdict says whether the target was met, whether the range leaves it open, and
// whether there is something to doubt.
func (t Target) Verdict() string {
	verdict := "met"
	if !t.Met {
		verdict = "MISSED"
	}
	if t.Low <= t.Limit && t.Limit < t.High {
		verdict += ", but the range holds the target"
	}
	if t.Doubt != "" {
		verdict += ", in doubt: " + t.Doubt
	}
	return verdict
}

// Aim is what was to be reached: "≤ 8 %".
func (t Target) Aim() string {
	sign := "≤"
	if t.AtLeast {
		sign = "≥"
	}
	return fmt.Sprintf("%s %g %s", sign, t.Limit, t.Unit)
}

// Conclude prints the targets, and for each that was missed why.
func (r *Report) Conclude(w io.Writer) {
	if r.Machine.Others >= 3 {
		fmt.Fprintf(w, "\nOther programs used %.0f %% of the processors meanwhile: the figures are less sure than on an idle machine.\n", r.Machine.Others)
	}
	if len(r.Targets) == 0 {
		return
	}
	fmt.Fprintf(w, "\nTargets\n\n")
	t := Table{Head: []string{"", "target", "measured", "range", "verdict"}}
	for _, target := range r.Targets {
		t.Row(target.Name, target.Aim(), target.number(target.Measured)+" "+target.Unit,
			fmt.Sprintf("[%s, %s]", target.number(target.Low), target.number(target.High)), target.Verdict())
	}
	t.Write(w)
	for _, target := range r.Targets {
		if target.Met {
			continue
		}
		fmt.Fprintf(w, "\nMISSED: %s\n", target.Name)
		for _, line := range []string{target.Where, target.Cost} {
			if line != "" {
				fmt.Fprintln(w, Wrap(line, "  ", 100))
			}
		}
	}
}

// Missed reports whether any target was.
func (r *Report) Missed() bool {
	return slices.ContainsFunc(r.Targets, func(t Target) bool { return !t.Met })
}

// number has as many digits as the unit can be told apart by: a factor of 1.04 is
// not one of 0.96.
func (t Target) number(v float64) string {
	if t.Unit == "x" {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// Wrap breaks a text into lines.
func Wrap(text, indent string, width int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		if i == 0 || column+1+len(word) > width {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(indent)
			column = len(indent)
		} else {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
