package isolator

import "fmt"

// introduce says what is measured where.
func (s *session) introduce() {
	m := s.Report.Machine
	fmt.Fprintf(s.Out, "bench isolate: %s, %s, %s, %d processors, backend %s\n", m.Go, m.System, m.CPU, m.Cores, m.Backend)
	if m.Reason != "" {
		fmt.Fprintf(s.Out, "the best backend is not used: %s\n", m.Reason)
	}
	fmt.Fprintf(s.Out, "%d rounds per case after one that warms up; the variants of a case take turns\n", s.runs)
}
