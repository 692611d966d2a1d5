package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// mostTroubles is how often a target may be in trouble before it is given up for this session. The next
// one tries again: what was in the way may have been a worker, or the machine.
const mostTroubles = 3

// reportEvery is how often others see how far the campaign is.
const reportEvery = time.Second

// A turnDone is a turn that is over.
type turnDone struct {
	p    *appointment
	took time.Duration
	// schedules and pairs are how many new ones there were.
	schedules, pairs int
	err              error
}

// work gives turns to targets, as many side by side as there are workers for.
func (c *Campaign) work(ctx context.Context) error {
	var deadline time.Time
	if c.o.Budget > 0 {
		deadline = c.started.Add(c.o.Budget)
	}
	done := make(chan turnDone)
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	running := 0
	var failed error
	c.doing = "exploring"
	c.publish(ctx, true)
	for {
		left := longTurn
		if !deadline.IsZero() {
			left = min(left, time.Until(deadline))
		}
		for running < max(c.slots, 1) && left > 0 && failed == nil && ctx.Err() == nil {
			p := c.agenda.next()
			if p == nil {
				break
			}
			running++
			c.begin(p)
			turn := min(p.turn(), left)
			go func() { done <- c.turn(ctx, p, turn) }()
		}
		if running == 0 {
			if cause := context.Cause(ctx); cause != nil {
				return cause // which is what turns have failed with, if they have
			}
			return failed
		}
		select {
		case d := <-done:
			running--
			if err := c.end(ctx, d); err != nil && failed == nil {
				failed = err
			}
		case <-tick.C:
			c.publish(ctx, true)
		}
	}
}

func (c *Campaign) begin(p *appointment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.busy, c.doing = true, "exploring "+p.name()
}

// end takes note of a turn. It returns an error that ends the campaign.
func (c *Campaign) end(ctx context.Context, d turnDone) error {
	c.mu.Lock()
	d.p.busy = false
	c.agenda.had(d.p, d.took, d.schedules, d.pairs)
	c.mu.Unlock()
	var trouble *TroubleError
	switch {
	case d.err == nil && d.p.rec.blind():
		d.p.troubles = mostTroubles
		trouble = &TroubleError{What: fmt.Sprintf("each of its %d runs was cut off before anything was seen of it: its process died, or took too long to begin", d.p.rec.Runs)}
	case d.err == nil:
		d.p.over = d.p.rec.Over
		return nil
	case errors.As(d.err, &trouble):
		d.p.troubles++
	default:
		return d.err
	}
	c.mu.Lock()
	d.p.rec.troubled(trouble.What, trouble.Worker, time.Now())
	c.mu.Unlock()
	if d.p.over = d.p.troubles >= mostTroubles; d.p.over {
		c.tell(Event{Target: d.p.name(), Trouble: trouble.What})
	}
	if ctx.Err() != nil {
		return nil
	}
	return c.putTarget(ctx, d.p.target)
}

// putTarget saves the record of a target.
func (c *Campaign) putTarget(ctx context.Context, t *target) error {
	c.mu.Lock()
	rec := t.rec
	c.mu.Unlock()
	version, err := put(ctx, c.s.targets, rec.Key, &rec, t.version)
	if err == nil {
		t.version = version
	}
	return err
}

// turn goes on with a target for so long, and saves what came of it.
func (c *Campaign) turn(ctx context.Context, p *appointment, turn time.Duration) turnDone {
	begin, t := time.Now(), p.target
	seen, out := t.search.Distinct(), turnDone{p: p}
	err := c.recheck(ctx, t)
	if err == nil {
		err = t.search.Continue(ctx, turn, c.side())
	}
	out.pairs = t.pairs.add(c.d.takePairs(t.rec.Key, t.lease.Build))
	out.schedules = max(0, t.search.Distinct()-seen)
	if err == nil {
		err = c.confirm(ctx, t)
	}
	out.took = time.Since(begin)
	if ctx.Err() == nil {
		c.reached(t, out.took)
		err = errors.Join(err, c.judge(ctx, t), c.save(ctx, t))
	}
	out.err = err
	return out
}

// side is how many leases of a target there are at a time: its share of the workers, and one that
// waits for the first of them that is done.
func (c *Campaign) side() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	active := 0
	for _, p := range c.agenda.all {
		if p.busy {
			active++
		}
	}
	return (c.slots+max(active, 1)-1)/max(active, 1) + 1
}

