package stm

import "runtime"

// A read is logged to be compared later, after another transaction has committed. Most transactions
// of most programs are over before one does. So a goroutine whose last transactions all
// were logs no reads in its next one, which is lean: a read looks at the clock, as any other,
// and if it has moved the attempt is given up, because what it has read cannot be compared.
// The next attempts log, until trust is regained, of which each attempt in vain asks for twice
// as much.
//
// A lean attempt is eager, also in Timer mode: it never runs on values that were not there
// together, and nothing has to look after it. One that ends in Retry is made again, with a log,
// before anything is waited for. There is none in the modes with a helper, which wants to see
// the log, on processors that do not keep two reads in their order, and in builds with -race,
// which tell the detector what was read.
//
// Until a lean attempt writes something, its reads are bare: the variable and a look at the
// clock, and nothing else. Load is small enough then for the compiler to have it in the place of its call.
// What that saves is not the call, but what the processor sees: while it waits for the next
// node of a tree, which no cache has, it works on what comes behind, if that is within some two
// hundred instructions.

const (
	leastTrust = 16
	mostTrust  = 4096
)

// never is what the clock never is.
const never = 0

// canBeLean is whether this program's transactions can.
const canBeLean = runtime.GOARCH == "amd64" && !vigilant

// mayBeLean reports whether the attempt that begins is lean.
func (tx *Tx) mayBeLean() bool {
	return canBeLean && tx.mode <= Timer && tx.quiet >= tx.trust && !tx.clone
}

// undisturbed counts a transaction that has committed.
func (tx *Tx) undisturbed() {
	if tx.quiet < tx.trust {
		if tx.quiet++; tx.quiet == tx.trust {
			tx.trust = max(tx.trust/2, leastTrust)
			tx.quiet = tx.trust
		}
	}
}

// disturbed notes that another transaction has committed during this one.
func (tx *Tx) disturbed() {
	tx.quiet = 0
	if tx.lean {
		tx.logNext()
	}
}

// logNext has the next attempts log everything that they read.
func (tx *Tx) logNext() {
	tx.quiet, tx.cautious = 0, careful
	tx.trust = min(2*tx.trust, mostTrust)
}

// endLean counts what a lean attempt has read. It reads no more, or logs what it reads from
// here on.
func (tx *Tx) endLean() {
	tx.lean, tx.bareAt = false, never
	tx.count.reads += uint64(manyReads - tx.credit)
	tx.credit = 0
}

// log has a lean attempt go on as any other, whose reads so far hold because no other can commit
// any more.
func (tx *Tx) log() {
	if tx.lean {
		tx.endLean()
		tx.enter()
	}
}

// isLean counts a read of a lean attempt, and reports whether it is one.
func (tx *Tx) isLean() bool {
	if tx.lean && tx.credit > 0 {
		tx.credit--
	}
	return tx.lean
}

// lookLean is look in a lean attempt, whose credit is used up.
func (tx *Tx) lookLean() {
	tx.mustBeMine()
	tx.count.reads += manyReads
	tx.credit = manyReads
}
