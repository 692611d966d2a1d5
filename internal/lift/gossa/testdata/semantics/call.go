package semantics

import (
	"sync"
	"sync/atomic"
)

// Calls are the cases of calls: static, dynamic, deferred, of the standard library, and
// of goroutines.
var Calls = map[string]func(x, y int64) int64{
	"Closure": Closure, "SharedCapture": SharedCapture, "Recursion": Recursion, "MutualRecursion": MutualRecursion, "Results": Results, "Variadic": Variadic,
	"FuncValue": FuncValue, "FuncTable": FuncTable, "NilFunc": NilFunc, "MethodValue": MethodValue, "Generic": Generic, "DeferOrder": DeferOrder, "DeferArguments": DeferArguments, "DeferMethod": DeferMethod,
	"DeferInLoop": DeferInLoop, "Locked": Locked, "ReadLocked": ReadLocked, "TryLocked": TryLocked, "Once": Once, "Atomics": Atomics, "AtomicTypes": AtomicTypes, "AtomicBool": AtomicBool,
	"Goroutines": Goroutines, "Channel": Channel, "ClosedChannel": ClosedChannel, "ImmediateCall": ImmediateCall, "DeferredClose": DeferredClose, "CompareFunc": CompareFunc,
}

func Closure(x, y int64) int64 {
	add := func(n int64) int64 { return n + x }
	return add(add(y))
}
func SharedCapture(x, y int64) int64 {
	n := x
	inc := func() { n += y }
	inc()
	n *= 2
	inc()
	return n
}
func Recursion(x, y int64) int64 {
	if uint64(x)%16 == 0 {
		return y
	}
	return Recursion(x-1, y+x)
}
func even(n, acc int64) int64 {
	if n == 0 {
		return acc
	}
	return odd(n-1, acc+1)
}
func odd(n, acc int64) int64 {
	if n == 0 {
		return -acc
	}
	return even(n-1, acc*2)
}
func MutualRecursion(x, y int64) int64 { return even(int64(uint64(x)%9), y) }
func three(x, y int64) (int8, int64, string) {
	return int8(x), x - y, "three"
}
func Results(x, y int64) int64 {
	a, b, c := three(x, y)
	return int64(a) + b*3 + int64(len(c))
}
func sum(first int64, rest ...int64) int64 {
	for i := 0; i < len(rest); i++ {
		first = first*3 + rest[i]
	}
	return first
}
func Variadic(x, y int64) int64 { return sum(x) + sum(x, y) + sum(x, []int64{y, x, 1}...) }
func FuncValue(x, y int64) int64 {
	f := even
	if x > y {
		f = odd
	}
	return f(3, y)
}
func FuncTable(x, y int64) int64 {
	table := map[int64]func(int64) int64{0: func(n int64) int64 { return n + 1 }, 1: func(n int64) int64 { return n * y }}
	return table[x&1](y)
}
func NilFunc(x, y int64) int64 {
	var f func() int64
	if x > y {
		f = func() int64 { return x }
	}
	return f()
}
func MethodValue(x, y int64) int64 {
	c := &counter{x}
	get := c.get
	c.set(y)
	w := wide{a: x}
	wget := w.get
	w.a = y
	return get(1)*5 + wget(1)
}

type number interface{ ~int8 | ~int64 }

func largest[T number](xs ...T) T {
	best := xs[0]
	for i := 1; i < len(xs); i++ {
		if xs[i] > best {
			best = xs[i]
		}
	}
	return best
}

type stack[T any] struct{ items []T }

func (s *stack[T]) push(v T) { s.items = append(s.items, v) }
func (s *stack[T]) pop() T {
	v := s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return v
}
func Generic(x, y int64) int64 {
	var s stack[int64]
	s.push(x)
	s.push(y)
	return s.pop()*3 + s.pop() + largest(x, y) + int64(largest(int8(x), int8(y)))
}
func deferred(n *int64, y int64) {
	defer func() { *n = *n*2 + y }()
	defer func() { *n += 3 }()
	*n++
}
func DeferOrder(x, y int64) int64 {
	deferred(&x, y)
	return x
}
func setTo(p *int64, v int64) { *p = v }
func deferredArguments(p *int64, v int64) {
	defer setTo(p, v) // as it is now
	v = 99
	*p = v
}
func DeferArguments(x, y int64) int64 {
	deferredArguments(&x, y)
	return x
}
func deferredMethods(c *counter, n int64) {
	var b both = c
	defer b.set(n)
	defer c.set(1)
	c.n = 5
}
func DeferMethod(x, y int64) int64 {
	c := &counter{x}
	deferredMethods(c, y)
	return c.n
}
func deferredLoop(p *int64, n int64) {
	for i := int64(0); i < n; i++ {
		defer func() { *p = *p*2 + i }()
	}
}
func DeferInLoop(x, y int64) int64 {
	deferredLoop(&x, int64(uint64(y)%5))
	return x
}

