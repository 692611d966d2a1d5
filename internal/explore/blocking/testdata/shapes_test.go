package blocking

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Programs with the shapes of bugs that others have found in servers, schedulers and databases.

// fetch gives up on an answer after a while.
func fetch(buffer int) error {
	answer := make(chan error, buffer)
	go func() {
		time.Sleep(5 * time.Millisecond)
		answer <- nil
	}()
	select {
	case err := <-answer:
		return err
	case <-time.After(4 * time.Millisecond):
		return errors.New("late")
	}
}

// want: leak, channel with nobody left
func TestBugAnswerAfterTheTimeout(t *testing.T) { _ = fetch(0) }

func TestFineAnswerAfterTheTimeout(t *testing.T) { _ = fetch(1) }

// A node answers until it is stopped.
type node struct {
	ask        chan chan int
	stop, done chan struct{}
}

func newNode() *node {
	n := &node{ask: make(chan chan int), stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(n.done)
		for {
			select {
			case answer := <-n.ask:
				answer <- 1
			case <-n.stop:
				return
			}
		}
	}()
	return n
}

func (n *node) status() int {
	answer := make(chan int, 1)
	n.ask <- answer
	return <-answer
}

func (n *node) statusOrStopped() int {
	answer := make(chan int, 1)
	select {
	case n.ask <- answer:
		return <-answer
	case <-n.done:
		return 0
	}
}

func stopWhileAsked(ask func(*node) int) {
	n := newNode()
	var wg sync.WaitGroup
	wg.Go(func() { ask(n) })
	wg.Go(func() { close(n.stop) })
	wg.Wait()
}

// want: deadlock, channel with nobody left
func TestBugStatusOfAStoppedNode(t *testing.T) { stopWhileAsked((*node).status) }

func TestFineStatusOfAStoppedNode(t *testing.T) { stopWhileAsked((*node).statusOrStopped) }

// A bus calls its subscribers, one of which subscribes another.
type bus struct {
	mu          sync.Mutex
	subscribers []func()
}

func (b *bus) subscribe(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subscribers = append(b.subscribers, f)
}

func (b *bus) fire(underLock bool) {
	b.mu.Lock()
	all := append([]func(){}, b.subscribers...)
	if underLock {
		defer b.mu.Unlock()
	} else {
		b.mu.Unlock()
	}
	for _, f := range all {
		f()
	}
}

func subscribeFromSubscriber(underLock bool) {
	b := &bus{}
	b.subscribe(func() { b.subscribe(func() {}) })
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.fire(underLock)
	}()
	<-done
}

// want: deadlock, double lock
func TestBugSubscriberSubscribes(t *testing.T) { subscribeFromSubscriber(true) }

func TestFineSubscriberSubscribes(t *testing.T) { subscribeFromSubscriber(false) }

// progress counts, and tells the count.
func progress(tellsUnderLock bool) {
	var mu sync.Mutex
	n, told := 0, make(chan int)
	var wg sync.WaitGroup
	wg.Go(func() {
		mu.Lock()
		n++
		count := n
		if !tellsUnderLock {
			mu.Unlock()
		}
		told <- count
		if tellsUnderLock {
			mu.Unlock()
		}
	})
	wg.Go(func() {
		mu.Lock()
		n++
		mu.Unlock()
		<-told
	})
	wg.Wait()
}

// want: deadlock, lock held over a wait
func TestBugProgressIsToldUnderTheLock(t *testing.T) { progress(true) }

func TestFineProgressIsToldUnderTheLock(t *testing.T) { progress(false) }

// A purse may be too small.
type purse struct {
	mu    sync.Mutex
	coins int
}

func (p *purse) take(n int, forgets bool) bool {
	p.mu.Lock()
	if p.coins < n {
		if !forgets {
			p.mu.Unlock()
		}
		return false
	}
	p.coins -= n
	p.mu.Unlock()
	return true
}

func takeTwice(forgets bool) {
	p := &purse{coins: 10}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { p.take(6, forgets) })
	}
	wg.Wait()
	p.take(1, forgets)
}

// want: deadlock, missing unlock
func TestBugPurseIsTooSmall(t *testing.T) { takeTwice(true) }

func TestFinePurseIsTooSmall(t *testing.T) { takeTwice(false) }

