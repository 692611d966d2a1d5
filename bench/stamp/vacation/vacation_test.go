package vacation

import (
	"reflect"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/stamp/stamptest"
	"github.com/cofferdam-go/cofferdam/stm"
)

// small has the most contention: a tiny database, often updated.
var small = Params{Queries: 4, Queried: 60, Bookings: 60, Relations: 64, Transactions: 800}

func verify(t *testing.T, in *Input, r *Result) {
	t.Helper()
	stamptest.Verify(t, in.Verify(r), r.Elapsed)
}

func TestDatabaseStaysConsistent(t *testing.T) {
	for _, set := range []struct {
		name   string
		params Params
	}{
		{"low", SimulatorLow},
		{"high", SimulatorHigh},
		{"small", small},
	} {
		in := Generate(set.params)
		t.Run(set.name+"/sequential", func(t *testing.T) { verify(t, in, Sequential(in)) })
		t.Run(set.name+"/mutex", func(t *testing.T) { verify(t, in, Mutex(in, 2)) })
		t.Run(set.name+"/atomic", func(t *testing.T) { verify(t, in, Atomic(in, 2)) })
		for _, m := range stamptest.Modes {
			t.Run(set.name+"/"+m.Name, func(t *testing.T) {
				for goroutines := 1; goroutines <= 2; goroutines++ {
					verify(t, in, Transactional(in, goroutines, stm.Options{Mode: m.Mode}))
				}
			})
		}
	}
}

// database is a plain copy of what a run has left.
func database(r *Result) (all []any) {
	for k := range r.manager.stock {
		for id, s := range r.manager.stock[k].All() {
			all = append(all, id, *s)
		}
	}
	for id, c := range r.manager.customers.All() {
		all = append(all, id)
		for _, b := range c.bookings.All() {
			all = append(all, b)
		}
	}
	return all
}

func TestOneGoroutineDoesTheSameWithTransactions(t *testing.T) {
	in := Generate(small)
	want := Sequential(in)
	for _, m := range stamptest.Modes {
		t.Run(m.Name, func(t *testing.T) {
			got := Transactional(in, 1, stm.Options{Mode: m.Mode})
			if got.Tally != want.Tally {
				t.Errorf("%+v were done, and %+v sequentially", got.Tally, want.Tally)
			}
			if !reflect.DeepEqual(database(got), database(want)) {
				t.Error("the databases differ")
			}
		})
	}
}

func TestEveryKindOfActionHappens(t *testing.T) {
	r := Sequential(Generate(small))
	if c := r.Tally; c.Booked == 0 || c.Cancelled == 0 || c.Added == 0 || c.Removed == 0 {
		t.Errorf("%+v", c)
	}
}

func TestVerifyFindsInconsistencies(t *testing.T) {
	in := Generate(small)
	for name, spoil := range map[string]func(r *Result){
		"action lost":  func(r *Result) { r.Tally.Actions-- },
		"booking lost": func(r *Result) { r.Tally.Booked++ },
		"unit lost":    func(r *Result) { r.Tally.Removed++ },
		"unit used that nobody booked": func(r *Result) {
			for _, s := range r.manager.stock[car].All() {
				s.used++
				s.free--
				return
			}
		},
		"stock lost": func(r *Result) {
			for id := range r.manager.stock[room].All() {
				r.manager.stock[room].Remove(id)
				return
			}
		},
	} {
		r := Sequential(in)
		spoil(r)
		if in.Verify(r) == nil {
			t.Errorf("%s: passes", name)
		}
	}
}
