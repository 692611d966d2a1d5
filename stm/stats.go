package stm

import "sync/atomic"

// Stats count what happened since the program began. A goroutine's counts are added
// after every few transactions, so that they cost next to nothing.
type Stats struct {
	Commits     uint64 // transactions that committed
	Failures    uint64 // that returned an error
	Conflicts   uint64 // attempts given up because something that was read changed
	Hidden      uint64 // of these: those that had panicked
	Interrupted uint64 // likewise: those that were stopped in plain code
	Retries     uint64 // attempts that called Retry
	Irrevocable uint64 // transactions that became irrevocable
	Validations uint64 // times that a read set was compared with memory
	Reads       uint64 // words in read sets, of which transactions that nobody disturbs have none
	Writes      uint64 // words in write sets
}

// counts are a goroutine's own.
type counts struct {
	commits, failures, conflicts, hidden, interrupted, retries, irrevocable, validations, reads, writes uint64
}

var totals struct {
	commits, failures, conflicts, hidden, interrupted, retries, irrevocable, validations, reads, writes atomic.Uint64
}

// flushed is how many transactions a goroutine counts by itself.
const flushed = 64

// flush adds the goroutine's counts to the totals, if there are enough of them.
func (tx *Tx) flush() {
	if tx.count.commits+tx.count.failures >= flushed {
		tx.flushAll()
	}
}

func (tx *Tx) flushAll() {
	c := &tx.count
	totals.commits.Add(c.commits)
	totals.failures.Add(c.failures)
	totals.conflicts.Add(c.conflicts)
	totals.hidden.Add(c.hidden)
	totals.interrupted.Add(c.interrupted)
	totals.retries.Add(c.retries)
	totals.irrevocable.Add(c.irrevocable)
	totals.validations.Add(c.validations)
	totals.reads.Add(c.reads)
	totals.writes.Add(c.writes)
	*c = counts{}
}

// ReadStats returns the counts. Those of the calling goroutine are all in; of every
// other, those of the last 63 transactions may not be.
func ReadStats() Stats {
	if tx := mine(); tx.state == idle {
		tx.flushAll()
		tx.given()
	}
	return Stats{
		Commits:     totals.commits.Load(),
		Failures:    totals.failures.Load(),
		Conflicts:   totals.conflicts.Load(),
		Hidden:      totals.hidden.Load(),
		Interrupted: totals.interrupted.Load(),
		Retries:     totals.retries.Load(),
		Irrevocable: totals.irrevocable.Load(),
		Validations: totals.validations.Load(),
		Reads:       totals.reads.Load(),
		Writes:      totals.writes.Load(),
	}
}
