package report

import (
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/repair"
	"github.com/cofferdam-go/cofferdam/internal/repair/uncovered"
	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// FixVersion is the version of what fix -json prints. It goes up when a key changes its
// meaning or is gone; keys may be added.
const FixVersion = 1

// A FixResult is what came of a failing test, for programs to read: what fix -json prints.
type FixResult struct {
	Version int                `json:"version"`
	Package string             `json:"package"`
	Test    string             `json:"test,omitempty"`
	Trace   string             `json:"trace,omitempty"` // if -o keeps it
	Failure *repair.FailingRun `json:"failure"`
	// Happens and Why are the failure and the mistake, in a sentence each.
	Happens string `json:"happens,omitempty"`
	Why     string `json:"why,omitempty"`
	Fixed   bool   `json:"fixed"`
	// FixedBy are the tests whose fixes have ended this failure too.
	FixedBy []string `json:"fixed_by,omitempty"`
	Lock    string   `json:"lock,omitempty"`
	// Change is what is changed where no lock is missing.
	Change  string        `json:"change,omitempty"`
	Cost    int           `json:"cost,omitempty"`
	Proof   *repair.Proof `json:"proof,omitempty"`
	Diff    string        `json:"diff,omitempty"`
	Applied bool          `json:"applied"`
	Patches []string      `json:"patches,omitempty"`
	Refusal string        `json:"refusal,omitempty"`
	// OutOfTime says that more time may end in something else than the refusal.
	OutOfTime bool `json:"out_of_time,omitempty"`
	// Uncovered are the accesses to the lock's data that may be made without the lock.
	Uncovered []uncovered.Access `json:"uncovered,omitempty"`
	// Candidates are all changes that were considered, in the order in which they were.
	Candidates []repair.CandidateReport `json:"candidates,omitempty"`
	Missed     string                   `json:"missed,omitempty"`
	Analysis   repair.AnalysisReport    `json:"analysis"`
	// Machine is the one that predicts the failure.
	Machine *draw.Graph `json:"machine,omitempty"`
	// After is a trace of the failing schedule in the program with the fix, if -report keeps it.
	After string `json:"after,omitempty"`
}

// locateReads finds the events of the recorded run that a machine's readings are: counted back from
// the failure, as many rounds of a loop as each says.
func locateReads(g *draw.Graph, r *trace.Reader) error {
	failure := r.Outcome.Worst()
	if failure == nil {
		return nil
	}
	_, g.Failed, _ = r.Bounds()
	ends := r.Cursor(trace.Filter{Kinds: []event.Kind{event.Panic, event.Fail, event.Exit}})
	if ends.Next() {
		g.Failed = ends.Event().Seq
	}
	if err := ends.Err(); err != nil {
		return fmt.Errorf("looking for the failure: %w", err)
	}
	for i := range g.Nodes {
		for j := range g.Nodes[i].Reads {
			read := &g.Nodes[i].Reads[j]
			if len(read.Sites) == 0 {
				continue
			}
			c := r.Cursor(trace.Filter{Goroutines: []uint32{failure.G}, Sites: read.Sites, Last: g.Failed})
			c.SeekEnd()
			for n := 0; c.Prev() && read.Seq == 0; n++ {
				if n == read.Rounds {
					read.Seq = c.Event().Seq
				}
			}
			if err := c.Err(); err != nil {
				return fmt.Errorf("looking for what the machine reads: %w", err)
			}
		}
	}
	return nil
}
