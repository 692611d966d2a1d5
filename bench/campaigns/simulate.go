package campaigns

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/campaign"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A load is workers that take so long for each lease, and do nothing in it.
type load struct {
	workers  int
	leaseFor time.Duration
	measure  time.Duration // how long
}

// A throughput is what came of it.
type throughput struct {
	leases    int
	took, cpu time.Duration
}

// perMachine is how many simulated workers share a connection, as those of a machine do.
const perMachine = 50

// simulate has simulated workers do leases against a server of their own, as fast as one coordinator
// hands them out: everything is real but the programs.
func simulate(s *command.Session, l load, name string) (*throughput, error) {
	dir, err := campaign.OpenDir(s.Temp(name))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	server, store, err := campaign.OpenLocal(s.Context, dir, 0, campaign.Listening{}, func(string) {})
	if err != nil {
		return nil, err
	}
	defer server.Close()
	defer store.Close()
	public, err := dir.Key.PublicKey()
	if err != nil {
		return nil, err
	}
	d, err := campaign.StartDispatcher(s.Context, store, dir.Key, map[string]string{simulated.Target: simulated.Build})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	working, stop := context.WithCancel(s.Context)
	var over sync.WaitGroup
	defer over.Wait()
	defer stop()
	for left := l.workers; left > 0; left -= perMachine {
		nc, err := (&campaign.Connection{Server: server}).Connect(s.Context)
		if err != nil {
			return nil, err
		}
		defer nc.Close()
		joined, err := campaign.JoinStore(s.Context, nc, campaign.LocalPrefix)
		if err != nil {
			return nil, err
		}
		w := campaign.NewWorker(joined, campaign.WorkerOptions{Name: fmt.Sprint("simulated-", left), Trusted: []string{public}, Slots: min(left, perMachine), Do: l.lease})
		over.Go(func() { _ = w.Run(working) }) // the leases that are done are what is measured
	}
	return l.saturate(working, d), nil
}

// simulated is what all leases have in common.
var simulated = campaign.Lease{Target: "simulated", Build: "1"}

// lease does a lease.
func (l *load) lease(ctx context.Context, _ *campaign.Lease, r *campaign.Result) error {
	if l.leaseFor > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(l.leaseFor):
		}
	}
	r.Done = &explore.UnitsDone{Units: []wire.UnitDone{{UnitDone: sched.UnitDone{Runs: 1}}}}
	return nil
}

// saturate keeps all workers busy, and counts once as many leases were done as there are workers.
func (l *load) saturate(ctx context.Context, d *campaign.Dispatcher) *throughput {
	var next, done atomic.Int64
	begun, all := make(chan struct{}), sync.WaitGroup{}
	begin := sync.OnceFunc(func() { close(begun) })
	limited, stop := context.WithCancel(ctx)
	defer stop()
	for range l.workers + l.workers/4 + 1 {
		all.Go(func() {
			for limited.Err() == nil {
				e := &explore.Errand{Units: []sched.Unit{{Method: sched.MethodRandom, From: uint64(next.Add(1)), Runs: 1}}}
				if _, err := d.Explore(limited, simulated, e); err != nil {
					return
				}
				if done.Add(1) >= int64(l.workers) {
					begin()
				}
			}
		})
	}
	select {
	case <-begun:
	case <-ctx.Done():
	case <-time.After(longestWarmUp): // saturated: what is done by now is all that is done
	}
	before, at, used := done.Load(), time.Now(), processorTime()
	select {
	case <-ctx.Done():
	case <-time.After(l.measure):
	}
	out := &throughput{leases: int(done.Load() - before), took: time.Since(at), cpu: processorTime() - used}
	stop()
	all.Wait()
	return out
}

// longestWarmUp is how long is waited for every worker to have had a lease.
const longestWarmUp = 10 * time.Second

// processorTime is what this process has taken so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0 // where that is not to be found out, nothing is derived from it
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
