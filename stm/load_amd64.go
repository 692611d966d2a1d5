//go:build !race

package stm

import "sync/atomic"

// Load returns the value of a variable in the transaction: the one that the
// transaction stored last, or else the one that is there. Any variable will do
// that is only accessed like this while it is shared.
//
// The variable is read before the clock, by instructions that the processor keeps in their
// order. If the clock is another, or something was written, what was read is of no use.
// The compiler has this in the place of its call as long as it does not become any larger.
func Load[T any](tx *Tx, p *T) (v T) {
	if v = *p; atomic.LoadUint64(clockWord) != tx.bareAt {
		v = loadWithLogs(tx, p)
	}
	return
}

// LoadWhole is Load of a variable that no transaction assigns to, as compiled code has it.
// Plain code may assign to it, between transactions that take an object out and put it back. So what
// was read holds only as long as no other transaction commits. It is not logged: if one does commit,
// the attempt is given up, and the next transactions of the goroutine log such reads.
func LoadWhole[T any](tx *Tx, p *T) (v T) {
	if v = *p; atomic.LoadUint64(clockWord) != tx.bareAt {
		v = loadWhole(tx, p)
	}
	return
}

// loadWhole is LoadWhole where there are logs to look at.
//
//go:noinline
func loadWhole[T any](tx *Tx, p *T) T {
	if tx.cautious != 0 {
		return loadWithLogs(tx, p)
	}
	v := *p
	if clock.Load() != tx.snapshot {
		return loadWithLogs(tx, p)
	}
	tx.unlogged = true
	return v
}
