package measure

import (
	"context"
	"fmt"
	"io"
)

// A Session is one run of a benchmark that is made of figures.
type Session struct {
	Context  context.Context
	Out      io.Writer
	Report   Report
	Progress *Progress
}

// Figures measures figures, each printed as soon as it is done, and notes what other
// programs used meanwhile. An interrupt is no error: the report says so.
func (s *Session) Figures(figures []func() error) error {
	load := StartLoad()
	var failed error
	for _, figure := range figures {
		if failed = figure(); failed != nil {
			break
		}
	}
	s.Progress.Clear()
	if s.Context.Err() != nil {
		failed = nil
		s.Report.Interrupted = true
		fmt.Fprintln(s.Out, "\nInterrupted: the figures above are what was measured until then.")
	}
	s.Report.Machine.Others = load.Others()
	return failed
}

// Note says what could not be measured, at once and in the report.
func (s *Session) Note(format string, args ...any) {
	s.Progress.Clear()
	text := fmt.Sprintf(format, args...)
	s.Report.Notes = append(s.Report.Notes, text)
	fmt.Fprintln(s.Out, "\n"+Wrap("Not measured: "+text, "", 100))
}
