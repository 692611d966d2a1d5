package transactions

import (
	"fmt"

	peer "github.com/anacrolix/stm"
)

// The loops of the micro-benchmarks with github.com/anacrolix/stm, the one STM library
// for Go that the module proxy serves and that still builds; two more,
// github.com/tiancaiamao/stm and lukechampine.com/stm, are quoted.

// A peerBank has the variables of a bank as variables of that library.
type peerBank struct {
	ten      [10]*peer.Var[int]
	counter  *peer.Var[int]
	accounts [1000]*peer.Var[int]
	total    *peer.Var[int]
}

func newPeerBank() *peerBank {
	b := &peerBank{counter: peer.NewVar(0), total: peer.NewVar(0)}
	for i := range b.ten {
		b.ten[i] = peer.NewVar(i)
	}
	for i := range b.accounts {
		b.accounts[i] = peer.NewVar(deposit)
	}
	return b
}

// check says whether some operations left what they should have.
func (b *peerBank) check(shape string, ops int) error {
	plain := bank{counter: peer.AtomicGet(b.counter), total: peer.AtomicGet(b.total)}
	for i, a := range b.accounts {
		plain.accounts[i] = peer.AtomicGet(a)
	}
	if err := plain.check(shape, ops); err != nil {
		return fmt.Errorf("anacrolix: %w", err)
	}
	return nil
}

// loop returns what does n operations in goroutine g; nil for a shape that the library
// is not compared on.
func (b *peerBank) loop(shape string) func(n, g int) {
	return map[string]func(n, g int){
		readTen: b.readTen, counter: b.count, transfer: b.transfer, readThousand: b.readThousand,
	}[shape]
}

func (b *peerBank) readTen(n, _ int) {
	for range n {
		peer.Atomically(func(tx *peer.Tx) int {
			sum := 0
			for _, v := range b.ten {
				sum += v.Get(tx)
			}
			return sum
		})
	}
}

func (b *peerBank) count(n, _ int) {
	for range n {
		peer.Atomically(peer.VoidOperation(func(tx *peer.Tx) { b.counter.Set(tx, b.counter.Get(tx)+1) }))
	}
}

func (b *peerBank) transfer(n, g int) {
	r := uint64(g + 1)
	for range n {
		r = next(r)
		from, to, from2, to2 := pick(r)
		peer.Atomically(peer.VoidOperation(func(tx *peer.Tx) {
			b.add(tx, from, -1)
			b.add(tx, to, 1)
			b.add(tx, from2, -1)
			b.add(tx, to2, 1)
		}))
	}
}

func (b *peerBank) add(tx *peer.Tx, account, amount int) {
	v := b.accounts[account]
	v.Set(tx, v.Get(tx)+amount)
}

func (b *peerBank) readThousand(n, _ int) {
	for range n {
		peer.Atomically(peer.VoidOperation(func(tx *peer.Tx) {
			sum := 0
			for _, v := range b.accounts {
				sum += v.Get(tx)
			}
			b.total.Set(tx, sum)
		}))
	}
}
