package campaign

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A Load is what coordination was measured with: workers that take so long for each lease, and do
// nothing in it.
type Load struct {
	Workers  int
	LeaseFor time.Duration
	For      time.Duration // how long to measure
}

// A Throughput is what came of it.
type Throughput struct {
	Leases int
	Took   time.Duration
}

// Measure has simulated workers do leases against the server of a store, as fast as one coordinator
// hands them out: for benchmarks of everything but the programs.
func Measure(ctx context.Context, s *Store, connect func() (*Store, error), l Load) (*Throughput, error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	public, err := key.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	d, err := startDispatcher(ctx, s, key, map[string]string{"measured": "1"})
	if err != nil {
		return nil, err
	}
	defer d.close()
	working, stop := context.WithCancel(ctx)
	defer stop()
	var over sync.WaitGroup
	defer over.Wait()
	defer stop()
	// A machine has one connection, and some workers on it.
	const perMachine = 50
	for left := l.Workers; left > 0; left -= perMachine {
		joined, err := connect()
		if err != nil {
			return nil, err
		}
		defer joined.Close()
		w := NewWorker(joined, WorkerOptions{Name: fmt.Sprint("simulated-", left), Trusted: []string{public}, Slots: min(left, perMachine), Do: func(ctx context.Context, ls *Lease, r *Result) error {
			wait(ctx, l.LeaseFor)
			r.Done = &explore.UnitsDone{Units: []wire.UnitDone{{UnitDone: sched.UnitDone{Runs: 1}}}}
			return nil
		}})
		over.Go(func() { _ = w.Run(working) }) // the leases that are done are what is measured
	}
	return d.saturate(working, l), nil
}

// saturate keeps all workers busy, and counts.
func (d *dispatcher) saturate(ctx context.Context, l Load) *Throughput {
	var next, done atomic.Int64
	// Every worker has had a lease before the measuring begins.
	warm := int64(l.Workers)
	begun, all := make(chan struct{}), sync.WaitGroup{}
	begin := sync.OnceFunc(func() { close(begun) })
	limited, stop := context.WithCancel(ctx)
	defer stop()
	for range l.Workers + l.Workers/4 + 1 {
		all.Go(func() {
			for limited.Err() == nil {
				e := &explore.Errand{Units: []sched.Unit{{Method: sched.MethodRandom, From: uint64(next.Add(1)), Runs: 1}}}
				if _, err := d.explore(limited, Lease{Target: "measured", Build: "1"}, e); err != nil {
					return
				}
				if done.Add(1) >= warm {
					begin()
				}
			}
		})
	}
	select {
	case <-begun:
	case <-ctx.Done():
	}
	before, at := done.Load(), time.Now()
	wait(ctx, l.For)
	out := &Throughput{Leases: int(done.Load() - before), Took: time.Since(at)}
	stop()
	all.Wait()
	return out
}
