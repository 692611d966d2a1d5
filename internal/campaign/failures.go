package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// confirmedAtOnce is how many failures of a target are looked into after each of its turns. One that
// has many gets to all of them, and the others have their turns in between.
const confirmedAtOnce = 4

// confirm has failures shrunk and recorded that the search of a target has come upon.
func (c *Campaign) confirm(ctx context.Context, t *target) error {
	n := 0
	for _, g := range t.search.Gathered() {
		if n >= confirmedAtOnce {
			break
		}
		if at := slices.IndexFunc(t.ledger.Handled, func(h handled) bool { return h.Failure.Same(&g.Failure) }); at >= 0 {
			if err := c.seenAgain(ctx, t, &t.ledger.Handled[at], g.Runs); err != nil {
				return err
			}
			continue
		}
		n++
		l := t.lease
		l.Task, l.Failure = Confirm, &g
		// Two races of one run have the same words: their places tell them apart. A lease with the number
		// of another would not be sent.
		failure, err := json.Marshal(&g.Failure)
		if err != nil {
			return fmt.Errorf("naming a failure: %w", err)
		}
		l.ID = textHash([]byte("confirm"), []byte(l.Target), []byte(l.Build), failure, []byte(g.Schedule))[:32]
		// On the coordinator's machine, if it works: what fails elsewhere alone is no finding.
		r, err := c.d.do(ctx, &l, c.o.Slots > 0)
		if err != nil {
			return err
		}
		id, err := c.record(ctx, t, &g, r)
		if err != nil {
			return err
		}
		t.ledger.Handled = append(t.ledger.Handled, handled{Failure: g.Failure, Record: id, Runs: g.Runs})
	}
	return nil
}

// seenEvery is how often it is written down that a finding was seen again.
const seenEvery = time.Minute

// seenAgain takes note that more runs have shown a failure.
func (c *Campaign) seenAgain(ctx context.Context, t *target, h *handled, runs int) error {
	c.mu.Lock()
	rec := c.records.all[h.Record]
	now := time.Now()
	again := rec != nil && runs > h.Runs && now.Sub(rec.value.Last) >= seenEvery
	if again {
		rec.value.seen(&rec.value.Finding, t.rec.Build, now)
		h.Runs = runs
	}
	c.mu.Unlock()
	if !again {
		return nil
	}
	return c.putRecord(ctx, rec)
}

// record makes a record of a failure that was confirmed, and returns its ID; "" if it was not.
func (c *Campaign) record(ctx context.Context, t *target, g *explore.Gathered, r *Result) (id string, err error) {
	confirmed := r.Confirmed
	if confirmed == nil || !confirmed.Seen {
		c.mu.Lock()
		t.rec.Doubted++
		c.mu.Unlock()
		if r.Trace != "" {
			c.s.removeObject(ctx, r.Trace)
		}
		return "", nil
	}
	c.mu.Lock()
	rec := c.records.of(&confirmed.Finding, t.rec.Key, t.rec.Build)
	first := rec == nil
	back := !first && !rec.value.open()
	if first {
		rec = c.records.add(&confirmed.Finding, &t.rec, time.Now())
		rec.value.FirstAt = g.At
	}
	// What another target shows, too, stays the finding of the first: its run, its schedule and its build.
	own := first || back || rec.value.Target == t.rec.Key
	if own {
		rec.value.seen(&confirmed.Finding, t.rec.Build, time.Now())
	} else {
		rec.value.seen(&rec.value.Finding, rec.value.Build, time.Now())
	}
	if first || rec.value.Target == t.rec.Key {
		rec.value.Schedule, rec.value.WarmUp = confirmed.Schedule, g.Residue == wire.ChangesSteps
		rec.value.Day = t.rec.Day
	}
	if first && rec.value.Status == New {
		c.newNow++
	}
	c.mu.Unlock()
	if own {
		if err := c.keepTrace(ctx, rec, r); err != nil {
			return "", err
		}
	} else if r.Trace != "" {
		c.s.removeObject(ctx, r.Trace)
	}
	if err := c.putRecord(ctx, rec); err != nil {
		return "", err
	}
	if first || back {
		told := rec.value
		c.tell(Event{Finding: &told})
	}
	return rec.value.ID, nil
}

// keepTrace puts the trace of a result into the state directory, as that of a record.
func (c *Campaign) keepTrace(ctx context.Context, rec *versioned[Record], r *Result) error {
	if r.Trace == "" {
		return nil
	}
	name := "traces/" + rec.value.ID + ".trace"
	if err := steady(ctx, func() error { return c.s.getFile(ctx, r.Trace, r.TraceHash, c.dir.file(name)) }); err != nil {
		return err
	}
	rec.value.Trace, rec.value.TraceHash = name, r.TraceHash
	c.s.removeObject(ctx, r.Trace)
	return nil
}

// putRecord saves a record, and shows it to others.
func (c *Campaign) putRecord(ctx context.Context, rec *versioned[Record]) error {
	c.mu.Lock()
	value := rec.value
	c.mu.Unlock()
	version, err := put(ctx, c.s.findings, value.ID, &value, rec.revision)
	if err != nil {
		return err
	}
	rec.revision = version
	return c.showFindings()
}

// showFindings writes the findings for others to see.
func (c *Campaign) showFindings() error {
	c.mu.Lock()
	defer c.mu.Unlock() // also while it is written: the last one written is to be the newest
	return writeJSON(c.dir.file("findings.json"), &findingsFile{Version: Version, Findings: c.records.list()})
}

// applyMarks carries out what people have said of findings.
func (c *Campaign) applyMarks(ctx context.Context) error {
	marks, err := readMarks(c.dir.Path)
	if err != nil {
		return err
	}
	for _, m := range marks {
		if rec := c.records.all[m.ID]; rec != nil {
			c.mu.Lock()
			m.apply(&rec.value)
			c.mu.Unlock()
			if err := c.putRecord(ctx, rec); err != nil {
				return err
			}
		}
		if err := os.Remove(m.file); err != nil {
			return fmt.Errorf("removing a mark: %w", err)
		}
	}
	return nil
}

// rescueFindings adds findings that others could see, and that the store has lost.
func (c *Campaign) rescueFindings(ctx context.Context, damaged []string) error {
	var shown findingsFile
	err := readJSON(c.dir.file("findings.json"), &shown)
	if errors.Is(err, ErrNoCampaign) {
		return c.showFindings()
	}
	if err != nil {
		c.tell(Event{Notice: fmt.Sprintf("%v; it is written anew", err)})
		return c.showFindings()
	}
	rescued := 0
	for _, r := range shown.Findings {
		if c.records.all[r.ID] != nil {
			continue
		}
		rec := &versioned[Record]{value: r}
		if e, err := c.s.findings.Get(ctx, r.ID); err == nil { // it is there, and cannot be read
			rec.revision = e.Revision()
		}
		c.records.all[r.ID] = rec
		if err := c.putRecord(ctx, rec); err != nil {
			return err
		}
		rescued++
	}
	if rescued > 0 || len(damaged) > 0 {
		c.tell(Event{Notice: fmt.Sprintf("the store had lost findings; %d were taken from findings.json", rescued)})
	}
	return c.showFindings()
}
