// Package counter increments without a lock. It does not crash.
package counter

type counter struct{ n int }

func (c *counter) inc() {
	c.n++ // increment
}

func Run() {
	c := new(counter)
	for range 2 {
		go c.inc()
	}
}
