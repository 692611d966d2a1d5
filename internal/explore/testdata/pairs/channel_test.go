package pairs

import "testing"

func TestBugUnbufferedDeadlock(t *testing.T) {
	a, b := make(chan int), make(chan int)
	go func() {
		a <- 1
		b <- 1
	}()
	go func() {
		b <- 2
		a <- 2
	}()
	<-a
	<-a
	<-b
	<-b
}

func TestFineUnbuffered(t *testing.T) {
	a, b := make(chan int), make(chan int)
	go func() { a <- 1; b <- 1 }()
	if <-a+<-b != 2 {
		t.Error("values were lost")
	}
}

func TestBugBufferedIsNoRendezvous(t *testing.T) {
	c := make(chan int, 1)
	x := 0
	go func() {
		x = 1
		<-c
	}()
	c <- 0
	if x != 1 {
		t.Error("a send into a buffer waits for nobody")
	}
}

func TestFineUnbufferedIsRendezvous(t *testing.T) {
	c := make(chan int)
	x := 0
	go func() {
		x = 1
		<-c
	}()
	c <- 0
	if x != 1 {
		t.Error("the receive came before the send completed")
	}
}

func TestFineBufferedAsSemaphore(t *testing.T) {
	sem := make(chan struct{}, 1)
	n := 0
	done := make(chan bool, 3)
	for range 3 {
		go func() {
			sem <- struct{}{}
			n++
			<-sem
			done <- true
		}()
	}
	for range 3 {
		<-done
	}
	if n != 3 {
		t.Errorf("n = %d", n)
	}
}

func TestBugSemaphoreOfTwo(t *testing.T) {
	sem := make(chan struct{}, 2)
	n := 0
	done := make(chan bool, 2)
	for range 2 {
		go func() {
			sem <- struct{}{}
			n++
			<-sem
			done <- true
		}()
	}
	<-done
	<-done
	if n != 2 {
		t.Errorf("n = %d", n)
	}
}

func TestBugSendOnClosed(t *testing.T) {
	c := make(chan int, 1)
	go func() { close(c) }()
	c <- 1
}

func TestFineCloseAfterSends(t *testing.T) {
	c := make(chan int, 1)
	go func() {
		for i := range 3 {
			c <- i
		}
		close(c)
	}()
	sum := 0
	for v := range c {
		sum += v
	}
	if sum != 3 {
		t.Errorf("sum = %d", sum)
	}
	if _, ok := <-c; ok {
		t.Error("a closed channel is closed")
	}
}

func TestBugCloseTwice(t *testing.T) {
	c := make(chan int)
	for range 2 {
		go func() {
			select {
			case <-c:
			default:
				close(c)
			}
		}()
	}
	<-c
}

func TestBugRangeNeverEnds(t *testing.T) {
	c := make(chan int)
	go func() { c <- 1 }()
	for range c {
	}
}

func TestBugNilChannel(t *testing.T) {
	var c chan int
	go func() { c <- 1 }()
	<-c
}

func TestFineNilChannelInSelect(t *testing.T) {
	var never chan int
	c := make(chan int, 1)
	c <- 1
	select {
	case <-never:
		t.Error("a nil channel has no value")
	case v := <-c:
		if v != 1 {
			t.Error(v)
		}
	}
}

func TestBugLen(t *testing.T) {
	c := make(chan int, 2)
	go func() { c <- 1 }()
	if len(c) == 1 && cap(c) == 2 {
		t.Error("the length is a matter of luck")
	}
}

func TestFineLen(t *testing.T) {
	c := make(chan int, 2)
	done := make(chan bool)
	go func() {
		c <- 1
		done <- true
	}()
	<-done
	if len(c) != 1 {
		t.Errorf("length %d", len(c))
	}
}

type pipe chan<- string

func TestFineNamedAndDirected(t *testing.T) {
	c := make(chan string)
	go func(p pipe) {
		p <- "a"
		close(p)
	}(c)
	var r <-chan string = c
	v, ok := <-r
	_, more := <-r
	if v != "a" || !ok || more {
		t.Error(v, ok, more)
	}
}

func TestFineInterfacesThroughChannels(t *testing.T) {
	c := make(chan error)
	go func() { c <- nil }()
	go func() { c <- errMine("x") }()
	a, b := <-c, <-c
	if (a == nil) == (b == nil) {
		t.Error(a, b)
	}
}

type errMine string

func (e errMine) Error() string { return string(e) }
