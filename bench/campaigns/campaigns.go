// Package campaigns measures what it costs to coordinate a campaign: for each lease, with simulated
// workers up to where one coordinator is saturated, and on a real test with one and two workers.
package campaigns

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/campaign"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// Benchmark is "campaign".
var Benchmark = &command.Benchmark{
	Name:  "campaign",
	About: "what a lease costs, how many workers saturate a coordinator, and two workers beside one",
	Usage: "[-for 5s] [-lease 250ms] [-workers 10000] ",
	Help: `Measures the coordination of a campaign against the real server, in this process. Simulated
workers take -lease for each lease and do nothing in it: first one that takes no time, for
the cost of a lease, then 10 to -workers of them, until leases are handed out slower than
they would be done. Last, a real test is explored with one worker and with two.`,
	Quick: "up to 100 workers, for a second each",
	New: func(fl *flag.FlagSet) command.Measurement {
		m := &measurement{}
		fl.DurationVar(&m.each, "for", 5*time.Second, "how long to measure each")
		fl.DurationVar(&m.lease, "lease", 250*time.Millisecond, "how long a simulated worker takes for a lease")
		fl.IntVar(&m.workers, "workers", 10_000, "simulate up to so many workers")
		return m
	},
}

type measurement struct {
	each, lease time.Duration
	workers     int
}

func (m *measurement) Check(quick bool) error {
	if quick {
		m.each, m.workers = min(m.each, time.Second), min(m.workers, 100)
	}
	return errors.Join(command.SomeTime("for", m.each), command.SomeTime("lease", m.lease), command.AtLeastOne("workers", m.workers))
}

// A row is one number of simulated workers.
type row struct {
	Workers   int     `json:"workers"`
	PerSecond float64 `json:"leasesPerSecond"`
	// Part is which part of the leases are done that the workers could do.
	Part float64 `json:"part"`
}

type report struct {
	LeaseCost time.Duration `json:"leaseCostNanoseconds"`
	Simulated []row         `json:"simulated"`
	// Saturated is the number of workers at which a tenth of their time is lost; 0 if there is none.
	Saturated int     `json:"saturated"`
	One, Two  float64 `json:"-"`
	Scaling   float64 `json:"scaling"`
}

func (m *measurement) Measure(s *command.Session) (any, error) {
	r := &report{}
	alone, err := m.simulate(s, campaign.Load{Workers: 1, For: m.each})
	if err != nil {
		return nil, err
	}
	r.LeaseCost = alone.Took / time.Duration(max(alone.Leases, 1))
	fmt.Fprintf(s.Out, "a lease costs %v, from its sending to its result being merged (%d leases in %.1fs)\n\n", r.LeaseCost.Round(time.Microsecond), alone.Leases, alone.Took.Seconds())
	fmt.Fprintf(s.Out, "%8s %12s %s\n", "workers", "leases/s", "of what they could do")
	for n := 10; n <= m.workers && s.Context.Err() == nil; n *= 10 {
		for _, workers := range []int{n, 3 * n} {
			if workers > m.workers {
				continue
			}
			got, err := m.simulate(s, campaign.Load{Workers: workers, LeaseFor: m.lease, For: m.each})
			if err != nil {
				return r, err
			}
			one := row{Workers: workers, PerSecond: float64(got.Leases) / got.Took.Seconds()}
			one.Part = one.PerSecond / (float64(workers) / m.lease.Seconds())
			r.Simulated = append(r.Simulated, one)
			fmt.Fprintf(s.Out, "%8d %12.0f %.0f%%\n", one.Workers, one.PerSecond, 100*one.Part)
			if one.Part < 0.9 && r.Saturated == 0 {
				r.Saturated = workers
			}
		}
	}
	switch {
	case r.Saturated > 0:
		fmt.Fprintf(s.Out, "a coordinator, its server and the simulated workers on this machine are saturated at %d workers or fewer\n", r.Saturated)
	default:
		fmt.Fprintf(s.Out, "no number of workers saturates the coordinator\n")
	}
	return r, m.scale(s, r)
}

// simulate measures a load against a server of its own.
func (m *measurement) simulate(s *command.Session, l campaign.Load) (*campaign.Throughput, error) {
	path := s.Temp(fmt.Sprint("state-", l.Workers, "-", l.LeaseFor))
	dir, err := campaign.OpenDir(path)
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
	connect := func() (*campaign.Store, error) {
		nc, err := (&campaign.Connection{Server: server}).Connect(s.Context)
		if err != nil {
			return nil, err
		}
		return campaign.JoinStore(s.Context, nc, campaign.LocalPrefix)
	}
	return campaign.Measure(s.Context, store, connect, l)
}

// scale explores a real test with one worker and with two.
func (m *measurement) scale(s *command.Session, r *report) error {
	source := s.Temp("source")
	if err := os.MkdirAll(source, 0o777); err != nil {
		return err
	}
	for name, text := range map[string]string{"go.mod": "module example.com/queue\n\ngo 1.26\n", "queue_test.go": program} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	build, err := explore.New(s.Context, instrument.Config{Dir: source, Patterns: []string{"."}, Tests: true})
	if err != nil {
		return err
	}
	defer build.Close()
	targets, _, err := build.Targets(s.Context)
	if err != nil {
		return err
	}
	for _, slots := range []int{1, 2} {
		rate, err := m.explore(s.Context, s.Temp(fmt.Sprint("campaign-", slots)), targets, slots)
		if err != nil {
			return err
		}
		if r.One == 0 {
			r.One = rate
		} else {
			r.Two = rate
		}
		fmt.Fprintf(s.Out, "\n%d of its own workers: %.0f schedules/s", slots, rate)
	}
	r.Scaling = r.Two / max(r.One, 1)
	verdict := "target 1.8 met"
	if r.Scaling < 1.8 {
		verdict = "target 1.8 missed"
	}
	fmt.Fprintf(s.Out, "\ntwo workers do %.2f times what one does: %s\n", r.Scaling, verdict)
	return nil
}

// explore runs a campaign, and returns how many schedules it tries in a second.
func (m *measurement) explore(ctx context.Context, path string, targets []explore.Target, slots int) (float64, error) {
	dir, err := campaign.OpenDir(path)
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	server, store, err := campaign.OpenLocal(ctx, dir, 0, campaign.Listening{}, func(string) {})
	if err != nil {
		return 0, err
	}
	defer server.Close()
	defer store.Close()
	report, err := campaign.Run(ctx, dir, store, targets, &campaign.Options{
		Search: campaign.SearchOptions{Strategy: sched.MethodPCT, Seed: 1, Steps: explore.DefaultSteps, Within: explore.DefaultWithin, Stall: explore.DefaultStall, Races: true},
		Budget: 3 * m.each, Slots: slots,
	})
	if err != nil {
		return 0, err
	}
	return float64(report.Runs) / report.Updated.Sub(report.Started).Seconds(), nil
}

// program has more schedules than can be tried, and no bug.
const program = `package queue

import (
	"sync"
	"testing"
)

func work(t *testing.T) {
	c := make(chan int, 3)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 3 {
				c <- i * j
			}
		})
	}
	go func() { wg.Wait(); close(c) }()
	n := 0
	for range c {
		n++
	}
	if n != 12 {
		t.Fatal(n)
	}
}

func TestOne(t *testing.T) { work(t) }
func TestTwo(t *testing.T) { work(t) }
`
