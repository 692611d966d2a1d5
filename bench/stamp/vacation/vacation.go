// Package vacation is STAMP's vacation: a travel agency. Its database is four trees:
// the cars, rooms and flights that can be booked, and the customers, each with a list
// of bookings. Clients have the agency do things to it.
//
// # Phases
//
// There is one. The goroutines share the actions of the clients evenly.
//
// # Transactions
//
// Each action is one transaction:
//
//	book     look some cars, rooms and flights up, and book the dearest of each kind
//	         for a customer, who is entered if need be
//	cancel   make out a customer's bill, give back everything that was booked, and
//	         delete the customer
//	update   add to what can be booked, at a new price, or take some of it away
//
// What an action asks for is made up outside of the transaction and belongs to the
// goroutine. Bookings never change.
//
// The paper has it as: transactions of medium length, large read and write sets, most
// time in transactions, low to medium contention. How much depends on the number of
// lookups per action, on how much of the database they are spread over, and on how
// many actions update it: hence the settings low and high.
//
// plain.go and transactional.go are the same program over the same structs, with
// plain accesses and with stm.Load and stm.Store. atomic.go is transactions that are
// plain code.
//
// manager.go is what can be booked, client.go makes up actions.
package vacation

import (
	"math/rand/v2"
	"time"
)

// Params say what to generate.
type Params struct {
	Queries      int    // -n: lookups of an action, at most
	Queried      int    // -q: percentage of the database that they are spread over
	Bookings     int    // -u: percentage of actions that book
	Relations    int    // -r: cars, rooms, flights and customers at first, each
	Transactions int    // -t: number of actions
	Seed         uint64 // of the generator
}

// The sets of parameters: STAMP's for simulators and for real machines, and one in
// between that takes about half a second, each with low and with high contention.
var (
	SimulatorLow  = low(16384, 4096)
	SimulatorHigh = high(16384, 4096)
	MediumLow     = low(131072, 262144)
	MediumHigh    = high(131072, 262144)
	NativeLow     = low(1048576, 4194304)
	NativeHigh    = high(1048576, 4194304)
)

func low(relations, transactions int) Params {
	return Params{Queries: 2, Queried: 90, Bookings: 98, Relations: relations, Transactions: transactions}
}

func high(relations, transactions int) Params {
	return Params{Queries: 4, Queried: 60, Bookings: 90, Relations: relations, Transactions: transactions}
}

// A kind is what can be booked.
type kind int

const (
	car kind = iota
	room
	flight
	kinds
)

func (k kind) String() string { return [...]string{"car", "room", "flight"}[k] }

// An Input is a database at first, and a source of actions. Runs do not change it.
type Input struct {
	params    Params
	offers    [kinds][]offer // in the order in which they are entered
	customers []int          // the same
}

// An offer is something that can be booked, at first.
type offer struct {
	id, units, price int
}

// A Result is what a run leaves behind.
type Result struct {
	Tally   Tally
	Elapsed time.Duration

	manager *manager
}

// A Tally counts what actions have done.
type Tally struct {
	Actions   int // that were done, with or without effect
	Booked    int // bookings that were made
	Cancelled int // bookings that were given back
	Added     int // units that can be booked more
	Removed   int // units that can be booked no more
}

func (t *Tally) add(u Tally) {
	t.Actions += u.Actions
	t.Booked += u.Booked
	t.Cancelled += u.Cancelled
	t.Added += u.Added
	t.Removed += u.Removed
}

// Generate makes a database.
func Generate(p Params) *Input {
	random := rand.New(rand.NewPCG(p.Seed, 'v'))
	in := &Input{params: p, customers: random.Perm(p.Relations)}
	for k := range in.offers {
		in.offers[k] = make([]offer, p.Relations)
		for i, id := range random.Perm(p.Relations) {
			in.offers[k][i] = offer{id, 100 * (1 + random.IntN(5)), price(random)}
		}
	}
	return in
}

// price returns one of the prices that there are.
func price(random *rand.Rand) int { return 50 + 10*random.IntN(5) }
