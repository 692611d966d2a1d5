package ssca2

// Sequential builds the graph in one goroutine.
func Sequential(in *Input) *Result {
	c := &construction{edges: in.edges}
	return c.run(1, c.survey, c.imply)
}

func (c *construction) survey(begin, end int) {
	c.greatest = greatestOf(c.edges[begin:end])
}

func (c *construction) imply(begin, end int) {
	for from := begin; from < end; from++ {
		for _, to := range c.graph.From(from) {
			if !c.graph.answered(from, to) {
				c.implied[to].add(from)
			}
		}
	}
}
