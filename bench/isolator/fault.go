package isolator

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// What protection itself costs, of one guard with one page.

const (
	costFault = "fault" // a careless access to a sealed page, nobody in a section, until it has proceeded
	costSeal  = "seal"  // the Lock after it

	costPages = "pages of a guard"
	costRSS   = "resident memory of a guard"
	costTable = "page tables of a guard"
)

// The variable that chooses a backend, the one to fall back to, and none; see
// package isolate.
const (
	backendVariable = "COFFERDAM_ISOLATE"
	fallback        = "mprotect"
	noBackend       = "none"
)

// guardCounts are how many guards exist while one is measured.
var guardCounts = []int{1, 100, 10_000}

// faultSteps is the length of the progress of one backend.
const faultSteps = 120

func (s *session) figureFault() error {
	if s.Report.Machine.Backend == noBackend {
		s.Note("fault: nothing is protected here: %s", s.Report.Machine.Reason)
		return nil
	}
	costs, err := faultCosts(s.quick, func() error { s.Progress.Done(faultSteps / 6); return s.Context.Err() })
	s.Report.Costs = append(s.Report.Costs, costs...)
	if err == nil {
		err = s.otherBackend()
	}
	s.Progress.Clear()
	s.printFault()
	return err
}

// otherBackend measures the fallback in a child, because a process has but one.
func (s *session) otherBackend() error {
	if os.Getenv(backendVariable) != "" || s.Report.Machine.Backend == fallback {
		return nil // it was asked for, or the fallback is what was measured
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s.Progress.Show("figure fault: with %s", fallback)
	w, err := startWorker(self, backendVariable+"="+fallback)
	if err != nil {
		return err
	}
	defer w.Stop()
	others, err := w.ask(request{Do: costs, Quick: s.quick})
	if err != nil {
		s.Note("backend %s: %v", fallback, err)
		return s.Context.Err()
	}
	s.Report.Costs = append(s.Report.Costs, others...)
	s.Progress.Done(faultSteps)
	return s.Context.Err()
}

// faultCosts measures in this process. It calls step after each part, and stops
// if that returns an error.
func faultCosts(quick bool, step func() error) ([]measure.Cost, error) {
	samples := 4000
	if quick {
		samples = 1000
	}
	backend := isolate.CurrentStatus().Backend
	var costs []measure.Cost
	for _, n := range guardCounts {
		others, memory := crowd(n - 1)
		if n == guardCounts[len(guardCounts)-1] {
			costs = append(costs, memory...)
		}
		for _, busy := range []bool{false, true} {
			faults, seals := faultTimes(samples, busy)
			for _, c := range []measure.Cost{measure.NewCost(costFault, "µs", faults), measure.NewCost(costSeal, "µs", seals)} {
				if c.Samples == 0 {
					continue // the other thread never ran beside this one
				}
				c.Guards, c.Busy = n, busy
				costs = append(costs, c)
			}
			if err := step(); err != nil {
				disperse(others)
				return nil, err
			}
		}
		disperse(others)
	}
	for i := range costs {
		costs[i].Backend = backend
	}
	return costs, nil
}

// faultTimes makes a guard and lets it be sealed and opened in turn. Times are in
// microseconds, and contain a reading of the clock each, some 0.05. If another
// thread is to be busy, only those count that began while it was: on a machine
// that is used by others it may stand still.
func faultTimes(samples int, busy bool) (faults, seals []float64) {
	var other spinner
	beside := func() bool { return true }
	if busy {
		other.start()
		defer other.stop()
		beside = other.running
	}
	var mu isolate.Mutex
	defer mu.Close()
	shared := isolate.New[cell](&mu)
	const warmUp = 100
	for i := range 2*samples + warmUp {
		counts := beside()
		start := time.Now()
		mu.Lock()
		locked := time.Now()
		mu.Unlock()
		if counts && i >= warmUp {
			seals = append(seals, locked.Sub(start).Seconds()*1e6)
		}
		counts = beside()
		start = time.Now()
		touch(shared)
		if counts && i >= warmUp {
			faults = append(faults, time.Since(start).Seconds()*1e6)
		}
		if min(len(faults), len(seals)) >= samples {
			break
		}
	}
	return faults, seals
}

//go:noinline
func touch(c *cell) { c.n++ }

// A spinner occupies another thread of the process. That is what protecting a
// page costs most with: the other processor may have the page in its translation
// cache, and has to be interrupted.
type spinner struct {
	turns atomic.Uint64
	done  atomic.Bool
	ended chan struct{}
}

func (s *spinner) start() {
	s.ended = make(chan struct{})
	go func() {
		defer close(s.ended)
		for !s.done.Load() {
			s.turns.Add(1)
		}
	}()
	for s.turns.Load() == 0 {
		runtime.Gosched()
	}
}

// running reports whether the other thread runs at this moment, on another
// processor than this one: its turns go on while this thread looks.
func (s *spinner) running() bool {
	turns := s.turns.Load()
	for range 100 {
		if s.turns.Load() != turns {
			return true
		}
	}
	return false
}

func (s *spinner) stop() {
	s.done.Store(true)
	<-s.ended
}

// crowd makes guards with one object each, all of them sealed once and left open:
// that is where a backend which has to cut mappings has most of them. It returns
// what they take.
func crowd(n int) ([]*isolate.Mutex, []measure.Cost) {
	const status = "/proc/self/status"
	runtime.GC()
	bytes, rss, tables := isolate.ReadStats().Bytes, procKiB(status, "VmRSS"), procKiB(status, "VmPTE")
	guards := make([]*isolate.Mutex, n)
	objects := make([]*cell, n)
	for i := range guards {
		guards[i] = new(isolate.Mutex)
		objects[i] = isolate.New[cell](guards[i])
		guards[i].Lock()
		isolate.Own(guards[i], objects[i]).n = 1
		guards[i].Unlock()
	}
	runtime.GC()
	per := func(name string, grown float64) measure.Cost {
		return measure.Cost{Name: name, Unit: "bytes", Guards: n + 1, Median: grown / float64(max(n, 1)), Samples: n}
	}
	memory := []measure.Cost{
		per(costPages, float64(isolate.ReadStats().Bytes-bytes)),
		per(costRSS, procKiB(status, "VmRSS")-rss),
		per(costTable, procKiB(status, "VmPTE")-tables),
	}
	for _, o := range objects {
		touch(o)
	}
	return guards, memory
}

func disperse(guards []*isolate.Mutex) {
	for _, mu := range guards {
		mu.Close()
	}
}

func (s *session) printFault() {
	var times, memory []measure.Cost
	for _, c := range s.Report.Costs {
		switch c.Unit {
		case "µs":
			times = append(times, c)
		case "bytes":
			memory = append(memory, c)
		}
	}
	if len(times) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\nWhat protection costs, of a guard with one page: a fault is a careless access to a sealed page, nobody\n"+
		"being in a section, until it has proceeded; a seal is the Lock after it. Microseconds, median and 99th\n"+
		"percentile; busy: another thread of the process is running.\n\n")
	t := measure.Table{Head: []string{"backend", "", "guards", "alone", "p99", "busy", "p99"}, Left: 2}
	for _, c := range times {
		if c.Busy {
			continue
		}
		row := []any{c.Backend, c.Name, c.Guards, fmt.Sprintf("%.2f", c.Median), fmt.Sprintf("%.2f", c.P99)}
		for _, b := range times {
			if b.Busy && b.Name == c.Name && b.Backend == c.Backend && b.Guards == c.Guards {
				row = append(row, fmt.Sprintf("%.2f", b.Median), fmt.Sprintf("%.2f", b.P99))
			}
		}
		t.Row(row...)
	}
	t.Write(s.Out)
	fmt.Fprintln(s.Out)
	for _, c := range memory {
		fmt.Fprintf(s.Out, "  %s: %s: %.0f bytes, the mean of %d\n", c.Backend, c.Name, c.Median, c.Samples)
	}
}
