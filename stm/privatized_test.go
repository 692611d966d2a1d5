package stm_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cofferdam-go/cofferdam/stm"
)

// TestAMapThatWasTakenOutIsPlain: when a transaction has made a map unreachable, and has
// committed, nobody reads it any more, not even a transaction that is doomed and does not know it
// yet. Go would end the process.
func TestAMapThatWasTakenOutIsPlain(t *testing.T) {
	for name, mode := range map[string]stm.Mode{"eager": stm.Eager, "timer": stm.Timer, "helper": stm.Helper, "clone": stm.Clone} {
		t.Run(name, func(t *testing.T) {
			holder := make(map[int]int)
			for i := range 1000 {
				holder[i] = i
			}
			var done atomic.Bool
			var begun atomic.Int64
			var readers sync.WaitGroup
			for range 3 {
				readers.Go(func() {
					for !done.Load() {
						stm.Options{Mode: mode}.Atomically(func(tx *stm.Tx) error {
							m := stm.Load(tx, &holder)
							begun.Add(1)
							for k, v := range stm.MapAll(tx, m) {
								if k%1000 != v {
									t.Error("an entry was never there", k, v)
								}
							}
							stm.MapLen(tx, m)
							stm.MapLoad(tx, m, 5)
							return nil
						})
					}
				})
			}
			for i := range 60 {
				for before := begun.Load(); begun.Load() == before; {
					runtime.Gosched() // until somebody is about to read the map
				}
				var mine map[int]int
				stm.Atomically(func(tx *stm.Tx) error {
					if i%3 == 0 {
						tx.Perform()
					}
					mine = stm.Load(tx, &holder)
					stm.Store(tx, &holder, nil)
					return nil
				})
				mine[i%1000+1000] = i % 1000
				delete(mine, i%1000)
				mine[i%1000] = i % 1000
				delete(mine, i%1000+1000)
				commit(func(tx *stm.Tx) { stm.Store(tx, &holder, mine) })
			}
			done.Store(true)
			readers.Wait()
		})
	}
}
