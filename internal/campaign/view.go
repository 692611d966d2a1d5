package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The server of a campaign has no port, so that other processes see of it what the coordinator
// writes to the state directory: status.json once a second, findings.json when it changes. What
// people say of findings goes the other way, as a file for each mark, which the coordinator at work
// reads, or the next one; until then it is laid over findings.json. On a cluster it is the same:
// each coordinator has a state directory.

// A Report is a campaign for people and other tools.
type Report struct {
	Version  int       `json:"version"`
	Running  bool      `json:"running"`
	Started  time.Time `json:"started"`
	Updated  time.Time `json:"updated"`
	Deadline time.Time `json:"deadline,omitzero"` // zero: it goes on for ever
	// Doing is what the coordinator is at.
	Doing     string         `json:"doing,omitempty"`
	Targets   []TargetReport `json:"targets"`
	Workers   []WorkerState  `json:"workers,omitempty"`
	Runs      int            `json:"runs"`          // of this session
	PerSecond float64        `json:"runsPerSecond"` // lately
	Leases    int            `json:"leases"`        // of this session
	Findings  map[Status]int `json:"findings"`
	// Killed says that its process has ended without saying so.
	Killed bool `json:"killed,omitempty"`
	// NewNow is how many findings this session was the first to see.
	NewNow int `json:"newNow"`
}

// done reports whether any target was run.
func (r *Report) done() bool {
	return slices.ContainsFunc(r.Targets, func(t TargetReport) bool { return t.Runs > 0 })
}

// A TargetReport is a target in it.
type TargetReport struct {
	TargetRecord
	State TargetState `json:"state"`
	// Open is how many findings of it are new or known.
	Open int `json:"open,omitempty"`
}

// A TargetState is what there is to do for a target.
type TargetState string

const (
	Exploring TargetState = "exploring"
	Waiting   TargetState = "waiting"
	Done      TargetState = "done"
	GivenUp   TargetState = "given up"
)

// TargetStates are all of them, those first for which there is something to do.
var TargetStates = []TargetState{Exploring, Waiting, GivenUp, Done}

// findingsFile is what findings.json has.
type findingsFile struct {
	Version  int      `json:"version"`
	Findings []Record `json:"findings"`
}

// ReadReport reads how far the campaign in a state directory is, or was when it ended.
func ReadReport(dir string) (*Report, error) {
	r := &Report{}
	if err := readJSON(filepath.Join(dir, "status.json"), r); err != nil {
		return nil, err
	}
	if r.Version != Version {
		return nil, &VersionError{Dir: dir, Is: r.Version}
	}
	if r.Running && !atWork(dir, r) {
		r.Running, r.Killed, r.Doing, r.Workers = false, true, "", nil
		for i := range r.Targets {
			if t := &r.Targets[i]; t.State == Exploring {
				t.State = Waiting
			}
		}
	}
	return r, nil
}

// atWork reports whether the process is there that has written a report. Where that is not to be
// found out, because the directory belongs to another user, the age of the report says it.
func atWork(dir string, r *Report) bool {
	locked, err := isLocked(filepath.Join(dir, "lock"))
	if err != nil {
		return time.Since(r.Updated) < 30*reportEvery
	}
	return locked
}

// ErrNoCampaign is that there is nothing to read in a directory.
var ErrNoCampaign = errors.New("there is no campaign in it: start one with cofferdam campaign, or give its directory with -state")

func readJSON(name string, value any) error {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", filepath.Dir(name), ErrNoCampaign)
	}
	if err != nil {
		return fmt.Errorf("reading the state directory: %w", err)
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("%s is damaged: %w; cofferdam campaign -check says what can be done", name, err)
	}
	return nil
}

// ReadFindings reads the findings in a state directory, in the order in which they were found.
func ReadFindings(dir string) ([]Record, error) {
	var f findingsFile
	if err := readJSON(filepath.Join(dir, "findings.json"), &f); err != nil {
		return nil, err
	}
	if f.Version != Version {
		return nil, &VersionError{Dir: dir, Is: f.Version}
	}
	marks, err := readMarks(dir)
	if err != nil {
		return nil, err
	}
	for _, m := range marks {
		for i := range f.Findings {
			if f.Findings[i].ID == m.ID {
				m.apply(&f.Findings[i])
			}
		}
	}
	return f.Findings, nil
}

// WriteMark has the coordinator mark a finding.
func WriteMark(dir string, m Mark) error {
	if err := m.Check(); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, "marks", fmt.Sprintf("%020d-%s.json", m.At.UnixNano(), m.ID)), &m)
}

// A storedMark is one with its file.
type storedMark struct {
	Mark
	file string
}

// readMarks reads the marks that no coordinator has read yet, in their order.
func readMarks(dir string) ([]storedMark, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "marks"))
	if err != nil {
		return nil, fmt.Errorf("reading marks: %w", err)
	}
	var marks []storedMark
	for _, e := range entries { // by name, which begins with the time
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		m := storedMark{file: filepath.Join(dir, "marks", e.Name())}
		if err := readJSON(m.file, &m.Mark); err != nil && !errors.Is(err, ErrNoCampaign) {
			return nil, err
		}
		marks = append(marks, m)
	}
	return marks, nil
}

// FindRecord returns the record with an ID, or with the only one that begins so.
func FindRecord(all []Record, id string) (*Record, error) {
	var found []*Record
	for i := range all {
		r := &all[i]
		if r.ID == id || slices.Contains(r.IDs, id) {
			return r, nil
		}
		if strings.HasPrefix(r.ID, id) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("there is no finding %s", id)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%d findings begin with %s: give more of the id", len(found), id)
}
