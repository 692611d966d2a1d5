// Package again has tests that pass the first time in a process, and fail the second
// time unless what the first did to package-level variables was taken back.
package again

import (
	"sync"
	"sync/atomic"
	"testing"
)

type point struct{ x, y int }

var (
	number   int
	flag     bool
	text     string
	numbers  = []int{1, 2, 3}
	array    [100]int
	object   = &point{1, 2}
	shared   any
	byName   = map[string]int{"a": 1, "b": 2}
	byNumber map[float64]*point
	counter  atomic.Int64
	pointer  atomic.Pointer[point]
	value    atomic.Value
	old      uint32
	queue    = make(chan int, 3)
	closed   = make(chan bool)
	once     sync.Once
	first    = sync.OnceValue(func() *point { made++; return &point{made, 0} })
	made     int
	mu       sync.Mutex
	rw       sync.RWMutex
	group    sync.WaitGroup
	concurr  sync.Map
	pool     = sync.Pool{New: func() any { return new(point) }}
)

func init() { queue <- 7 }

func TestScalars(t *testing.T) {
	if number != 0 || flag || text != "" || old != 0 || shared != nil {
		t.Fatal(number, flag, text, old, shared)
	}
	number++
	flag, text, shared = true, "x", object
	atomic.AddUint32(&old, 3)
}

func TestWhatTheyReferTo(t *testing.T) {
	if numbers[1] != 2 || len(numbers) != 3 || array[99] != 0 || *object != (point{1, 2}) {
		t.Fatal(numbers, array[99], *object)
	}
	numbers[1] = 5
	numbers = append(numbers, 4)
	copy(array[90:], numbers)
	clear(numbers)
	array[99]++
	object.x, object.y = object.y, object.x
	object = &point{7, 8}
}

func TestMaps(t *testing.T) {
	if len(byName) != 2 || byName["a"] != 1 || byNumber != nil {
		t.Fatal(byName, byNumber)
	}
	byName["a"]++
	byName["c"] = 3
	delete(byName, "b")
	byNumber = map[float64]*point{1: object}
}

func TestAtomics(t *testing.T) {
	if counter.Load() != 0 || pointer.Load() != nil || value.Load() != nil {
		t.Fatal(counter.Load(), pointer.Load(), value.Load())
	}
	counter.Add(2)
	pointer.CompareAndSwap(nil, object)
	value.Store(object)
}

func TestChannels(t *testing.T) {
	select {
	case <-closed:
		t.Fatal("closed")
	default:
	}
	if n := <-queue; n != 7 || len(queue) != 0 {
		t.Fatal(n, len(queue))
	}
	queue <- 8
	queue <- 9
	close(closed)
}

func TestOnce(t *testing.T) {
	ran := false
	once.Do(func() { ran = true })
	if p := first(); !ran || made != 1 || p != first() || p.x != 1 {
		t.Fatal(ran, made, *p)
	}
}

func TestLocksLeftHeld(t *testing.T) {
	if !mu.TryLock() || !rw.TryRLock() {
		t.Fatal("still locked")
	}
	group.Add(1)
}

func TestLibrary(t *testing.T) {
	if _, ok := concurr.Load("a"); ok {
		t.Fatal("still there")
	}
	concurr.Store("a", 1)
	if p := pool.Get().(*point); p.x != 0 {
		t.Fatal("still there")
	}
	pool.Put(&point{x: 1})
}

// TestInDefer fails in the middle, with something deferred that runs when the run is
// over.
func TestInDefer(t *testing.T) {
	done := make(chan bool)
	go func() {
		defer func() { number = 100 }()
		number = 10
		<-done
	}()
	if number > 10 {
		t.Fatal(number)
	}
}