// give takes coins out of one purse and puts them into another.
func give(from, to, first, second *purse) {
	first.mu.Lock()
	defer first.mu.Unlock()
	second.mu.Lock()
	defer second.mu.Unlock()
	from.coins--
	to.coins++
}

// want: deadlock, lock order
func TestBugPursesOfEachOther(t *testing.T) {
	a, b := &purse{}, &purse{}
	var wg sync.WaitGroup
	wg.Go(func() { give(a, b, a, b) })
	wg.Go(func() { give(b, a, b, a) })
	wg.Wait()
}

func TestFinePursesOfEachOther(t *testing.T) {
	a, b := &purse{}, &purse{}
	var wg sync.WaitGroup
	wg.Go(func() { give(a, b, a, b) })
	wg.Go(func() { give(b, a, a, b) })
	wg.Wait()
}

// startAll waits for all jobs, or for all in each round.
func startAll(inEachRound bool) {
	var wg sync.WaitGroup
	wg.Add(2)
	for range 2 {
		go wg.Done()
		if inEachRound {
			wg.Wait()
		}
	}
	wg.Wait()
}

// want: deadlock, wait group never done
func TestBugWaitInTheLoop(t *testing.T) { startAll(true) }

func TestFineWaitInTheLoop(t *testing.T) { startAll(false) }

// watched has a goroutine that waits for the end of a context.
func watched(cancels bool) {
	ctx, cancel := context.WithCancel(context.Background())
	if cancels {
		defer cancel()
	}
	context.AfterFunc(ctx, func() {})
	go func() { <-ctx.Done() }()
}

// want: leak, channel with nobody left
func TestBugContextIsNotCanceled(t *testing.T) { watched(false) }

func TestFineContextIsNotCanceled(t *testing.T) { watched(true) }

// workers share slots, and one of them ends early.
func workers(keepsSlot bool) {
	slots := make(chan struct{}, 1)
	var failed atomic.Bool
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			slots <- struct{}{}
			if !keepsSlot {
				defer func() { <-slots }()
			}
			if i == 1 {
				failed.Store(true)
				return
			}
			if keepsSlot {
				<-slots
			}
		})
	}
	wg.Wait()
}

// want: deadlock, channel with nobody left
func TestBugSlotIsKept(t *testing.T) { workers(true) }

func TestFineSlotIsKept(t *testing.T) { workers(false) }

// numbers sends numbers until nobody wants more.
func numbers(stop <-chan struct{}) <-chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		for i := range 3 {
			select {
			case out <- i:
			case <-stop:
				return
			}
		}
	}()
	return out
}

// want: leak, channel with nobody left
func TestBugReaderLeavesEarly(t *testing.T) {
	for n := range numbers(nil) {
		if n == 1 {
			break
		}
	}
}

func TestFineReaderLeavesEarly(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	for n := range numbers(stop) {
		if n == 1 {
			break
		}
	}
}

// visit visits children with the slot of their parent held, or given back.
func visit(slots chan struct{}, depth int, keeps bool) {
	slots <- struct{}{}
	if !keeps {
		<-slots
	}
	if depth > 0 {
		visit(slots, depth-1, keeps)
	}
	if keeps {
		<-slots
	}
}

// want: deadlock, channel with nobody left
func TestBugParentKeepsTheSlot(t *testing.T) { visit(make(chan struct{}, 2), 2, true) }

func TestFineParentKeepsTheSlot(t *testing.T) { visit(make(chan struct{}, 2), 2, false) }

// exchange has two peers send to each other.
func exchange(buffer int) {
	a, b := make(chan int, buffer), make(chan int, buffer)
	var wg sync.WaitGroup
	wg.Go(func() { a <- 1; <-b })
	wg.Go(func() { b <- 2; <-a })
	wg.Wait()
}

// want: deadlock, channel with nobody left
func TestBugPeersSendFirst(t *testing.T) { exchange(0) }

func TestFinePeersSendFirst(t *testing.T) { exchange(1) }

// setUp is done once, and has a part that wants it done.
func setUp(direct bool) {
	var once sync.Once
	part := func() {}
	once.Do(func() {
		if direct {
			part()
		} else {
			once.Do(part)
		}
	})
}

// want: deadlock, double lock
func TestBugOnceWithinItself(t *testing.T) { setUp(false) }

func TestFineOnceWithinItself(t *testing.T) { setUp(true) }
