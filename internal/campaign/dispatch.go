package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A Dispatcher sends leases out, and hands each result to what waits for it. Results that nothing
// waits for were asked for by an earlier coordinator: they are kept until they are asked for again.
type Dispatcher struct {
	s       *Store
	key     nkeys.KeyPair
	reading jetstream.ConsumeContext

	mu       sync.Mutex
	waiting  map[string]chan *Result // by lease
	units    map[string]*unitResult  // by unit
	others   map[string]*Result      // by lease: confirmed and rechecked
	kept     map[string]int          // by target: how many of these there are
	ledgers  map[string]string       // by target: its build, and the ledger that it went on from
	pairs    map[string][]uint64     // by target and build: shown by results that are not in a ledger yet
	last     map[string]uint64       // by target: the number of its last result in the stream
	caughtUp func()                  // called when a result was read that no other one waits behind
	leases   int
	runs     int // of the leases whose results have come
}

// A unitResult is what came of a unit, with what the rest of its errand says of it.
type unitResult struct {
	done   wire.UnitDone
	around *explore.UnitsDone
}

// A TroubleError says that a lease could not be done.
type TroubleError struct{ Worker, What string }

func (e *TroubleError) Error() string { return e.What }

// StartDispatcher reads the results that are left, and those that come. Ledgers are, by target, the
// build and the ledger that the coordinator goes on from: what was done from an earlier one is in it.
func StartDispatcher(ctx context.Context, s *Store, key nkeys.KeyPair, ledgers map[string]string) (*Dispatcher, error) {
	d := &Dispatcher{
		s: s, key: key, waiting: map[string]chan *Result{}, units: map[string]*unitResult{}, others: map[string]*Result{},
		kept: map[string]int{}, ledgers: ledgers, pairs: map[string][]uint64{}, last: map[string]uint64{},
	}
	if err := s.renewWork(ctx); err != nil {
		return nil, err
	}
	caughtUp := make(chan struct{})
	d.caughtUp = sync.OnceFunc(func() { close(caughtUp) })
	info, err := s.results.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	consumer, err := s.results.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy})
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	if d.reading, err = consumer.Consume(func(m jetstream.Msg) { d.receive(ctx, m) }); err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	if info.State.Msgs == 0 {
		return d, nil
	}
	select {
	case <-caughtUp:
		return d, nil
	case <-ctx.Done():
		d.Close()
		return nil, context.Cause(ctx)
	}
}

// Close ends the reading of results.
func (d *Dispatcher) Close() { d.reading.Stop() }

// receive takes a result.
func (d *Dispatcher) receive(ctx context.Context, m jetstream.Msg) {
	info, err := m.Metadata()
	if err != nil {
		return // it has no number, so it is no message of the stream
	}
	r, err := d.s.decodeResult(ctx, m.Data())
	d.mu.Lock()
	defer d.mu.Unlock()
	if info.NumPending == 0 {
		defer d.caughtUp()
	}
	if err != nil {
		return // it is damaged: its lease is asked for again by the next coordinator
	}
	d.last[r.Target] = max(d.last[r.Target], info.Sequence.Stream)
	d.keep(r)
	if c := d.waiting[r.Lease]; c != nil {
		delete(d.waiting, r.Lease)
		d.runs += r.runs()
		c <- r
	}
}

// keep keeps a result until it is asked for, unless a ledger includes it.
func (d *Dispatcher) keep(r *Result) {
	if d.ledgers[r.Target] != r.Build+r.Ledger {
		return
	}
	if r.Done == nil {
		if r.Trouble == "" && d.others[r.Lease] == nil {
			d.others[r.Lease] = r
			d.kept[r.Target]++
		}
		return
	}
	for i, id := range r.Units {
		if d.units[id] == nil {
			d.kept[r.Target]++
		}
		d.units[id] = &unitResult{done: r.Done.Units[i], around: r.Done}
	}
	at := r.Target + r.Build
	d.pairs[at] = append(d.pairs[at], r.Pairs...)
}

// takePairs returns the pairs that results of a target's build have shown.
func (d *Dispatcher) takePairs(target, build string) []uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	pairs := d.pairs[target+build]
	delete(d.pairs, target+build)
	return pairs
}

