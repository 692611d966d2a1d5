package isolator

import (
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// introduce says what is measured where.
func (s *session) introduce() {
	m := s.report.Machine
	fmt.Fprintf(s.out, "bench isolate: %s, %s, %s, %d processors, backend %s\n", m.Go, m.System, m.CPU, m.Cores, m.Backend)
	if m.Reason != "" {
		fmt.Fprintf(s.out, "the best backend is not used: %s\n", m.Reason)
	}
	fmt.Fprintf(s.out, "%d rounds per case after one that warms up; the variants of a case take turns\n", s.runs)
}

// note says what could not be measured, at once and in the report.
func (s *session) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.report.Notes = append(s.report.Notes, text)
	fmt.Fprintf(s.out, "\nNot measured: %s\n", text)
}

// conclude prints the targets.
func (s *session) conclude() {
	if others := s.report.Machine.Others; others >= 3 {
		fmt.Fprintf(s.out, "\nOther programs used %.0f %% of the processors meanwhile: the figures are less sure than on an idle machine.\n", others)
	}
	if len(s.report.Targets) == 0 {
		return
	}
	fmt.Fprintf(s.out, "\nTargets\n\n")
	t := measure.Table{Head: []string{"", "target", "measured", "range", "verdict"}}
	for _, target := range s.report.Targets {
		t.Row(target.Name, fmt.Sprintf("≤ %g %s", target.Limit, target.Unit), fmt.Sprintf("%.1f %s", target.Measured, target.Unit),
			fmt.Sprintf("[%.1f, %.1f]", target.Low, target.High), target.Verdict())
	}
	t.Write(s.out)
	for _, target := range s.report.Targets {
		if target.Met {
			continue
		}
		fmt.Fprintf(s.out, "\nMISSED: %s\n", target.Name)
		for _, line := range []string{target.Where, target.Cost} {
			if line != "" {
				fmt.Fprintln(s.out, wrap(line, "  ", 100))
			}
		}
	}
}

// wrap breaks a text into lines.
func wrap(text, indent string, width int) string {
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
