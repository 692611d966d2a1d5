package pairs

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestBugAtomicLoadThenStore(t *testing.T) {
	var n atomic.Int32
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { n.Store(n.Load() + 1) })
	}
	wg.Wait()
	if n.Load() != 2 {
		t.Error(n.Load())
	}
}

func TestFineAtomicAdd(t *testing.T) {
	var n atomic.Int32
	var m int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			n.Add(1)
			atomic.AddInt64(&m, 1)
		})
	}
	wg.Wait()
	if n.Load() != 2 || m != 2 {
		t.Error(n.Load(), m)
	}
}

func TestBugAtomicAndPlain(t *testing.T) {
	var n int32
	go func() { atomic.AddInt32(&n, 1) }()
	n++
}

func TestFineAtomicPublishes(t *testing.T) {
	var p atomic.Pointer[[2]int]
	go func() {
		x := new([2]int)
		x[0] = 1
		x[1] = 2
		p.Store(x)
	}()
	if x := p.Load(); x != nil && x[0]+x[1] != 3 {
		t.Error("half published")
	}
}

func TestBugAtomicPublishesTooEarly(t *testing.T) {
	var p atomic.Pointer[[2]int]
	go func() {
		x := new([2]int)
		p.Store(x)
		x[0] = 1
		x[1] = 2
	}()
	if x := p.Load(); x != nil && x[0]+x[1] != 3 {
		t.Error("half published")
	}
}

func TestFineAtomicSpinLock(t *testing.T) {
	var lock uint32
	n := 0
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !atomic.CompareAndSwapUint32(&lock, 0, 1) {
			}
			n++
			atomic.StoreUint32(&lock, 0)
		})
	}
	wg.Wait()
	if n != 2 {
		t.Error(n)
	}
}

func TestBugAtomicSpinLockByTwoSteps(t *testing.T) {
	var lock atomic.Bool
	n := 0
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for lock.Load() {
			}
			lock.Store(true)
			n++
			lock.Store(false)
		})
	}
	wg.Wait()
	if n != 2 {
		t.Error(n)
	}
}

func TestFineAtomicValue(t *testing.T) {
	var v atomic.Value
	go func() { v.Store([]int{1}) }()
	if s, ok := v.Load().([]int); ok && s[0] != 1 {
		t.Error(s)
	}
}

type gauge struct {
	atomic.Int64
	peak int64
}

func TestBugEmbeddedAtomic(t *testing.T) {
	var g gauge
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if n := g.Add(1); n > g.peak {
				g.peak = n
			}
		})
	}
	wg.Wait()
}

// The store buffer of real processors: at least one of them must see the other.
func TestFineDekker(t *testing.T) {
	var a, b atomic.Int32
	var seen [2]int32
	var wg sync.WaitGroup
	wg.Go(func() {
		a.Store(1)
		seen[0] = b.Load()
	})
	wg.Go(func() {
		b.Store(1)
		seen[1] = a.Load()
	})
	wg.Wait()
	if seen[0]+seen[1] == 0 {
		t.Error("neither saw the other")
	}
}

func TestBugDekkerIsNoMutualExclusion(t *testing.T) {
	var a, b atomic.Int32
	var seen [2]int32
	var wg sync.WaitGroup
	wg.Go(func() {
		a.Store(1)
		seen[0] = b.Load()
	})
	wg.Go(func() {
		b.Store(1)
		seen[1] = a.Load()
	})
	wg.Wait()
	if seen[0]+seen[1] == 2 {
		t.Error("both saw the other")
	}
}
