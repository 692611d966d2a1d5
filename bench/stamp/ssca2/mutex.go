package ssca2

import "sync"

// Mutex builds the graph in several goroutines, with one lock.
func Mutex(in *Input, goroutines int) *Result {
	c := &locked{construction: construction{edges: in.edges, clique: in.clique()}}
	return c.run(goroutines, c.survey, c.imply)
}

// locked is a construction with a lock.
type locked struct {
	construction
	mu sync.Mutex // guards greatest and implied
}

func (c *locked) survey(begin, end int) {
	greatest := greatestOf(c.edges[begin:end])
	c.mu.Lock()
	defer c.mu.Unlock()
	c.greatest = max(c.greatest, greatest)
}

func (c *locked) imply(begin, end int) {
	var ends []int
	for from := begin; from < end; from++ {
		ends = c.graph.unanswered(ends, from)
		c.implied.approach(ends)
		for _, to := range ends {
			c.mu.Lock()
			c.implied.add(to, from)
			c.mu.Unlock()
		}
	}
}
