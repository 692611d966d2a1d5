package rt_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	. "github.com/cofferdam-go/cofferdam/internal/rt"
)

// together runs the functions as goroutines, and returns when all have ended.
func together(all ...func()) {
	wg := heap(waitGroup{})
	wg.Add(len(all))
	for _, f := range all {
		Go(90, func() {
			defer wg.Done()
			f()
		})
	}
	wg.Wait()
}

func none() func() string { return nil }

// A construct is a pair of programs: wrong has a bug that some schedule shows, right
// has none.
type construct struct {
	name   string
	wrong  func() func() string
	bugs   []string // and "" if some schedule does not show it
	right  func() func() string
	states []string // what right comes to; "" if nothing
	large  bool     // there are too many schedules to try all
}

var constructs = []construct{
	{
		name: "plain variable",
		wrong: func() func() string {
			x := heap(0)
			together(func() { Add(x, 1, 1, 2) }, func() { Add(x, 1, 1, 2) })
			return none()
		},
		bugs: []string{"race 1 2; race 2 2"},
		right: func() func() string {
			x := heap([2]int{})
			together(func() { Add(&x[0], 1, 1, 2) }, func() { Add(&x[1], 1, 1, 2) })
			return none()
		},
	},
	{
		name: "bytes of one word",
		wrong: func() func() string {
			x := heap([8]byte{})
			together(func() { *W(&x[3], 1) = 1 }, func() { Copy(x[:4], []byte("abcd"), 2) })
			return none()
		},
		bugs: []string{"race 1 2"},
		right: func() func() string {
			x := heap([8]byte{})
			together(func() { *W(&x[4], 1) = 1 }, func() { Copy(x[:4], []byte("abcd"), 2) })
			return none()
		},
	},
	{
		name: "go statement",
		wrong: func() func() string {
			x := heap(0)
			Go(1, func() { *W(x, 2) = 1 })
			_ = R(x, 3)
			return none()
		},
		bugs: []string{"race 2 3"},
		right: func() func() string {
			x := heap(0)
			*W(x, 3) = 1
			Go(1, func() { *W(x, 2) = 1 })
			return none()
		},
	},
	{
		name: "mutex",
		wrong: func() func() string {
			x, a, b := heap(0), heap(mutex{}), heap(mutex{})
			together(func() { a.Lock(); Add(x, 1, 1, 2); a.Unlock() }, func() { b.Lock(); Add(x, 1, 1, 2); b.Unlock() })
			return none()
		},
		bugs: []string{"race 1 2; race 2 2"},
		right: func() func() string {
			x, a := heap(0), heap(mutex{})
			together(func() { a.Lock(); Add(x, 1, 1, 2); a.Unlock() }, func() { a.Lock(); Add(x, 1, 1, 2); a.Unlock() })
			return func() string { return fmt.Sprint(*x) }
		},
		states: []string{"2"},
	},
	{
		name: "mutex overwritten",
		wrong: func() func() string {
			mu := heap(mutex{})
			Go(1, func() { *W(mu, 1) = mutex{} })
			mu.Lock()
			defer mu.Unlock()
			return none()
		},
		right: func() func() string {
			mu := heap(mutex{})
			*W(mu, 1) = mutex{}
			Go(1, func() { lockUnlock(mu) })
			lockUnlock(mu)
			return none()
		},
	},
	{
		name: "order of mutexes",
		wrong: func() func() string {
			a, b := heap(mutex{}), heap(mutex{})
			together(func() { a.Lock(); lockUnlock(b); a.Unlock() }, func() { b.Lock(); lockUnlock(a); b.Unlock() })
			return none()
		},
		bugs: []string{"", "deadlock: all goroutines are asleep - deadlock!"},
		right: func() func() string {
			a, b := heap(mutex{}), heap(mutex{})
			together(func() { a.Lock(); lockUnlock(b); a.Unlock() }, func() { a.Lock(); lockUnlock(b); a.Unlock() })
			return none()
		},
	},
	{
		name: "try lock",
		wrong: func() func() string {
			x, a := heap(0), heap(mutex{})
			together(func() { a.Lock(); Add(x, 1, 1, 2); a.Unlock() }, func() { a.TryLock(); Add(x, 1, 1, 2); a.Unlock() })
			return none()
		},
		bugs: []string{"", "fatal error: sync: unlock of unlocked mutex (unlock); race 1 2; race 2 2"},
		right: func() func() string {
			x, a := heap(0), heap(mutex{})
			f := func() {
				if a.TryLock() {
					Add(x, 1, 1, 2)
					a.Unlock()
				}
			}
			together(f, f)
			return func() string { return fmt.Sprint(*x) }
		},
		states: []string{"1", "2"},
	},
	{
		name:  "read lock",
		large: true,
		wrong: func() func() string {
			x, a := heap(0), heap(rwMutex{})
			f := func() { a.RLock(); Add(x, 1, 1, 2); a.RUnlock() }
			together(f, f)
			return none()
		},
		bugs: []string{"race 1 2; race 2 2"},
		right: func() func() string {
			x, a := heap(0), heap(rwMutex{})
			together(
				func() { a.RLock(); _ = R(x, 1); a.RUnlock() },
				func() { a.RLock(); _ = R(x, 1); a.RUnlock() },
				func() { a.Lock(); *W(x, 2) = 1; a.Unlock() })
			return none()
		},
	},
	{
		name: "recursive read lock",
		wrong: func() func() string {
			a := heap(rwMutex{})
			together(
				func() { a.RLock(); defer a.RUnlock(); a.RLock(); defer a.RUnlock() },
				func() { lockUnlock(a) })
			return none()
		},
		bugs: []string{"", "deadlock: all goroutines are asleep - deadlock!"},
		right: func() func() string {
			a, x := heap(rwMutex{}), heap(0)
			together(
				func() {
					a.RLock()
					_ = R(x, 1)
					a.RUnlock()
					a.RLock()
					_ = R(x, 1)
					a.RUnlock()
				},
				func() { lockUnlock(a) })
			return none()
		},
	},
	{
		name: "unbuffered channel",
		wrong: func() func() string {
			x, ch := heap(0), make(chan int)
			Go(1, func() { To[int](ch).Send(1, 2); *W(x, 3) = 1 })
			Recv(ch, 4)
			_ = R(x, 5)
			return none()
		},
		bugs: []string{"race 3 5"},
		right: func() func() string {
			x, ch := heap(0), make(chan int)
			Go(1, func() { *W(x, 3) = 1; Recv(ch, 4) })
			To[int](ch).Send(7, 2)
			return func() string { return fmt.Sprint(R(x, 5)) }
		},
		states: []string{"1"},
	},
	{
		name: "buffered channel",
		wrong: func() func() string {
			// The second send does not wait for the first receive.
			x, ch := heap(0), make(chan int, 2)
			Go(1, func() { *W(x, 3) = 1; Recv(ch, 4) })
			To[int](ch).Send(1, 2)
			To[int](ch).Send(2, 2)
			_ = R(x, 5)
			return none()
		},
		bugs: []string{"race 3 5"},
		right: func() func() string {
			x, ch := heap(0), make(chan int, 1)
			Go(1, func() { *W(x, 3) = 1; Recv(ch, 4) })
			To[int](ch).Send(1, 2)
			To[int](ch).Send(2, 2)
			_ = R(x, 5)
			return none()
		},
	},
	{
		name: "close",
		wrong: func() func() string {
			ch := make(chan int, 1)
			Go(1, func() { Close[int](ch, 2) })
			To[int](ch).Send(1, 3)
			return none()
		},
		bugs: []string{"race 2 3", "panic: send on closed channel; race 2 3"},
		right: func() func() string {
			x, ch := heap(0), make(chan int)
			Go(1, func() { *W(x, 2) = 1; Close[int](ch, 3) })
			_, ok := Recv2(ch, 4)
			return func() string { return fmt.Sprint(R(x, 5), ok) }
		},
		states: []string{"1 false"},
	},
	{
		name: "close twice",
		wrong: func() func() string {
			ch, done := make(chan int), heap(false)
			f := func() {
				if !R(done, 1) {
					*W(done, 2) = true
					Close[int](ch, 3)
				}
			}
			together(f, f)
			return none()
		},
		bugs: []string{"race 1 2", "panic: close of closed channel; race 1 2; race 2 2; race 3 3"},
		right: func() func() string {
			ch, done, mu := make(chan int), heap(false), heap(mutex{})
			f := func() {
				mu.Lock()
				if !R(done, 1) {
					*W(done, 2) = true
					Close[int](ch, 3)
				}
				mu.Unlock()
			}
			together(f, f)
			return none()
		},
	},
	{
		name: "range over channel",
		wrong: func() func() string {
			ch := make(chan int)
			Go(1, func() { To[int](ch).Send(1, 2) })
			for _, ok := Recv2(ch, 3); ok; _, ok = Recv2(ch, 3) {
			}
			return none()
		},
		bugs: []string{"deadlock: all goroutines are asleep - deadlock!"},
		right: func() func() string {
			ch, n := make(chan int), 0
			Go(1, func() { To[int](ch).Send(1, 2); To[int](ch).Send(2, 2); Close[int](ch, 4) })
			for v, ok := Recv2(ch, 3); ok; v, ok = Recv2(ch, 3) {
				n += v
			}
			return func() string { return fmt.Sprint(n) }
		},
		states: []string{"3"},
	},
	{
		name: "nil channel",
		wrong: func() func() string {
			var ch chan int
			Recv(ch, 1)
			return none()
		},
		bugs: []string{"deadlock: all goroutines are asleep - deadlock!"},
		right: func() func() string {
			var ch chan int
			c0 := CaseRecv(ch)
			i := Select(1, true, nil, c0)
			return func() string { return fmt.Sprint(i) }
		},
		states: []string{"-1"},
	},
	{
		name: "select",
		wrong: func() func() string {
			// Whoever is not chosen waits for ever.
			a, b := make(chan int), make(chan int)
			Go(1, func() { To[int](a).Send(1, 2) })
			Go(1, func() { To[int](b).Send(2, 3) })
			Select(4, false, nil, CaseRecv(a), CaseRecv(b))
			return none()
		},
		bugs: []string{"1 left"},
		right: func() func() string {
			a, b, sum := make(chan int), make(chan int), ""
			Go(1, func() { To[int](a).Send(1, 2) })
			Go(1, func() { To[int](b).Send(2, 3) })
			for range 2 {
				c0, c1 := CaseRecv(a), CaseRecv(b)
				switch Select(4, false, nil, c0, c1) {
				case 0:
					sum += fmt.Sprint("a", c0.Value())
				case 1:
					sum += fmt.Sprint("b", c1.Value())
				}
			}
			return func() string { return sum }
		},
		states: []string{"a1b2", "b2a1"},
	},
	{
		name: "select on both sides",
		wrong: func() func() string {
			a, b := make(chan int), make(chan int)
			Go(1, func() {
				if Select(2, false, nil, CaseSend(a).Of(1), CaseRecv(b)) == 0 {
					panic("sent")
				}
			})
			Select(3, false, nil, CaseRecv(a), CaseSend(b).Of(2))
			return none()
		},
		bugs: []string{"", "panic: sent"},
		right: func() func() string {
			a, b, ok := make(chan int), make(chan int), heap(0)
			Go(1, func() {
				c0, c1 := CaseSend(a).Of(1), CaseRecv(b)
				if Select(2, false, nil, c0, c1) == 1 {
					*W(ok, 5) = c1.Value()
				} else {
					*W(ok, 5) = 3
				}
				Close[int](a, 6)
			})
			c0, c1 := CaseRecv(a), CaseSend(b).Of(2)
			i := Select(3, false, nil, c0, c1)
			for _, more := Recv2(a, 7); more; _, more = Recv2(a, 7) {
			}
			return func() string { return fmt.Sprint(i, R(ok, 8)) }
		},
		states: []string{"0 3", "1 2"},
	},
	{
		name: "select with default",
		wrong: func() func() string {
			ch := make(chan int, 1)
			Go(1, func() { To[int](ch).Send(1, 2) })
			if Select(3, true, nil, CaseRecv(ch)) < 0 {
				panic("nothing there")
			}
			return none()
		},
		bugs: []string{"", "panic: nothing there"},
		right: func() func() string {
			ch := make(chan int, 1)
			To[int](ch).Send(1, 2)
			return func() string { return "ok" }
		},
		states: []string{"ok"},
	},
	{
		name: "wait group",
		wrong: func() func() string {
			x, wg := heap(0), heap(waitGroup{})
			Go(1, func() { wg.Add(1); *W(x, 2) = 1; wg.Done() })
			wg.Wait()
			_ = R(x, 3)
			return none()
		},
		right: func() func() string {
			x, wg := heap(0), heap(waitGroup{})
			wg.Add(1)
			Go(1, func() { *W(x, 2) = 1; wg.Done() })
			wg.Wait()
			return func() string { return fmt.Sprint(R(x, 3)) }
		},
		states: []string{"1"},
	},
	{
		name: "negative wait group",
		wrong: func() func() string {
			wg := heap(waitGroup{})
			wg.Done()
			return none()
		},
		bugs: []string{"panic: sync: negative WaitGroup counter"},
		right: func() func() string {
			wg := heap(waitGroup{})
			wg.Add(2)
			wg.Done()
			wg.Done()
			wg.Wait()
			return none()
		},
	},
	{
		name: "cond",
		wrong: func() func() string {
			// Nobody looks whether it has happened already.
			mu := heap(mutex{})
			c := heap(cond{L: mu})
			Go(1, func() { c.Signal() })
			mu.Lock()
			c.Wait()
			mu.Unlock()
			return none()
		},
		bugs: []string{"", "deadlock: all goroutines are asleep - deadlock!"},
		right: func() func() string {
			mu, x := heap(mutex{}), heap(0)
			c := heap(cond{L: mu})
			Go(1, func() { mu.Lock(); *W(x, 2) = 1; mu.Unlock(); c.Signal() })
			mu.Lock()
			for R(x, 3) == 0 {
				c.Wait()
			}
			mu.Unlock()
			return func() string { return fmt.Sprint(*x) }
		},
		states: []string{"1"},
	},
	{
		name:  "signal instead of broadcast",
		large: true,
		wrong: func() func() string {
			mu, x := heap(mutex{}), heap(0)
			c := heap(cond{L: mu})
			f := func() {
				mu.Lock()
				for R(x, 3) == 0 {
					c.Wait()
				}
				mu.Unlock()
			}
			together(f, f, func() { mu.Lock(); *W(x, 2) = 1; c.Signal(); mu.Unlock() })
			return none()
		},
		bugs: []string{"", "deadlock: all goroutines are asleep - deadlock!"},
		right: func() func() string {
			mu, x := heap(mutex{}), heap(0)
			c := heap(cond{L: mu})
			f := func() {
				mu.Lock()
				for R(x, 3) == 0 {
					c.Wait()
				}
				mu.Unlock()
			}
			together(f, f, func() { mu.Lock(); *W(x, 2) = 1; c.Broadcast(); mu.Unlock() })
			return none()
		},
	},
	{
		name: "atomics",
		wrong: func() func() string {
			x, ready := heap(0), heap(uint32(0))
			Go(1, func() { *A(ready, event.AtomicStore, 2) = 1; *W(x, 3) = 1 })
			if *A(ready, event.AtomicLoad, 4) == 1 {
				_ = R(x, 5)
			}
			return none()
		},
		bugs: []string{"", "race 3 5"},
		right: func() func() string {
			x, ready := heap(0), heap(uint32(0))
			Go(1, func() { *W(x, 3) = 1; *A(ready, event.AtomicStore, 2) = 1 })
			v := -1
			if *A(ready, event.AtomicLoad, 4) == 1 {
				v = R(x, 5)
			}
			return func() string { return fmt.Sprint(v) }
		},
		states: []string{"-1", "1"},
	},
	{
		name: "atomic and plain",
		wrong: func() func() string {
			x := heap(uint32(0))
			together(func() { *A(x, event.AtomicUpdate, 1) += 1 }, func() { _ = R(x, 2) })
			return none()
		},
		bugs: []string{"race 1 2"},
		right: func() func() string {
			x := heap(uint32(0))
			together(func() { *A(x, event.AtomicUpdate, 1) += 1 }, func() { *A(x, event.AtomicUpdate, 1) += 1 })
			return func() string { return fmt.Sprint(*x) }
		},
		states: []string{"2"},
	},
	{
		name: "compare and swap that fails",
		wrong: func() func() string {
			// The second one fails, and so releases nothing.
			x, f := heap(0), heap(uint32(1))
			Go(1, func() { *W(x, 2) = 1; cas(f, 5, 6, 3) })
			*A(f, event.AtomicUpdate, 4) += 1
			_ = R(x, 5)
			return none()
		},
		bugs: []string{"race 2 5"},
		right: func() func() string {
			x, f := heap(0), heap(uint32(1))
			Go(1, func() { *W(x, 2) = 1; cas(f, 1, 6, 3) })
			if *A(f, event.AtomicLoad, 4) == 6 {
				_ = R(x, 5)
			}
			return none()
		},
	},
	{
		name: "map",
		wrong: func() func() string {
			m := map[int]int{}
			together(func() { Map(m).Set(1, 1, 1) }, func() { _ = MR(m, 2)[1] })
			return none()
		},
		bugs: []string{"race 1 2", "fatal error: concurrent map read and map write (map read); race 1 2"},
		right: func() func() string {
			m := map[int]int{}
			together(func() { _ = MR(m, 1)[1] }, func() { _ = MR(m, 1)[1] })
			Map(m).Set(1, 1, 2)
			delete(MW(m, 3), 1)
			return none()
		},
	},
	{
		name: "map writes",
		wrong: func() func() string {
			m := map[int]int{}
			together(func() { MW(m, 1)[1] = 1 }, func() { delete(MW(m, 1), 2) })
			return none()
		},
		bugs: []string{"race 1 1", "fatal error: concurrent map writes (map write); race 1 1"},
		right: func() func() string {
			m, mu := map[int]int{}, heap(mutex{})
			together(func() { mu.Lock(); MW(m, 1)[1] = 1; mu.Unlock() }, func() { mu.Lock(); delete(MW(m, 1), 2); mu.Unlock() })
			return none()
		},
	},
	{
		name: "slices",
		wrong: func() func() string {
			x := make([]int, 2, 3)
			together(func() { _ = append(Append(x, 1, 1), 1) }, func() { _ = append(Append(x, 1, 1), 2) })
			return none()
		},
		bugs: []string{"race 1 1"},
		right: func() func() string {
			x := make([]int, 2)
			together(func() { _ = append(Append(x, 1, 1), 1) }, func() { _ = append(Append(x, 1, 1), 2) }, func() { RS(x, 2) })
			return none()
		},
	},
	{
		name: "time out",
		wrong: func() func() string {
			// The worker is slower than the time out.
			result := make(chan int)
			Go(1, func() { Sleep(20); To[int](result).Send(1, 2) })
			Select(3, false, nil, CaseRecv(result), CaseRecv(after(10)))
			return none()
		},
		bugs: []string{"1 left"},
		right: func() func() string {
			result := make(chan int)
			Go(1, func() { Sleep(10 * ms); To[int](result).Send(1, 2) })
			i := Select(3, false, nil, CaseRecv(result), CaseRecv(after(20*ms)))
			now := elapsedMs()
			return func() string { return fmt.Sprint(i, now) }
		},
		states: []string{"0 10"},
	},
	{
		name: "timer functions",
		wrong: func() func() string {
			x, t := heap(0), heap(0)
			StartFunc(t, 10, func() { *W(x, 1) = 1 })
			Sleep(20)
			_ = R(x, 2)
			return none()
		},
		bugs: []string{"race 1 2"},
		right: func() func() string {
			x, t := heap(0), heap(0)
			*W(x, 2) = 5
			StartFunc(t, 10, func() { Add(x, 1, 1, 1) })
			active, ok := StopTimer(t)
			Sleep(20)
			ResetTimer(t, 5, 0)
			return func() string { return fmt.Sprint(active, ok, *x) }
		},
		states: []string{"true true 6"},
	},
	{
		name: "pool",
		wrong: func() func() string {
			p := heap(0)
			f := func() {
				x, _ := PoolGet(p, nil)
				if x == nil {
					x = heap(0)
				}
				PoolPut(p, nil, x)
				*W(x.(*int), 1) = 1
			}
			together(f, f)
			return none()
		},
		bugs: []string{"race 1 1"},
		right: func() func() string {
			p := heap(0)
			f := func() {
				x, _ := PoolGet(p, nil)
				if x == nil {
					x = heap(0)
				}
				*W(x.(*int), 1) = 1
				PoolPut(p, nil, x)
			}
			together(f, f)
			return none()
		},
	},
	{
		name: "panic",
		wrong: func() func() string {
			x := heap([]int{1, 2, 3})
			Go(1, func() { fmt.Fprint(nowhere{}, (R(x, 2))[len(*x)+2]) })
			Sleep(1)
			return none()
		},
		bugs: []string{"panic: runtime error: index out of range [5] with length 3"},
		right: func() func() string {
			x, got := heap([]int{1, 2, 3}), heap("")
			Go(1, func() {
				defer func() { *W(got, 3) = fmt.Sprint(recover()) }()
				fmt.Fprint(nowhere{}, (R(x, 2))[len(*x)+2])
			})
			Sleep(1)
			return func() string { return *got }
		},
		states: []string{"runtime error: index out of range [5] with length 3"},
	},
	{
		name: "exit",
		wrong: func() func() string {
			Go(1, func() { Exit(3) })
			Block(2)
			return none()
		},
		bugs: []string{"exit: exit 3"},
		right: func() func() string {
			Go(1, func() { runtime.Goexit() })
			runtime.Goexit()
			return none()
		},
	},
	{
		name: "waiting by yielding",
		wrong: func() func() string {
			x := heap(0)
			Go(1, func() { *W(x, 2) = 1 })
			Gosched()
			if R(x, 3) == 0 {
				panic("too early")
			}
			return none()
		},
		bugs: []string{"race 2 3", "panic: too early"},
		right: func() func() string {
			x := heap(uint32(0))
			Go(1, func() { *A(x, event.AtomicStore, 2) = 1 })
			Sleep(1)
			for *A(x, event.AtomicLoad, 3) == 0 {
				Gosched()
			}
			return none()
		},
	},
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

func cas(p *uint32, old, new, site uint32) bool {
	A(p, event.AtomicCompare, site)
	if *p == old {
		*p = new
		return true
	}
	return false
}

// after is time.After.
func after(d int64) <-chan int64 {
	ch, t := make(chan int64, 1), heap(0)
	StartTimer(t, d, 0, ch, elapsed)
	return ch
}

func TestEverySchedule(t *testing.T) {
	for i, c := range constructs {
		if testing.Short() && i%3 != 1 {
			continue // with the race detector, for which TestRandomSchedules has them all
		}
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			search := every
			if c.large {
				search = func(t *testing.T, f func() func() string) map[string]int { return some(t, 2000, f) }
			}
			if c.bugs != nil {
				expect(t, search(t, c.wrong), c.bugs...)
			}
			if c.states == nil {
				c.states = []string{""}
			}
			expect(t, search(t, c.right), c.states...)
		})
	}
}

