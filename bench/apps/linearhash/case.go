package linearhash

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/cofferdam-go/cofferdam/bench/apps/variant"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

const goroutines = 4

// Case is a table that fills, lives and drains.
func Case(quick bool) measure.Case {
	ops := 100_000
	if quick {
		ops = 10_000
	}
	r := newRun(ops)
	return measure.Case{
		Figure:     "11",
		Name:       "lkrhash",
		Params:     measure.Params{measure.Goroutines: goroutines},
		Ops:        goroutines * len(phases) * ops,
		Baseline:   measure.SameMemory,
		Contenders: variant.Contenders(r.prepare),
	}
}

// A run is the loads of all goroutines, and what must come of them.
type run struct {
	loads    [goroutines]load
	expected func() outcome
}

type outcome struct {
	tallies [goroutines]tally
	content map[string]uint64
}

func newRun(ops int) *run {
	r := new(run)
	each := ops / 12 // so that each key is put and deleted a few times
	keys := newKeys(goroutines * each)
	for i := range r.loads {
		r.loads[i] = load{seed: uint64(i), ops: ops, keys: keys[i*each:][:each]}
	}
	r.expected = sync.OnceValue(r.model)
	return r
}

// model has the loads run one after the other.
func (r *run) model() outcome {
	m := model{}
	o := outcome{content: m}
	for i := range r.loads {
		o.tallies[i] = r.loads[i].run(m)
	}
	return o
}

// on has the loads run side by side on a table.
func (r *run) on(t *Table) (tallies [goroutines]tally) {
	var all sync.WaitGroup
	for i := range r.loads {
		all.Go(func() { tallies[i] = r.loads[i].run(t) })
	}
	all.Wait()
	return tallies
}

// check compares what came of the loads with what must come of them.
func (r *run) check(t *Table, tallies [goroutines]tally) error {
	expected := r.expected()
	if tallies != expected.tallies {
		return fmt.Errorf("the goroutines saw %+v; they should have seen %+v", tallies, expected.tallies)
	}
	content, err := t.Content()
	if err == nil && !maps.Equal(content, expected.content) {
		err = fmt.Errorf("the table has %d entries at the end, and not the %d it should have", len(content), len(expected.content))
	}
	return err
}

// prepare makes a table that has been full once, and is empty. What a page costs
// when it is used for the first time is not the price of a lock.
func (r *run) prepare(v measure.Variant) measure.Trial {
	t := New(v)
	for i := range r.loads {
		for _, key := range r.loads[i].keys {
			t.Put(key, 0)
		}
	}
	for i := range r.loads {
		for _, key := range r.loads[i].keys {
			t.Delete(key)
		}
	}
	var tallies [goroutines]tally
	return measure.Trial{
		Run:   func() { tallies = r.on(t) },
		Close: func() error { return errors.Join(r.check(t, tallies), t.Close()) },
	}
}
