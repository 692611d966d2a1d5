package stm

import (
	"sync"
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// Every goroutine has its own Tx, found by the goroutine's g: so a transaction
// knows that it is nested, needs no allocation, and finds its logs as large as they
// became last time. The runtime uses a g again for another goroutine, and never
// frees it, so there are as many as there were ever goroutines with transactions at
// the same time.
//
// The table is read without a lock: nothing is ever taken out of it, and a larger
// one holds all that the smaller one did.
var goroutines struct {
	table atomic.Pointer[[]atomic.Pointer[Tx]]
	mu    sync.Mutex // guards the rest, and changes of table
	n     int
}

// near has the Tx of most goroutines where it is found at once: the first of those that fall
// on a place has it for good.
var near [256]atomic.Pointer[Tx]

func nearby(g uintptr) *atomic.Pointer[Tx] { return &near[uint64(g)*0x9e3779b97f4a7c15>>56] }

// mine is the Tx of the running goroutine.
func mine() *Tx {
	g := page.G()
	if tx := nearby(g).Load(); tx != nil && tx.g == g {
		tx.taken()
		return tx
	}
	return enrolled(g)
}

// enrolled is the Tx of a goroutine that is not nearby.
func enrolled(g uintptr) *Tx {
	if table := goroutines.table.Load(); table != nil {
		if tx := lookup(*table, g); tx != nil {
			tx.taken()
			return tx
		}
	}
	return enroll(g)
}

// place is where a goroutine is looked for first; slots is a power of two.
func place(g uintptr, slots int) int {
	return int(uint64(g)*0x9e3779b97f4a7c15>>32) & (slots - 1)
}

func lookup(table []atomic.Pointer[Tx], g uintptr) *Tx {
	last := len(table) - 1
	for i := place(g, len(table)); ; i = (i + 1) & last {
		tx := table[i].Load()
		if tx == nil || tx.g == g {
			return tx
		}
	}
}

func insert(table []atomic.Pointer[Tx], tx *Tx) {
	i := place(tx.g, len(table))
	for table[i].Load() != nil {
		i = (i + 1) & (len(table) - 1)
	}
	table[i].Store(tx)
}

// enroll makes a Tx for a goroutine that has none.
func enroll(g uintptr) *Tx {
	goroutines.mu.Lock()
	defer goroutines.mu.Unlock()
	var table []atomic.Pointer[Tx]
	if p := goroutines.table.Load(); p != nil {
		table = *p
	}
	if 2*(goroutines.n+1) > len(table) {
		larger := make([]atomic.Pointer[Tx], max(64, 2*len(table)))
		for i := range table {
			if tx := table[i].Load(); tx != nil {
				insert(larger, tx)
			}
		}
		table = larger
	}
	tx := &Tx{g: g, ceiling: manyReads, trust: leastTrust}
	tx.random.Seed(uint64(g), uint64(goroutines.n))
	insert(table, tx)
	nearby(g).CompareAndSwap(nil, tx)
	goroutines.n++
	goroutines.table.Store(&table)
	return tx
}

// everybody calls f with the Tx of each goroutine.
func everybody(f func(*Tx)) {
	if table := goroutines.table.Load(); table != nil {
		for i := range *table {
			if tx := (*table)[i].Load(); tx != nil {
				f(tx)
			}
		}
	}
}
