package rt_test

import (
	"testing"

	. "github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// crowds are programs of many short goroutines that meet in one place. They return a count of
// these that has to be right.
var crowds = map[string]func(n int) int{
	"a lock": func(n int) int {
		mu, wg, x := heap(mutex{}), heap(waitGroup{}), heap(0)
		wg.Add(n)
		for range n {
			Go(1, func() { mu.Lock(); *W(x, 2) = R(x, 3) + 1; mu.Unlock(); wg.Done() })
		}
		wg.Wait()
		return R(x, 4)
	},
	"one after the other": func(n int) int {
		x := heap(0)
		for range n {
			done := make(chan int)
			Go(1, func() { *W(x, 2) = R(x, 3) + 1; Close(done, 4) })
			Recv(done, 5)
		}
		return R(x, 6)
	},
	"senders": func(n int) int {
		ch, sum := make(chan int), 0
		for range n {
			Go(1, func() { To[int](ch).Send(1, 2) })
		}
		for range n {
			sum += Recv(ch, 3)
		}
		return sum
	},
	"receivers": func(n int) int {
		ch, sums, sum := make(chan int), make(chan int, n), 0
		for range n {
			Go(1, func() { To[int](sums).Send(Recv(ch, 2), 3) })
		}
		for range n {
			To[int](ch).Send(1, 4)
		}
		for range n {
			sum += Recv(sums, 5)
		}
		return sum
	},
	"a close": func(n int) int {
		start, wg, x := make(chan int), heap(waitGroup{}), heap(0)
		wg.Add(n)
		for range n {
			Go(1, func() { Recv(start, 2); *W(x, 3) = R(x, 4) + 1; wg.Done() })
		}
		Gosched() // most of them wait by now
		Close(start, 5)
		wg.Wait()
		return R(x, 6)
	},
}

// TestManyShortGoroutines: crowds cost about as much for each of their goroutines as a few do.
// With what costs each of them as much as there are others this takes minutes.
func TestManyShortGoroutines(t *testing.T) {
	for name, crowd := range crowds {
		many := 65_000
		if testing.Short() {
			many = 2_000 // the race detector makes each of them cost hundreds of times as much
		}
		for n, strategy := range map[int]sched.Strategy{many: sched.NewReplay(sched.Schedule{}), 3_000: sched.NewPCT(1, 0)} {
			got := 0
			// Those that a close lets go race with each other, which is not what this is about.
			r := Run(Config{Races: name != "a close", Strategy: strategy}, func() { got = crowd(n) })
			if r.Failed() || r.CutOff || got != n || r.Goroutines != n+1 {
				t.Errorf("%s, %d goroutines, %T: counted %d, %d goroutines, %s", name, n, strategy, got, r.Goroutines, outcomeOf(r))
			}
		}
	}
}
