package aside

import (
	"sync/atomic"
	"testing"
	"time"
)

// Each benchmark does the same with a variable on the heap, with an atomic one and with a cell, and
// prints how many times longer than the first the others take.

// ways are what is compared, by name; the first is what the others are compared with.
type ways []struct {
	name string
	do   func(n int)
}

func compare(b *testing.B, all ways) {
	for b.Loop() {
		const rounds = 200_000
		var times []time.Duration
		for _, w := range all {
			best := time.Hour
			for range 5 {
				begun := time.Now()
				w.do(rounds)
				best = min(best, time.Since(begun))
			}
			times = append(times, best)
		}
		for i, w := range all {
			b.ReportMetric(float64(times[i].Nanoseconds())/rounds, "ns/"+w.name)
			if i > 0 {
				b.ReportMetric(float64(times[i])/float64(times[0]), w.name+"/"+all[0].name)
			}
		}
	}
	b.ReportMetric(0, "ns/op") // of all of them together, which says nothing
}

var (
	onHeap     *witness
	atomically atomic.Pointer[witness]
	sink       *witness
)

func benchGuard(b *testing.B) *Guard {
	g := NewGuard("mu", "cell_bench_test.go", 1)
	g.Lock()
	b.Cleanup(g.Unlock)
	return g
}

func BenchmarkStore(b *testing.B) {
	c := NewCell(benchGuard(b), "cell", newWitness())
	other := NewCell(NewGuard("other", "cell_bench_test.go", 1), "cell", newWitness())
	values := [2]*witness{newWitness(), newWitness()}
	compare(b, ways{
		{"heap", func(n int) {
			for i := range n {
				onHeap = values[i%2]
			}
		}},
		{"atomic", func(n int) {
			for i := range n {
				atomically.Store(values[i%2])
			}
		}},
		{"section", func(n int) {
			for i := range n {
				c.StoreOwn(values[i%2])
			}
		}},
		{"elsewhere", func(n int) {
			for i := range n {
				other.Store(values[i%2])
			}
		}},
	})
}

func BenchmarkLoad(b *testing.B) {
	c := NewCell(benchGuard(b), "cell", newWitness())
	onHeap = newWitness()
	atomically.Store(onHeap)
	compare(b, ways{
		{"heap", func(n int) {
			for range n {
				sink = onHeap
			}
		}},
		{"atomic", func(n int) {
			for range n {
				sink = atomically.Load()
			}
		}},
		{"section", func(n int) {
			for range n {
				sink = c.LoadOwn()
			}
		}},
		{"called", func(n int) {
			for range n {
				sink = c.Load()
			}
		}},
	})
}
