package variant

import (
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/isolate"
)

var guarded = []measure.Variant{measure.SameMemory, measure.Isolate}

func TestLockExcludes(t *testing.T) {
	for _, v := range guarded {
		t.Run(string(v), func(t *testing.T) {
			mu := NewLock(v, "counter")
			defer mu.Close()
			counter := isolate.New[int](&mu.Guard)
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for range 1000 {
						mu.Lock()
						*View(mu, counter)++
						mu.Unlock()
					}
				})
			}
			all.Wait()
			mu.Lock()
			defer mu.Unlock()
			if n := *View(mu, counter); n != 4000 {
				t.Errorf("4000 sections added up to %d", n)
			}
		})
	}
}

func TestOnlyIsolateHasAnotherView(t *testing.T) {
	protected := isolate.CurrentStatus().Backend != "none"
	for _, v := range guarded {
		mu := NewLock(v, "counter")
		counter := isolate.New[int](&mu.Guard)
		mu.Lock()
		if other := View(mu, counter) != counter; other != (v == measure.Isolate && protected) {
			t.Errorf("%s: another view: %v", v, other)
		}
		mu.Unlock()
		mu.Close()
	}
}

func TestCondGivesTheLockAway(t *testing.T) {
	for _, v := range guarded {
		t.Run(string(v), func(t *testing.T) {
			mu := NewLock(v, "flag")
			defer mu.Close()
			flag := isolate.New[bool](&mu.Guard)
			raised := mu.Cond()
			mu.Lock()
			go func() {
				mu.Lock()
				*View(mu, flag) = true
				mu.Unlock()
				raised.Signal()
			}()
			for !*View(mu, flag) {
				raised.Wait()
			}
			mu.Unlock()
		})
	}
}

func TestFreshIsInTheViewItIsAskedFor(t *testing.T) {
	for _, v := range guarded {
		mu := NewLock(v, "numbers")
		root := isolate.New[int](&mu.Guard)
		mu.Lock()
		p, ref := Fresh[int](mu, View(mu, root))
		if *p = 7; isolate.Follow(View(mu, root), ref) != p {
			t.Errorf("%s: Fresh is not where its reference leads", v)
		}
		if View(mu, p) != p {
			t.Errorf("%s: Fresh is not in the holder's view", v)
		}
		mu.Unlock()
		mu.Close()
	}
}

func TestNothingIsGuardedOnTheHeap(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("NewLock returned a lock for the heap")
		}
	}()
	NewLock(measure.Heap, "")
}
