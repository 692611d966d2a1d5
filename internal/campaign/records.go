package campaign

import (
	"fmt"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// A Status is what is known of a finding over time.
type Status string

const (
	// New is a finding that nothing else is said of.
	New Status = "new"
	// Known is one that a person has marked, or that is in the baseline.
	Known Status = "known"
	// Fixed is one that the changed program does not show any more: its schedule does not lead there,
	// and as many schedules were tried as should have shown it.
	Fixed Status = "fixed"
	// Gone is one whose test, or whose places in the source, do not exist any more.
	Gone Status = "gone"
)

// Statuses are all of them, in the order in which they are listed.
var Statuses = []Status{New, Known, Fixed, Gone}

// A RecheckOutcome is how an earlier finding went by its schedule in another build.
type RecheckOutcome string

const (
	StillThere      RecheckOutcome = "still there"      // the run fails in the same way
	NotFailing      RecheckOutcome = "not failing"      // the run followed the schedule, and does not
	NotReproducible RecheckOutcome = "not reproducible" // the run could not follow the schedule
)

// Rechecked says how it went.
type Rechecked struct {
	Build   string         `json:"build"`
	Outcome RecheckOutcome `json:"outcome"`
	At      time.Time      `json:"at"`
}

// A Record is a finding over time.
type Record struct {
	ID      string          `json:"id"`
	Status  Status          `json:"status"`
	Finding finding.Finding `json:"finding"`
	// IDs are those of package finding under which it was seen: they change when lines move.
	// Outline is what they have in common.
	IDs     []string `json:"ids"`
	Outline string   `json:"outline"`
	// Target is the key of the target that showed it first; Build the one in which it was seen last.
	Target  string `json:"target"`
	Package string `json:"package"`
	Test    string `json:"test"`
	Build   string `json:"build"`

	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// FirstAt is after how many schedules it was seen first, and Schedule the one to run again.
	FirstAt  int    `json:"firstAt,omitempty"`
	Schedule string `json:"schedule,omitempty"`
	WarmUp   bool   `json:"warmUp,omitempty"`
	Day      int64  `json:"day,omitempty"` // that the run saw
	// Trace is the file of the run in the state directory; "" if there is none.
	Trace     string     `json:"trace,omitempty"`
	TraceHash string     `json:"traceHash,omitempty"`
	Recheck   *Rechecked `json:"recheck,omitempty"`
	// FixedAfter is how many schedules of the changed program did not show it.
	FixedAfter int    `json:"fixedAfter,omitempty"`
	Note       string `json:"note,omitempty"` // of a person
}

// open reports whether the finding is one that is there, as far as is known.
func (r *Record) open() bool { return r.Status == New || r.Status == Known }

// seen takes note that a build shows the finding.
func (r *Record) seen(f *finding.Finding, build string, at time.Time) {
	if !r.open() {
		r.Status, r.FixedAfter = New, 0 // it is back
	}
	if id := f.ID().String(); !slices.Contains(r.IDs, id) {
		r.IDs = append(r.IDs, id)
	}
	r.Finding, r.Build, r.Last = *f, build, at
	if r.First.IsZero() {
		r.First = at
	}
}

// enoughRuns is how many schedules of a changed program have to be tried without seeing a finding
// that is not there by its schedule, for it to count as fixed: many times what it took to see it.
func (r *Record) enoughRuns() int { return max(leastRuns, foundTimes*r.FirstAt) }

const (
	leastRuns  = 2000
	foundTimes = 10
)

// records are the findings of a campaign.
type records struct {
	all      map[string]*versioned[Record]
	baseline *finding.Baseline
}

// of returns the record that a finding of a target's build belongs to; nil if it is a new one. A
// finding is known by its ID, or by its outline where the record's own ID is not one of the build's:
// then lines have moved.
func (rs *records) of(f *finding.Finding, target, build string) *versioned[Record] {
	id, outline := f.ID().String(), f.Outline().String()
	var moved *versioned[Record]
	for _, key := range rs.keys() {
		r := rs.all[key]
		if slices.Contains(r.value.IDs, id) {
			return r
		}
		if r.value.Outline == outline && r.value.Target == target && r.value.Build != build && moved == nil {
			moved = r
		}
	}
	return moved
}

// keys are the IDs of the records, in an order that is always the same.
func (rs *records) keys() []string {
	keys := make([]string, 0, len(rs.all))
	for key := range rs.all {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// add makes a record of a finding that has none.
func (rs *records) add(f *finding.Finding, t *TargetRecord, at time.Time) *versioned[Record] {
	r := &versioned[Record]{value: Record{
		ID: f.ID().String(), Status: New, Outline: f.Outline().String(), Target: t.Key, Package: t.Package, Test: t.Test,
	}}
	if rs.baseline.Known(f) {
		r.value.Status = Known
	}
	r.value.seen(f, t.Build, at)
	rs.all[r.value.ID] = r
	return r
}

// list are the records as others see them, in the order in which they were found.
func (rs *records) list() []Record {
	var all []Record
	for _, key := range rs.keys() {
		all = append(all, rs.all[key].value)
	}
	slices.SortStableFunc(all, func(a, b Record) int { return a.First.Compare(b.First) })
	return all
}

// A Mark is what a person says of a finding.
type Mark struct {
	ID     string    `json:"id"`
	Status Status    `json:"status"`
	Note   string    `json:"note,omitempty"`
	At     time.Time `json:"at"`
}

// Check refuses a mark that makes no sense.
func (m *Mark) Check() error {
	if !slices.Contains(Statuses, m.Status) {
		return fmt.Errorf("-mark %s: give new, known, fixed or gone", m.Status)
	}
	return nil
}

// apply changes a record as a person says.
func (m *Mark) apply(r *Record) {
	r.Status = m.Status
	if m.Note != "" {
		r.Note = m.Note
	}
}
