// Package campaigns measures what it costs to coordinate a campaign: for each lease, with simulated
// workers up to where one coordinator is saturated, and on a real test with one and two workers.
//
//	campaigns.go  the benchmark, and the real test
//	simulate.go   simulated workers
package campaigns

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/internal/campaign"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// Benchmark is "campaign".
var Benchmark = &command.Benchmark{
	Name:  "campaign",
	About: "what a lease costs, how many workers saturate a coordinator, and two workers beside one",
	Usage: "[-for 3s] [-lease 250ms] [-workers 10000] [-rounds 3] ",
	Help: `Measures the coordination of a campaign against the real server, in this process. A real
test is explored with one worker and with two, in turns. Simulated workers take -lease for
each lease and do nothing in it: first one that takes no time, for the cost of a lease, then
10 to -workers of them, until leases are handed out slower than they would be done. What
other programs took of the processors meanwhile is told. It takes about two minutes.`,
	Quick: "up to 100 workers, for a second each",
	New: func(fl *flag.FlagSet) command.Measurement {
		m := &measurement{}
		fl.DurationVar(&m.each, "for", 3*time.Second, "how long to measure each")
		fl.DurationVar(&m.lease, "lease", 250*time.Millisecond, "how long a simulated worker takes for a lease")
		fl.IntVar(&m.workers, "workers", 10_000, "simulate up to so many workers")
		fl.IntVar(&m.rounds, "rounds", 3, "how often to measure what is compared")
		return m
	},
}

type measurement struct {
	each, lease     time.Duration
	workers, rounds int
}

func (m *measurement) Check(quick bool) error {
	if quick {
		m.each, m.workers = min(m.each, time.Second), min(m.workers, 100)
	}
	return errors.Join(command.SomeTime("for", m.each), command.SomeTime("lease", m.lease), command.AtLeastOne("workers", m.workers), command.AtLeastOne("rounds", m.rounds))
}

// A row is one number of simulated workers.
type row struct {
	Workers   int     `json:"workers"`
	PerSecond float64 `json:"leasesPerSecond"`
	// Part is which part of the leases are done that the workers could do.
	Part float64 `json:"part"`
	// Processor is what a lease takes of the processors, in microseconds, with the simulated worker's
	// part; Others what other programs took of them meanwhile, in percent.
	Processor float64 `json:"processor"`
	Others    float64 `json:"others"`
}

type report struct {
	// One and Two are the schedules a second of one worker and of two, and Scaling their ratios, by
	// rounds.
	One     []float64 `json:"one"`
	Two     []float64 `json:"two"`
	Scaling []float64 `json:"scaling"`
	// LeaseCost is from the sending of a lease to its result being merged, in microseconds, by rounds.
	LeaseCost []float64 `json:"leaseCost"`
	Simulated []row     `json:"simulated"`
	// Saturated is the first number of workers at which a tenth of their time is lost; 0 if there is
	// none.
	Saturated int `json:"saturated"`
	// Others is what other programs took of the processors, in percent.
	Others float64 `json:"others"`
}

func (m *measurement) Measure(s *command.Session) (any, error) {
	r, load := &report{}, measure.StartLoad()
	for _, part := range []func(*command.Session, *report) error{m.scale, m.leaseCost, m.saturation} {
		err := part(s, r)
		r.Others = load.Others()
		if err != nil || s.Context.Err() != nil {
			return r, err
		}
	}
	fmt.Fprintf(s.Out, "\nother programs used %.0f%% of the processors meanwhile\n", r.Others)
	if load.Disturbed() {
		fmt.Fprintln(s.Out, "that is enough to matter: measure again on a quiet machine")
	}
	return r, nil
}

// spread is the median of some figures, with the least and the greatest.
func spread(all []float64, form string) string {
	return fmt.Sprintf(form+" ("+form+" to "+form+")", measure.Median(all), slices.Min(all), slices.Max(all))
}

