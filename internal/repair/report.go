package repair

import (
	"time"
)

// A CandidateReport is a change that was considered, for programs to read.
type CandidateReport struct {
	What   string   `json:"what"`
	Places []string `json:"places,omitempty"`
	Cost   int      `json:"cost"`
	// Reached is how far it came: derived, written, sound, unfinished, explored, proven.
	Reached Stage       `json:"reached"`
	Dropped string      `json:"dropped,omitempty"` // why
	Broken  *FailingRun `json:"broken,omitempty"`  // by which schedule
	Diff    string      `json:"diff,omitempty"`
}

// CandidateReports are all changes that were considered, in their order, with diffs for a
// directory.
func (r *Result) CandidateReports(dir string) []CandidateReport {
	var all []CandidateReport
	for _, c := range r.Considered {
		one := CandidateReport{What: c.title(), Cost: c.Derivation.Cost, Reached: c.Reached, Dropped: c.Why, Broken: c.Broken}
		if c.Patch != nil {
			one.Places, one.Diff = c.Patch.Where(), c.Diff(dir)
		}
		all = append(all, one)
	}
	return all
}

// An AnalysisReport is what the engine made of the failing run.
type AnalysisReport struct {
	Events   uint64 `json:"events"`
	Machines int    `json:"machines"`
	States   int    `json:"states"`
	Fixes    int    `json:"fixes"`
	// Published counts, of the fixes, those that the paper's algorithm gives.
	Published int           `json:"published_fixes"`
	Lifting   time.Duration `json:"lifting_ns"`
	Replay    time.Duration `json:"replay_ns"`
	Total     time.Duration `json:"total_ns"` // with the replay, without the lifting
	// Memory is what the process had taken from the operating system when the analysis ended.
	Memory uint64 `json:"memory_bytes"`
}

// AnalysisReport tells of the engine's part, but for the events of the run.
func (r *Result) AnalysisReport() AnalysisReport {
	report := AnalysisReport{Lifting: r.LiftTime, Total: r.AnalysisTime, Memory: r.analysisMemory}
	if a := r.Analysis; a != nil {
		report.Machines, report.Fixes, report.Replay = len(a.Machines), len(a.Fixes), a.Replay
		for _, f := range a.Fixes {
			if f.AsPublished {
				report.Published++
			}
		}
		for _, m := range a.Machines {
			report.States += len(m.States())
		}
	}
	return report
}
