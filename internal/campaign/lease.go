package campaign

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// A Task is what a lease asks for.
type Task string

const (
	Explore Task = "explore" // do some units
	Confirm Task = "confirm" // shrink and record a failure
	Recheck Task = "recheck" // run the schedule of an earlier finding
)

// SearchOptions are the options of a search that a build is identified by, and a worker needs.
type SearchOptions struct {
	Strategy    sched.Method
	Preemptions int `json:",omitempty"`
	Seed        uint64
	Steps       uint64
	Within      time.Duration
	Stall       time.Duration
	Races       bool `json:",omitempty"`
	Leaks       bool `json:",omitempty"`
}

// options are those of package explore for a search that goes on.
func (o *SearchOptions) options() *explore.Options {
	return &explore.Options{
		Strategy: o.Strategy, Preemptions: o.Preemptions, Seed: o.Seed, Steps: o.Steps, Within: o.Within, Stall: o.Stall,
		Races: o.Races, Leaks: o.Leaks, All: true, Endless: true, Pairs: true, Kept: keptOfASearch, Together: leaseTakes, Jobs: 1,
	}
}

const (
	// keptOfASearch is how many schedules and paths a ledger has at most, some megabytes.
	keptOfASearch = 1 << 18
	// leaseTakes is how long the units of a lease should take: many times what a lease costs.
	leaseTakes = 250 * time.Millisecond
)

// A Lease is work for one worker. What is to be confirmed or rechecked has the same ID whenever it is
// asked for.
type Lease struct {
	ID       string
	Campaign string // the prefix
	Task     Task
	// Target is the key of a target, and Test what it is in its program; Program is the name of the
	// program among the objects.
	Target, Build, Test, Program string
	// Ledger is the one that the coordinator went on from.
	Ledger  string `json:",omitempty"`
	Options SearchOptions
	// Day is the one that the program sees, on whichever machine and whenever it runs.
	Day    int64 `json:",omitempty"`
	Issued time.Time

	Errand  *explore.Errand   `json:",omitempty"` // to explore
	Failure *explore.Gathered `json:",omitempty"` // to confirm
	// Schedule and WarmUp are those of a run to recheck.
	Schedule string `json:",omitempty"`
	WarmUp   bool   `json:",omitempty"`
}

// options are those of package explore for the lease.
func (l *Lease) options() *explore.Options {
	o := l.Options.options()
	o.Day = l.Day
	return o
}

// unitID identifies a unit of a target's build.
func unitID(target, build string, fresh bool, u *sched.Unit) (string, error) {
	text, err := json.Marshal(u)
	if err != nil {
		return "", fmt.Errorf("writing a unit: %w", err)
	}
	return textHash([]byte(target), []byte(build), fmt.Append(nil, fresh), text)[:32], nil
}

// A Result is what came of a lease.
type Result struct {
	Lease         string
	Task          Task
	Target, Build string
	Ledger        string `json:",omitempty"` // the lease's
	Worker        string
	Took          time.Duration

	// Units are the IDs of the units that Done is about, Pairs the accesses that they showed.
	Units     []string           `json:",omitempty"`
	Done      *explore.UnitsDone `json:",omitempty"`
	Pairs     []uint64           `json:",omitempty"`
	Confirmed *explore.Confirmed `json:",omitempty"`
	Rerun     *explore.Rerun     `json:",omitempty"`
	// Trace is the name of the trace among the objects, "" if there is none; it has the hash.
	Trace, TraceHash string `json:",omitempty"`
	// Trouble is why the lease could not be done.
	Trouble string `json:",omitempty"`
}

// identify says which units of a lease the result is about.
func (r *Result) identify(l *Lease) error {
	for i := range r.Done.Units {
		id, err := unitID(l.Target, l.Build, l.Errand.Fresh, &l.Errand.Units[i])
		if err != nil {
			return err
		}
		r.Units = append(r.Units, id)
	}
	return nil
}

// runs is how many schedules were tried.
func (r *Result) runs() (n int) {
	if r.Done != nil {
		for i := range r.Done.Units {
			n += r.Done.Units[i].Runs
		}
	}
	return n
}

// A bulky message stands for one that is too large, which is among the objects.
type bulky struct {
	Object string `json:"cofferdamObject"`
}

// subject is where a result is sent to.
func (r *Result) subject(prefix string) string {
	return prefix + ".results." + r.Target + "." + r.Lease
}

// encodeResult returns the message of a result.
func (s *Store) encodeResult(ctx context.Context, r *Result) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("writing a result: %w", err)
	}
	if int64(len(text)) < s.nc.MaxPayload()/2 {
		return text, nil
	}
	name := "result-" + r.Lease
	if _, err := s.objects.PutBytes(ctx, name, text); err != nil {
		return nil, fmt.Errorf("storing a result: %w", err)
	}
	return json.Marshal(&bulky{name})
}

// decodeResult returns the result of a message.
func (s *Store) decodeResult(ctx context.Context, text []byte) (*Result, error) {
	var large bulky
	if err := json.Unmarshal(text, &large); err == nil && large.Object != "" {
		if text, err = s.objects.GetBytes(ctx, large.Object); err != nil {
			return nil, fmt.Errorf("fetching a result: %w", err)
		}
	}
	r := &Result{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("reading a result: %w", err)
	}
	return r, nil
}

// randomID is one that nothing else has.
func randomID() string {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // which does not happen
	}
	return hex.EncodeToString(b[:])
}
