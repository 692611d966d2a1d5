package ssca2

import "github.com/cofferdam-go/cofferdam/stm"

// Atomic builds the graph in several goroutines, with transactions that are plain code.
func Atomic(in *Input, goroutines int) *Result {
	c := &compiled{construction{edges: in.edges, clique: in.clique()}}
	return c.run(goroutines, c.survey, c.imply)
}

// compiled is a construction with transactions. While a phase shares them, greatest and
// implied are accessed in transactions only.
type compiled struct {
	construction
}

func (c *compiled) survey(begin, end int) {
	greatest := greatestOf(c.edges[begin:end])
	stm.Atomic(func() { c.greatest = max(c.greatest, greatest) })
}

func (c *compiled) imply(begin, end int) {
	var ends []int
	for from := begin; from < end; from++ {
		ends = c.graph.unanswered(ends, from)
		c.implied.approach(ends)
		for _, to := range ends {
			stm.Atomic(func() { c.implied.add(to, from) })
		}
	}
}
