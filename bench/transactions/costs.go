package transactions

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/stm"
)

// costsHere measures what the model is made of, on this machine.
func costsHere() costs { return costs{compare: comparing(), log: logging(), clock: handingOver()} }

// usually is what something took in rounds that nothing else slowed down: most of them, on a
// machine that is not busy.
func usually(took []float64) float64 { return measure.Quantile(took, 0.25) }

// comparing is the time to compare a word with memory, in ns: the least of some rounds over
// words that fit in a cache.
func comparing() float64 {
	type read struct {
		addr *uint64
		val  uint64
	}
	words := make([]uint64, 4096)
	reads := make([]read, len(words))
	for i := range words {
		reads[i] = read{&words[i], 0}
	}
	least, same := math.Inf(1), true
	for range 200 {
		begin := time.Now()
		for i := range reads {
			same = same && atomic.LoadUint64(reads[i].addr) == reads[i].val
		}
		least = min(least, float64(time.Since(begin).Nanoseconds())/float64(len(reads)))
	}
	if !same {
		return math.NaN() // so that the loop is not taken out
	}
	return least
}

// logging is what a read takes more if it is logged, in ns: a goroutine's transactions are
// timed when nothing has disturbed them for long, and right after something has.
func logging() float64 {
	words := make([]int, 512)
	read := func(tx *stm.Tx) error {
		for i := range words {
			stm.Load(tx, &words[i])
		}
		return nil
	}
	some := func(n int) float64 {
		begin := time.Now()
		for range n {
			stm.Atomically(read)
		}
		return float64(time.Since(begin).Nanoseconds()) / float64(n*len(words))
	}
	const many, few = 200, 10 // enough to be trusted, and not enough to be trusted again
	var with, without []float64
	for range 50 {
		some(many)
		without = append(without, some(few))
		disturb(read, &words[0])
		with = append(with, some(few))
	}
	return max(0, usually(with)-usually(without))
}

// disturb has another goroutine commit until a transaction of this one was disturbed by it.
func disturb(read func(tx *stm.Tx) error, word *int) {
	var stop atomic.Bool
	var neighbour sync.WaitGroup
	neighbour.Go(func() {
		for !stop.Load() {
			stm.Atomically(func(tx *stm.Tx) error { stm.Add(tx, word, 1); return nil })
		}
	})
	for before := stm.ReadStats().Validations; stm.ReadStats().Validations == before; {
		stm.Atomically(read)
	}
	stop.Store(true)
	neighbour.Wait()
}

// handingOver is what it takes a word to be written by one processor, seen by another, and
// written by that, in ns: each transaction does that with the clock. Where virtual
// processors are, and how far apart, changes. Where there is one processor it is nothing.
func handingOver() float64 {
	if runtime.GOMAXPROCS(0) < 2 {
		return 0
	}
	const turns, rounds = 1000, 30
	var took []float64
	for range rounds {
		var word atomic.Uint64
		var both sync.WaitGroup
		begin := time.Now()
		for player := range uint64(2) {
			both.Go(func() {
				for turn := player; turn < turns; turn += 2 {
					for spins := 1; word.Load() != turn; spins++ {
						if spins%10_000 == 0 {
							runtime.Gosched() // there is one processor for both, now
						}
					}
					word.Add(1)
				}
			})
		}
		both.Wait()
		took = append(took, float64(time.Since(begin).Nanoseconds())/turns)
	}
	return usually(took)
}
