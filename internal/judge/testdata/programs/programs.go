// Package programs are small programs with all of their outcomes. The comment of each
// function lists them, as want: a | b; race says that there is a race, and spins that goroutines may
// go on for ever.
package programs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// show renders an outcome.
func show(args ...any) string { return strings.TrimSuffix(fmt.Sprintln(args...), "\n") }

// LostUpdate is the first of all races.
//
// want: 1 | 2; race
func LostUpdate() string {
	n := 0
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { n++ })
	}
	wg.Wait()
	return show(n)
}

// Locked has its updates in sections.
//
// want: 3
func Locked() string {
	var mu sync.Mutex
	var wg sync.WaitGroup
	n := 0
	for range 3 {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			n++
		})
	}
	wg.Wait()
	return show(n)
}

// StoreBuffer is sequentially consistent here: both cannot read 0.
//
// want: 0 1 | 1 0 | 1 1; race
func StoreBuffer() string {
	var x, y, a, b int
	var wg sync.WaitGroup
	wg.Go(func() { x = 1; a = y })
	wg.Go(func() { y = 1; b = x })
	wg.Wait()
	return show(a, b)
}

// NestedAtomic can be interrupted between the load and the swap.
//
// want: 5 false | 7 true | 5 true
func NestedAtomic() string {
	var x atomic.Int64
	var ok bool
	var wg sync.WaitGroup
	wg.Go(func() { x.Store(5) })
	ok = x.CompareAndSwap(x.Load(), 7)
	wg.Wait()
	return show(x.Load(), ok)
}

// Message is ordered by a channel.
//
// want: 42
func Message() string {
	var data int
	ready := make(chan struct{})
	go func() { data = 42; close(ready) }()
	<-ready
	return show(data)
}

// Choice takes either of two messages.
//
// want: 1 | 2
func Choice() string {
	a, b := make(chan int, 1), make(chan int, 1)
	a <- 1
	b <- 2
	select {
	case v := <-a:
		return show(v)
	case v := <-b:
		return show(v)
	}
}

// Poll finds somebody who sends or not.
//
// want: 0 | 1
func Poll() string {
	c := make(chan int)
	done := make(chan bool, 1)
	go func() {
		select {
		case c <- 1:
		case <-done:
		}
	}()
	select {
	case v := <-c:
		return show(v)
	default:
		done <- true
		return show(0)
	}
}

// SelfDeadlock locks twice.
//
// want: deadlock
func SelfDeadlock() string {
	var mu sync.Mutex
	mu.Lock()
	mu.Lock()
	return show("never")
}

// LockOrder may deadlock.
//
// want: deadlock | done
func LockOrder() string {
	var a, b sync.Mutex
	var wg sync.WaitGroup
	wg.Go(func() { a.Lock(); b.Lock(); b.Unlock(); a.Unlock() })
	wg.Go(func() { b.Lock(); a.Lock(); a.Unlock(); b.Unlock() })
	wg.Wait()
	return show("done")
}

// Leaked leaves a goroutine behind.
//
// want: ok (leak)
func Leaked() string {
	c := make(chan int)
	go func() { c <- 1 }()
	return show("ok")
}

// Recovered sees the panic of what it calls, and goes on with its named result.
//
// want: inner 2 outer
func Recovered() (s string) {
	n := 0
	defer func() {
		if r := recover(); r != nil {
			s = show(r, n, "outer")
		}
	}()
	func() {
		defer func() { n++ }()
		defer func() { n++ }()
		panic("inner")
	}()
	return "not reached"
}

// Crashes may be later than the return of the program.
//
// want: panic: runtime error: index out of range [3] with length 3
func Crashes() string {
	all := make([]int, 3)
	i := len(all)
	go func() { all[i]++ }()
	select {}
}

// ReadersAndWriter: a writer that waits holds readers back.
//
// want: deadlock | ok
func ReadersAndWriter() string {
	var mu sync.RWMutex
	var wg sync.WaitGroup
	wg.Go(func() { mu.RLock(); mu.RLock(); mu.RUnlock(); mu.RUnlock() })
	wg.Go(func() { mu.Lock(); mu.Unlock() })
	wg.Wait()
	return show("ok")
}

