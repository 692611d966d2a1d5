package vacation

import (
	"time"

	"github.com/cofferdam-go/cofferdam/bench/stamp/team"
	"github.com/cofferdam-go/cofferdam/stm"
)

// Transactional runs the program in several goroutines, with transactions.
func Transactional(in *Input, goroutines int, o stm.Options) *Result {
	m := in.prepare()
	tallies := make([]Tally, goroutines)
	start := time.Now()
	team.Run(goroutines, func(member int) {
		client, tally := in.client(), Tally{}
		first, last := team.Share(in.params.Transactions, member, goroutines)
		// Made once: with options, a function that captures variables is allocated.
		var a *action
		do := func(tx *stm.Tx) (Tally, error) { return m.doTx(tx, a), nil }
		for i := first; i < last; i++ {
			a = client.next(i)
			done, err := stm.ValueWith(o, do)
			must(err)
			tally.add(done)
		}
		tallies[member] = tally
	})
	return result(m, time.Since(start), tallies)
}

// must panics with an error of a transaction whose function has none of its own, as
// there is only one then: that the context of the options is done.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// doTx is do in a transaction.
func (m *manager) doTx(tx *stm.Tx, a *action) Tally {
	t := Tally{Actions: 1}
	switch a.verb {
	case book:
		t.Booked = m.bookTx(tx, a)
	case cancel:
		if _, ok := m.billTx(tx, a.customer); ok {
			t.Cancelled = m.cancelTx(tx, a.customer)
		}
	case update:
		for _, q := range a.queries {
			switch {
			case q.price > 0:
				t.Added += m.addTx(tx, q.kind, q.id, updated, q.price)
			case q.kind == flight:
				t.Removed += m.removeFlightTx(tx, q.id)
			default:
				t.Removed += m.removeTx(tx, q.kind, q.id, updated)
			}
		}
	default:
		panic(unknown(a.verb))
	}
	return t
}

// bookTx is book in a transaction.
func (m *manager) bookTx(tx *stm.Tx, a *action) (booked int) {
	var best choice
	for _, q := range a.queries {
		if price, ok := m.priceTx(tx, q.kind, q.id); ok {
			best.consider(q.kind, q.id, price)
		}
	}
	if !best.any() {
		return 0
	}
	m.enterTx(tx, a.customer)
	for k, b := range best {
		if b.found && m.reserveTx(tx, a.customer, kind(k), b.id) {
			booked++
		}
	}
	return booked
}

// priceTx is price in a transaction.
func (m *manager) priceTx(tx *stm.Tx, k kind, id int) (price int, ok bool) {
	s, ok := m.stock[k].FindTx(tx, id)
	if !ok {
		return 0, false
	}
	return stm.Load(tx, &s.price), true
}

// enterTx is enter in a transaction.
func (m *manager) enterTx(tx *stm.Tx, id int) {
	if _, ok := m.customers.FindTx(tx, id); !ok {
		m.customers.InsertTx(tx, id, new(customer))
	}
}

// reserveTx is reserve in a transaction.
func (m *manager) reserveTx(tx *stm.Tx, id int, k kind, what int) bool {
	c, ok := m.customers.FindTx(tx, id)
	if !ok {
		return false
	}
	s, ok := m.stock[k].FindTx(tx, what)
	if !ok || stm.Load(tx, &s.free) == 0 {
		return false
	}
	if !c.bookings.InsertTx(tx, bookingKey(k, what), booking{k, what, stm.Load(tx, &s.price)}) {
		return false
	}
	increase(tx, &s.used, 1)
	increase(tx, &s.free, -1)
	return true
}

// billTx is bill in a transaction.
func (m *manager) billTx(tx *stm.Tx, id int) (sum int, ok bool) {
	c, ok := m.customers.FindTx(tx, id)
	if !ok {
		return 0, false
	}
	for _, b := range c.bookings.AllTx(tx) {
		sum += b.price
	}
	return sum, true
}

// cancelTx is cancel in a transaction.
func (m *manager) cancelTx(tx *stm.Tx, id int) (cancelled int) {
	c, ok := m.customers.FindTx(tx, id)
	if !ok {
		return 0
	}
	for _, b := range c.bookings.AllTx(tx) {
		s, ok := m.stock[b.kind].FindTx(tx, b.id)
		if !ok {
			panic(missing(b))
		}
		increase(tx, &s.used, -1)
		increase(tx, &s.free, 1)
		cancelled++
	}
	m.customers.RemoveTx(tx, id)
	return cancelled
}

// addTx is add in a transaction.
func (m *manager) addTx(tx *stm.Tx, k kind, id, units, price int) (added int) {
	s, ok := m.stock[k].FindTx(tx, id)
	if !ok {
		m.stock[k].InsertTx(tx, id, &stock{free: units, total: units, price: price})
		return units
	}
	increase(tx, &s.free, units)
	increase(tx, &s.total, units)
	stm.Store(tx, &s.price, price)
	return units
}

// removeTx is remove in a transaction.
func (m *manager) removeTx(tx *stm.Tx, k kind, id, units int) (removed int) {
	s, ok := m.stock[k].FindTx(tx, id)
	if !ok || stm.Load(tx, &s.free) < units {
		return 0
	}
	increase(tx, &s.free, -units)
	if increase(tx, &s.total, -units) == 0 {
		m.stock[k].RemoveTx(tx, id)
	}
	return units
}

// removeFlightTx is removeFlight in a transaction.
func (m *manager) removeFlightTx(tx *stm.Tx, id int) (removed int) {
	s, ok := m.stock[flight].FindTx(tx, id)
	if !ok || stm.Load(tx, &s.used) > 0 {
		return 0
	}
	return m.removeTx(tx, flight, id, stm.Load(tx, &s.total))
}

// increase adds to a number and returns the sum.
func increase(tx *stm.Tx, p *int, by int) int {
	sum := stm.Load(tx, p) + by
	stm.Store(tx, p, sum)
	return sum
}
