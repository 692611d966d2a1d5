package pairs

import (
	"sync"
	"testing"
)

func TestBugMutexTwoSections(t *testing.T) {
	var mu sync.Mutex
	n := 0
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mu.Lock()
			v := n
			mu.Unlock()
			mu.Lock()
			n = v + 1
			mu.Unlock()
		}()
	}
	wg.Wait()
	if n != 2 {
		t.Errorf("n = %d", n)
	}
}

func TestFineMutex(t *testing.T) {
	var mu sync.Mutex
	n := 0
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mu.Lock()
			defer mu.Unlock()
			n++
		}()
	}
	wg.Wait()
	if n != 2 {
		t.Errorf("n = %d", n)
	}
}

func TestBugMutexOrder(t *testing.T) {
	var a, b sync.Mutex
	done := make(chan bool)
	go func() {
		a.Lock()
		b.Lock()
		b.Unlock()
		a.Unlock()
		done <- true
	}()
	b.Lock()
	a.Lock()
	a.Unlock()
	b.Unlock()
	<-done
}

func TestFineMutexOrder(t *testing.T) {
	var a, b sync.Mutex
	done := make(chan bool)
	go func() {
		a.Lock()
		b.Lock()
		b.Unlock()
		a.Unlock()
		done <- true
	}()
	a.Lock()
	b.Lock()
	a.Unlock()
	b.Unlock()
	<-done
}

func TestBugTryLock(t *testing.T) {
	var mu sync.Mutex
	go func() {
		mu.Lock()
		mu.Unlock()
	}()
	if !mu.TryLock() {
		t.Error("taken")
	}
}

func TestFineTryLock(t *testing.T) {
	var mu sync.Mutex
	n := 0
	done := make(chan bool)
	go func() {
		if mu.TryLock() {
			n++
			mu.Unlock()
		}
		done <- true
	}()
	mu.Lock()
	n++
	mu.Unlock()
	<-done
	if n != 1 && n != 2 {
		t.Error(n)
	}
}

type shelf struct {
	sync.Mutex
	n int
}

type locker interface {
	Lock()
	Unlock()
}

func TestBugEmbeddedMutexWrongOne(t *testing.T) {
	a, b := &shelf{}, &shelf{}
	var wg sync.WaitGroup
	for _, l := range []locker{a, b} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			l.Lock()
			defer l.Unlock()
			a.n++
		}()
	}
	wg.Wait()
	if a.n != 2 {
		t.Error(a.n)
	}
}

func TestFineEmbeddedMutexThroughInterface(t *testing.T) {
	a := &shelf{}
	var wg sync.WaitGroup
	for _, l := range []locker{a, sync.Locker(a)} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			lock, unlock := l.Lock, l.Unlock
			lock()
			defer unlock()
			a.n++
		}()
	}
	wg.Wait()
	if a.n != 2 {
		t.Error(a.n)
	}
}

func TestBugUnlockByPanic(t *testing.T) {
	var mu sync.Mutex
	step := func(fail bool) {
		defer func() { recover() }()
		mu.Lock()
		if fail {
			panic("while locked")
		}
		mu.Unlock()
	}
	done := make(chan bool)
	go func() {
		step(true)
		done <- true
	}()
	step(false)
	<-done
	step(false)
}
