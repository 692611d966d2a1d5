package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
)

// WorkerOptions say what a worker does, and how far it trusts.
type WorkerOptions struct {
	Name string
	// Trusted are the public keys of coordinators.
	Trusted []string
	Slots   int // leases at a time
	// Longest is how long a lease may take; 0 for ten minutes.
	Longest time.Duration
	// Home has the worker also do what is for the coordinator's machine alone.
	Home bool
	// Dir is where programs are kept that were fetched.
	Dir string
	// Environment is what programs see that were fetched, besides what the coordinator sends.
	Environment []string
	Limits      explore.Limits
	// Do, if it is there, does leases in place of programs: for tests, and to measure everything else.
	Do func(context.Context, *Lease, *Result) error
	// Told is told what happens; it may be nil.
	Told func(Progress)
}

// Progress is what a worker has done.
type Progress struct {
	Leases, Runs int
	// Refused is why a lease was not done, "" if it was.
	Refused string
}

// A Worker takes leases of a campaign, and does them.
type Worker struct {
	o        WorkerOptions
	s        *Store
	programs programs

	mu   sync.Mutex
	done Progress
}

// longestLease is how long a lease may take, unless the user says otherwise.
const longestLease = 10 * time.Minute

// NewWorker returns a worker.
func NewWorker(s *Store, o WorkerOptions) *Worker {
	if o.Longest == 0 {
		o.Longest = longestLease
	}
	return &Worker{o: o, s: s, programs: programs{dir: o.Dir, environment: o.Environment, limits: o.Limits}}
}

// A WorkerState is what others see of a worker.
type WorkerState struct {
	Name         string
	Slots        int
	Home         bool `json:",omitempty"`
	Leases, Runs int
}

// Run takes leases until the context ends. A lease that is under way then is delivered to another
// worker.
func (w *Worker) Run(ctx context.Context) error {
	places := []bool{false}
	if w.o.Home {
		places = append(places, true)
	}
	var consumers []jetstream.Consumer
	for _, home := range places {
		c, err := w.s.leases(ctx, home)
		for err != nil && ctx.Err() == nil { // a coordinator is about to start
			wait(ctx, askWait)
			c, err = w.s.leases(ctx, home)
		}
		consumers = append(consumers, c)
	}
	var all sync.WaitGroup
	all.Go(func() { w.beat(ctx) })
	for range w.o.Slots {
		all.Go(func() { w.slot(ctx, consumers) })
	}
	all.Wait()
	return nil
}

