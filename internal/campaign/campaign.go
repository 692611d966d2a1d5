package campaign

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// Options say how a campaign goes.
type Options struct {
	Search SearchOptions
	// Budget is how long it goes on; 0: for ever.
	Budget time.Duration
	// Slots is how many leases this process works at; 0 leaves all to other workers.
	Slots int
	// Remote has programs sent to where workers of other machines find them, with the files around
	// them and these variables of the environment.
	Remote    bool
	Variables []string
	// WholePackages says that the targets are all that their packages have.
	WholePackages bool
	// Size is how many bytes the state directory may have; 0 for any number.
	Size int64
	// Baseline are findings that are known.
	Baseline *finding.Baseline
	// Day is the one that programs see whose search begins in this session, see explore.Options; 0 for
	// today.
	Day int64
	// Told is told what happens, one thing after the other; it may be nil.
	Told func(Event)
}

// An Event is something that happens in a campaign.
type Event struct {
	// Finding is one that was seen for the first time, or whose status has changed to what it is.
	Finding *Record
	// Trouble is what went wrong with a target, Notice what else a person should know, and Doing what
	// the coordinator is at.
	Trouble, Target string
	Notice, Doing   string
	// Report is how far the campaign is, once a second.
	Report *Report
}

// A Campaign is one session of a coordinator.
type Campaign struct {
	o    *Options
	dir  *Dir
	s    *Store
	d    *Dispatcher
	name string // of this process as a worker

	agenda  agenda
	targets []*target
	records records
	started time.Time
	before  map[string]int // runs of targets when the session began
	slots   int            // of all workers
	newNow  int
	rates   rates
	doing   string

	// giveUp ends the session, for a reason.
	giveUp context.CancelCauseFunc

	mu sync.Mutex // guards the records, what targets report, and which are busy
	// telling is held while an event is told.
	telling sync.Mutex
}

// A target is one at work.
type target struct {
	explore.Target
	rec     TargetRecord
	version uint64 // of the record in its bucket
	lease   Lease  // what its leases have in common
	search  *explore.Search
	pairs   pairSet
	ledger  ledger
	unsaved int // turns
}

// name is what the target is called.
func (t *target) name() string { return t.rec.Package + "." + t.rec.Test }

// Run goes on with a campaign, until its budget or the context ends, or there is nothing left to do.
func Run(ctx context.Context, dir *Dir, s *Store, targets []explore.Target, o *Options) (report *Report, err error) {
	var unwritable *UnwritableError
	defer func() {
		if err == nil || ctx.Err() != nil || errors.As(err, &unwritable) {
			return
		}
		// The server tells a full disk as one of many things that it cannot do.
		if probe := dir.probe(); probe != nil {
			err = probe
		}
	}()
	c := &Campaign{o: o, dir: dir, s: s, started: time.Now(), name: MachineName(), before: map[string]int{}, slots: o.Slots}
	release, err := c.own(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := c.load(ctx, targets); err != nil {
		return nil, err
	}
	ledgers := map[string]string{}
	for _, t := range c.targets {
		ledgers[t.rec.Key] = t.lease.Build + t.lease.Ledger
	}
	if c.d, err = StartDispatcher(ctx, s, dir.Key, ledgers); err != nil {
		return nil, err
	}
	defer c.d.Close()
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c.giveUp = stop
	var over sync.WaitGroup
	if o.Slots > 0 {
		w, err := c.ownWorker()
		if err != nil {
			return nil, err
		}
		over.Go(func() { _ = w.Run(working) }) // what it could not do is told by its results
	}
	err = c.work(working)
	stop(nil)
	over.Wait()
	final := context.WithoutCancel(ctx)
	if !errors.As(err, &unwritable) {
		err = errors.Join(err, c.tidy(final))
	}
	return c.publish(final, false), err
}

// ownWorker is the worker of this process, which has the programs at hand.
func (c *Campaign) ownWorker() (*Worker, error) {
	public, err := c.dir.Key.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	w := NewWorker(c.s, WorkerOptions{Name: c.name, Trusted: []string{public}, Slots: c.o.Slots, Home: true})
	for _, t := range c.targets {
		w.programs.add(t.lease.Program, t.Program)
	}
	return w, nil
}

// releaseWait is how long a coordinator tries to say that it ends.
const releaseWait = 5 * time.Second

// An owner is the coordinator at work with a prefix.
type owner struct {
	ID   string
	Name string
	Beat int64
}

// own makes this the one coordinator with its prefix. One whose process has ended without a word is
// there for as long as a worker would be; one with the same state directory is known to have ended.
func (c *Campaign) own(ctx context.Context) (release func(), err error) {
	const key = "coordinator"
	revision := uint64(0)
	e, err := c.s.meta.Get(ctx, key)
	switch {
	case err == nil:
		revision = e.Revision()
		var is owner
		if json.Unmarshal(e.Value(), &is) == nil && is.ID != c.dir.ID && is.ID != "" && time.Since(e.Created()) <= workerStays {
			return nil, fmt.Errorf("another coordinator, %s, is at work with the prefix %s: wait for it to end, or give another -prefix", is.Name, c.s.Prefix)
		}
	case !errors.Is(err, jetstream.ErrKeyNotFound):
		return nil, fmt.Errorf("looking for other coordinators: %w", err)
	}
	me := owner{ID: c.dir.ID, Name: c.name}
	if revision, err = put(ctx, c.s.meta, key, &me, revision); err != nil {
		return nil, err
	}
	beating, stop := context.WithCancel(ctx)
	var over sync.WaitGroup
	over.Go(func() {
		for wait(beating, workerBeats); beating.Err() == nil; wait(beating, workerBeats) {
			me.Beat++
			if next, err := put(beating, c.s.meta, key, &me, revision); err == nil {
				revision = next
			}
		}
	})
	return func() {
		stop()
		over.Wait()
		final, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWait)
		defer cancel()
		_, _ = put(final, c.s.meta, key, &owner{}, revision) // or it is found to be old
	}, nil
}

