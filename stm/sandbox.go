package stm

import (
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// Check is a checkpoint: it aborts the attempt if it is known to be doomed. Loops
// and recursions in a transaction that may go on without a Load or a Store need
// one; the analyzer stmcheck finds those that have none.
func (tx *Tx) Check() {
	if tx.flag.Load() != 0 || tx.state != running || !tx.eager {
		tx.check()
	}
}

// check is Check where there may be something to do, apart so that the rest is inlined.
func (tx *Tx) check() {
	if tx.flag.Load() != 0 || tx.state != running {
		tx.heed()
	}
	if !tx.eager && page.StackDepth() > deepStack {
		tx.confirm()
	}
}

// Validate aborts the attempt if something that it has read is not there any more. It is for
// what a doomed transaction must not do, such as allocating as much as a variable says.
func (tx *Tx) Validate() {
	tx.Check()
	tx.confirm()
}

// heed does what the flag asks for, before an access. It is also called when the
// transaction is not just running.
func (tx *Tx) heed() {
	switch tx.state {
	case running:
	case aborted, retrying:
		panic(unwind) // the function went on although it was unwound
	case idle:
		panic("stm: a Tx was used after its transaction had ended: it is valid during the function's call")
	default:
		panic("stm: unknown state")
	}
	flags := tx.flag.Swap(0)
	if flags&flagDoomed != 0 && !tx.held {
		tx.abort()
	}
	if tx.interrupted.Load() != 0 {
		tx.abort() // the function has recovered the panic that was to end it
	}
	if flags&flagShow != 0 {
		tx.show()
	}
	if flags&flagCheck != 0 && !tx.eager && !tx.held && clock.Load() != tx.snapshot {
		t, ok := tx.revalidate()
		if !ok {
			doomed.Add(1)
			tx.abort()
		}
		tx.snapshot = t
	}
}

// look sees, after every so many reads, what would be too much to look at every time.
func (tx *Tx) look() {
	if tx.reads.longest() < tx.ceiling {
		return
	}
	tx.ceiling += manyReads
	tx.mustBeMine()
	if !tx.eager && page.StackDepth() > deepStack {
		tx.confirm()
	}
}

// mustBeMine panics in any other goroutine than the transaction's.
func (tx *Tx) mustBeMine() {
	if tx.g != page.G() {
		panic("stm: a Tx was used in another goroutine than its transaction's")
	}
}

// manyReads is the number of reads between two looks: few enough that a recursion
// with one read at each level does not exhaust the stack between them.
const manyReads = 1024

// deepStack is a depth, in bytes, that no stack has for a good reason: a doomed
// recursion is found out here, long before the stack of a gigabyte that Go cannot
// recover from.
const deepStack = 64 << 20

// checkedAllocation is how many bytes a transaction may allocate at once without
// being validated.
const checkedAllocation = 1 << 20

// Make allocates a slice for the transaction's own use. A doomed transaction can
// ask for any length; above a limit the transaction is validated first.
func Make[T any](tx *Tx, n int) []T {
	var zero T
	if size := sizeOf(zero); n < 0 || uintptr(n) > checkedAllocation/max(size, 1) {
		tx.confirm()
		if n < 0 {
			panic(fmt.Sprintf("stm: Make of %d elements", n))
		}
	}
	return make([]T, n)
}
