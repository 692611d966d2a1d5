package isolator

import (
	"fmt"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// What an empty section costs, by one goroutine that nobody disturbs: the whole
// of isolate's overhead in figure 8 is made of these.

const (
	costMutex   = "sync.Mutex, Lock to Unlock"
	costSection = "isolate.Mutex, Lock to Unlock"
	costOwn     = "isolate.Own"
)

type cell struct{ n uint64 }

// sections measures the three side by side. It goes through several guards,
// because where the pages of one happen to lie can cost it some nanoseconds.
func (s *session) sections() {
	const loops = 20_000 // some 0.1 ms, in which mostly nothing else happens
	batches := 201
	if s.quick {
		batches = 51
	}
	var plain sync.Mutex
	guards := make([]isolate.Mutex, 8)
	objects := make([]*cell, len(guards))
	for i := range guards {
		objects[i] = isolate.New[cell](&guards[i])
		defer guards[i].Close()
	}
	mutex, section, whole := make([]float64, batches), make([]float64, batches), make([]float64, batches)
	per := func(start time.Time) float64 { return float64(time.Since(start).Nanoseconds()) / loops }
	for i := range batches {
		mu, shared := &guards[i%len(guards)], objects[i%len(guards)]
		mu.Lock()
		own := isolate.Own(mu, shared) // kept, to see a section without Own
		mu.Unlock()
		start := time.Now()
		for range loops {
			plain.Lock()
			own.n++
			plain.Unlock()
		}
		mutex[i] = per(start)
		start = time.Now()
		for range loops {
			mu.Lock()
			own.n++
			mu.Unlock()
		}
		section[i] = per(start)
		start = time.Now()
		for range loops {
			mu.Lock()
			isolate.Own(mu, shared).n++
			mu.Unlock()
		}
		whole[i] = per(start)
	}
	ownOnly := make([]float64, batches)
	for i := range ownOnly {
		ownOnly[i] = whole[i] - section[i]
	}
	backend := s.Report.Machine.Backend
	for _, c := range []measure.Cost{
		measure.NewCost(costMutex, "ns", mutex),
		measure.NewCost(costSection, "ns", section),
		measure.NewCost(costOwn, "ns", ownOnly),
	} {
		c.Backend, c.Guards = backend, 1
		s.Report.Costs = append(s.Report.Costs, c)
	}
	fmt.Fprintf(s.Out, "\nA section with nothing in it, undisturbed: %.1f ns with a sync.Mutex, %.1f ns with an isolate.Mutex;\n"+
		"isolate.Own takes %.1f ns more.\n", measure.Median(mutex), measure.Median(section), measure.Median(ownOnly))
}

// cost finds a cost by its name; ok is false if it was not measured.
func (s *session) cost(name string, guards int, busy bool) (measure.Cost, bool) {
	for _, c := range s.Report.Costs {
		if c.Name == name && c.Backend == s.Report.Machine.Backend && c.Guards == guards && c.Busy == busy {
			return c, true
		}
	}
	return measure.Cost{}, false
}