// load reads what is known of the targets and of findings.
func (c *Campaign) load(ctx context.Context, targets []explore.Target) error {
	c.tell(Event{Doing: "reading what is known"})
	var damaged []string
	var err error
	c.records.baseline = c.o.Baseline
	if c.records.all, damaged, err = readAll[Record](ctx, c.s.findings); err != nil {
		return err
	}
	if err := c.rescueFindings(ctx, damaged); err != nil {
		return err
	}
	if err := c.applyMarks(ctx); err != nil {
		return err
	}
	known, damaged, err := c.s.targetRecords(ctx)
	if err != nil {
		return err
	}
	for _, key := range damaged {
		c.tell(Event{Notice: fmt.Sprintf("the record of target %s was damaged, and begins anew", key)})
	}
	if was, err := ReadReport(c.dir.Path); len(known) == 0 && err == nil && was.done() {
		c.tell(Event{Notice: "the store has lost what was done for all targets: they begin anew"})
	}
	parcels := map[*explore.Program]string{}
	for _, t := range targets {
		if t.Together() {
			if t = t.Without(c.failing(t.Program.Package)); !t.Together() {
				continue
			}
		}
		name, ok := parcels[t.Program]
		if !ok {
			if name, err = c.parcel(ctx, t.Program); err != nil {
				return err
			}
			parcels[t.Program] = name
		}
		one, err := c.target(ctx, t, name, known)
		if err != nil {
			return err
		}
		c.targets = append(c.targets, one)
		c.agenda.all = append(c.agenda.all, &appointment{target: one, over: one.rec.Over})
		c.before[one.rec.Key] = one.rec.Runs
	}
	return c.missing(ctx, targets)
}

// failing are the tests of a package that have findings.
func (c *Campaign) failing(pkg string) []string {
	var tests []string
	for _, r := range c.records.all {
		if r.value.open() && r.value.Package == pkg {
			tests = append(tests, r.value.Test)
		}
	}
	return tests
}

// TargetKey identifies a target over all its builds.
func TargetKey(t explore.Target) string {
	return textHash([]byte(t.Program.Package), []byte(t.FileName()))[:16]
}

