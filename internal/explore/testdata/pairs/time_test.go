package pairs

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestBugSleepIsNoSynchronisation(t *testing.T) {
	n := 0
	go func() { n = 1 }()
	time.Sleep(time.Second)
	if n != 1 {
		t.Error("not yet")
	}
}

// Time is virtual: hours pass at once, and the order of sleeps is kept.
func TestFineSleepOrder(t *testing.T) {
	var mu sync.Mutex
	var order []int
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			time.Sleep(time.Duration(3-i) * time.Hour)
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
		})
	}
	start := time.Now()
	wg.Wait()
	if order[0] != 2 || order[1] != 1 || order[2] != 0 {
		t.Error(order)
	}
	if d := time.Since(start); d < 3*time.Hour || d > 4*time.Hour {
		t.Error(d)
	}
}

func TestBugTimeoutAgainstResult(t *testing.T) {
	result := make(chan int)
	go func() {
		time.Sleep(time.Second)
		result <- 1
	}()
	select {
	case <-result:
	case <-time.After(time.Second):
		t.Error("timed out at the very moment")
	}
}

func TestFineTimeout(t *testing.T) {
	result := make(chan int, 1)
	go func() {
		time.Sleep(time.Second)
		result <- 1
	}()
	select {
	case <-result:
	case <-time.After(time.Minute):
		t.Error("timed out")
	}
}

func TestBugAfterFunc(t *testing.T) {
	n := 0
	timer := time.AfterFunc(time.Second, func() { n++ })
	time.Sleep(time.Second)
	timer.Stop()
	_ = n
}

func TestFineAfterFuncStopped(t *testing.T) {
	n := 0
	timer := time.AfterFunc(time.Minute, func() { n++ })
	time.Sleep(time.Second)
	if !timer.Stop() {
		t.Error("it has fired early")
	}
	time.Sleep(time.Hour)
	if n != 0 {
		t.Error("it has fired although stopped")
	}
}

func TestFineTicker(t *testing.T) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	start := time.Now()
	for range 3 {
		<-ticker.C
	}
	if d := time.Since(start); d <= 3*time.Second-time.Millisecond || d > 4*time.Second {
		t.Error(d)
	}
	ticker.Reset(time.Minute)
	<-ticker.C
}

func TestFineTimerReset(t *testing.T) {
	timer := time.NewTimer(time.Hour)
	timer.Reset(time.Second)
	start := time.Now()
	<-timer.C
	if d := time.Since(start); d <= time.Second-time.Millisecond || d > 2*time.Second {
		t.Error(d)
	}
}

// Whoever sleeps and looks at the clock finds that more has passed than was slept, if only a
// little, and so do the times that timers send.
func TestFineASleepTakesLongerThanItHasTo(t *testing.T) {
	start := time.Now()
	time.Sleep(time.Second)
	time.Sleep(time.Second)
	if d := time.Since(start); d <= 2*time.Second {
		t.Error(d)
	}
	start = time.Now()
	if d := (<-time.After(time.Second)).Sub(start); d <= time.Second {
		t.Error(d)
	}
}

func TestBugTickerNeverStops(t *testing.T) {
	stop := make(chan bool)
	tick := time.Tick(time.Second)
	n := 0
	go func() {
		for range 3 {
			<-tick
			n++
		}
		stop <- true
	}()
	time.Sleep(2 * time.Second)
	if n > 2 {
		t.Error(n)
	}
	<-stop
}

func TestFineContextCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	child, stop := context.WithTimeout(ctx, time.Hour)
	defer stop()
	go cancel()
	<-child.Done()
	if !errors.Is(child.Err(), context.Canceled) {
		t.Error(child.Err())
	}
}

func TestFineContextDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	start := time.Now()
	<-ctx.Done()
	if d := time.Since(start); !errors.Is(ctx.Err(), context.DeadlineExceeded) || d.Round(time.Millisecond) != time.Minute {
		t.Error(ctx.Err(), d)
	}
}

func TestBugContextIgnored(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := make(chan int)
	go func() {
		<-ctx.Done()
		c <- 1
	}()
	cancel()
	select {
	case <-c:
	case <-ctx.Done():
		t.Error("cancelled first")
	}
}

func TestBugContextAfterFunc(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	context.AfterFunc(ctx, func() { n++ })
	cancel()
	_ = n
}

func TestFineContextAfterFunc(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	done := make(chan bool)
	context.AfterFunc(ctx, func() { n++; close(done) })
	cancel()
	<-done
	if n != 1 {
		t.Error(n)
	}
}

func TestBugTimePasses(t *testing.T) {
	var mu sync.Mutex
	var last time.Time
	both(func() {
		mu.Lock()
		last = time.Now()
		mu.Unlock()
	}, func() {
		now := time.Now()
		mu.Lock()
		if now.Before(last) {
			t.Error("the last was after now")
		}
		mu.Unlock()
	})
}

func TestFineTimePasses(t *testing.T) {
	expires := time.Now()
	if !time.Now().After(expires) {
		t.Error("no time has passed")
	}
	start := time.Now()
	time.Sleep(time.Second)
	if d := time.Since(start); d < time.Second || d > time.Second+time.Millisecond {
		t.Error(d)
	}
}

// initialised is when the package was initialised.
var initialised = time.Now()

func TestFineTimeOfInitialisation(t *testing.T) {
	if d := time.Since(initialised); d < 0 || d > time.Second {
		t.Error(d)
	}
}

func TestBugTimeOfInitialisation(t *testing.T) {
	n := 0
	both(func() { n++ }, func() {
		if time.Since(initialised) < time.Second {
			n++
		}
	})
}

// A tick and the end of a sleep at the same instant come in either order.
func TestBugTickAndSleepTogether(t *testing.T) {
	var mu sync.Mutex
	ticks := 0
	stop := make(chan struct{})
	go func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				mu.Lock()
				ticks++
				mu.Unlock()
			case <-stop:
				return
			}
		}
	}()
	time.Sleep(2 * time.Second)
	mu.Lock()
	defer mu.Unlock()
	if ticks == 2 {
		t.Error("the second tick came first")
	}
	close(stop)
}

func TestFineTicksAreCounted(t *testing.T) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	start := time.Now()
	for range 3 {
		<-ticker.C
	}
	if d := time.Since(start); d < 3*time.Second || d > 4*time.Second {
		t.Error(d)
	}
}

// A run may begin shortly before midnight.
func TestBugTheDayChanges(t *testing.T) {
	days := make(chan int)
	for i := range 2 {
		go func() {
			time.Sleep(time.Duration(i) * 20 * time.Millisecond)
			days <- time.Now().YearDay()
		}()
	}
	if first := <-days; first != <-days {
		t.Error("another day")
	}
}