// reached takes note of how far a target is.
func (c *Campaign) reached(t *target, took time.Duration) {
	sum, now := t.search.Reached(), time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &t.rec
	r.Runs, r.Distinct, r.Cut, r.Search, r.Over = sum.Runs, t.search.Distinct(), sum.Cut, sum.Search, t.search.Over()
	r.Spent += took
	r.Last, r.Coverage = now, t.pairs.coverage()
	r.Growth = grown(r.Growth, Growth{At: now, Runs: r.Runs, Coverage: r.Coverage})
}

// mostUnsaved is after how many turns a ledger is saved although results are there that the search
// has not asked for: it may not ask for them any more.
const mostUnsaved = 3

// save saves what is known of a target, and then lets go of the results that it includes.
func (c *Campaign) save(ctx context.Context, t *target) error {
	unasked, last := c.d.unasked(t.rec.Key)
	// A search that is over asks for nothing any more, and has no turn after this one.
	if t.unsaved++; unasked > 0 && t.unsaved < mostUnsaved && !t.rec.Over {
		return nil
	}
	t.ledger.Search, t.ledger.Pairs = t.search.State(), t.pairs.keys()
	text, err := t.ledger.encode()
	if err != nil {
		return err
	}
	name, was := "ledger-"+t.rec.Key+"-"+randomID(), t.rec.Ledger
	if err := steady(ctx, func() error {
		_, err := c.s.objects.PutBytes(ctx, name, text)
		return err
	}); err != nil {
		return fmt.Errorf("saving the ledger of %s: %w", t.name(), err)
	}
	c.mu.Lock()
	t.rec.Ledger = name
	c.mu.Unlock()
	if err := c.putTarget(ctx, t); err != nil {
		return err
	}
	t.unsaved, t.lease.Ledger = 0, name
	c.d.wentOn(t.rec.Key, t.lease.Build, name)
	if was != "" {
		c.s.removeObject(ctx, was)
	}
	return c.d.include(ctx, t.rec.Key, last)
}

// rates are how many runs there were lately, by samples of the last some seconds.
type rates struct{ samples []rateSample }

type rateSample struct {
	at   time.Time
	runs int
}

// lately is for how long a rate is measured.
const lately = 10 * time.Second

// rate is how many runs there are in a second, if there were so many by now.
func (r *rates) rate(now time.Time, runs int) float64 {
	r.samples = append(r.samples, rateSample{now, runs})
	for len(r.samples) > 2 && now.Sub(r.samples[1].at) >= lately {
		r.samples = r.samples[1:]
	}
	first := r.samples[0]
	return float64(runs-first.runs) / max(now.Sub(first.at).Seconds(), 0.1)
}

// publish writes how far the campaign is for others to see, and tells it.
func (c *Campaign) publish(ctx context.Context, running bool) *Report {
	workers, err := c.s.Workers(ctx)
	c.mu.Lock()
	if err == nil {
		c.slots = c.o.Slots
		for _, w := range workers {
			if w.Name != c.name {
				c.slots += w.Slots
			}
		}
	}
	r := c.report(workers)
	c.mu.Unlock()
	if r.Running = running; !running {
		r.Doing = ""
	}
	if err := writeJSON(c.dir.file("status.json"), r); err != nil && running {
		// The server says nothing of a disk that is full, and its clients wait for ever.
		c.giveUp(&UnwritableError{Dir: c.dir.Path, Err: err})
	}
	if running {
		if err := c.applyMarks(ctx); err != nil {
			c.tell(Event{Notice: err.Error()})
		}
	}
	c.tell(Event{Report: r})
	return r
}

// report is how far the campaign is.
func (c *Campaign) report(workers []WorkerState) *Report {
	now := time.Now()
	r := &Report{
		Version: Version, Started: c.started, Updated: now, Doing: c.doing, Workers: workers,
		Findings: map[Status]int{}, NewNow: c.newNow,
	}
	if c.o.Budget > 0 {
		r.Deadline = c.started.Add(c.o.Budget)
	}
	done := 0
	if c.d != nil {
		c.d.mu.Lock()
		r.Leases, done = c.d.leases, c.d.runs
		c.d.mu.Unlock()
	}
	open := map[string]int{}
	for _, rec := range c.records.all {
		r.Findings[rec.value.Status]++
		if rec.value.open() {
			open[rec.value.Target]++
		}
	}
	for _, p := range c.agenda.all {
		one := TargetReport{TargetRecord: p.rec, State: Waiting, Open: open[p.rec.Key]}
		switch {
		case p.busy:
			one.State = Exploring
		case p.rec.Over:
			one.State = Done
		case p.over:
			one.State = GivenUp
		}
		r.Runs += p.rec.Runs - c.before[p.rec.Key]
		r.Targets = append(r.Targets, one)
	}
	r.PerSecond = c.rates.rate(now, done)
	return r
}
