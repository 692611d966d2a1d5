package isolator

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// What goes on beside accesses that wait: the times of these, with and without such accesses,
// are costs with the number of careless goroutines in place of guards.
const (
	costSleepingSection = "a section that sleeps for 2 ms"
	costTimer           = "a timer of 1 ms"

	waitingProcessors = 2
	waitingCareless   = 8
)

// waitingSteps is the length of the progress of the figure.
const waitingSteps = 40

// figureWaiting measures how long sections and timers take while more accesses wait for
// sections than goroutines can run.
func (s *session) figureWaiting() error {
	if s.Report.Machine.Backend == noBackend {
		s.Note("waiting: nothing is protected here: %s", s.Report.Machine.Reason)
		return nil
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(waitingProcessors))
	rounds, each := s.runs, 300*time.Millisecond
	if s.quick {
		each = 100 * time.Millisecond
	}
	var sections, timers [2][]float64 // without, and with, taking turns
	for range rounds {
		for i, careless := range []int{0, waitingCareless} {
			a, b := besideWaiting(careless, each)
			sections[i], timers[i] = append(sections[i], a...), append(timers[i], b...)
		}
		s.Progress.Done(waitingSteps / rounds)
		if err := s.Context.Err(); err != nil {
			return err
		}
	}
	for i, careless := range []int{0, waitingCareless} {
		for _, c := range []measure.Cost{measure.NewCost(costSleepingSection, "ms", sections[i]), measure.NewCost(costTimer, "ms", timers[i])} {
			c.Guards, c.Backend = careless, s.Report.Machine.Backend
			s.Report.Costs = append(s.Report.Costs, c)
		}
	}
	s.Progress.Clear()
	s.printWaiting()
	return nil
}

// besideWaiting runs sections, and timers beside them, while careless goroutines use the
// data of the sections all the time. Times are in milliseconds.
func besideWaiting(careless int, each time.Duration) (sections, timers []float64) {
	type counter struct{ n int64 }
	var mu isolate.Mutex
	defer mu.Close()
	c := isolate.New[counter](&mu)
	var ended atomic.Bool
	var beside sync.WaitGroup
	for range careless {
		beside.Go(func() {
			for !ended.Load() {
				atomic.AddInt64(&c.n, 1)
				time.Sleep(100 * time.Microsecond)
			}
		})
	}
	beside.Go(func() {
		for !ended.Load() {
			timers = append(timers, milliseconds(func() { time.Sleep(time.Millisecond) }))
		}
	})
	for start := time.Now(); time.Since(start) < each; {
		sections = append(sections, milliseconds(func() {
			mu.Lock()
			time.Sleep(2 * time.Millisecond)
			isolate.Own(&mu, c).n++
			mu.Unlock()
		}))
	}
	ended.Store(true)
	beside.Wait()
	return sections, timers
}

func milliseconds(f func()) float64 {
	start := time.Now()
	f()
	return time.Since(start).Seconds() * 1e3
}

func (s *session) printWaiting() {
	fmt.Fprintf(s.Out, "\nWhat goes on while accesses wait: %d careless goroutines on %d processors use the data of the sections\n"+
		"all the time. Milliseconds, median and 99th percentile.\n\n", waitingCareless, waitingProcessors)
	t := measure.Table{Head: []string{"", "none careless", "p99", fmt.Sprintf("%d careless", waitingCareless), "p99"}, Left: 1}
	for _, name := range []string{costSleepingSection, costTimer} {
		row := []any{name}
		for _, c := range s.waitingCosts(name) {
			row = append(row, fmt.Sprintf("%.2f", c.Median), fmt.Sprintf("%.2f", c.P99))
		}
		t.Row(row...)
	}
	t.Write(s.Out)
}

// waitingCosts are those with the name, the one without careless goroutines first.
func (s *session) waitingCosts(name string) []measure.Cost {
	costs := slices.DeleteFunc(slices.Clone(s.Report.Costs), func(c measure.Cost) bool { return c.Name != name })
	slices.SortFunc(costs, func(a, b measure.Cost) int { return a.Guards - b.Guards })
	return costs
}

// targetsWaiting compares medians: a machine that does other things, too, has the rest.
func (s *session) targetsWaiting() []measure.Target {
	var ts []measure.Target
	for _, name := range []string{costSleepingSection, costTimer} {
		if c := s.waitingCosts(name); len(c) == 2 {
			more := (c[1].Median/c[0].Median - 1) * 100
			ts = append(ts, measure.Target{Name: name + ", beside accesses that wait", Unit: "%", Limit: limitWaiting,
				Measured: more, Low: more, High: more, Where: fmt.Sprintf("medians of %d and %d", c[0].Samples, c[1].Samples)}.Judge())
		}
	}
	return ts
}
