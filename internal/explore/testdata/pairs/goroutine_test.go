package pairs

import (
	"runtime"
	"sync"
	"testing"
)

func TestBugGoroutineLostUpdate(t *testing.T) {
	n := 0
	done := make(chan bool)
	for range 2 {
		go func() {
			n++
			done <- true
		}()
	}
	<-done
	<-done
	if n != 2 {
		t.Errorf("n = %d", n)
	}
}

func TestFineGoroutineOwnCounters(t *testing.T) {
	var n [2]int
	done := make(chan bool)
	for i := range 2 {
		go func() {
			n[i]++
			done <- true
		}()
	}
	<-done
	<-done
	if n[0]+n[1] != 2 {
		t.Errorf("n = %v", n)
	}
}

// The goroutine outlives the test function; what it does late is seen too.
func TestBugGoroutineLate(t *testing.T) {
	n := 0
	go func() { n = 1 }()
	_ = n
}

func TestFineGoroutineLate(t *testing.T) {
	n := 0
	go func() { n = 1; _ = n }()
}

func TestBugGoroutinePanics(t *testing.T) {
	var p *int
	var mu sync.Mutex
	go func() {
		mu.Lock()
		defer mu.Unlock()
		_ = *p
	}()
	mu.Lock()
	p = new(int)
	mu.Unlock()
}

func TestFineGoroutineRecovers(t *testing.T) {
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		var p *int
		_ = *p
	}()
	if <-done == nil {
		t.Error("nothing to recover from")
	}
}

func TestBugGosched(t *testing.T) {
	var mu sync.Mutex
	ready := false
	go func() {
		mu.Lock()
		ready = true
		mu.Unlock()
	}()
	runtime.Gosched()
	mu.Lock()
	defer mu.Unlock()
	if !ready {
		t.Error("yielding once is no synchronisation")
	}
}

func TestFineGosched(t *testing.T) {
	var mu sync.Mutex
	ready := false
	go func() {
		mu.Lock()
		ready = true
		mu.Unlock()
	}()
	for {
		mu.Lock()
		r := ready
		mu.Unlock()
		if r {
			return
		}
		runtime.Gosched()
	}
}

func TestFineGoexit(t *testing.T) {
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.Goexit()
	}()
	<-done
}

func TestBugArgumentsOfGo(t *testing.T) {
	x := []int{1}
	done := make(chan bool)
	go func(s []int) {
		s[0] = 2
		done <- true
	}(x)
	if x[0] != 1 {
		t.Error("the slice is shared")
	}
	<-done
}

func TestFineArgumentsOfGo(t *testing.T) {
	x := [1]int{1}
	done := make(chan bool)
	go func(s [1]int) {
		s[0] = 2
		done <- s[0] == 2
	}(x)
	if x[0] != 1 {
		t.Error("the array is shared")
	}
	<-done
}
