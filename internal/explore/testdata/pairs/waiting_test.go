package pairs

import (
	"sync"
	"testing"
)

func TestBugWaitGroupAddInside(t *testing.T) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	n := 0
	for range 2 {
		go func() {
			wg.Add(1)
			defer wg.Done()
			mu.Lock()
			n++
			mu.Unlock()
		}()
	}
	wg.Wait()
	mu.Lock()
	defer mu.Unlock()
	if n != 2 {
		t.Error("did not wait")
	}
}

func TestFineWaitGroup(t *testing.T) {
	var wg sync.WaitGroup
	n := [3]int{}
	wg.Add(len(n))
	for i := range n {
		go func() {
			defer wg.Done()
			n[i] = 1
		}()
	}
	wg.Wait()
	if n != [3]int{1, 1, 1} {
		t.Error(n)
	}
}

func TestBugWaitGroupNegative(t *testing.T) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	twice := 0
	wg.Add(1)
	for range 2 {
		go func() {
			mu.Lock()
			twice++
			mu.Unlock()
			wg.Done()
		}()
	}
	wg.Wait()
}

func TestBugCondLostSignal(t *testing.T) {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	go func() { c.Signal() }()
	mu.Lock()
	c.Wait()
	mu.Unlock()
}

func TestFineCond(t *testing.T) {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	ready := false
	go func() {
		mu.Lock()
		ready = true
		mu.Unlock()
		c.Signal()
	}()
	mu.Lock()
	for !ready {
		c.Wait()
	}
	mu.Unlock()
}

func TestBugSignalForTwo(t *testing.T) {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	ready := false
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			mu.Lock()
			for !ready {
				c.Wait()
			}
			mu.Unlock()
		})
	}
	mu.Lock()
	ready = true
	c.Signal()
	mu.Unlock()
	wg.Wait()
}

func TestFineBroadcast(t *testing.T) {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	ready := false
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			mu.Lock()
			for !ready {
				c.Wait()
			}
			mu.Unlock()
		})
	}
	mu.Lock()
	ready = true
	c.Broadcast()
	mu.Unlock()
	wg.Wait()
}

func TestFineOnce(t *testing.T) {
	var once sync.Once
	n := 0
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			once.Do(func() { n++ })
			if n != 1 {
				t.Error("not yet")
			}
		})
	}
	wg.Wait()
}

func TestBugOnceByHand(t *testing.T) {
	var mu sync.Mutex
	started := false
	var value *int
	get := func() *int {
		mu.Lock()
		first := !started
		started = true
		mu.Unlock()
		if first {
			value = new(int)
		}
		return value
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { *get() = 1 })
	}
	wg.Wait()
}

func TestBugOnceDeadlock(t *testing.T) {
	var a, b sync.Once
	done := make(chan bool)
	go func() {
		a.Do(func() { b.Do(func() {}) })
		done <- true
	}()
	b.Do(func() { a.Do(func() {}) })
	<-done
}

func TestFineOnceFunc(t *testing.T) {
	n := 0
	f := sync.OnceValue(func() int { n++; return n })
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if f() != 1 {
				t.Error("twice")
			}
		})
	}
	wg.Wait()
}

func TestBugOnceFuncShares(t *testing.T) {
	f := sync.OnceValue(func() *int { return new(int) })
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { *f()++ })
	}
	wg.Wait()
	if *f() != 2 {
		t.Error(*f())
	}
}

func TestBugPoolUseAfterPut(t *testing.T) {
	p := sync.Pool{New: func() any { return new(int) }}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			x := p.Get().(*int)
			p.Put(x)
			*x++
		})
	}
	wg.Wait()
}

func TestFinePool(t *testing.T) {
	p := sync.Pool{New: func() any { return new(int) }}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			x := p.Get().(*int)
			*x++
			p.Put(x)
		})
	}
	wg.Wait()
}

func TestBugSyncMapLoadThenStore(t *testing.T) {
	var m sync.Map
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			v, _ := m.Load("n")
			n, _ := v.(int)
			m.Store("n", n+1)
		})
	}
	wg.Wait()
	if v, _ := m.Load("n"); v != 2 {
		t.Error(v)
	}
}

func TestFineSyncMap(t *testing.T) {
	var m sync.Map
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				v, loaded := m.LoadOrStore("n", 1)
				if !loaded {
					return
				}
				if m.CompareAndSwap("n", v, v.(int)+1) {
					return
				}
			}
		})
	}
	wg.Wait()
	if v, _ := m.Load("n"); v != 2 {
		t.Error(v)
	}
}

func TestFineSyncMapPublishes(t *testing.T) {
	var m sync.Map
	go func() {
		x := new(int)
		*x = 7
		m.Store("p", x)
	}()
	if v, ok := m.Load("p"); ok && *v.(*int) != 7 {
		t.Error("half published")
	}
}

// A lease is one of two that goroutines share.
type lease struct {
	mu   sync.Mutex
	cond sync.Cond
	free int
}

func newLease() *lease {
	l := &lease{free: 2}
	l.cond.L = &l.mu
	return l
}

func (l *lease) take() {
	l.mu.Lock()
	for l.free == 0 {
		l.cond.Wait()
	}
	l.free--
	l.mu.Unlock()
}

func (l *lease) use(n int, give func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			l.take()
			give()
		})
	}
	wg.Wait()
}

// Two hold the leases and two wait: when both are given back before anybody wakes, only
// one is told. That takes four orderings, of which no three are enough.
func TestBugSignalOnlyFromZero(t *testing.T) {
	l := newLease()
	l.use(4, func() {
		l.mu.Lock()
		if l.free++; l.free == 1 {
			l.cond.Signal()
		}
		l.mu.Unlock()
	})
}

func TestFineSignalAlways(t *testing.T) {
	l := newLease()
	l.use(4, func() {
		l.mu.Lock()
		l.free++
		l.mu.Unlock()
		l.cond.Signal()
	})
}

func TestBugAddBesideWait(t *testing.T) {
	var wg sync.WaitGroup
	go func() { wg.Add(1); wg.Done() }()
	wg.Wait()
}

func TestFineAddWhileCounted(t *testing.T) {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { wg.Add(1); wg.Done(); wg.Done() }()
	wg.Wait()
}
