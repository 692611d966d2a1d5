package pairs

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The machine may be slow: what is ready to run may not have run when a timer fires, if
// that is not far away.

func TestBugSleepIsTooShort(t *testing.T) {
	var done atomic.Bool
	go func() { done.Store(true) }()
	time.Sleep(10 * time.Millisecond)
	if !done.Load() {
		t.Error("not done yet")
	}
}

func TestFineSleepBesideAWait(t *testing.T) {
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() { done.Store(true) })
	time.Sleep(10 * time.Millisecond)
	wg.Wait()
	if !done.Load() {
		t.Error("not done yet")
	}
}

func TestBugShortTimeout(t *testing.T) {
	result := make(chan int, 1)
	go func() { result <- 1 }()
	select {
	case <-result:
	case <-time.After(50 * time.Millisecond):
		t.Error("timed out")
	}
}

func TestFineLongTimeout(t *testing.T) {
	result := make(chan int, 1)
	go func() { result <- 1 }()
	select {
	case <-result:
	case <-time.After(10 * time.Second):
		t.Error("timed out")
	}
}

// pair is two numbers that are to be equal, each with a lock of its own or both with one.
type pair struct {
	first, second sync.Mutex
	a, b          int
}

func TestBugTimerBesideWork(t *testing.T) {
	p := &pair{}
	done := make(chan bool)
	time.AfterFunc(1, func() {
		p.first.Lock()
		a := p.a
		p.first.Unlock()
		p.second.Lock()
		if a < p.b || a > p.b {
			t.Error("half done")
		}
		p.second.Unlock()
		close(done)
	})
	p.first.Lock()
	p.a++
	p.first.Unlock()
	p.second.Lock()
	p.b++
	p.second.Unlock()
	<-done
}

func TestFineTimerBesideWork(t *testing.T) {
	p := &pair{}
	done := make(chan bool)
	time.AfterFunc(1, func() {
		p.first.Lock()
		if p.a != p.b {
			t.Error("half done")
		}
		p.first.Unlock()
		close(done)
	})
	p.first.Lock()
	p.a++
	p.b++
	p.first.Unlock()
	<-done
}

func TestBugDeadlineInTheMiddle(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	debited, credited := false, false
	if ctx.Err() == nil {
		debited = true
	}
	if ctx.Err() == nil {
		credited = true
	}
	if debited != credited {
		t.Error("half of a transfer")
	}
}

func TestFineDeadlineBeforeTheWork(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	debited, credited := false, false
	if ctx.Err() == nil {
		debited = true
		credited = true
	}
	if debited != credited {
		t.Error("half of a transfer")
	}
}

func TestBugStopIsTooLate(t *testing.T) {
	var fired atomic.Bool
	timer := time.AfterFunc(5*time.Millisecond, func() { fired.Store(true) })
	timer.Stop()
	if fired.Load() {
		t.Error("it has fired, and was stopped")
	}
	time.Sleep(time.Second)
	if fired.Load() {
		t.Error("it has fired after all")
	}
}

func TestFineStopTells(t *testing.T) {
	fired := make(chan bool, 1)
	timer := time.AfterFunc(5*time.Millisecond, func() { fired <- true })
	if !timer.Stop() {
		<-fired
	}
	select {
	case <-fired:
		t.Error("it has fired after all")
	default:
	}
}

func TestBugSleepsInAnOrder(t *testing.T) {
	var mu sync.Mutex
	var order []int
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			time.Sleep(time.Duration(i+1) * 10 * time.Millisecond)
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
		})
	}
	wg.Wait()
	if order[0] != 0 {
		t.Error(order)
	}
}

func TestFineSleepsFarApart(t *testing.T) {
	var mu sync.Mutex
	var order []int
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			time.Sleep(time.Duration(i+1) * time.Second)
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
		})
	}
	wg.Wait()
	if order[0] != 0 {
		t.Error(order)
	}
}

// In a bubble time is exact: it moves when all goroutines wait.
func TestFineSleepsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done atomic.Bool
		go func() { done.Store(true) }()
		time.Sleep(time.Nanosecond)
		if !done.Load() {
			t.Error("not done yet")
		}
	})
}

func TestBugSleepsBesideABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { time.Sleep(time.Hour) })
	var done atomic.Bool
	go func() { done.Store(true) }()
	time.Sleep(time.Nanosecond)
	if !done.Load() {
		t.Error("not done yet")
	}
}

func TestBugTickDuringWork(t *testing.T) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	work := make(chan int, 3)
	for i := range 3 {
		work <- i
	}
	close(work)
	for range work {
		select {
		case <-ticker.C:
			t.Error("a tick, although there is work")
		default:
		}
	}
}

func TestFineTickAfterWork(t *testing.T) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	work := make(chan int, 3)
	for i := range 3 {
		work <- i
	}
	close(work)
	n := 0
	for range work {
		select {
		case <-ticker.C:
		default:
		}
		n++
	}
	if <-ticker.C; n != 3 {
		t.Error(n)
	}
}

// A lease that is looked at and then used may have run out in between.
func TestBugLeaseRunsOut(t *testing.T) {
	expires := time.Now().Add(30 * time.Millisecond)
	time.AfterFunc(30*time.Millisecond, func() {})
	if time.Now().Before(expires) && !time.Now().Before(expires) {
		t.Error("used after its end")
	}
}

func TestFineLeaseIsLong(t *testing.T) {
	expires := time.Now().Add(30 * time.Second)
	time.AfterFunc(30*time.Second, func() {})
	if time.Now().Before(expires) && !time.Now().Before(expires) {
		t.Error("used after its end")
	}
}

// 190 ms of sleep leave a timeout of 200 ms with 10 ms.
func TestBugTimeoutIsNear(t *testing.T) {
	result := make(chan int, 1)
	go func() {
		time.Sleep(990 * time.Millisecond)
		result <- 1
	}()
	select {
	case <-result:
	case <-time.After(time.Second):
		t.Error("timed out")
	}
}

// Many stalls are together no longer than one may be.
func TestFineStallsDoNotAddUp(t *testing.T) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	done := make(chan bool)
	go func() {
		for range 10 {
			select {
			case <-ticker.C:
			default:
			}
		}
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(500 * time.Millisecond):
		t.Error("timed out")
	}
}

// The time of a bubble begins where the documentation says, whatever time it is elsewhere.
func TestFineBubblesBeginAtTheirTime(t *testing.T) {
	time.Sleep(time.Minute)
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			began := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
			if now := time.Now(); !now.Equal(began) {
				t.Errorf("it is %v", now)
			}
			if at := <-time.After(time.Hour); !at.Equal(began.Add(time.Hour)) {
				t.Errorf("the timer says %v", at)
			}
		})
	}
}

// The time elsewhere is no whole second.
func TestFineTheClockIsBetweenSeconds(t *testing.T) {
	if time.Now().Nanosecond() == 0 {
		t.Error("a whole second")
	}
}

// What was valid when this was written is valid when it is explored.
func TestFineTheDayIsNotOver(t *testing.T) {
	if written := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC); time.Now().Before(written) {
		t.Errorf("it is %v", time.Now())
	}
}
