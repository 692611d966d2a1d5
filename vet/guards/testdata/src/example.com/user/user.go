package user

import "example.com/counter"

func Look(c *counter.Counter) int {
	return c.N // want `read of Counter.N: does not hold Counter.mu`
}

func Fresh() int {
	c := &counter.Counter{}
	c.N = 1
	return c.N
}
