package vacation

import (
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/stamp/team"
)

// Sequential runs the program in one goroutine.
func Sequential(in *Input) *Result {
	m, client := in.prepare(), in.client()
	r := &Result{manager: m}
	start := time.Now()
	for i := range in.params.Transactions {
		r.Tally.add(m.do(client.next(i)))
	}
	r.Elapsed = time.Since(start)
	return r
}

// Mutex runs the program in several goroutines, with one lock for everything.
func Mutex(in *Input, goroutines int) *Result {
	m := in.prepare()
	var mu sync.Mutex
	tallies := make([]Tally, goroutines)
	start := time.Now()
	team.Run(goroutines, func(member int) {
		client, tally := in.client(), Tally{}
		first, last := team.Share(in.params.Transactions, member, goroutines)
		for i := first; i < last; i++ {
			a := client.next(i)
			mu.Lock()
			done := m.do(a)
			mu.Unlock()
			tally.add(done)
		}
		tallies[member] = tally
	})
	return result(m, time.Since(start), tallies)
}

// result puts together what the goroutines have done.
func result(m *manager, elapsed time.Duration, tallies []Tally) *Result {
	r := &Result{manager: m, Elapsed: elapsed}
	for _, t := range tallies {
		r.Tally.add(t)
	}
	return r
}

// do does what a client wants.
func (m *manager) do(a *action) Tally {
	t := Tally{Actions: 1}
	switch a.verb {
	case book:
		t.Booked = m.book(a)
	case cancel:
		if _, ok := m.bill(a.customer); ok {
			t.Cancelled = m.cancel(a.customer)
		}
	case update:
		for _, q := range a.queries {
			switch {
			case q.price > 0:
				t.Added += m.add(q.kind, q.id, updated, q.price)
			case q.kind == flight:
				t.Removed += m.removeFlight(q.id)
			default:
				t.Removed += m.remove(q.kind, q.id, updated)
			}
		}
	default:
		panic(unknown(a.verb))
	}
	return t
}

// book books the dearest of each kind that was asked for, and returns the number of
// bookings.
func (m *manager) book(a *action) (booked int) {
	var best choice
	for _, q := range a.queries {
		if price, ok := m.price(q.kind, q.id); ok {
			best.consider(q.kind, q.id, price)
		}
	}
	if !best.any() {
		return 0
	}
	m.enter(a.customer)
	for k, b := range best {
		if b.found && m.reserve(a.customer, kind(k), b.id) {
			booked++
		}
	}
	return booked
}

// price returns the price of something, if it is there.
func (m *manager) price(k kind, id int) (price int, ok bool) {
	s, ok := m.stock[k].Find(id)
	if !ok {
		return 0, false
	}
	return s.price, true
}

// enter makes sure that there is a customer.
func (m *manager) enter(id int) {
	if _, ok := m.customers.Find(id); !ok {
		m.customers.Insert(id, new(customer))
	}
}

// reserve makes a booking, if there is a free unit, and the customer has not booked
// the same already.
func (m *manager) reserve(id int, k kind, what int) bool {
	c, ok := m.customers.Find(id)
	if !ok {
		return false
	}
	s, ok := m.stock[k].Find(what)
	if !ok || s.free == 0 {
		return false
	}
	if !c.bookings.Insert(bookingKey(k, what), booking{k, what, s.price}) {
		return false
	}
	s.used++
	s.free--
	return true
}

// bill returns what a customer has to pay, if there is one.
func (m *manager) bill(id int) (sum int, ok bool) {
	c, ok := m.customers.Find(id)
	if !ok {
		return 0, false
	}
	for _, b := range c.bookings.All() {
		sum += b.price
	}
	return sum, true
}

// cancel gives back what a customer has booked, and deletes the customer.
func (m *manager) cancel(id int) (cancelled int) {
	c, ok := m.customers.Find(id)
	if !ok {
		return 0
	}
	for _, b := range c.bookings.All() {
		s, ok := m.stock[b.kind].Find(b.id)
		if !ok {
			panic(missing(b))
		}
		s.used--
		s.free++
		cancelled++
	}
	m.customers.Remove(id)
	return cancelled
}

// add adds units of something, which is entered if need be, and sets its price.
func (m *manager) add(k kind, id, units, price int) (added int) {
	s, ok := m.stock[k].Find(id)
	if !ok {
		m.stock[k].Insert(id, &stock{free: units, total: units, price: price})
		return units
	}
	s.free += units
	s.total += units
	s.price = price
	return units
}

// remove takes units of something away, if so many are free. When there are none
// left, it is deleted.
func (m *manager) remove(k kind, id, units int) (removed int) {
	s, ok := m.stock[k].Find(id)
	if !ok || s.free < units {
		return 0
	}
	s.free -= units
	s.total -= units
	if s.total == 0 {
		m.stock[k].Remove(id)
	}
	return units
}

// removeFlight takes a flight away as a whole, if nobody is on it.
func (m *manager) removeFlight(id int) (removed int) {
	s, ok := m.stock[flight].Find(id)
	if !ok || s.used > 0 {
		return 0
	}
	return m.remove(flight, id, s.total)
}