// Signalled waits for a condition.
//
// want: 1
func Signalled() string {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	n := 0
	go func() {
		mu.Lock()
		n = 1
		mu.Unlock()
		c.Signal()
	}()
	mu.Lock()
	for n == 0 {
		c.Wait()
	}
	mu.Unlock()
	return show(n)
}

// MissedSignal may come before the wait.
//
// want: deadlock | 1
func MissedSignal() string {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	go c.Signal()
	mu.Lock()
	c.Wait()
	mu.Unlock()
	return show(1)
}

// Once runs once, and everybody waits for it.
//
// want: 1 1
func Once() string {
	var once sync.Once
	var wg sync.WaitGroup
	n := 0
	var seen [2]int
	for i := range seen {
		wg.Go(func() {
			once.Do(func() { n++ })
			seen[i] = n
		})
	}
	wg.Wait()
	return show(seen[0], seen[1])
}

type tree[T any] struct {
	left, right *tree[T]
	held        T
}

func (t *tree[T]) all(yield func(T) bool) bool {
	return t == nil || t.left.all(yield) && yield(t.held) && t.right.all(yield)
}

// RangeOverFunc has loops over functions, with defers, labels and returns in them.
//
// want: 1 2 3 end3
func RangeOverFunc() (s string) {
	t := &tree[int]{&tree[int]{held: 1}, &tree[int]{held: 3}, 2}
	text := ""
	defer func() { s += text }()
	for v := range func(yield func(int) bool) { t.all(yield) } {
		defer func() {
			if v == 3 {
				text = "end3"
			}
		}()
		s += show(v) + " "
	}
	return s
}

type shape interface{ area() int }
type square struct{ side int }
type flat struct{ *square }

func (s square) area() int { return s.side * s.side }

// Interfaces, embedding, method values and expressions, errors and assertions.
//
// want: 9 9 16 true 25 false
func Interfaces() string {
	q := &square{3}
	var s shape = flat{q}
	m := q.area
	q.side = 4
	e := errors.New("x")
	_, isErr := any(e).(error)
	n, ok := any(s).(interface{ perimeter() int })
	_ = n
	return show(m(), square.area(square{3}), s.area(), isErr, func() int { q.side++; return s.area() }(), ok)
}

// Maps, slices, strings and conversions.
//
// want: 3 2 héllo 5 104 -1 200 1.5 [c]
func Data() string {
	m := map[string]int{"a": 1, "b": 2}
	m["c"] = 3
	delete(m, "a")
	total := 0
	for _, v := range m {
		total += v
	}
	all := []int{1, 2, 3, 4}
	all = append(all[:2], all[3:]...)
	text := string([]rune("héllo"))
	count := 0
	for range text {
		count++
	}
	var small int8 = 127
	small += 2 - 1
	var u uint8 = 200
	_ = small
	return show(len(all), len(m), text, count, text[0], int8(u)+55, u, float64(total-2)/2, "["+text[:0]+"c]")
}

// Panics that nobody recovers end the program, Goexit only a goroutine.
//
// want: panic: bad | ok; race
func PanicOrNot() string {
	n := 0
	var wg sync.WaitGroup
	wg.Go(func() { n = 1 })
	wg.Go(func() {
		if n == 1 {
			panic("bad")
		}
		runtime.Goexit()
	})
	wg.Wait()
	return show("ok")
}

// ClosedTwice may panic in either goroutine.
//
// want: panic: close of closed channel
func ClosedTwice() string {
	c := make(chan int)
	go close(c)
	go close(c)
	select {}
}

// Sender panics when its channel is closed while it waits.
//
// want: send on closed channel
func Sender() string {
	c := make(chan int)
	out := make(chan string)
	go func() {
		defer func() { out <- show(recover()) }()
		c <- 1
	}()
	close(c)
	return <-out
}

// AddBesideWait counts up in the goroutine that is to be waited for.
//
// want: ok; race
func AddBesideWait() string {
	var wg sync.WaitGroup
	go func() { wg.Add(1); wg.Done() }()
	wg.Wait()
	return show("ok")
}

// AddWhileCounted counts up in a goroutine that is counted itself, which is allowed.
//
// want: ok
func AddWhileCounted() string {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { wg.Add(1); wg.Done(); wg.Done() }()
	wg.Wait()
	return show("ok")
}

