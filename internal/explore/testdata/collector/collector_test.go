// Package collector has tests of what happens where memory is collected, which some schedule makes fail
// (TestBug...), and which none does (TestFine...).
package collector

import (
	"runtime"
	"sync"
	"testing"
	"weak"
)

// A resource is large enough to have memory of its own.
type resource struct {
	id   int
	room [64]byte
}

// abandon registers something for objects that nothing refers to any more.
//
//go:noinline
func abandon(n int, register func(r *resource)) {
	for i := range n {
		register(&resource{id: i + 1})
	}
}

var finalized int

func TestBugFinalizerBesideTheProgram(t *testing.T) {
	abandon(1, func(r *resource) { runtime.SetFinalizer(r, func(*resource) { finalized++ }) })
	runtime.GC()
	finalized++
}

func TestFineFinalizersComeOneAfterTheOther(t *testing.T) {
	var last []int // of the finalizers alone
	done := make(chan []int)
	abandon(3, func(r *resource) {
		runtime.SetFinalizer(r, func(r *resource) {
			if last = append(last, r.id); len(last) == 3 {
				done <- last
			}
		})
	})
	runtime.GC()
	if got := <-done; got[0] != 1 || got[1] != 2 || got[2] != 3 {
		t.Error(got)
	}
}

func TestBugCleanupsInOrder(t *testing.T) {
	ids := make(chan int, 2)
	abandon(2, func(r *resource) { runtime.AddCleanup(r, func(id int) { ids <- id }, r.id) })
	runtime.GC()
	if first := <-ids; first != 1 {
		t.Error("the second came first")
	}
	<-ids
}

func TestBugCleanupWaitsForACallerOfGC(t *testing.T) {
	var mu sync.Mutex
	done := make(chan struct{})
	abandon(1, func(r *resource) {
		runtime.AddCleanup(r, func(int) {
			mu.Lock()
			defer mu.Unlock()
			close(done)
		}, 0)
	})
	mu.Lock()
	runtime.GC()
	<-done
	mu.Unlock()
}

func TestFineCleanupsAfterTheLock(t *testing.T) {
	var mu sync.Mutex
	sum, done := 0, make(chan struct{}, 2)
	abandon(2, func(r *resource) {
		runtime.AddCleanup(r, func(id int) {
			mu.Lock()
			defer mu.Unlock()
			sum += id
			done <- struct{}{}
		}, r.id)
	})
	mu.Lock()
	runtime.GC()
	mu.Unlock()
	<-done
	<-done
	if mu.Lock(); sum != 3 {
		t.Error(sum)
	}
	mu.Unlock()
}

func TestFineWeakPointersAreCleared(t *testing.T) {
	var held weak.Pointer[resource]
	abandon(1, func(r *resource) { held = weak.Make(r) })
	kept := &resource{}
	still := weak.Make(kept)
	runtime.GC()
	if held.Value() != nil || still.Value() != kept {
		t.Error(held.Value(), still.Value())
	}
}
