package pairs

import (
	"testing"
	"time"
)

// place starts a goroutine that sends two values, the second of which has no place.
func place(c chan int) {
	go func() {
		c <- 1
		c <- 2
	}()
}

// taken reports whether there is a place in a channel for one who comes late.
func taken(c chan int) bool {
	select {
	case c <- 3:
		return true
	default:
		return false
	}
}

func TestFineSenderThatWaitsComesFirst(t *testing.T) {
	c := make(chan int, 1)
	place(c)
	time.Sleep(time.Hour)
	if a, late, b := <-c, taken(c), <-c; late || a != 1 || b != 2 {
		t.Error("a goroutine that waited for a place was overtaken")
	}
}

func TestBugSenderThatMayNotWaitYet(t *testing.T) {
	c := make(chan int, 1)
	place(c)
	time.Sleep(time.Millisecond)
	if <-c; taken(c) {
		t.Error("the goroutine had not come to wait")
	}
	<-c
}

func TestFineSelectThatWaitsToSendComesFirst(t *testing.T) {
	c, never := make(chan int, 1), make(chan int)
	go func() {
		for i := range 2 {
			select {
			case c <- i + 1:
			case <-never:
			}
		}
	}()
	time.Sleep(time.Hour)
	if a, late, b := <-c, taken(c), <-c; late || a != 1 || b != 2 {
		t.Error("a select that waited for a place was overtaken")
	}
}

func TestFineReceiverThatWaitsComesFirst(t *testing.T) {
	c, got := make(chan int, 1), make(chan int)
	go func() { got <- <-c }()
	time.Sleep(time.Hour)
	c <- 1
	select {
	case <-c:
		t.Error("a goroutine that waited for a value was overtaken")
	case v := <-got:
		if v != 1 {
			t.Error("another value")
		}
	}
}

func TestBugReceiverThatMayNotWaitYet(t *testing.T) {
	c, got := make(chan int, 1), make(chan int, 1)
	go func() { got <- <-c }()
	time.Sleep(time.Millisecond)
	c <- 1
	select {
	case <-c:
		t.Error("the goroutine had not come to wait")
		c <- 2
	default:
	}
	<-got
}

func TestFineSelectThatWaitsToReceiveComesFirst(t *testing.T) {
	c, got, never := make(chan int, 1), make(chan int, 1), make(chan int)
	go func() {
		select {
		case v, ok := <-c:
			if ok {
				got <- v
			}
		case <-never:
		}
	}()
	time.Sleep(time.Hour)
	c <- 1
	select {
	case <-c:
		t.Error("a select that waited for a value was overtaken")
	default:
	}
	if <-got != 1 {
		t.Error("another value")
	}
}

// sendInTurn has goroutines send numbers that come to wait one after the other.
func sendInTurn(c chan int, apart time.Duration) {
	for i := range 4 {
		go func() {
			time.Sleep(time.Duration(i) * apart)
			c <- i
		}()
	}
	time.Sleep(4 * apart)
}

func TestFineSendersInLine(t *testing.T) {
	c := make(chan int, 1)
	sendInTurn(c, time.Hour)
	for i := range 4 {
		if v := <-c; v != i {
			t.Errorf("%d instead of %d", v, i)
		}
	}
}

func TestBugSendersInNoLine(t *testing.T) {
	c := make(chan int, 1)
	sendInTurn(c, time.Millisecond)
	for i := range 4 {
		if v := <-c; v != i {
			t.Errorf("%d instead of %d", v, i)
		}
	}
}
