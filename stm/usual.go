package stm

// Most transactions are short, log no reads, and are over before anybody else commits. What
// such a one needs at its beginning and at its end is done here, in two functions without a
// call; it is what begin, commit and ended do, less what cannot be the case. The state of a
// lean attempt says most of that: it is eager, has no helper and holds nothing (see lean.go).

// begun begins an eager attempt if it can be lean, and nothing is in its way.
func (tx *Tx) begun() bool {
	t := clock.Load()
	if !canBeLean || tx.quiet < tx.trust || t&1 != 0 || tx.flag.Load() != 0 {
		return false
	}
	tx.mode, tx.eager, tx.lean, tx.state = Eager, true, true, running
	tx.unlogged = true
	tx.snapshot, tx.bareAt = t, t
	tx.writes.room = cap(tx.writes.all)
	tx.credit = manyReads
	return true
}

// settled commits and ends a transaction whose attempt is still lean, if there is nothing else
// to be done for it, and reports whether it did. If not, nothing has happened.
func (tx *Tx) settled() bool {
	if !canBeLean || !tx.lean || len(tx.maps) != 0 || tx.onCommit != nil || tx.onAbort != nil {
		return false
	}
	if len(tx.writes.all) != 0 {
		if starving.Load() != 0 || !clock.CompareAndSwap(tx.snapshot, tx.snapshot+1) {
			return false
		}
		tx.held = true
		waiting, asleep := changes.waiting.Load() != 0, timer.asleep.Load() // as in commit
		tx.count.writes += uint64(tx.writes.store())
		storeClock(tx.snapshot + 2)
		tx.held = false
		tx.awaitMapReaders()
		if waiting {
			notify()
		}
		if asleep {
			timer.need()
		}
	}
	tx.state, tx.lean, tx.bareAt = idle, false, never
	tx.writes.room = 0
	tx.count.reads += uint64(manyReads - tx.credit)
	tx.credit = 0
	if tx.cautious != 0 {
		tx.cautious--
	}
	tx.count.commits++
	tx.flush()
	return true
}
