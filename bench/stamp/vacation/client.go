package vacation

import (
	"fmt"
	"math/rand/v2"
)

// An action is what a client wants.
type action struct {
	verb     verb
	customer int
	queries  []query
}

type verb int

const (
	book verb = iota
	cancel
	update
)

// A query is something that is to be looked up, or updated.
type query struct {
	kind  kind
	id    int
	price int // of an update: the new one, or 0 to remove
}

// updated is the number of units that an update adds or removes.
const updated = 100

// A client makes actions up. Each goroutine has its own.
type client struct {
	*Input
	source rand.PCG
	random *rand.Rand
	action action // the last one; its memory is used again
}

func (in *Input) client() *client {
	c := &client{Input: in}
	c.random = rand.New(&c.source)
	return c
}

// next returns an action by its number, which alone it depends on: the actions are
// the same however many goroutines share them. It is valid until the next call.
func (c *client) next(number int) *action {
	c.source.Seed(c.params.Seed, uint64(number))
	spread := max(1, c.params.Relations*c.params.Queried/100)
	a := &c.action
	a.customer = c.random.IntN(spread)
	a.queries = a.queries[:0]
	switch percent := c.random.IntN(100); {
	case percent < c.params.Bookings:
		a.verb = book
	case percent&1 == 0:
		a.verb = cancel
		return a
	default:
		a.verb = update
	}
	for range 1 + c.random.IntN(c.params.Queries) {
		q := query{kind: kind(c.random.IntN(int(kinds))), id: c.random.IntN(spread)}
		if a.verb == update && c.random.IntN(2) == 0 {
			q.price = price(c.random)
		}
		a.queries = append(a.queries, q)
	}
	return a
}

// A choice is the dearest of each kind that a booking has found.
type choice [kinds]struct {
	found     bool
	id, price int
}

// consider chooses something if it is dearer.
func (c *choice) consider(k kind, id, price int) {
	if best := &c[k]; !best.found || price > best.price {
		best.found, best.id, best.price = true, id, price
	}
}

// any reports whether there is anything to book.
func (c *choice) any() bool {
	for k := range c {
		if c[k].found {
			return true
		}
	}
	return false
}

func unknown(v verb) string { return fmt.Sprintf("vacation: unknown verb %d", v) }
