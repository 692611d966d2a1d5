package transactions

import (
	"fmt"
	"math"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// From how many leaders on Clone is faster than Eager, where each has a processor and its
// clone another: in the paper above 16. There is no such machine here, but what decides it can
// be measured on two processors.
//
// A leader of Eager compares what it has read each time that another has committed. While its
// transaction takes a time T, each of the n-1 others commits once, for their transactions take
// as long; what is compared is half of the reads on average. Beside others it has a log, which
// a leader that is alone needs none of, and the clock comes from another processor when it
// begins and when it commits, as it does in Clone. A transaction of Clone takes the same time for any n from two on,
// and more than one of Eager alone: the clone has to be started, and it always has a log.
//
//	eager(1) = alone
//	eager(n) = alone + clock + reads * log + min(n-1, reads) * reads/2 * compare
//	clone(n) = alone + clock + start
//
// Conflicts, which grow with n in both, and the way of the program's own data between
// processors are left out: how far the model is off by two leaders is printed.
type model struct {
	alone float64 // ns of a transaction by one leader of Eager
	start float64 // ns more that it takes in Clone
	reads float64 // words
	costs
}

// costs are what parts of a transaction take here, in ns.
type costs struct {
	compare float64 // a word with memory
	log     float64 // a word that is read
	clock   float64 // the clock's way from another processor, there and back
}

// eager is the time of a transaction by n leaders, in ns.
func (m model) eager(n float64) float64 {
	if n <= 1 {
		return m.alone
	}
	return m.alone + m.clock + m.reads*m.log + min(n-1, m.reads)*m.reads/2*m.compare
}

// clone is the same in Clone, for any number of leaders from two on.
func (m model) clone() float64 { return m.alone + m.clock + m.start }

// overtakes is the number of leaders from which Clone is faster; infinite if there is none.
func (m model) overtakes() float64 {
	n := max(2, 1+(m.start-m.reads*m.log)/(m.reads/2*m.compare))
	if n-1 > m.reads {
		return math.Inf(1) // Eager compares no more often than it reads
	}
	return math.Ceil(n)
}

// modelOf is the model of a program, from what was measured by one leader.
func modelOf(r measure.Result, c costs) (m model, ok bool) {
	one, ok := r.Timing(Eager)
	clone, hasClone := r.Timing(Clone)
	n := one.Counters[commits]
	if !ok || !hasClone || n == 0 {
		return model{}, false
	}
	return model{alone: perTransaction(one, 1), start: 1e9 * max(0, clone.Median-one.Median) / n, reads: one.Counters[readWords] / n, costs: c}, true
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
	c := costsHere()
	fmt.Fprintf(s.Out, "\nWhere Clone would overtake Eager if each leader and each clone had a processor, by a model: a leader of Eager that\n"+
		"is not alone logs what it reads (%.2f ns a word), and validates once for each commit of another (%.2f ns a word); one\n"+
		"of Clone has to start its clone. In both the clock comes from another processor (%.0f ns a transaction). The model by\n"+
		"two leaders of Eager is held against what was measured, which has what the model leaves out: conflicts, and the way\n"+
		"of the program's own data between processors. The paper has Clone ahead above 16 threads.\n\n", c.log, c.compare, c.clock)
	t := measure.Table{Head: []string{"program", "reads", "ns, eager by 1", "ns to start a clone", "validations by 2: model", "measured", "ns, eager by 2: model", "measured", "over the model", "Clone ahead from"}}
	for _, r := range results {
		m, ok := modelOf(r, c)
		two, hasTwo := r.Timing(byTwo(Eager))
		if !ok || !hasTwo {
			continue
		}
		from := "never"
		if n := m.overtakes(); !math.IsInf(n, 1) {
			from = fmt.Sprintf("%.0f leaders", n)
		}
		took := perTransaction(two, 2)
		t.Row(r.Name, fmt.Sprintf("%.1f", m.reads), fmt.Sprintf("%.0f", m.alone), fmt.Sprintf("%.0f", m.start), fmt.Sprintf("%.2f", min(1, m.reads)),
			fmt.Sprintf("%.2f", two.Counters[validations]/max(two.Counters[commits], 1)),
			fmt.Sprintf("%.0f", m.eager(2)), fmt.Sprintf("%.0f", took), fmt.Sprintf("%.2fx", took/m.eager(2)), from)
	}
	t.Write(s.Out)
}
