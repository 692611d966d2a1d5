package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// maxMessage is how large a message may be on a server in this process. What is larger, or larger
// than another server allows, goes through the object store.
const maxMessage = 8 << 20

// A Store is what a campaign keeps, under a prefix of its own.
//
//	P-work      leases, a work queue: P.work.any for any worker, P.work.home for those of the
//	            coordinator's machine
//	P-results   results, as P.results.TARGET.LEASE, until a ledger includes them
//	P-targets   the record of each target, which points to its ledger among the objects
//	P-findings  the record of each finding
//	P-workers   the workers that are there, each as long as it says so
//	P-meta      the coordinator at work
//	P-objects   programs, sites, files, ledgers, traces on their way, results that are large
type Store struct {
	Prefix   string
	replicas int
	nc       *nats.Conn
	js       jetstream.JetStream

	work, results                    jetstream.Stream
	targets, findings, workers, meta jetstream.KeyValue
	objects                          jetstream.ObjectStore
}

// prefixes are words that NATS takes as names of streams and as tokens of subjects.
var prefixes = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// CheckPrefix refuses a word that cannot be a prefix.
func CheckPrefix(prefix string) error {
	if !prefixes.MatchString(prefix) {
		return fmt.Errorf("-prefix %q: give letters, digits, - and _", prefix)
	}
	return nil
}

// leaseWait is after how long without a sign of its worker a lease is delivered again; workers give
// one several times in it. Tests have less of it.
var leaseWait = 30 * time.Second

const (
	workerBeats = 3 * time.Second
	// workerStays is how long a worker is taken to be there after it said so last.
	workerStays = 4 * workerBeats
	// openingTries is how often more the servers are asked that did not answer in time, which is 5 s each.
	openingTries = 5
	// duplicates is for how long a message that is sent twice is known to be one.
	duplicates = 2 * time.Minute
)

// OpenStore opens what is kept under a prefix, and makes what does not exist, with so many replicas.
func OpenStore(ctx context.Context, nc *nats.Conn, prefix string, replicas int) (*Store, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("opening the store of the campaign: %w", err)
	}
	s := &Store{Prefix: prefix, replicas: replicas, nc: nc, js: js}
	bucket := func(to *jetstream.KeyValue, name string, ttl time.Duration, storage jetstream.StorageType) error {
		*to, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: prefix + "-" + name, Replicas: replicas, TTL: ttl, Storage: storage, History: 1, Compression: storage == jetstream.FileStorage})
		return err
	}
	for _, make := range []func() error{
		func() error {
			s.results, err = js.CreateOrUpdateStream(ctx, s.stream("results", jetstream.LimitsPolicy))
			return err
		},
		func() error { return bucket(&s.targets, "targets", 0, jetstream.FileStorage) },
		func() error { return bucket(&s.findings, "findings", 0, jetstream.FileStorage) },
		func() error { return bucket(&s.workers, "workers", workerStays, jetstream.MemoryStorage) },
		func() error { return bucket(&s.meta, "meta", 0, jetstream.FileStorage) },
		func() error {
			s.objects, err = js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: prefix + "-objects", Replicas: replicas})
			return err
		},
	} {
		err := make()
		for range openingTries {
			// A cluster that is electing a leader, or is busy, does not answer in the time that the library waits.
			if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
				break
			}
			err = make()
		}
		if err != nil {
			return nil, fmt.Errorf("opening the store of the campaign: %w", err)
		}
	}
	return s, nil
}

// stream is the configuration of a stream.
func (s *Store) stream(name string, how jetstream.RetentionPolicy) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: s.Prefix + "-" + name, Subjects: []string{s.Prefix + "." + name + ".>"}, Retention: how, Replicas: s.replicas,
		Duplicates: duplicates, AllowDirect: true,
	}
}

// renewWork makes the queue of work anew for a coordinator that starts: what is still to be done of
// the leases of another one is leased again. Numbers go on, so that the acknowledgement of an earlier
// lease is never taken for that of a later one.
func (s *Store) renewWork(ctx context.Context) error {
	err := s.js.DeleteStream(ctx, s.Prefix+"-work")
	if err == nil || errors.Is(err, jetstream.ErrStreamNotFound) {
		config := s.stream("work", jetstream.WorkQueuePolicy)
		config.FirstSeq = uint64(time.Now().UnixMicro())
		s.work, err = s.js.CreateStream(ctx, config)
	}
	if err != nil {
		return fmt.Errorf("making the queue of work: %w", err)
	}
	for _, home := range []bool{false, true} {
		if _, err := s.leases(ctx, home); err != nil {
			return err
		}
	}
	return nil
}

