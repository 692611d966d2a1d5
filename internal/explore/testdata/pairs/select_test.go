package pairs

import "testing"

func TestBugSelectOrder(t *testing.T) {
	a, b := make(chan int, 1), make(chan int, 1)
	a <- 1
	b <- 2
	select {
	case v := <-a:
		_ = v
	case <-b:
		t.Error("both were ready")
	}
}

func TestBugSelectDefault(t *testing.T) {
	c := make(chan int, 1)
	go func() { c <- 1 }()
	select {
	case <-c:
	default:
		t.Error("nothing yet")
	}
}

func TestFineSelectLoop(t *testing.T) {
	a, b := make(chan int), make(chan int)
	go func() {
		a <- 1
		close(a)
	}()
	go func() {
		b <- 2
		close(b)
	}()
	sum := 0
	for a != nil || b != nil {
		select {
		case v, ok := <-a:
			if !ok {
				a = nil
				break
			}
			sum += v
		case v, ok := <-b:
			if !ok {
				b = nil
				continue
			}
			sum += v
		}
	}
	if sum != 3 {
		t.Errorf("sum = %d", sum)
	}
}

func TestFineSelectSend(t *testing.T) {
	c := make(chan int)
	stop := make(chan struct{})
	go func() {
		defer close(c)
		for i := 0; ; i++ {
			select {
			case c <- i:
			case <-stop:
				return
			}
		}
	}()
	if v := <-c; v != 0 {
		t.Error(v)
	}
	close(stop)
	for range c {
	}
}

func TestBugSelectBothSides(t *testing.T) {
	a, b := make(chan int), make(chan int)
	go func() {
		select {
		case a <- 1:
		case b <- 2:
		}
	}()
	select {
	case <-a:
	case <-b:
		t.Error("the other one")
	}
}

func TestBugSelectForever(t *testing.T) {
	done := make(chan bool)
	go func() {
		select {}
	}()
	<-done
}

func pick(a, b chan int) int {
	select {
	case v := <-a:
		return v
	case v := <-b:
		return v
	}
}

func TestFineSelectReturns(t *testing.T) {
	a, b := make(chan int), make(chan int)
	go func() { a <- 1 }()
	go func() { b <- 1 }()
	if pick(a, b)+pick(a, b) != 2 {
		t.Error("lost")
	}
}

func TestFineSelectAssigns(t *testing.T) {
	c := make(chan int, 1)
	c <- 7
	var slot [2]int
	i := 1
	var ok bool
outer:
	for {
		select {
		case slot[i], ok = <-c:
			break outer
		}
	}
	if slot[1] != 7 || !ok {
		t.Error(slot, ok)
	}
}
