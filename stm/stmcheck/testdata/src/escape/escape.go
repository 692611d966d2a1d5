// want package:"analyzed"

// Package escape has transactions whose Tx leaves them.
package escape

import (
	"sync"

	"github.com/cofferdam-go/cofferdam/stm"
)

type holder struct{ tx *stm.Tx }

var global *stm.Tx

func use(tx *stm.Tx, n *int) { stm.Store(tx, n, 1) }

func mustReport(c chan *stm.Tx, h *holder) {
	var n int
	var kept *stm.Tx
	var closure func()
	stm.Atomically(func(tx *stm.Tx) error {
		global = tx                      // want `this keeps the Tx in a place that outlives its transaction`
		kept = tx                        // want `this keeps the Tx`
		h.tx = tx                        // want `this keeps the Tx`
		c <- tx                          // want `this sends the Tx` `this sends to a channel`
		closure = func() { use(tx, &n) } // want `this keeps the Tx` `this writes closure`
		go func() {                      // want `this starts a goroutine`
			stm.Load(tx, &n) // want `this uses the Tx in another goroutine`
		}()
		var wg sync.WaitGroup
		wg.Go(func() { use(tx, &n) })        // want `this calls sync.WaitGroup.Go` `this uses the Tx in another goroutine`
		go use(tx, &n)                       // want `this starts a goroutine` `this uses the Tx in another goroutine`
		tx.OnCommit(func() { use(tx, &n) })  // want `this uses the Tx when its transaction is over`
		tx.OnAbort(func() { _ = tx; n = 1 }) // want `this uses the Tx when its transaction is over`
		return nil
	})
	_, _ = stm.Value(func(tx *stm.Tx) (*stm.Tx, error) {
		return tx, nil // want `this returns the Tx from its transaction`
	})
	_, _ = stm.Value(func(tx *stm.Tx) (func(), error) {
		return func() { use(tx, &n) }, nil // want `this returns a function that uses the Tx`
	})
	closure()
	use(kept, &n)
}

func keep(tx *stm.Tx, h *holder) {
	h.tx = tx // want `this keeps the Tx`
}

func mustNotReport() {
	var n int
	stm.Atomically(func(tx *stm.Tx) error {
		alias := tx
		use(alias, &n)
		h := holder{tx: tx}
		h.tx = tx
		use(h.tx, &n)
		func() { use(tx, &n) }()
		f := func() { use(tx, &n) }
		f()
		tx.OnCommit(func() {
			stm.Atomically(func(tx *stm.Tx) error {
				use(tx, &n)
				return nil
			})
		})
		return nil
	})
}
