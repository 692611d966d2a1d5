package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

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
	// Sources are the files that this fix or that of another test changes, for -report: by the time that a
	// report is made, those on the disk may be either.
	Sources []ChangedSource `json:"sources,omitempty"`
}

// A ChangedSource is a file without a fix and with it.
type ChangedSource struct {
	Name   string `json:"name"` // as traces spell it
	Before string `json:"before"`
	After  string `json:"after"`
}

// before returns a file as it was in the failing run, and fixed as it is in the run with the fix.
func (f *FixResult) before(name string) ([]byte, error) {
	for _, s := range f.Sources {
		if s.Name == name {
			return []byte(s.Before), nil
		}
	}
	return os.ReadFile(name)
}

func (f *FixResult) fixed(name string) ([]byte, error) {
	for _, s := range f.Sources {
		if s.Name == name {
			return []byte(s.After), nil
		}
	}
	return os.ReadFile(name)
}

// WriteFixResult writes what fix -report leaves of a failing test to a folder: the trace, that of
// the same schedule with the fix, if there is one, and the result, which names both.
func WriteFixResult(dir, name string, result FixResult, failing, fixed string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("-report: %w", err)
	}
	copies := []struct {
		from   string
		suffix string
		named  *string
	}{{failing, traceSuffix, &result.Trace}, {fixed, afterSuffix, &result.After}}
	for _, c := range copies {
		*c.named = ""
		if c.from == "" {
			continue
		}
		text, err := os.ReadFile(c.from)
		if err != nil {
			return fmt.Errorf("-report: %w", err)
		}
		*c.named = name + c.suffix
		if err := os.WriteFile(filepath.Join(dir, name+c.suffix), text, 0o666); err != nil {
			return fmt.Errorf("-report: %w", err)
		}
	}
	data, err := json.MarshalIndent(result, "", "\t")
	if err != nil {
		return fmt.Errorf("-report: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+fixSuffix), append(data, '\n'), 0o666); err != nil {
		return fmt.Errorf("-report: %w", err)
	}
	return nil
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