// JoinStore opens what a coordinator keeps under a prefix, for a worker.
func JoinStore(ctx context.Context, nc *nats.Conn, prefix string) (*Store, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("joining the campaign: %w", err)
	}
	s := &Store{Prefix: prefix, nc: nc, js: js}
	s.workers, err = js.KeyValue(ctx, prefix+"-workers")
	if err == nil {
		s.objects, err = js.ObjectStore(ctx, prefix+"-objects")
	}
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrBucketNotFound):
		return nil, fmt.Errorf("joining the campaign: there is none with the prefix %q: start cofferdam campaign first", prefix)
	case err != nil:
		return nil, fmt.Errorf("joining the campaign: %w", err)
	}
	return s, nil
}

// leases are where a worker gets its work: from those for any worker, or those that are for the
// coordinator's machine.
func (s *Store) leases(ctx context.Context, home bool) (jetstream.Consumer, error) {
	name := s.workPlace(home)
	c, err := s.js.CreateOrUpdateConsumer(ctx, s.Prefix+"-work", jetstream.ConsumerConfig{
		Durable: name, FilterSubject: s.Prefix + ".work." + name, AckPolicy: jetstream.AckExplicitPolicy, AckWait: leaseWait,
		MaxDeliver: -1, MaxAckPending: -1,
	})
	if err != nil {
		return nil, fmt.Errorf("asking for work: %w", err)
	}
	return c, nil
}

func (*Store) workPlace(home bool) string {
	if home {
		return "home"
	}
	return "any"
}

// An entry is a value of a bucket, and which version of it.
type entry struct {
	key      string
	value    []byte
	revision uint64
}

// all are the entries of a bucket.
func all(ctx context.Context, kv jetstream.KeyValue) ([]entry, error) {
	w, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", kv.Bucket(), err)
	}
	defer func() { _ = w.Stop() }() // it ends with the connection at the latest
	var entries []entry
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return nil, fmt.Errorf("reading %s: the connection was lost", kv.Bucket())
			}
			if e == nil { // that was all
				return entries, nil
			}
			entries = append(entries, entry{e.Key(), e.Value(), e.Revision()})
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// unsteadyFor is how long a server is waited for that does not answer: a cluster that has lost a node
// elects others in its place meanwhile.
const unsteadyFor = 2 * time.Minute

// steady does something with the server, again if it could not be asked.
func steady(ctx context.Context, do func() error) error {
	for begin := time.Now(); ; wait(ctx, reconnectWait) {
		err := do()
		switch {
		case err == nil || !unsteady(err) || time.Since(begin) > unsteadyFor:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
}

// unsteady reports whether an error says that the server could not be asked, or has no leader.
func unsteady(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.Code == 503 || api.Code == 408
	}
	for _, one := range []error{nats.ErrTimeout, nats.ErrNoResponders, jetstream.ErrNoStreamResponse, nats.ErrConnectionClosed, nats.ErrConnectionReconnecting, nats.ErrDisconnected, nats.ErrReconnectBufExceeded, context.DeadlineExceeded} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// put writes a value in place of the version that is known, 0 for none, and returns the new version.
// If another one is there, it was this very write, whose answer was lost, or another coordinator.
func put(ctx context.Context, kv jetstream.KeyValue, key string, value any, revision uint64) (uint64, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return 0, fmt.Errorf("writing %s to %s: %w", key, kv.Bucket(), err)
	}
	var next uint64
	err = steady(ctx, func() (err error) {
		if revision == 0 {
			next, err = kv.Create(ctx, key, text)
		} else {
			next, err = kv.Update(ctx, key, text, revision)
		}
		if err == nil {
			return nil
		}
		is, getErr := kv.Get(ctx, key)
		if getErr != nil {
			return errors.Join(err, getErr)
		}
		if string(is.Value()) != string(text) {
			return err
		}
		next = is.Revision()
		return nil
	})
	if err == nil {
		return next, nil
	}
	return 0, fmt.Errorf("writing %s to %s: %w", key, kv.Bucket(), err)
}
