// Package beside has a goroutine that is there before anything is under control, and the
// other things that go test runs beside tests.
package beside

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

type parcel struct{ n int }

var (
	in  = make(chan *parcel)
	out = make(chan *parcel)
)

// The timer goes in real time, so that the goroutine cannot be begun in each run.
var real = time.AfterFunc(time.Hour, func() {})

func init() {
	go func() {
		for p := range in {
			out <- p
		}
	}()
}

// What the goroutine passes on is passed on in order.
func TestFineRelay(t *testing.T) {
	var wg sync.WaitGroup
	wg.Go(func() {
		p := &parcel{}
		p.n++
		in <- p
	})
	if p := <-out; p.n != 1 {
		t.Error(p.n)
	}
	wg.Wait()
}

func TestBugRelay(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() { in <- &parcel{i} })
	}
	first := <-out
	<-out
	wg.Wait()
	if first.n != 0 {
		t.Error("the second came first")
	}
}

// The goroutine is in no bubble, and keeps none from being quiet.
func TestFineBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan bool)
		go func() { time.Sleep(time.Second); close(done) }()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		<-done
	})
}

// It might end this wait: what is left beside it is not known to be left for ever.
func TestFineWaiter(t *testing.T) {
	go func() { <-out }()
}

func FuzzBugSeeds(f *testing.F) {
	f.Add(1)
	f.Add(2)
	f.Fuzz(func(t *testing.T, n int) {
		sum := 0
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() { sum++ })
		}
		wg.Wait()
		if sum != n {
			t.Error(sum)
		}
	})
}

func Example_fine() {
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() { fmt.Println(i) })
	}
	wg.Wait()
	// Unordered output:
	// 0
	// 1
}

func Example_bug() {
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() { fmt.Println(i) })
	}
	wg.Wait()
	// Output:
	// 0
	// 1
}
