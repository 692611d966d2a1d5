package tolerate_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

// addsTo checks Add and Subtract on numbers of a type: the neighbours stay as they are, and
// additions of two goroutines all count.
func addsTo[T tolerate.Real](t *testing.T) {
	list := [4]T{1, 2, 3, 4}
	tolerate.Add(&list[1], 5)
	tolerate.Subtract(&list[2], 2)
	if list != [4]T{1, 7, 1, 4} {
		t.Errorf("%T: got %v, want [1 7 1 4]", list[0], list)
	}
	if tolerate.Checked {
		return // small numbers are added to as they are then
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for range 5000 {
				tolerate.Add(&list[3], 3)
				tolerate.Subtract(&list[3], 2)
			}
		})
	}
	both.Wait()
	if want := T(4); list[3] != want+wrapped[T](10000) {
		t.Errorf("%T: got %v after 10,000 additions of one to %v", want, list[3], want)
	}
}

// wrapped is a number in so many bits as a type has.
func wrapped[T tolerate.Real](n int) T { return T(n) }

func TestAddIsOneStep(t *testing.T) {
	addsTo[int](t)
	addsTo[int8](t)
	addsTo[int16](t)
	addsTo[int32](t)
	addsTo[int64](t)
	addsTo[uint](t)
	addsTo[uint8](t)
	addsTo[uint16](t)
	addsTo[uint32](t)
	addsTo[uint64](t)
	addsTo[uintptr](t)
	addsTo[float32](t)
	addsTo[float64](t)
}

// countsAll has sections that end by Settle beside a goroutine that never stops adding.
func countsAll[T tolerate.Real](t *testing.T) {
	var n T
	var over atomic.Bool
	l := tolerate.Label{Name: fmt.Sprintf("counted %T", n), Merge: tolerate.Adding}
	forced := tolerate.ReadStats().Forced
	added := make(chan int)
	go func() {
		rounds := 0
		for ; !over.Load(); rounds++ {
			tolerate.Add(&n, 1)
		}
		added <- rounds
	}()
	const sections = 2000
	var zero T
	for range sections {
		tolerate.Settle(&n, zero+2, zero, &l) // took zero, and made it two
	}
	over.Store(true)
	rounds := <-added
	if want := wrapped[T](rounds + 2*sections); n != want {
		t.Errorf("%T: %v are left of %v", n, n, want)
	}
	if f := tolerate.ReadStats().Forced - forced; f > 0 {
		t.Errorf("%T: %d sections were published by force", n, f)
	}
}

// TestAdditionsCountAgainstAWriterThatDoesNotStop: what a section adds and what careless code
// adds all count, however fast the one is that adds.
func TestAdditionsCountAgainstAWriterThatDoesNotStop(t *testing.T) {
	countsAll[int](t)
	countsAll[uint32](t)
	countsAll[float64](t)
	if !tolerate.Checked {
		countsAll[int16](t)
	}
}