func TestRandomSchedules(t *testing.T) {
	for _, c := range constructs {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			if c.states == nil {
				c.states = []string{""}
			}
			for found := range some(t, 200, c.right) {
				if !slices.Contains(c.states, found) {
					t.Errorf("found %q, want one of %q", found, c.states)
				}
			}
			for found := range some(t, 200, c.wrong) {
				if c.bugs != nil && !slices.Contains(c.bugs, found) {
					t.Errorf("found %q, want one of %q", found, c.bugs)
				}
			}
		})
	}
}

func TestTheSameScheduleGivesTheSameEvents(t *testing.T) {
	for _, c := range constructs {
		for _, f := range []func() func() string{c.wrong, c.right} {
			for seed := range uint64(20) {
				a, _ := record(&walk{seed: seed}, func() { f() })
				b, _ := record(&walk{seed: seed}, func() { f() })
				if !slices.Equal(a, b) {
					t.Fatalf("%s, seed %d: two runs differ\n%s\n---\n%s", c.name, seed, strings.Join(a, "\n"), strings.Join(b, "\n"))
				}
				if len(a) == 0 {
					t.Fatalf("%s: nothing recorded", c.name)
				}
			}
		}
	}
}

type stringer struct{}

func (stringer) String() string { return "a stringer" }

