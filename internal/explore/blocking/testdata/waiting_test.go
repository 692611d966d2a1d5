package blocking

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// want: deadlock, wait group never done
func TestBugDoneIsSkipped(t *testing.T) {
	var wg sync.WaitGroup
	var odd atomic.Int32
	for i := range 3 {
		wg.Add(1)
		go func() {
			if i%2 == 0 {
				return
			}
			odd.Add(1)
			wg.Done()
		}()
	}
	wg.Wait()
}

func TestFineDoneIsDeferred(t *testing.T) {
	var wg sync.WaitGroup
	var odd atomic.Int32
	for i := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if i%2 == 0 {
				return
			}
			odd.Add(1)
		}()
	}
	wg.Wait()
}

// want: leak, wait group never done
func TestBugCloserWaits(t *testing.T) {
	var wg sync.WaitGroup
	results := make(chan int, 2)
	wg.Add(3) // and two are started
	for i := range 2 {
		go func() { defer wg.Done(); results <- i }()
	}
	go func() { wg.Wait(); close(results) }()
	<-results
	<-results
}

func TestFineCloserWaits(t *testing.T) {
	var wg sync.WaitGroup
	results := make(chan int, 2)
	wg.Add(2)
	for i := range 2 {
		go func() { defer wg.Done(); results <- i }()
	}
	go func() { wg.Wait(); close(results) }()
	for range results {
	}
}

// want: deadlock, wait group never done
func TestBugGroupByValue(t *testing.T) {
	var wg sync.WaitGroup
	wg.Add(1)
	done := func(wg sync.WaitGroup) { wg.Done() }
	go done(wg)
	wg.Wait()
}

func TestFineGroupByPointer(t *testing.T) {
	var wg sync.WaitGroup
	wg.Add(1)
	done := func(wg *sync.WaitGroup) { wg.Done() }
	go done(&wg)
	wg.Wait()
}

// want: deadlock, missed signal
func TestBugSignalBeforeWait(t *testing.T) {
	var mu sync.Mutex
	ready := sync.NewCond(&mu)
	go ready.Signal()
	mu.Lock()
	ready.Wait()
	mu.Unlock()
}

func TestFineSignalBeforeWait(t *testing.T) {
	var mu sync.Mutex
	ready := sync.NewCond(&mu)
	is := false
	go func() {
		mu.Lock()
		is = true
		mu.Unlock()
		ready.Signal()
	}()
	mu.Lock()
	for !is {
		ready.Wait()
	}
	mu.Unlock()
}

// want: deadlock, no signal
func TestBugSignalForOneOfTwo(t *testing.T) {
	var mu sync.Mutex
	open := sync.NewCond(&mu)
	is := false
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			mu.Lock()
			for !is {
				open.Wait()
			}
			mu.Unlock()
		})
	}
	mu.Lock()
	is = true
	open.Signal()
	mu.Unlock()
	wg.Wait()
}

func TestFineBroadcastForTwo(t *testing.T) {
	var mu sync.Mutex
	open := sync.NewCond(&mu)
	is := false
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			mu.Lock()
			for !is {
				open.Wait()
			}
			mu.Unlock()
		})
	}
	mu.Lock()
	is = true
	open.Broadcast()
	mu.Unlock()
	wg.Wait()
}

// A queue whose readers wait for items.
type queue struct {
	mu     sync.Mutex
	some   *sync.Cond
	items  []int
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.some = sync.NewCond(&q.mu)
	return q
}

func (q *queue) take() (int, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.some.Wait()
	}
	if len(q.items) == 0 {
		return 0, false
	}
	item := q.items[0]
	q.items = q.items[1:]
	return item, true
}

func (q *queue) close(wake bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	if wake {
		q.some.Broadcast()
	}
}

// want: leak, no signal
func TestBugCloseWakesNobody(t *testing.T) {
	q := newQueue()
	go q.take()
	q.close(false)
}

func TestFineCloseWakesAll(t *testing.T) {
	q := newQueue()
	go q.take()
	q.close(true)
}

// want: deadlock, double lock
func TestBugOnceInOnce(t *testing.T) {
	var once sync.Once
	var load func()
	load = func() { once.Do(load) }
	load()
}

func TestFineTwoOnces(t *testing.T) {
	var first, second sync.Once
	first.Do(func() { second.Do(func() {}) })
}

// want: partial deadlock, lock held over a wait
func TestBugOnceWaits(t *testing.T) {
	var once sync.Once
	config := make(chan string)
	for range 2 {
		go once.Do(func() { <-config })
	}
}

func TestFineOnceWaits(t *testing.T) {
	var once sync.Once
	config := make(chan string, 1)
	for range 2 {
		go once.Do(func() { <-config })
	}
	config <- "x"
}

// want: leak, channel with nobody left
func TestBugStoppedTimer(t *testing.T) {
	timer := time.NewTimer(time.Minute)
	go func() { <-timer.C }()
	timer.Stop()
}

func TestFineTimer(t *testing.T) {
	timer := time.NewTimer(time.Minute)
	go func() { <-timer.C }()
}

// want: leak, channel with nobody left
func TestBugStoppedTicker(t *testing.T) {
	ticker := time.NewTicker(time.Second)
	ticks := make(chan bool)
	go func() {
		for range ticker.C {
			ticks <- true
		}
	}()
	<-ticks
	ticker.Stop()
}

func TestFineTicker(t *testing.T) {
	ticker := time.NewTicker(time.Second)
	go func() {
		for range ticker.C {
		}
	}()
}

func TestFineSleeper(t *testing.T) {
	done := make(chan bool)
	go func() { time.Sleep(time.Hour); close(done) }()
	go func() { <-done }()
}

// A pool of workers.
type pool struct {
	jobs chan func()
	wg   sync.WaitGroup
}

func newPool(n int) *pool {
	p := &pool{jobs: make(chan func())}
	for range n {
		p.wg.Go(func() {
			for job := range p.jobs {
				job()
			}
		})
	}
	return p
}

func (p *pool) close() {
	close(p.jobs)
	p.wg.Wait()
}

// want: deadlock, channel with nobody left
func TestBugJobStartsJob(t *testing.T) {
	p := newPool(1)
	p.jobs <- func() { p.jobs <- func() {} }
	p.wg.Wait()
}

func TestFinePoolIsClosed(t *testing.T) {
	p := newPool(2)
	p.jobs <- func() {}
	p.jobs <- func() {}
	p.close()
}

// want: leak, channel with nobody left
func TestBugPoolIsNotClosed(t *testing.T) {
	p := newPool(2)
	p.jobs <- func() {}
}

// want: leak, channel with nobody left
func TestBugBarrierOfThree(t *testing.T) {
	arrived, open := make(chan bool), make(chan bool)
	go func() {
		for range 3 {
			<-arrived
		}
		close(open)
	}()
	for range 2 {
		go func() { arrived <- true; <-open }()
	}
}

func TestFineBarrierOfThree(t *testing.T) {
	arrived, open := make(chan bool), make(chan bool)
	go func() {
		for range 3 {
			<-arrived
		}
		close(open)
	}()
	for range 3 {
		go func() { arrived <- true; <-open }()
	}
}

// A singleton is started by the first test that needs it, and waits for work.
var singleton = sync.OnceValue(func() chan int {
	work := make(chan int)
	go func() {
		for range work {
		}
	}()
	return work
})

// want: leak, channel with nobody left
func TestBugSingletonIsLeft(t *testing.T) { singleton() <- 1 }
