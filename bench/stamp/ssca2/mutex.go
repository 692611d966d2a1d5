package ssca2

import "sync"

// Mutex builds the graph in several goroutines, with one lock.
func Mutex(in *Input, goroutines int) *Result {
	c := &locked{construction: construction{edges: in.edges}}
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
	for from := begin; from < end; from++ {
		for _, to := range c.graph.From(from) {
			if !c.graph.answered(from, to) {
				c.mu.Lock()
				c.implied[to].add(from)
				c.mu.Unlock()
			}
		}
	}
}