type (
	myInt     int
	myString  string
	myBool    bool
	myComplex complex64
)

func TestPanicTextIsTheRuntimes(t *testing.T) {
	var nobody *construct
	for want, f := range map[string]func(){
		"plain text":                     func() { panic("plain text") },
		"two\n\tlines":                   func() { panic("two\nlines") },
		"an error":                       func() { panic(errors.New("an error")) },
		"a stringer":                     func() { panic(stringer{}) },
		"5":                              func() { panic(5) },
		"1.5":                            func() { panic(1.5) },
		"(1+2i)":                         func() { panic(1 + 2i) },
		"rt_test.myInt(7)":               func() { panic(myInt(7)) },
		`rt_test.myString("x")`:          func() { panic(myString("x")) },
		"rt_test.myBool(true)":           func() { panic(myBool(true)) },
		"rt_test.myComplex(1+0i)":        func() { panic(myComplex(1)) },
		"panic called with nil argument": func() { panic(nil) },
		"runtime error: invalid memory address or nil pointer dereference": func() { _ = R(&nobody.name, 1) },
		"runtime error: integer divide by zero":                            func() { Quo(heap(1), *heap(0), 1, 1) },
		"interface conversion: interface {} is int, not string":            func() { _ = any(1).(string) },
		"runtime error: slice bounds out of range [:4] with capacity 2":    func() { _ = make([]int, 2)[:*heap(4)] },
		"assignment to entry in nil map":                                   func() { Map(map[int]int(nil)).Set(1, 1, 1) },
		"close of nil channel":                                             func() { Close[int](nil, 1) },
	} {
		r := Run(Config{Races: true, Strategy: &first{}}, f)
		if len(r.Failures) != 1 || r.Failures[0].Message != want {
			t.Errorf("want %q, got %+v", want, r.Failures)
			continue
		}
		top, _ := runtime.CallersFrames(r.Failures[0].PCs).Next()
		if strings.HasPrefix(top.Function, "runtime.") {
			t.Errorf("%s: the stack starts in %s", want, top.Function)
		}
	}
	r := Run(Config{Races: true, Strategy: &first{}}, func() { panic(struct{ a, b int }{}) })
	if m := r.Failures[0].Message; !strings.HasPrefix(m, "(struct { a int; b int }) 0x") {
		t.Errorf("got %q", m)
	}
}