// beat says again and again that the worker is there.
func (w *Worker) beat(ctx context.Context) {
	tick := time.NewTicker(workerBeats)
	defer tick.Stop()
	for {
		w.mu.Lock()
		state := WorkerState{Name: w.o.Name, Slots: w.o.Slots, Home: w.o.Home, Leases: w.done.Leases, Runs: w.done.Runs}
		w.mu.Unlock()
		_ = w.s.present(ctx, &state) // the next one may come through
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// askWait is how long one question for work lasts, of a worker that asks in two places.
const askWait = 500 * time.Millisecond

// slot does one lease after the other.
func (w *Worker) slot(ctx context.Context, consumers []jetstream.Consumer) {
	hands := &slotHands{}
	defer hands.close()
	for ctx.Err() == nil {
		m := next(ctx, consumers)
		if m == nil {
			hands.close() // processes are not kept for nothing
			continue
		}
		w.lease(ctx, m, hands)
	}
}

// next returns the message of a lease; nil if there is none for some time.
func next(ctx context.Context, consumers []jetstream.Consumer) jetstream.Msg {
	patience := askWait
	if len(consumers) == 1 {
		// Thousands of workers that asked more often would be most of what a server does. One that has
		// restarted knows nothing of the question, so it does not last for long either.
		patience = leaseWait / 10
	}
	asking, stop := context.WithTimeout(ctx, patience)
	defer stop()
	// What is for this machine alone comes first: others cannot do it.
	for i := len(consumers) - 1; i >= 0; i-- {
		var batch jetstream.MessageBatch
		var err error
		if i > 0 {
			batch, err = consumers[i].FetchNoWait(1)
		} else {
			batch, err = consumers[i].Fetch(1, jetstream.FetchContext(asking))
		}
		if err != nil {
			wait(ctx, askWait) // the connection is lost
			continue
		}
		if m := <-batch.Messages(); m != nil {
			return m
		}
		if batch.Error() != nil {
			wait(ctx, askWait)
		}
	}
	return nil
}

// wait waits, or until the context ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// mostDeliveries is how often a lease is tried whose workers do not come back: it may be the lease.
const mostDeliveries = 5

// lease does the lease of a message.
func (w *Worker) lease(ctx context.Context, m jetstream.Msg, hands *slotHands) {
	l, err := verified(m.Data(), m.Headers(), w.o.Trusted)
	if err != nil {
		_ = m.NakWithDelay(leaseWait) // for a worker that trusts
		w.note(Progress{Refused: err.Error()})
		return
	}
	leased, cancel := context.WithTimeout(ctx, w.o.Longest)
	defer cancel()
	stop := keepAlive(leased, m)
	defer stop()
	begin := time.Now()
	r := &Result{Lease: l.ID, Task: l.Task, Target: l.Target, Build: l.Build, Ledger: l.Ledger, Worker: w.o.Name}
	var trace string
	if info, err := m.Metadata(); err == nil && info.NumDelivered > mostDeliveries {
		r.Trouble = fmt.Sprintf("%d workers have taken this lease and did not come back", mostDeliveries)
	} else if w.delivered(ctx, info, r) {
		_ = m.Ack() // which did not come through the first time
		return
	} else if trace, err = w.do(leased, l, r, hands); err != nil {
		if ctx.Err() != nil {
			return // it is delivered again
		}
		hands.close()
		r.Done, r.Trouble = nil, err.Error()
		if leased.Err() != nil {
			r.Trouble = fmt.Sprintf("it took longer than %v, which a worker gives a lease", w.o.Longest)
		}
	}
	if trace != "" {
		defer scratch.Remove(filepath.Dir(trace))
	}
	r.Took = time.Since(begin)
	if !w.deliver(ctx, r, trace) {
		hands.close() // what its processes have reported is lost, and is to be reported again
		return
	}
	_ = m.Ack() // if that is lost, the lease is done again, and counts once
	w.note(Progress{Leases: 1, Runs: r.runs()})
}

// delivered reports whether the result of a lease that is delivered again has come through.
func (w *Worker) delivered(ctx context.Context, info *jetstream.MsgMetadata, r *Result) bool {
	if info == nil || info.NumDelivered < 2 {
		return false
	}
	results, err := w.s.js.Stream(ctx, w.s.Prefix+"-results")
	if err != nil {
		return false
	}
	_, err = results.GetLastMsgForSubject(ctx, r.subject(w.s.Prefix))
	return err == nil
}

func (w *Worker) note(p Progress) {
	w.mu.Lock()
	w.done.Leases += p.Leases
	w.done.Runs += p.Runs
	w.done.Refused = p.Refused
	done := w.done
	w.mu.Unlock()
	if w.o.Told != nil {
		w.o.Told(done)
	}
}

// keepAlive says now and then that a lease is still being done.
func keepAlive(ctx context.Context, m jetstream.Msg) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var over sync.WaitGroup
	over.Go(func() {
		tick := time.NewTicker(leaseWait / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = m.InProgress() // the next one may come through
			}
		}
	})
	return func() {
		cancel()
		over.Wait()
	}
}

// deliver sends a result, and tries until it is acknowledged. It reports false if the context ends
// before.
func (w *Worker) deliver(ctx context.Context, r *Result, trace string) bool {
	for ctx.Err() == nil {
		if err := w.send(ctx, r, trace); err == nil {
			return true
		}
		wait(ctx, reconnectWait)
	}
	return false
}

func (w *Worker) send(ctx context.Context, r *Result, trace string) error {
	if trace != "" {
		hash, err := contentHash(trace)
		if err != nil {
			return err
		}
		r.Trace, r.TraceHash = "trace-"+hash, hash
		if err := w.s.putFile(ctx, r.Trace, trace); err != nil {
			return err
		}
	}
	text, err := w.s.encodeResult(ctx, r)
	if err != nil {
		return err
	}
	_, err = w.s.js.Publish(ctx, r.subject(w.s.Prefix), text, jetstream.WithMsgID(r.Lease+w.o.Name))
	return err
}

