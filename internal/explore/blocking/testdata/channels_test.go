package blocking

import (
	"errors"
	"sync"
	"testing"
)

// firstOf asks several sources and takes the first answer.
func firstOf(answers chan int, n int) int {
	for i := range n {
		go func() { answers <- i }()
	}
	return <-answers
}

// want: leak, channel with nobody left
func TestBugFirstAnswer(t *testing.T) { firstOf(make(chan int), 3) }

func TestFineFirstAnswer(t *testing.T) { firstOf(make(chan int, 3), 3) }

// compute fails before it looks at the result.
func compute(results chan int, fail bool) error {
	go func() { results <- 42 }()
	if fail {
		return errors.New("bad input")
	}
	<-results
	return nil
}

// want: leak, channel with nobody left
func TestBugEarlyError(t *testing.T) { _ = compute(make(chan int), true) }

func TestFineEarlyError(t *testing.T) { _ = compute(make(chan int, 1), true) }

// want: leak, channel with nobody left
func TestBugRangeIsNotClosed(t *testing.T) {
	jobs := make(chan int, 4)
	done := make(chan int, 4)
	for range 2 {
		go func() {
			for j := range jobs {
				done <- j * j
			}
		}()
	}
	jobs <- 2
	jobs <- 3
	<-done
	<-done
}

func TestFineRangeIsClosed(t *testing.T) {
	jobs := make(chan int, 4)
	done := make(chan int, 4)
	for range 2 {
		go func() {
			for j := range jobs {
				done <- j * j
			}
		}()
	}
	jobs <- 2
	jobs <- 3
	close(jobs)
	<-done
	<-done
}

// want: deadlock, channel with nobody left
func TestBugRangeIsWaitedFor(t *testing.T) {
	lines := make(chan string)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range lines {
		}
	})
	lines <- "one"
	wg.Wait()
}

func TestFineRangeIsWaitedFor(t *testing.T) {
	lines := make(chan string)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range lines {
		}
	})
	lines <- "one"
	close(lines)
	wg.Wait()
}

// want: leak, nil channel
func TestBugNilChannel(t *testing.T) {
	var updates chan int
	go func() { updates <- 1 }()
}

func TestFineNilChannel(t *testing.T) {
	updates := make(chan int, 1)
	go func() { updates <- 1 }()
}

// want: deadlock, nil channel
func TestBugNilChannelInStruct(t *testing.T) {
	var hub struct{ quit chan bool }
	<-hub.quit
}

func TestFineNilChannelInStruct(t *testing.T) {
	var hub struct{ quit chan bool }
	hub.quit = make(chan bool)
	close(hub.quit)
	<-hub.quit
}

// want: deadlock, channel with nobody left
func TestBugSendToOneself(t *testing.T) {
	ch := make(chan int)
	ch <- 1
	<-ch
}

func TestFineSendToOneself(t *testing.T) {
	ch := make(chan int, 1)
	ch <- 1
	<-ch
}

// A semaphore is a channel with as many places as there may be holders.
//
// want: deadlock, channel with nobody left
func TestBugSemaphoreIsNotReleased(t *testing.T) {
	places := make(chan struct{}, 2)
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			places <- struct{}{}
			if i == 1 {
				return // without giving its place back
			}
			<-places
		})
	}
	for range 2 {
		places <- struct{}{}
	}
	wg.Wait()
}

func TestFineSemaphoreIsReleased(t *testing.T) {
	places := make(chan struct{}, 2)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
		})
	}
	wg.Wait()
	for range 2 {
		places <- struct{}{}
	}
}

// want: deadlock, channel with nobody left
func TestBugPipelineStops(t *testing.T) {
	numbers, squares := make(chan int), make(chan int)
	go func() {
		for i := range 3 {
			numbers <- i
		}
		close(numbers)
	}()
	go func() {
		for n := range numbers {
			squares <- n * n
		}
		// squares is not closed
	}()
	for range squares {
	}
}

func TestFinePipelineStops(t *testing.T) {
	numbers, squares := make(chan int), make(chan int)
	go func() {
		for i := range 3 {
			numbers <- i
		}
		close(numbers)
	}()
	go func() {
		for n := range numbers {
			squares <- n * n
		}
		close(squares)
	}()
	for range squares {
	}
}

// want: leak, channel with nobody left
func TestBugConsumerStopsEarly(t *testing.T) {
	numbers := make(chan int)
	go func() {
		defer close(numbers)
		for i := range 5 {
			numbers <- i
		}
	}()
	for n := range numbers {
		if n == 2 {
			break
		}
	}
}

func TestFineConsumerStopsEarly(t *testing.T) {
	numbers, enough := make(chan int), make(chan bool)
	go func() {
		defer close(numbers)
		for i := range 5 {
			select {
			case numbers <- i:
			case <-enough:
				return
			}
		}
	}()
	for n := range numbers {
		if n == 2 {
			break
		}
	}
	close(enough)
}

// want: leak, channel with nobody left
func TestBugReplyIsNotReceived(t *testing.T) {
	type request struct{ reply chan int }
	requests := make(chan request)
	go func() {
		for r := range requests {
			r.reply <- 1
		}
	}()
	requests <- request{make(chan int)}
	close(requests)
}

func TestFineReplyIsNotReceived(t *testing.T) {
	type request struct{ reply chan int }
	requests := make(chan request)
	go func() {
		for r := range requests {
			r.reply <- 1
		}
	}()
	requests <- request{make(chan int, 1)}
	close(requests)
}
