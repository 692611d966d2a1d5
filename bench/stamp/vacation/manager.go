package vacation

import (
	"fmt"
	"sync"

	"github.com/cofferdam-go/cofferdam/bench/stamp/container"
)

// A manager is the database. Everything in it is found by its number.
type manager struct {
	stock     [kinds]container.Tree[*stock]
	customers container.Tree[*customer]
}

// A stock is what there is of a car, room or flight.
type stock struct {
	used, free, total int // units
	price             int
}

// A customer is who books. A booking's key is made by bookingKey.
type customer struct {
	bookings container.List[booking]
}

// A booking never changes.
type booking struct {
	kind  kind
	id    int
	price int
}

func bookingKey(k kind, id int) int { return id*int(kinds) + int(k) }

// prepare enters what there is at first: each table by a goroutine of its own, because that
// takes as long as some runs do, and no time has it.
func (in *Input) prepare() *manager {
	m := &manager{}
	var all sync.WaitGroup
	for k, offers := range in.offers {
		all.Go(func() {
			for _, o := range offers {
				m.add(kind(k), o.id, o.units, o.price)
			}
		})
	}
	all.Go(func() {
		for _, id := range in.customers {
			m.enter(id)
		}
	})
	all.Wait()
	return m
}

// missing is the panic of a booking of what is not there. There is none: a
// transaction that meets one is doomed, and is run again.
func missing(b booking) string {
	return fmt.Sprintf("vacation: %v %d is booked and not there", b.kind, b.id)
}

// Verify checks that the database is consistent, and that the totals are those that
// the actions should have left.
func (in *Input) Verify(r *Result) error {
	if r.Tally.Actions != in.params.Transactions {
		return fmt.Errorf("vacation: %d actions were done instead of %d", r.Tally.Actions, in.params.Transactions)
	}
	type item struct {
		kind kind
		id   int
	}
	booked, bookings := make(map[item]int), 0
	for id, c := range r.manager.customers.All() {
		n := 0
		for key, b := range c.bookings.All() {
			if key != bookingKey(b.kind, b.id) {
				return fmt.Errorf("vacation: customer %d: booking of %v %d is filed under %d", id, b.kind, b.id, key)
			}
			booked[item{b.kind, b.id}]++
			n++
		}
		if n != c.bookings.Len() {
			return fmt.Errorf("vacation: customer %d: %d bookings in a list of %d", id, n, c.bookings.Len())
		}
		bookings += n
	}
	if want := r.Tally.Booked - r.Tally.Cancelled; bookings != want {
		return fmt.Errorf("vacation: %d bookings instead of %d", bookings, want)
	}
	units, want := 0, r.Tally.Added-r.Tally.Removed
	for k := range kinds {
		for _, o := range in.offers[k] {
			want += o.units
		}
		for id, s := range r.manager.stock[k].All() {
			if s.used < 0 || s.free < 0 || s.total <= 0 || s.used+s.free != s.total {
				return fmt.Errorf("vacation: %v %d: of %d units %d are used and %d free", k, id, s.total, s.used, s.free)
			}
			if n := booked[item{k, id}]; n != s.used {
				return fmt.Errorf("vacation: %v %d: %d units are used and %d booked", k, id, s.used, n)
			}
			delete(booked, item{k, id})
			units += s.total
		}
	}
	if units != want {
		return fmt.Errorf("vacation: %d units instead of %d", units, want)
	}
	for i := range booked {
		return fmt.Errorf("vacation: %v %d is booked and not there", i.kind, i.id)
	}
	return nil
}
