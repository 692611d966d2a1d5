package pairs

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// left returns the first line of each goroutine but the calling one and those that wait for a
// test, as libraries do that look for goroutines left behind.
func left() (heads []string) {
	buf := make([]byte, 1<<20)
	all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	for _, stack := range all[1:] {
		lines := strings.Split(stack, "\n")
		if !strings.HasPrefix(lines[1], "testing.(*T).Run(") || !strings.Contains(lines[0], "[chan receive") {
			heads = append(heads, lines[0]+" "+lines[1])
		}
	}
	return heads
}

func TestFineNoGoroutineIsLeft(t *testing.T) {
	answer := make(chan int)
	go func() { answer <- 1 }()
	<-answer
	for i := 0; len(left()) > 0; i++ {
		if i == 5 {
			t.Fatal(left())
		}
		time.Sleep(time.Millisecond)
	}
}

// Of the goroutines that there are, a program sees its own.
func TestFineGoroutinesAreCounted(t *testing.T) {
	before := runtime.NumGoroutine()
	if before != 2 { // with the one that waits for the test
		t.Error(before)
	}
	stop := make(chan bool)
	started := make(chan bool)
	for range 2 {
		go func() { started <- true; <-stop }()
	}
	<-started
	<-started
	if n := runtime.NumGoroutine() - before; n != 2 {
		t.Error(n)
	}
	close(stop)
}

// The numbers of goroutines are the same in all runs of all processes: the n-th that a run starts
// has the n-th number.
func TestFineGoroutinesHaveTheSameNumbers(t *testing.T) {
	numbers := make(chan string)
	go func() {
		buf := make([]byte, 64)
		number, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), " [")
		numbers <- number
	}()
	if n := <-numbers; n != "goroutine 1002" {
		t.Error(n)
	}
}
