package transactions

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// From how many leaders on Clone is faster than Eager, where each has a processor and its
// clone another: in the paper above 16. There is no such machine here, but what decides it can
// be measured on two processors.
//
// A leader of Eager compares what it has read each time that another has committed. While its
// transaction takes a time T, each of the n-1 others commits once, for their transactions take
// as long; what is compared is half of the reads on average. A transaction of Clone takes the
// same time for any n, and more than one of Eager alone: the clone has to be started.
//
//	eager(n) = alone + min(n-1, reads) * reads/2 * compare
//	clone(n) = alone + start
//
// Eager's serial part, the commit, is Clone's as well; conflicts, which grow with n in both,
// are left out. So is the log: a leader that is alone needs none, and beside others has one, as
// Clone always has. What it costs makes Eager look better here than it is.
type model struct {
	alone   float64 // ns of a transaction by one leader of Eager
	start   float64 // ns more that it takes in Clone
	reads   float64 // words
	compare float64 // ns to compare a word
}

// eager is the time of a transaction by n leaders, in ns.
func (m model) eager(n float64) float64 {
	return m.alone + min(n-1, m.reads)*m.reads/2*m.compare
}

// overtakes is the number of leaders from which Clone is faster; infinite if there is none.
func (m model) overtakes() float64 {
	n := 1 + m.start/(m.reads/2*m.compare)
	if n-1 > m.reads {
		return math.Inf(1) // Eager compares no more often than it reads
	}
	return math.Ceil(n)
}

// modelOf is the model of a program, from what was measured by one leader.
func modelOf(r measure.Result, compare float64) (m model, ok bool) {
	one, ok := r.Timing(Eager)
	clone, hasClone := r.Timing(Clone)
	n := one.Counters[commits]
	if !ok || !hasClone || n == 0 {
		return model{}, false
	}
	return model{alone: perTransaction(one, 1), start: 1e9 * max(0, clone.Median-one.Median) / n, reads: one.Counters[readWords] / n, compare: compare}, true
}

// perTransaction is what a transaction took, in ns, by a number of leaders that did as many each.
func perTransaction(t measure.Timing, leaders float64) float64 {
	return 1e9 * t.Median * leaders / max(t.Counters[commits], 1)
}

// printModel says what the model has to say, beside what was measured by two.
func (s *session) printModel() {
	results := s.Report.Of(figureLeaders)
	if len(results) == 0 {
		return
	}
	compare := comparing()
	fmt.Fprintf(s.Out, "\nWhere Clone would overtake Eager if each leader and each clone had a processor, by a model: a leader of Eager\n"+
		"validates once for each commit of another, %.2f ns a word; one of Clone never, but its clone has to be started.\n"+
		"The model by two leaders of Eager is held against what was measured: how often one validates, and the ns of a\n"+
		"transaction, which have what the model leaves out, conflicts and the way of the clock's line between processors.\n"+
		"The paper has Clone ahead above 16 threads.\n\n", compare)
	t := measure.Table{Head: []string{"program", "reads", "ns, eager by 1", "ns to start a clone", "validations by 2: model", "measured", "ns, eager by 2: model", "measured", "Clone ahead from"}}
	for _, r := range results {
		m, ok := modelOf(r, compare)
		two, hasTwo := r.Timing(byTwo(Eager))
		if !ok || !hasTwo {
			continue
		}
		from := "never"
		if n := m.overtakes(); !math.IsInf(n, 1) {
			from = fmt.Sprintf("%.0f leaders", n)
		}
		t.Row(r.Name, fmt.Sprintf("%.1f", m.reads), fmt.Sprintf("%.0f", m.alone), fmt.Sprintf("%.0f", m.start), fmt.Sprintf("%.2f", min(1, m.reads)),
			fmt.Sprintf("%.2f", two.Counters[validations]/max(two.Counters[commits], 1)),
			fmt.Sprintf("%.0f", m.eager(2)), fmt.Sprintf("%.0f", perTransaction(two, 2)), from)
	}
	t.Write(s.Out)
}

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
