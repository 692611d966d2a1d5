// Sections whose release is deferred on one of the ways through a function: what they wrote is
// found by whatever runs on that way before the release does.
package main

import (
	"fmt"
	"sync"
)

type T struct {
	mu   sync.Mutex
	n    int // guarded by mu
	b    int // guarded by mu
	list []int
}

func (x *T) text() string { return fmt.Sprint(x.n, x.b, x.list) }

// falls goes on in the next clause with the lock.
func (x *T) falls(k int) string {
	switch k {
	case 1:
		x.mu.Lock()
		defer x.mu.Unlock()
		x.n++
		x.n += x.b
		fallthrough
	case 2:
		x.n *= 2
		return "two"
	default:
		return "other"
	}
}

// each tells an object what it has at the end, as iterators do that close something.
func (x *T) each(yield func(int) bool) {
	defer func() { x.b += 10 * x.n }()
	for i := range 4 {
		if !yield(i) {
			x.n += 100
			return
		}
	}
}

// inIterator returns out of a loop that is a function, which goes on before the release.
func (x *T) inIterator(k int) (n int) {
	for i := range x.each {
		if i == k {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.n++
			x.n += i
			if k > 2 {
				x.n += x.list[k]
			}
			return x.n
		}
	}
	return 0
}

// labelled leaves two statements at once, the last of the function.
func (x *T) labelled(list []int) {
out:
	for _, i := range list {
		switch {
		case i > 2:
			x.mu.Lock()
			defer x.mu.Unlock()
			x.n++
			if x.n += i; x.n%2 == 0 {
				break out
			}
			x.n++
			return
		case i < 0:
			continue out
		}
		x.mu.Lock()
		x.n += i
		x.n++
		x.mu.Unlock()
	}
}

// again jumps back, but not with the lock.
func (x *T) again(k int) {
again:
	if k > 0 {
		k--
		goto again
	} else if k == 0 {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.n++
		x.n *= 2
	} else {
		x.b++
	}
}

// chosen waits on a channel first.
func (x *T) chosen(c chan int) {
	select {
	case v := <-c:
		x.mu.Lock()
		defer x.mu.Unlock()
		x.n += v
		if x.n > 9 {
			break
		}
		x.n++
	default:
		x.b++
	}
}

// deferredOrNot releases at once on the other way, and panics on both.
func (x *T) deferredOrNot(k int) int {
	x.mu.Lock()
	x.n++
	if k < 0 {
		defer x.mu.Unlock()
		x.n += x.list[-k]
		defer func() { x.b += x.n }()
		x.n++
		return x.n
	}
	x.n += 2
	x.n += x.list[k]
	x.mu.Unlock()
	return x.n
}

// recovers changes its result after the release.
func (x *T) recovers(k int) (n int) {
	defer func() {
		recover()
		n += x.n
	}()
	if k > 0 {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.n += k
		x.n += x.list[k]
		return x.n
	}
	return -1
}

// inLiteral releases in a deferred literal, which uses what the section wrote, and changes the result.
func (x *T) inLiteral(k int) (n int) {
	x.mu.Lock()
	defer func() {
		if recover() != nil {
			x.b += x.n
			x.mu.Unlock()
			n = -x.n
			return
		}
		x.n++
		x.mu.Unlock()
		n += x.n
	}()
	x.n += k
	defer func() { x.b += x.n }()
	x.n += 2
	x.n += x.list[k]
	return x.n
}

// literalOrNot takes the lock again for the literal.
func (x *T) literalOrNot(k int) int {
	x.mu.Lock()
	x.n++
	x.n++
	if k > 1 {
		defer func() { x.mu.Unlock(); x.b++ }()
		x.n *= 2
		x.mu.Unlock()
		x.b += x.n
		x.mu.Lock()
		x.n++
		return x.n
	}
	x.n--
	x.mu.Unlock()
	return x.n
}

// result has a result that its lock guards.
func result(k int) (n int) {
	var mu sync.Mutex
	var done sync.WaitGroup
	for range 3 {
		done.Go(func() { mu.Lock(); n++; n++; mu.Unlock() })
	}
	done.Wait()
	if k > 0 {
		mu.Lock()
		defer mu.Unlock()
		n += k
		n++
		if k > 1 {
			return k
		}
		return n + 1
	}
	return
}

func try(name string, x *T, do func() any) {
	defer func() {
		if e := recover(); e != nil {
			fmt.Println(name, "panics:", e, x.text())
			x.mu.TryLock()
			x.mu.Unlock()
		}
	}()
	fmt.Println(name, do(), x.text())
}

func main() {
	x := &T{b: 5, list: []int{1, 2, 3}}
	for k := -3; k < 5; k++ {
		try("falls", x, func() any { return x.falls(k) })
		try("inIterator", x, func() any { return x.inIterator(k) })
		try("labelled", x, func() any { x.labelled([]int{k - 2, k - 1, k, k + 1}); return "" })
		try("again", x, func() any { x.again(k); return "" })
		try("chosen", x, func() any {
			c := make(chan int, 1)
			if k > 0 {
				c <- k
			}
			x.chosen(c)
			return ""
		})
		try("deferredOrNot", x, func() any { return x.deferredOrNot(k) })
		try("recovers", x, func() any { return x.recovers(k) })
		try("inLiteral", x, func() any { return x.inLiteral(k) })
		try("literalOrNot", x, func() any { return x.literalOrNot(k) })
		try("result", x, func() any { return result(k) })
	}
}