// AddForNextRound uses the group again beside a goroutine that still waits for the round before.
//
// want: ok | panic: sync: WaitGroup is reused before previous Wait has returned; race
func AddForNextRound() string {
	var wg sync.WaitGroup
	wg.Add(1)
	waited := make(chan struct{})
	go func() { wg.Wait(); close(waited) }()
	wg.Done()
	wg.Add(1)
	wg.Done()
	<-waited
	return show("ok")
}

// Published has one goroutine wait by looking, and use what was the other's.
//
// want: 2
func Published() string {
	x := 0
	var flag atomic.Bool
	go func() { x++; flag.Store(true) }()
	for !flag.Load() {
		runtime.Gosched()
	}
	x++
	return show(x)
}

// NeverSet has a loop that nothing ends in one schedule.
//
// want: 1; spins
func NeverSet() string {
	var n atomic.Int32
	go func() { n.CompareAndSwap(0, 1) }()
	go func() { n.CompareAndSwap(0, 2) }()
	for n.Load() != 1 {
	}
	return show(n.Load())
}

// LeavesASpinner returns, and a goroutine is left that nothing ends in one schedule.
//
// want: 1 | 2 (goes on); spins
func LeavesASpinner() string {
	var n atomic.Int32
	go func() {
		n.CompareAndSwap(0, 1)
		for n.Load() != 1 {
			runtime.Gosched()
		}
	}()
	n.CompareAndSwap(0, 2)
	return show(n.Load())
}

// Canceled has a context that is canceled while others look.
//
// want: true false | true true
func Canceled() string {
	ctx, cancel := context.WithCancel(context.Background())
	child, stop := context.WithCancel(ctx)
	defer stop()
	go cancel()
	early := child.Err() != nil
	<-child.Done()
	return show(child.Err() == context.Canceled, early)
}

// Stopped has a timer that fires or not.
//
// want: 0 true | 1 false
func Stopped() string {
	var n atomic.Int32
	done := make(chan struct{})
	t := time.AfterFunc(time.Millisecond, func() { n.Add(1); close(done) })
	stopped := t.Stop()
	if !stopped {
		<-done
	}
	return show(n.Load(), stopped)
}

// DeferredByRange has a loop over a function whose body defers calls for the function around it.
//
// want: 3 34
func DeferredByRange() string {
	seen := 0
	named := func() (n int) {
		for i := range twice {
			defer func() { n = n*2 + i }()
			seen++
			if i == 1 {
				seen++
				return 8
			}
		}
		return 0
	}()
	return show(seen, named)
}

func twice(yield func(int) bool) { _ = yield(0) && yield(1) }

// ClonedMap is a map that does not change with the one it was made of, which is read at once.
//
// want: 1 2 | 2 2; race
func ClonedMap() string {
	m := map[string]int{"a": 1}
	var of int
	var wg sync.WaitGroup
	wg.Go(func() { m["b"] = 2 })
	wg.Go(func() { of = len(maps.Clone(m)) })
	wg.Wait()
	return show(of, len(m))
}

// CloneIsApart is a copy that is changed beside what it was made of, without a race.
//
// want: 1 2
func CloneIsApart() string {
	m := map[string]int{"a": 1}
	other := maps.Clone(m)
	var wg sync.WaitGroup
	wg.Go(func() { m["b"] = 2 })
	wg.Go(func() { clear(other); other["c"] = 3 })
	wg.Wait()
	return show(len(other), len(m))
}

// NoneOvertakes has a goroutine that waits for a place, which nobody else gets.
//
// want: -1 12 0
func NoneOvertakes() string {
	line, done := make(chan int, 1), make(chan struct{})
	go func() {
		line <- 1
		line <- 2
		close(done)
	}()
	time.Sleep(time.Hour)
	got, late := <-line, -1
	select {
	case line <- 3:
		late = 0
	default:
	}
	got = 10*got + <-line
	<-done
	return show(late, got, len(line))
}

// SomeOvertake has one that may not wait yet.
//
// want: -1 12 0 | 0 13 1
func SomeOvertake() string {
	line, done := make(chan int, 1), make(chan struct{})
	go func() {
		line <- 1
		line <- 2
		close(done)
	}()
	time.Sleep(time.Millisecond)
	got, late := <-line, -1
	select {
	case line <- 3:
		late = 0
	default:
	}
	got = 10*got + <-line
	<-done
	return show(late, got, len(line))
}
