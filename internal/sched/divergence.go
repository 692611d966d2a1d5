package sched

import "strconv"

// A Divergence is where a run could not follow a schedule first, and why. Its zero value
// says that it followed all of it.
type Divergence struct {
	Why DivergenceReason `json:",omitempty"`
	// G is the goroutine and N the step or choice of it, To the goroutine that was not
	// ready, or Time.
	G  uint32 `json:",omitempty"`
	N  uint64 `json:",omitempty"`
	To uint32 `json:",omitempty"`
	// Unused is how many switches and choices of the schedule the run did not come by.
	Unused int `json:",omitempty"`
}

// A DivergenceReason is why a run could not follow a schedule.
type DivergenceReason string

const (
	NotReady       DivergenceReason = "not ready"       // the goroutine to switch to could not go
	NoPossibility  DivergenceReason = "no possibility"  // a choice had fewer possibilities
	NotEncountered DivergenceReason = "not encountered" // the run did not come by at a switch or choice
)

// String says in words where and why; "" if the run followed the schedule.
func (d Divergence) String() string {
	goroutine := strconv.FormatUint(uint64(d.G), 10)
	n := strconv.FormatUint(d.N, 10)
	switch d.Why {
	case NotReady:
		if d.To == Time {
			return "after step " + n + " of goroutine " + goroutine + ", time should have moved on but no timer was near enough"
		}
		return "after step " + n + " of goroutine " + goroutine + ", goroutine " + strconv.FormatUint(uint64(d.To), 10) + " should have gone on but was not ready"
	case NoPossibility:
		return "choice " + n + " of goroutine " + goroutine + " did not have the possibility that the schedule names"
	case NotEncountered:
		return "the run did not come by at " + count(uint64(d.Unused), "switch or choice") + " of the schedule"
	}
	return ""
}
