package kmeans

// Sequential clusters the points in one goroutine.
func Sequential(in *Input) *Result {
	return in.run(func(c *clustering) (moved int) {
		for i, point := range c.points {
			k := c.nearest(point)
			if c.member[i] != k {
				c.member[i] = k
				moved++
			}
			c.clusters[k].add(point)
		}
		return moved
	})
}
