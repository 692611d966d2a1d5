package finding

import (
	"log/slog"
	"sync"
	"sync/atomic"
)

// A Feed is where a package that guards memory puts what it finds. It groups repeats in a
// [Log], counts outcomes, writes each new finding to a logger, and calls subscribers with
// every one.
//
// What is added waits until it is delivered: the code that finds something may hold locks
// that a subscriber wants. A package with a goroutine for its findings has that goroutine
// call Deliver; another calls DeliverSoon, which starts one while there is something to
// deliver.
type Feed struct {
	// Source is the package that finds: what each line in the log begins with.
	Source string

	// Attributes returns what a line in the log has beyond the finding, its guard and its
	// outcome, as slog takes it. History is that of this time.
	Attributes func(Finding, History) []any

	log      Log
	logger   atomic.Pointer[slog.Logger]
	recorder atomic.Pointer[func(Finding)]

	mu          sync.Mutex // taken before the log's
	subscribers []func(Finding)
	pending     []occurrence
	tally       Tally
	delivering  bool // DeliverSoon has a goroutine
}

// An occurrence is one time that something was found.
type occurrence struct {
	finding Finding // merged with its repeats
	seen    History // this time
	isNew   bool
}

// published are the feeds of packages that only some programs link.
var published struct {
	mu    sync.Mutex
	feeds []*Feed
}

// Publish adds a feed to what [Published] returns: for a package that shows findings, and must not link all packages
// that find something.
func Publish(f *Feed) {
	published.mu.Lock()
	defer published.mu.Unlock()
	published.feeds = append(published.feeds, f)
}

// Published returns what the feeds have found that Publish was called with, and how many findings were too many.
func Published() (all []Finding, dropped uint64) {
	published.mu.Lock()
	defer published.mu.Unlock()
	for _, f := range published.feeds {
		all = append(all, f.Findings()...)
		dropped += f.Dropped()
	}
	return all, dropped
}

// SetLogger sets where new findings are written; nil means slog.Default.
func (f *Feed) SetLogger(l *slog.Logger) { f.logger.Store(l) }

// SetRecorder sets a function that is called with each finding, merged with its repeats, at
// once, by the goroutine that adds it: what a recorder has written is not lost if the program
// crashes before anything is delivered. It must return soon, and must not take a lock of the
// program's, nor look at guarded data. Nil means none.
func (f *Feed) SetRecorder(record func(Finding)) {
	if record == nil {
		f.recorder.Store(nil)
		return
	}
	f.recorder.Store(&record)
}

// Records reports whether there is a recorder.
func (f *Feed) Records() bool { return f.recorder.Load() != nil }

// Subscribe adds a function that is called with each finding, merged with its repeats.
func (f *Feed) Subscribe(subscriber func(Finding)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subscribers = append(f.subscribers, subscriber)
}

// Add records what was found, each with the History of a single time, to be delivered later.
func (f *Feed) Add(found ...Finding) {
	for _, one := range found {
		merged := f.add(one)
		if record := f.recorder.Load(); record != nil {
			(*record)(merged)
		}
	}
}

// add returns a finding merged with its repeats.
func (f *Feed) add(one Finding) Finding {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := occurrence{seen: one.History}
	if outcome := one.Outcomes.only(); outcome != "" {
		*f.tally.of(outcome)++
	}
	o.finding, o.isNew = f.log.Add(one)
	f.pending = append(f.pending, o)
	return o.finding
}

// Findings returns what was found so far, as a Log does.
func (f *Feed) Findings() []Finding { return f.log.Findings() }

// Dropped returns how many findings were too many to be recorded, as a Log does.
func (f *Feed) Dropped() uint64 { return f.log.Dropped() }

// Tally returns how often each outcome was found, with those that were dropped.
func (f *Feed) Tally() Tally {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tally
}

// Deliver logs and tells what has not been delivered yet, without holding a lock. It is for
// one goroutine at a time.
func (f *Feed) Deliver() {
	f.mu.Lock()
	subscribers, all := f.subscribers, f.pending
	f.pending = nil
	f.mu.Unlock()
	f.tell(subscribers, all)
}

// DeliverSoon has a goroutine of its own deliver until there is nothing more to deliver.
func (f *Feed) DeliverSoon() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.delivering {
		f.delivering = true
		go f.deliverAll()
	}
}

func (f *Feed) deliverAll() {
	for {
		f.mu.Lock()
		subscribers, all := f.subscribers, f.pending
		f.pending = nil
		f.delivering = len(all) > 0
		f.mu.Unlock()
		if len(all) == 0 {
			return
		}
		f.tell(subscribers, all)
	}
}

func (f *Feed) tell(subscribers []func(Finding), all []occurrence) {
	for _, o := range all {
		if o.isNew {
			f.write(o)
		}
		for _, subscriber := range subscribers {
			subscriber(o.finding)
		}
	}
}

// write writes a line to the logger.
func (f *Feed) write(o occurrence) {
	l := f.logger.Load()
	if l == nil {
		l = slog.Default()
	}
	attributes := []any{"finding", o.finding.ID().String(), "guard", o.finding.Guard.String(), "outcome", string(o.seen.Outcomes.only())}
	if f.Attributes != nil {
		attributes = append(attributes, f.Attributes(o.finding, o.seen)...)
	}
	l.Warn(f.Source+": "+o.finding.Explanation, attributes...)
}

// only returns the outcome of what was seen a single time.
func (t Tally) only() Outcome {
	for _, o := range outcomes {
		if t.Of(o) > 0 {
			return o
		}
	}
	return ""
}

// DelayAttributes are the Attributes of findings whose first access ran into the section of their second: what was
// accessed, where, which Lock it ran into, and how long it waited.
func DelayAttributes(f Finding, seen History) []any {
	access, lock := f.Accesses[0], f.Accesses[1]
	return []any{
		"op", string(access.Op),
		"target", access.Target,
		"function", access.Site().Function,
		"site", access.Site().String(),
		"lock", lock.Site().String(),
		"waited", seen.Waited,
	}
}