// do sends a lease out, and waits for its result.
func (d *Dispatcher) do(ctx context.Context, l *Lease, home bool) (*Result, error) {
	d.mu.Lock()
	if r := d.others[l.ID]; r != nil {
		delete(d.others, l.ID)
		d.kept[r.Target]--
		d.mu.Unlock()
		return r, nil
	}
	c := make(chan *Result, 1)
	d.waiting[l.ID] = c
	d.leases++
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		delete(d.waiting, l.ID)
		d.mu.Unlock()
	}()
	l.Campaign, l.Issued = d.s.Prefix, time.Now()
	m, err := signed(d.s.Prefix+".work."+d.s.workPlace(home), l, d.key)
	if err != nil {
		return nil, err
	}
	var ack *jetstream.PubAck
	if err := steady(ctx, func() (err error) {
		ack, err = d.s.js.PublishMsg(ctx, m, jetstream.WithMsgID(l.ID))
		return err
	}); err != nil {
		return nil, fmt.Errorf("sending a lease: %w", err)
	}
	select {
	case r := <-c:
		d.mu.Lock()
		if d.others[l.ID] != nil {
			delete(d.others, l.ID)
			d.kept[r.Target]--
		}
		d.mu.Unlock()
		// A worker that ended before it could acknowledge the lease is not to have it done again. Most
		// have, and then there is nothing to delete.
		_ = d.s.work.DeleteMsg(ctx, ack.Sequence)
		if r.Trouble != "" {
			return nil, &TroubleError{Worker: r.Worker, What: r.Trouble}
		}
		return r, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Explore has the units of an errand done, but for those whose results are there already.
func (d *Dispatcher) Explore(ctx context.Context, l Lease, e *explore.Errand) (*explore.UnitsDone, error) {
	ids := make([]string, len(e.Units))
	var missing []sched.Unit
	d.mu.Lock()
	for i := range e.Units {
		var err error
		if ids[i], err = unitID(l.Target, l.Build, e.Fresh, &e.Units[i]); err != nil {
			d.mu.Unlock()
			return nil, err
		}
		if d.units[ids[i]] == nil {
			missing = append(missing, e.Units[i])
		}
	}
	d.mu.Unlock()
	out := &explore.UnitsDone{}
	if len(missing) > 0 {
		rest := *e
		rest.Units = missing
		l.ID, l.Task, l.Errand = randomID()+randomID(), Explore, &rest
		r, err := d.do(ctx, &l, false)
		if err != nil {
			return nil, err
		}
		// If no unit was done, this is all that there is.
		out.Residue, out.Before, out.Ended, out.Deaths = r.Done.Residue, r.Done.Before, r.Done.Ended, r.Done.Deaths
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range ids {
		u := d.units[id]
		if u == nil {
			break // what comes after it is there for the next errand
		}
		delete(d.units, id)
		d.kept[l.Target]--
		out.Units = append(out.Units, u.done)
		out.Before, out.Deaths = max(out.Before, u.around.Before), u.around.Deaths
		if u.around.Residue != wire.NoResidue {
			out.Residue = u.around.Residue
		}
	}
	return out, nil
}

// unasked is how many results of a target have not been asked for, and last the number of the last
// that has come.
func (d *Dispatcher) unasked(target string) (n int, last uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kept[target], d.last[target]
}

// wentOn says which ledger a target goes on from.
func (d *Dispatcher) wentOn(target, build, ledger string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ledgers[target] = build + ledger
}

// include purges the results of a target up to a number, which are in its ledger.
func (d *Dispatcher) include(ctx context.Context, target string, last uint64) error {
	if last == 0 {
		return nil
	}
	subject := d.s.Prefix + ".results." + target + ".>"
	if err := steady(ctx, func() error {
		return d.s.results.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(last+1))
	}); err != nil {
		return fmt.Errorf("purging results: %w", err)
	}
	return nil
}

// present says that a worker is there.
func (s *Store) present(ctx context.Context, w *WorkerState) error {
	text, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("writing the state of a worker: %w", err)
	}
	_, err = s.workers.Put(ctx, textHash([]byte(w.Name))[:16], text)
	return err
}

// Workers are those that are there.
func (s *Store) Workers(ctx context.Context) ([]WorkerState, error) {
	entries, err := all(ctx, s.workers)
	if err != nil {
		return nil, err
	}
	var workers []WorkerState
	for _, e := range entries {
		var w WorkerState
		if err := json.Unmarshal(e.value, &w); err == nil {
			workers = append(workers, w)
		}
	}
	return workers, nil
}
