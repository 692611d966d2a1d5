package ssca2

// Sequential builds the graph in one goroutine.
func Sequential(in *Input) *Result {
	c := &construction{edges: in.edges, clique: in.clique()}
	return c.run(1, c.survey, c.imply)
}

func (c *construction) survey(begin, end int) {
	c.greatest = greatestOf(c.edges[begin:end])
}

func (c *construction) imply(begin, end int) {
	var ends []int
	for from := begin; from < end; from++ {
		ends = c.graph.unanswered(ends, from)
		for _, to := range ends {
			c.implied.add(to, from)
		}
	}
}
