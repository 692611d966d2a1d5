package stm

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Retry gives the attempt up and waits until something that it has read changes;
// then the function is called again. It does not return.
func Retry(tx *Tx) {
	if tx.Check(); tx.asked {
		panic("stm: Retry in an irrevocable transaction: its effects cannot be taken back")
	}
	tx.confirm()
	tx.leave(retrying)
	panic(unwind)
}

// OrElse runs the first function and, if that calls [Retry], the second instead,
// as if the first had not been there: what it wrote and asked for on commit is
// forgotten, what it asked for on abort is done. If both call Retry, the transaction
// waits for what either has read.
func OrElse(tx *Tx, first, second func(tx *Tx) error) error {
	tx.Check()
	writes, maps, commits, aborts := tx.writes.clone(), tx.clonedMaps(), len(tx.onCommit), len(tx.onAbort)
	retried, err := tx.alternative(first)
	if !retried {
		return err
	}
	tx.writes, tx.maps = writes, maps
	tx.onCommit = tx.onCommit[:commits]
	undo := tx.onAbort[aborts:]
	tx.onAbort = tx.onAbort[:aborts:aborts]
	for _, f := range slices.Backward(undo) {
		f()
	}
	return second(tx)
}

// alternative calls the function and stops its Retry.
func (tx *Tx) alternative(fn func(tx *Tx) error) (retried bool, err error) {
	returned := false
	defer func() {
		if !returned && tx.state == retrying {
			recover()
			tx.enter()
			retried = true
		}
	}()
	err = fn(tx)
	returned = true
	return false, err
}

// changes is where transactions wait in Retry.
var changes struct {
	waiting atomic.Int64
	mu      sync.Mutex
	next    chan struct{} // closed at the next commit
}

// notify wakes the transactions that wait, after a commit.
func notify() {
	if changes.waiting.Load() != 0 {
		changes.mu.Lock()
		defer changes.mu.Unlock()
		if changes.next != nil {
			close(changes.next)
			changes.next = nil
		}
	}
}

// waitForChange waits until something that the attempt has read is different. It
// announces itself before it looks, so that no commit is missed.
func (tx *Tx) waitForChange(o Options) error {
	defer tx.finish(false)
	if tx.held {
		tx.release(0)
	}
	if tx.reads.len() == 0 {
		panic("stm: Retry in a transaction that has read nothing: it would wait for ever")
	}
	tx.actions(false) // the attempt is over, even if the wait is not
	changes.waiting.Add(1)
	defer changes.waiting.Add(-1)
	var done <-chan struct{}
	if o.Context != nil {
		done = o.Context.Done()
	}
	for {
		changes.mu.Lock()
		if changes.next == nil {
			changes.next = make(chan struct{})
		}
		next := changes.next
		changes.mu.Unlock()
		if _, same := tx.revalidate(); !same {
			return nil
		}
		select {
		case <-next:
		case <-done:
			return o.Context.Err()
		}
	}
}
