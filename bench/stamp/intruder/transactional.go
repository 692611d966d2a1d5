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
		var detector detector
		var found []int
		for {
			p := popTx(o, &d.arrived)
			if p == nil {
				break
			}
			d.addTx(o, p)
			if f := popTx(o, &d.complete); f != nil && detector.attack(f.data) {
				found = append(found, f.id)
			}
		}
		attacks[member] = found
	})
	return result(time.Since(start), attacks...)
}

// popTx takes the first element of a queue, in a transaction: nil if there is none.
func popTx[T any](o stm.Options, q *container.Queue[*T]) *T {
	first, err := stm.ValueWith(o, func(tx *stm.Tx) (*T, error) {
		first, _ := q.PopTx(tx)
		return first, nil
	})
	must(err)
	return first
}

// addTx is add as a transaction.
func (d *decoder) addTx(o stm.Options, p *packet) {
	must(o.Atomically(func(tx *stm.Tx) error {
		if p.fragments == 1 {
			d.complete.PushTx(tx, &flow{p.flow, p.data})
			return nil
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
		return nil
	}))
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
