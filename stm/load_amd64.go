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
