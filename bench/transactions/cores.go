package transactions

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// Two virtual processors are not always two: they may be the halves of one core, or
// other guests of the host may use them. A figure of two goroutines means little
// then, so each of its samples comes with the time of two spinning goroutines, who
// share nothing, over that of one.

// twoCores is the ratio up to which two processors are two.
const twoCores = 1.15

// spins take one to two milliseconds: long beside what it takes to start a
// goroutine, short beside a sample.
const spins = 1_000_000

// spinTwo is the ratio, the middle one of three.
func spinTwo() float64 {
	ratios := make([]float64, 3)
	for i := range ratios {
		alone := spinning(1)
		ratios[i] = spinning(2).Seconds() / alone.Seconds()
	}
	slices.Sort(ratios)
	return ratios[1]
}

// spinning is the time until the last of some spinning goroutines is done. They
// begin together: those who are there first wait.
func spinning(goroutines int) time.Duration {
	var ready, sum atomic.Uint64
	var all sync.WaitGroup
	var start time.Time
	for range goroutines {
		all.Go(func() {
			if ready.Add(1) == uint64(goroutines) {
				start = time.Now()
				ready.Add(1)
			}
			for ready.Load() <= uint64(goroutines) {
			}
			sum.Add(spin(spins))
		})
	}
	all.Wait()
	return time.Since(start)
}

// spin computes something in registers.
//
//go:noinline
func spin(n int) uint64 {
	x := uint64(88172645463325252)
	for range n {
		x = next(x)
	}
	return x
}

// next is xorshift64: random numbers that cost next to nothing.
func next(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	return x
}

// Even two processors share caches, memory and heat. What they give a program is seen where two
// processes run it side by side, which have nothing in common: no conflict, no clock, no collector.
// Two goroutines of one program can hardly be faster. This is the yardstick of two over one.

// sideBySide is a variant in two processes at the same time.
func sideBySide(v measure.Variant) measure.Variant { return v + " in two processes" }

// pairs are the variants that are run in two processes.
var pairs = []measure.Variant{Sequential, Eager}

// pairOf is the variant that a pair of processes runs.
func pairOf(v measure.Variant) (of measure.Variant, ok bool) {
	for _, of := range pairs {
		if v == sideBySide(of) {
			return of, true
		}
	}
	return "", false
}

// together runs two trials at the same time. Its time is that of one of them: a half of what they
// take on average.
func together(v measure.Variant, contenders [2]measure.Contender) measure.Contender {
	return measure.Contender{Variant: v, Prepare: func() measure.Trial {
		one, other := contenders[0].Prepare(), contenders[1].Prepare()
		return measure.Trial{
			Run: func() {
				var both sync.WaitGroup
				both.Go(one.Run)
				both.Go(other.Run)
				both.Wait()
			},
			Seconds: func() float64 { return (one.Seconds() + other.Seconds()) / 2 / 2 },
			Close:   func() error { return errors.Join(one.Close(), other.Close()) },
		}
	}}
}

// cores says how often two processors were not two.
func (s *session) cores() {
	samples, missed, worst := 0, 0.0, 0.0
	for _, r := range s.Report.Results {
		for _, t := range r.Timings {
			if ratio, ok := t.Counters[coreRatio]; ok {
				samples += len(t.Seconds)
				missed += t.Counters[coreMissing] * float64(len(t.Seconds))
				worst = max(worst, ratio)
			}
		}
	}
	switch {
	case samples == 0:
	case missed < 0.5:
		fmt.Fprintf(s.Out, "\nBefore each of the %d samples that need two processors, two spinning goroutines ran as fast as one.\n", samples)
	default:
		text := fmt.Sprintf("Two processors were not always two: before %.0f of the %d samples that need them, two spinning goroutines took more than "+
			"%.2f times as long as one; in the worst configuration %.2f times on average. The figures of two goroutines are too bad by about as much.",
			missed, samples, twoCores, worst)
		s.Report.Notes = append(s.Report.Notes, text)
		fmt.Fprintln(s.Out, "\n"+measure.Wrap(text, "", 100))
	}
}