type account struct {
	mu      sync.Mutex
	rw      sync.RWMutex
	balance int64
}

func (a *account) deposit(n int64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance += n
	return a.balance
}
func Locked(x, y int64) int64 {
	a := &account{balance: x}
	return a.deposit(y) + a.deposit(1)
}
func ReadLocked(x, y int64) int64 {
	a := &account{balance: x}
	a.rw.RLock()
	n := a.balance
	a.rw.RUnlock()
	a.rw.Lock()
	a.balance = n + y
	a.rw.Unlock()
	return a.balance
}
func TryLocked(x, y int64) int64 {
	a := &account{balance: x}
	if !a.mu.TryLock() {
		return -1
	}
	if a.mu.TryLock() {
		return -2
	}
	a.mu.Unlock()
	if a.rw.TryRLock() {
		a.rw.RUnlock()
	}
	if a.rw.TryLock() {
		a.rw.Unlock()
	}
	return a.balance + y
}
func Once(x, y int64) int64 {
	var once sync.Once
	for i := 0; i < 3; i++ {
		once.Do(func() { x += y })
	}
	return x
}

var shared struct {
	n int64
	u uint32
}

func Atomics(x, y int64) int64 {
	atomic.StoreInt64(&shared.n, x)
	atomic.StoreUint32(&shared.u, uint32(y))
	a := atomic.AddInt64(&shared.n, y)
	b := atomic.SwapInt64(&shared.n, 5)
	if atomic.CompareAndSwapInt64(&shared.n, 5, 6) && !atomic.CompareAndSwapInt64(&shared.n, 5, 7) {
		a += atomic.LoadInt64(&shared.n)
	}
	return a*3 + b + int64(atomic.AndUint32(&shared.u, 12)) + int64(atomic.OrUint32(&shared.u, 3))*2 + int64(atomic.LoadUint32(&shared.u))
}
func AtomicTypes(x, y int64) int64 {
	var n atomic.Int64
	var p atomic.Pointer[counter]
	n.Store(x)
	n.Add(y)
	if p.Load() != nil {
		return -1
	}
	p.Store(&counter{x})
	old := p.Swap(&counter{y})
	return n.Load() + n.Swap(1) + n.Load() + old.n*3 + p.Load().n*5
}
func AtomicBool(x, y int64) int64 {
	var b atomic.Bool
	b.Store(x > y)
	if b.Load() {
		b.Store(false)
		return x
	}
	b.Store(true)
	if b.Load() {
		return y
	}
	return -1
}
func Goroutines(x, y int64) int64 {
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := x
	wg.Add(3)
	for i := int64(0); i < 3; i++ {
		go func() {
			defer wg.Done()
			mu.Lock()
			total += i * y
			mu.Unlock()
		}()
	}
	wg.Wait()
	return total
}
func produce(c chan<- int64, n int64) {
	for i := int64(0); i < 3; i++ {
		c <- i + n
	}
	close(c)
}
func Channel(x, y int64) int64 {
	c := make(chan int64)
	go produce(c, y)
	n := x
	for {
		v, ok := <-c
		if !ok {
			return n
		}
		n = n*2 + v
	}
}
func ClosedChannel(x, y int64) int64 {
	c := make(chan int64, 2)
	c <- x
	n := int64(len(c)) + 10*int64(cap([]int64{1, 2}))
	close(c)
	return n + <-c + <-c + y
}
func ImmediateCall(x, y int64) int64 {
	return func(n int64) int64 {
		return func() int64 { return n - x }() * y
	}(x + y)
}
func deferredClose(c chan int64) {
	defer close(c)
	c <- 4
}
func DeferredClose(x, y int64) int64 {
	c := make(chan int64, 2)
	deferredClose(c)
	a := <-c
	b, ok := <-c
	if ok {
		return -1
	}
	return a + b + x + y
}
func CompareFunc(x, y int64) int64 {
	var f func() int64
	if x > y {
		f = func() int64 { return 1 }
	}
	if f == nil {
		return 7
	}
	return f()
}
