package isolator

import "fmt"

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
