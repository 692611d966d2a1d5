package isolator

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/bench/structures"
)

// A load is what the paper's stress client does: goroutines that perform random
// operations on one structure until so many are done.
type load struct {
	goroutines int     // careful ones
	writes     float64 // fraction of the operations that write
	careless   float64 // fraction of the operations by one more goroutine, which is careless
	ops        int
}

// contender is the load on a fresh structure in a variant.
func (l load) contender(k structures.Kind, v measure.Variant) measure.Contender {
	return measure.Contender{Variant: v, Prepare: func() measure.Trial {
		if v == measure.Heap {
			s := k.Stock()
			fill(s, k)
			return measure.Trial{Run: func() { l.run(s, s, k.Keys()) }}
		}
		g := k.Guarded()
		var careful, careless structures.Structure
		switch v {
		case measure.SameMemory, measure.Again:
			careful = g.SameMemory()
			careless = careful
		case measure.Isolate:
			careful, careless = g.Careful(), g.Careless()
		default:
			panic(fmt.Sprintf("isolator: no stress client for %q", v))
		}
		fill(careful, k)
		return measure.Trial{Run: func() { l.run(careful, careless, k.Keys()) }, Close: g.Close}
	}}
}

// run divides the operations between the goroutines and waits for them. Each
// draws its own numbers, the same in every trial of every variant. Nothing is
// done between two operations but drawing the next.
func (l load) run(careful, careless structures.Structure, keys uint64) {
	var wg sync.WaitGroup
	carelessOps := int(l.careless * float64(l.ops))
	if carelessOps > 0 {
		wg.Go(func() { l.client(careless, 0, carelessOps, keys) })
	}
	rest := l.ops - carelessOps
	for i := range l.goroutines {
		n := rest*(i+1)/l.goroutines - rest*i/l.goroutines
		wg.Go(func() { l.client(careful, uint64(i+1), n, keys) })
	}
	wg.Wait()
}

// client performs n operations. Every other write deletes, so that the structure
// keeps its size.
func (l load) client(s structures.Structure, seed uint64, n int, keys uint64) {
	random := rand.NewPCG(seed, 0)
	threshold := uint64(l.writes * (1 << 32))
	insert := true
	for range n {
		bits := random.Uint64()
		key := bits >> 32 % keys
		switch {
		case bits&(1<<32-1) >= threshold:
			s.Read(key)
		case insert:
			s.Insert(key, bits)
			insert = false
		default:
			s.Delete(key)
			insert = true
		}
	}
}

// fill gives the structure the size that it keeps: every other key, in random
// order. It touches the pages, too, in the view that is used later, so that no
// trial pays for them.
func fill(s structures.Structure, k structures.Kind) {
	random := rand.New(rand.NewPCG(uint64(k.Size), 0))
	for _, i := range random.Perm(k.Size) {
		s.Insert(2*uint64(i), uint64(i))
	}
}
