package transactions

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/stm"
)

// NOrec has one clock: each commit moves it, and everybody who is in the middle of a
// transaction compares all that it has read. Other algorithms have a version for each stripe
// of memory, and a commit disturbs those alone who have read what it wrote. This figure says
// what that could win by two goroutines, and what it costs each read.
//
// What there is to win is no more than what two goroutines lose: the time by two less half of the time by
// one. How much of that is spent comparing is told. What it costs is measured by itself, as the two ways to
// read a word: with the clock looked at after the word, or with the version of the word's stripe looked at
// before and after.

const figureScale = "scale"

func scaleCases(s size) []measure.Case {
	var cases []measure.Case
	for _, p := range programs {
		c := measure.Case{Figure: figureScale, Name: p.name, Ops: 1, Baseline: Eager}
		for _, n := range goroutines {
			c.Contenders = append(c.Contenders, p.contender(by(Eager, n), s, n, func(in input) outcome { return in.transactional(n, stm.Options{}) }))
		}
		cases = append(cases, c)
	}
	return cases
}

func (s *session) scale() error {
	err := s.measure(8*time.Second, scaleCases(s.size))
	s.printScale()
	return err
}

func (s *session) printScale() {
	results := s.Report.Of(figureScale)
	if len(results) == 0 {
		return
	}
	small, large, compare := stripes(1<<12), stripes(1<<22), comparing()
	fmt.Fprintf(s.Out, "\nWhat versions of stripes instead of one clock could win by two goroutines: no more than these lose, the time by two\n"+
		"over half of the time by one. What they cost: a read of a word takes %.1f ns more where all is in the first cache,\n"+
		"and %.1f where little is, for the versions have to be there as well. In percent of the time by two.\n\n", small, large)
	t := measure.Table{Head: []string{"program", "ms by 1", "ms by 2", "validations by 2", "reads", "to win, at most", "of that comparing", "to lose, in cache", "to lose, in memory", "worth it"}}
	for _, r := range results {
		v, ok := stakesOf(r, small, large, compare)
		if !ok {
			continue
		}
		t.Row(r.Name, millis(r, Eager), millis(r, byTwo(Eager)), fmt.Sprintf("%.2f", v.validations), fmt.Sprintf("%.1f", v.reads),
			fmt.Sprintf("%.0f %%", v.win), fmt.Sprintf("%.1f %%", v.comparing), fmt.Sprintf("%.0f %%", v.loseCached), fmt.Sprintf("%.0f %%", v.loseMissed), v.verdict())
	}
	t.Write(s.Out)
}

// Stakes are what a program could win and lose, in percent of its time by two goroutines.
type stakes struct {
	validations, reads     float64 // of a transaction
	win, comparing         float64 // comparing is what validations take, of half of the reads each
	loseCached, loseMissed float64
}

func stakesOf(r measure.Result, cached, missed, compare float64) (v stakes, ok bool) {
	one, ok := r.Timing(Eager)
	two, hasTwo := r.Timing(byTwo(Eager))
	n := two.Counters[commits]
	if !ok || !hasTwo || n == 0 {
		return stakes{}, false
	}
	v = stakes{validations: two.Counters[validations] / n, reads: two.Counters[readWords] / n}
	v.win = 100 * max(0, 1-one.Median/2/two.Median)
	share := func(times, ns float64) float64 { return 100 * times * ns * 1e-9 / 2 / two.Median }
	v.comparing = share(two.Counters[validations]*v.reads/2, compare)
	v.loseCached, v.loseMissed = share(two.Counters[readWords], cached), share(two.Counters[readWords], missed)
	return v, true
}

func (v stakes) verdict() string {
	switch {
	case v.win > v.loseMissed:
		return "maybe"
	case v.win > v.loseCached:
		return "only in cache"
	}
	return "no"
}

// stripes is what a read takes more with versions of stripes than with a clock, in ns, over a
// number of words in random order.
func stripes(words int) float64 {
	memory := make([]uint64, words)
	order := make([]uint32, 1<<16)
	for i := range order {
		order[i] = rand.Uint32N(uint32(words))
	}
	versions := make([]atomic.Uint64, 1<<16) // as many as TL2 and its successors have, and more than fit in a first cache
	var clock atomic.Uint64
	log := make([]loggedRead, len(order))
	withClock := func() {
		for i, at := range order {
			word := atomic.LoadUint64(&memory[at])
			if clock.Load() != 0 {
				return
			}
			log[i] = loggedRead{at, word}
		}
	}
	withVersions := func() {
		for i, at := range order {
			version := &versions[at*0x9e3779b1>>16]
			before := version.Load()
			word := atomic.LoadUint64(&memory[at])
			if version.Load() != before || before > 0 {
				return
			}
			log[i] = loggedRead{at, word}
		}
	}
	clocked, striped := math.Inf(1), math.Inf(1)
	for range 20 {
		clocked, striped = min(clocked, nanoseconds(withClock)), min(striped, nanoseconds(withVersions))
	}
	return max(0, striped-clocked) / float64(len(order))
}

type loggedRead struct {
	at   uint32
	word uint64
}

func nanoseconds(f func()) float64 {
	begin := time.Now()
	f()
	return float64(time.Since(begin).Nanoseconds())
}