// target returns a target with what is known of it.
func (c *Campaign) target(ctx context.Context, t explore.Target, parcel string, known map[string]*versioned[TargetRecord]) (*target, error) {
	options, err := json.Marshal(&c.o.Search)
	if err != nil {
		return nil, fmt.Errorf("writing options: %w", err)
	}
	m := t.Program.Manifest()
	args, err := json.Marshal(m.Args)
	if err != nil {
		return nil, fmt.Errorf("describing a program: %w", err)
	}
	one := &target{Target: t, pairs: pairSet{}}
	key, build := TargetKey(t), textHash([]byte(m.Hash), []byte(m.Inputs), args, []byte(t.Test), options)[:16]
	numbering := numberingOf(t.Program.Sites())
	if was := known[key]; was != nil {
		one.rec, one.version = was.value, was.revision
	}
	if one.rec.Build != build {
		c.renew(one, key, build)
		one.rec.Numbering = numbering
	}
	l, err := c.readLedger(ctx, one)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && unsteady(err):
		return nil, fmt.Errorf("reading the ledger of %s: %w", one.name(), err)
	case err != nil:
		c.tell(Event{Notice: fmt.Sprintf("the ledger of %s was damaged, and its search begins anew: %v", one.name(), err)})
		c.renew(one, key, build)
		one.rec.Numbering = numbering
	}
	one.lease = Lease{
		Target: key, Build: fmt.Sprintf("%s-%s-%d", build, numbering, one.rec.Day), Test: t.Test, Program: parcel, Options: c.o.Search,
		Day: one.rec.Day, Ledger: one.rec.Ledger,
	}
	o := one.lease.options()
	o.Elsewhere = func(ctx context.Context, e *explore.Errand) (*explore.UnitsDone, error) {
		return c.d.Explore(ctx, one.lease, e)
	}
	one.search = t.NewSearch(o)
	if l == nil {
		return one, nil
	}
	if one.rec.Numbering != numbering {
		l.Search, l.Handled, one.rec.Numbering = l.Search.Renumbered(), nil, numbering
	}
	one.search.Restore(l.Search)
	one.pairs.add(l.Pairs)
	one.ledger.Handled = l.Handled
	return one, nil
}

// readLedger reads the ledger of a target; nil if it has none.
func (c *Campaign) readLedger(ctx context.Context, t *target) (*ledger, error) {
	if t.rec.Ledger == "" {
		return nil, nil
	}
	var text []byte
	if err := steady(ctx, func() (err error) {
		text, err = c.s.objects.GetBytes(ctx, t.rec.Ledger)
		return err
	}); err != nil {
		return nil, err
	}
	return decodeLedger(text)
}

// numberingOf identifies the numbers of sites, which depend on what else is built. Schedules that were
// seen are known by them.
func numberingOf(sites []trace.Site) string {
	h := sha256.New()
	pkg := ""
	for i := range sites {
		if s := &sites[i]; s.Package != pkg {
			pkg = s.Package
			fmt.Fprintln(h, pkg, s.ID)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:8]
}

// renew begins the search of a target anew, with another build.
func (c *Campaign) renew(t *target, key, build string) {
	now, was := time.Now(), t.rec
	t.rec = TargetRecord{
		Key: key, Package: t.Program.Package, Test: t.FileName(), Build: build, EarlierRuns: was.EarlierRuns + was.Runs,
		First: was.First, Last: now, Troubles: was.Troubles, Day: cmp.Or(c.o.Day, explore.Today()),
	}
	if t.rec.First.IsZero() {
		t.rec.First = now
	}
}

// parcel describes a program for workers, and sends it if there may be some on other machines.
func (c *Campaign) parcel(ctx context.Context, p *explore.Program) (name string, err error) {
	it := &parcel{Manifest: *p.Manifest(), Variables: c.o.Variables}
	if it.Binary, err = contentHash(p.Path); err == nil {
		it.Sites, err = contentHash(p.SitesFile())
	}
	if err != nil {
		return "", fmt.Errorf("describing the program of %s: %w", p.Package, err)
	}
	archive := ""
	if c.o.Remote {
		temp, err := scratch.Dir()
		if err != nil {
			return "", err
		}
		defer scratch.Remove(temp)
		archive = filepath.Join(temp, "files")
		if err := c.pack(p, it, archive); err != nil {
			return "", err
		}
	}
	if name, _, err = it.name(); err != nil || !c.o.Remote {
		return name, err
	}
	c.tell(Event{Doing: "sending the program of " + p.Package})
	return name, c.s.send(ctx, it, p, archive)
}

// pack makes the archive of what is around a package: its module, or itself if that is too large.
func (c *Campaign) pack(p *explore.Program, it *parcel, archive string) error {
	root := p.Dir
	for dir := p.Dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			root = dir
			break
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	err := packFiles(root, archive)
	if errors.Is(err, errTooLarge) && root != p.Dir {
		root = p.Dir
		c.tell(Event{Notice: "the module of " + p.Package + " is large: its workers see the files of the package alone"})
		err = packFiles(root, archive)
	}
	if err != nil {
		return err
	}
	if it.Dir, err = filepath.Rel(root, p.Dir); err != nil {
		return fmt.Errorf("packing files: %w", err)
	}
	it.Files, err = contentHash(archive)
	return err
}

func (c *Campaign) tell(e Event) {
	if c.o.Told != nil {
		c.telling.Lock()
		defer c.telling.Unlock()
		c.o.Told(e)
	}
}
