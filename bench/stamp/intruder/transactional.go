package intruder

import (
	"time"

	"github.com/cofferdam-go/cofferdam/bench/stamp/container"
	"github.com/cofferdam-go/cofferdam/bench/stamp/team"
	"github.com/cofferdam-go/cofferdam/stm"
)

// Transactional runs the program in several goroutines, with transactions.
func Transactional(in *Input, goroutines int, o stm.Options) *Result {
	d := in.prepare()
	attacks := make([][]int, goroutines)
	start := time.Now()
	team.Run(goroutines, func(member int) {
		// The functions are made once: with options, one that captures variables is
		// allocated.
		var p *packet
		capture, take := pop(&d.arrived), pop(&d.complete)
		reassemble := func(tx *stm.Tx) error {
			d.addTx(tx, p)
			return nil
		}
		var detector detector
		var found []int
		for {
			var err error
			p, err = stm.ValueWith(o, capture)
			must(err)
			if p == nil {
				break
			}
			must(o.Atomically(reassemble))
			f, err := stm.ValueWith(o, take)
			must(err)
			if f != nil && detector.attack(f.data) {
				found = append(found, f.id)
			}
		}
		attacks[member] = found
	})
	return result(time.Since(start), attacks...)
}

// pop returns a function that takes the first element of a queue, or nil if there is
// none.
func pop[T any](q *container.Queue[*T]) func(tx *stm.Tx) (*T, error) {
	return func(tx *stm.Tx) (*T, error) {
		first, _ := q.PopTx(tx)
		return first, nil
	}
}

// addTx is add in a transaction.
func (d *decoder) addTx(tx *stm.Tx, p *packet) {
	if p.fragments == 1 {
		d.complete.PushTx(tx, &flow{p.flow, p.data})
		return
	}
	seen, ok := d.partial.FindTx(tx, p.flow)
	if !ok {
		seen = new(fragments)
		d.partial.InsertTx(tx, p.flow, seen)
	}
	if !seen.InsertTx(tx, p.fragment, p) {
		panic(duplicate(p))
	}
	if seen.LenTx(tx) == p.fragments {
		d.partial.RemoveTx(tx, p.flow)
		d.complete.PushTx(tx, &flow{p.flow, concatenateTx(tx, seen)})
	}
}

// concatenateTx is concatenate in a transaction.
func concatenateTx(tx *stm.Tx, all *fragments) []byte {
	size := 0
	for _, p := range all.AllTx(tx) {
		size += len(p.data)
	}
	data := stm.Make[byte](tx, size)[:0]
	for _, p := range all.AllTx(tx) {
		data = append(data, p.data...)
	}
	return data
}

// must panics with an error of a transaction whose function has none of its own, as
// there is only one then: that the context of the options is done.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