// leaseCost measures a worker that takes no time.
func (m *measurement) leaseCost(s *command.Session, r *report) error {
	var processor []float64
	for round := range m.rounds {
		got, err := simulate(s, load{workers: 1, measure: m.each}, fmt.Sprint("alone-", round))
		if err != nil {
			return err
		}
		leases := float64(max(got.leases, 1))
		r.LeaseCost = append(r.LeaseCost, float64(got.took.Microseconds())/leases)
		processor = append(processor, float64(got.cpu.Microseconds())/leases)
	}
	fmt.Fprintf(s.Out, "\na lease costs %s us, from its sending to its result being merged, and %s us of processor time\n", spread(r.LeaseCost, "%.0f"), spread(processor, "%.0f"))
	fmt.Fprintf(s.Out, "of a lease of %v that is %.2f%%\n", m.lease, measure.Median(r.LeaseCost)/10/float64(m.lease.Milliseconds()))
	return nil
}

// saturation measures more and more workers.
func (m *measurement) saturation(s *command.Session, r *report) error {
	fmt.Fprintf(s.Out, "\n%8s %10s %22s %18s %8s\n", "workers", "leases/s", "of what they could do", "us of processors", "others")
	for n := 10; n <= m.workers; n *= 10 {
		for _, workers := range []int{n, 3 * n} {
			if workers > m.workers || s.Context.Err() != nil {
				continue
			}
			begun := measure.StartLoad()
			got, err := simulate(s, load{workers: workers, leaseFor: m.lease, measure: m.each}, fmt.Sprint("workers-", workers))
			if err != nil {
				return err
			}
			one := row{Workers: workers, PerSecond: float64(got.leases) / got.took.Seconds(), Others: begun.Others()}
			one.Part = one.PerSecond / (float64(workers) / m.lease.Seconds())
			one.Processor = float64(got.cpu.Microseconds()) / float64(max(got.leases, 1))
			r.Simulated = append(r.Simulated, one)
			fmt.Fprintf(s.Out, "%8d %10.0f %21.0f%% %18.0f %7.0f%%\n", one.Workers, one.PerSecond, 100*one.Part, one.Processor, one.Others)
			if one.Part < 0.9 && r.Saturated == 0 {
				r.Saturated = workers
			}
		}
	}
	m.conclude(s, r)
	return nil
}

// conclude says at how many workers the coordinator is saturated, by what was measured, and by what a
// lease takes of the processors where most were done.
func (m *measurement) conclude(s *command.Session, r *report) {
	if len(r.Simulated) == 0 {
		return
	}
	best := slices.MaxFunc(r.Simulated, func(a, b row) int { return int(a.PerSecond - b.PerSecond) })
	fmt.Fprintf(s.Out, "at most %.0f leases/s; at %.0f us of processor time each, %d processors would do %.0f\n", best.PerSecond, best.Processor, runtime.NumCPU(), float64(runtime.NumCPU())*1e6/max(best.Processor, 1))
	fmt.Fprintf(s.Out, "so a coordinator, its server and the simulated workers on this machine keep %.0f workers busy with leases of %v\n", best.PerSecond*m.lease.Seconds(), m.lease)
	if r.Saturated == 0 {
		fmt.Fprintf(s.Out, "none of these numbers of workers loses a tenth of its time\n")
		return
	}
	fmt.Fprintf(s.Out, "%d workers lose a tenth of their time or more\n", r.Saturated)
}

// scale explores a real test with one worker and with two, in turns.
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
	begun := measure.StartLoad()
	for round := range m.rounds {
		var rates [2]float64
		for i := range rates {
			if rates[i], err = m.explore(s.Context, s.Temp(fmt.Sprint("campaign-", round, "-", i)), targets, i+1); err != nil {
				return err
			}
		}
		r.One, r.Two, r.Scaling = append(r.One, rates[0]), append(r.Two, rates[1]), append(r.Scaling, rates[1]/max(rates[0], 1))
	}
	verdict := "target 1.8 met"
	switch {
	case begun.Disturbed():
		verdict = "target 1.8 is not judged on a machine that is so busy"
	case measure.Median(r.Scaling) < 1.8:
		verdict = "target 1.8 missed"
	}
	fmt.Fprintf(s.Out, "one worker: %s schedules/s\ntwo workers: %s schedules/s\n", spread(r.One, "%.0f"), spread(r.Two, "%.0f"))
	fmt.Fprintf(s.Out, "two workers do %s times what one does, on %d processors of which other programs used %.0f%%: %s\n", spread(r.Scaling, "%.2f"), runtime.NumCPU(), begun.Others(), verdict)
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
		Budget: 2 * m.each, Slots: slots,
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