// slotHands are those of the targets that a slot was at lately, the last one first: leases of as many
// targets as there are workers come mixed, and to start a process takes as long as many runs.
type slotHands struct{ all []*heldHands }

// heldHands are the hands of one target.
type heldHands struct {
	of    string
	hands *explore.Hands
	end   context.CancelFunc
}

// mostHands is for how many targets a slot keeps processes.
const mostHands = 4

// of returns the hands of a target, which are made if the slot has none.
func (h *slotHands) of(name string, make func(context.Context) *explore.Hands) *heldHands {
	at := slices.IndexFunc(h.all, func(one *heldHands) bool { return one.of == name })
	if at < 0 {
		life, end := context.WithCancel(context.Background())
		h.all, at = append(h.all, &heldHands{of: name, hands: make(life), end: end}), len(h.all)
	}
	one := h.all[at]
	h.all = slices.Insert(slices.Delete(h.all, at, at+1), 0, one)
	for len(h.all) > mostHands {
		h.drop(h.all[mostHands])
	}
	return one
}

// drop ends the processes of a target.
func (h *slotHands) drop(one *heldHands) {
	one.hands.Close()
	one.end()
	h.all = slices.DeleteFunc(h.all, func(other *heldHands) bool { return other == one })
}

func (h *slotHands) close() {
	for len(h.all) > 0 {
		h.drop(h.all[0])
	}
}

// do does a lease, and puts what came of it into a result. It also returns the file of a trace, in a
// directory of its own; "" if there is none.
func (w *Worker) do(ctx context.Context, l *Lease, r *Result, hands *slotHands) (trace string, err error) {
	if w.o.Do != nil {
		if err := w.o.Do(ctx, l, r); err != nil || r.Done == nil {
			return "", err
		}
		return "", r.identify(l)
	}
	p, err := w.programs.get(ctx, w.s, l.Program)
	if err != nil {
		return "", err
	}
	if l.Task == Explore {
		return "", w.explore(ctx, p, l, r, hands)
	}
	dir, err := scratch.Dir()
	if err != nil {
		return "", err
	}
	trace = filepath.Join(dir, "run.trace")
	o := l.options()
	switch {
	case l.Task == Confirm && l.Failure != nil:
		r.Confirmed, err = p.Confirm(ctx, l.Test, o, l.Failure, trace)
	case l.Task == Recheck:
		r.Rerun, err = p.RunAgain(ctx, l.Test, l.Schedule, o, l.WarmUp, trace)
	default:
		err = fmt.Errorf("this worker does not know the task %q: it is of another version than the coordinator", l.Task)
	}
	if err == nil && r.Confirmed != nil && !r.Confirmed.Trace {
		err = errNoTrace
	}
	if err != nil {
		scratch.Remove(dir)
		if errors.Is(err, errNoTrace) {
			return "", nil
		}
		return "", err
	}
	return trace, nil
}

// errNoTrace says that there is nothing to send beside the result.
var errNoTrace = errors.New("no run was recorded")

// explore does the units of a lease.
func (w *Worker) explore(ctx context.Context, p *explore.Program, l *Lease, r *Result, hands *slotHands) error {
	if l.Errand == nil {
		return errors.New("the lease has no units")
	}
	of := fmt.Sprint(l.Program, l.Target, l.Build, l.Errand.Fresh)
	one := hands.of(of, func(life context.Context) *explore.Hands {
		return p.NewHands(life, l.Test, l.options(), l.Errand.Fresh)
	})
	unlimit := context.AfterFunc(ctx, one.end)
	defer unlimit()
	done, err := one.hands.Do(l.Errand)
	if err != nil {
		return err
	}
	for i := range done.Units {
		r.Pairs = append(r.Pairs, pairKeys(done.Units[i].Pairs, p.Site)...)
		done.Units[i].Pairs = nil
	}
	r.Done = done
	if done.Ended != nil {
		hands.drop(one)
	}
	return r.identify(l)
}

// MachineName is what a worker is called if it is not told.
func MachineName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "worker"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}
