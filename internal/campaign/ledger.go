package campaign

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A TargetRecord is what is kept of a target, with the place of its ledger.
type TargetRecord struct {
	Key     string `json:"key"`
	Package string `json:"package"`
	Test    string `json:"test"` // its name
	Build   string `json:"build"`
	// Day is the one that the programs of the build see, that on which its search began.
	Day int64 `json:"day,omitempty"`
	// Numbering identifies the numbers of sites that the ledger was made with.
	Numbering string `json:"numbering,omitempty"`
	// Ledger is the object with the rest of it.
	Ledger string `json:"ledger,omitempty"`

	Runs        int            `json:"runs"` // of this build
	EarlierRuns int            `json:"earlierRuns,omitempty"`
	Distinct    int            `json:"distinct,omitempty"`
	Cut         int            `json:"cut,omitempty"`
	Search      sched.Progress `json:"search"`
	Coverage    Coverage       `json:"coverage"`
	Growth      []Growth       `json:"growth,omitempty"`
	Over        bool           `json:"over,omitempty"`
	Spent       time.Duration  `json:"spent"` // of this build
	First       time.Time      `json:"first"`
	Last        time.Time      `json:"last"`
	// Doubted is how many failures did not come back when they were confirmed.
	Doubted  int       `json:"doubted,omitempty"`
	Troubles []Trouble `json:"troubles,omitempty"`
}

// A Trouble is a failure of the tool itself, or of a worker.
type Trouble struct {
	What   string    `json:"what"`
	Worker string    `json:"worker,omitempty"`
	Build  string    `json:"build,omitempty"`
	Count  int       `json:"count"`
	First  time.Time `json:"first"`
	Last   time.Time `json:"last"`
}

// maxTroubles is how many are kept of a target.
const maxTroubles = 8

// troubled takes note of a trouble.
func (r *TargetRecord) troubled(what, worker string, now time.Time) {
	at := slices.IndexFunc(r.Troubles, func(t Trouble) bool { return t.What == what && t.Build == r.Build })
	if at >= 0 {
		r.Troubles[at].Count++
		r.Troubles[at].Last = now
		return
	}
	if len(r.Troubles) >= maxTroubles {
		r.Troubles = r.Troubles[1:]
	}
	r.Troubles = append(r.Troubles, Trouble{What: what, Worker: worker, Build: r.Build, Count: 1, First: now, Last: now})
}

// enoughBlind is after how many runs of which nothing was seen a target is given up.
const enoughBlind = 50

// blind reports whether runs end before anything is seen of them: their processes die, say, for want of
// memory. They are no schedules that were tried.
func (r *TargetRecord) blind() bool {
	return r.Runs >= enoughBlind && r.Cut == r.Runs && r.Distinct == 0
}

// A ledger is what is too large for a record.
type ledger struct {
	Search *explore.SearchState
	Pairs  []uint64
	// Handled are the failures that were confirmed, or did not come back.
	Handled []handled
}

// A handled failure was confirmed, and is that of a record, or did not come back. Runs is in how many
// runs it was seen by then.
type handled struct {
	Failure trace.Failure
	Record  string
	Runs    int
}

func (l *ledger) encode() ([]byte, error) {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	if err := errors.Join(gob.NewEncoder(zip).Encode(l), zip.Close()); err != nil {
		return nil, fmt.Errorf("writing a ledger: %w", err)
	}
	return b.Bytes(), nil
}

func decodeLedger(text []byte) (*ledger, error) {
	zip, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading a ledger: %w", err)
	}
	l := &ledger{}
	if err := gob.NewDecoder(zip).Decode(l); err != nil {
		return nil, fmt.Errorf("reading a ledger: %w", err)
	}
	if l.Search == nil || l.Search.Warm == nil {
		return nil, errors.New("reading a ledger: it has no search")
	}
	return l, nil
}

// targetRecords are the records of all targets, by key. Those that cannot be read are returned apart.
func (s *Store) targetRecords(ctx context.Context) (records map[string]*versioned[TargetRecord], damaged []string, err error) {
	return readAll[TargetRecord](ctx, s.targets)
}

// A versioned value is one of a bucket, with its version there.
type versioned[T any] struct {
	value    T
	revision uint64
}

// readAll reads the values of a bucket. The keys of those that cannot be read are returned apart.
func readAll[T any](ctx context.Context, kv jetstream.KeyValue) (values map[string]*versioned[T], damaged []string, err error) {
	entries, err := all(ctx, kv)
	if err != nil {
		return nil, nil, err
	}
	values = map[string]*versioned[T]{}
	for _, e := range entries {
		v := &versioned[T]{revision: e.revision}
		if json.Unmarshal(e.value, &v.value) != nil {
			damaged = append(damaged, e.key)
			continue
		}
		values[e.key] = v
	}
	return values, damaged, nil
}
