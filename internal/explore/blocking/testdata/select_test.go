package blocking

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// ask waits for an answer no longer than the context lasts.
func ask(ctx context.Context, answers chan int) int {
	go func() { answers <- 1 }()
	select {
	case a := <-answers:
		return a
	case <-ctx.Done():
		return 0
	}
}

// want: leak, channel with nobody left
func TestBugTimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	go cancel()
	ask(ctx, make(chan int))
}

func TestFineTimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	go cancel()
	ask(ctx, make(chan int, 1))
}

// want: leak, empty select
func TestBugSelectForEver(t *testing.T) {
	go func() { select {} }()
}

func TestFineSelectUntilStopped(t *testing.T) {
	stop := make(chan bool)
	go func() { <-stop }()
	close(stop)
}

// want: leak, empty select
func TestBugSelectOfNilChannels(t *testing.T) {
	var a, b chan int
	go func() {
		select {
		case <-a:
		case b <- 1:
		}
	}()
}

func TestFineSelectOfOneNilChannel(t *testing.T) {
	var a chan int
	b := make(chan int, 1)
	go func() {
		select {
		case <-a:
		case b <- 1:
		}
	}()
}

// want: leak, channel with nobody left
func TestBugWorkerIsNotStopped(t *testing.T) {
	work, stop := make(chan int), make(chan bool)
	go func() {
		for {
			select {
			case <-work:
			case <-stop:
				return
			}
		}
	}()
	work <- 1
}

func TestFineWorkerIsStopped(t *testing.T) {
	work, stop := make(chan int), make(chan bool)
	go func() {
		for {
			select {
			case <-work:
			case <-stop:
				return
			}
		}
	}()
	work <- 1
	close(stop)
}

// want: leak, channel with nobody left
func TestBugContextIsNotCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_ = cancel
	go func() { <-ctx.Done() }()
}

func TestFineContextIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { <-ctx.Done() }()
}

func TestFineContextHasADeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	_ = cancel
	go func() { <-ctx.Done() }()
}

// want: leak, channel with nobody left
func TestBugValuesOnly(t *testing.T) {
	type key struct{}
	parent, cancel := context.WithCancel(context.Background())
	ctx := context.WithoutCancel(context.WithValue(parent, key{}, 1))
	results := make(chan int)
	go func() {
		select {
		case <-ctx.Done():
		case results <- 1:
		}
	}()
	cancel()
}

func TestFineValuesAndParent(t *testing.T) {
	type key struct{}
	parent, cancel := context.WithCancel(context.Background())
	ctx := context.WithValue(parent, key{}, 1)
	results := make(chan int)
	go func() {
		select {
		case <-ctx.Done():
		case results <- 1:
		}
	}()
	cancel()
}

// A group stops at the first error, as errgroup does.
type group struct {
	wg   sync.WaitGroup
	once sync.Once
	err  error
	stop context.CancelFunc
}

func (g *group) run(f func() error) {
	g.wg.Go(func() {
		if err := f(); err != nil {
			g.once.Do(func() {
				g.err = err
				if g.stop != nil {
					g.stop()
				}
			})
		}
	})
}

func (g *group) wait() error {
	g.wg.Wait()
	if g.stop != nil {
		g.stop()
	}
	return g.err
}

// want: deadlock, channel with nobody left
func TestBugGroupDoesNotCancel(t *testing.T) {
	g := &group{}
	rows := make(chan int)
	g.run(func() error { return errors.New("no rows") })
	g.run(func() error { <-rows; return nil })
	_ = g.wait()
}

func TestFineGroupCancels(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	g := &group{stop: cancel}
	rows := make(chan int)
	g.run(func() error { return errors.New("no rows") })
	g.run(func() error {
		select {
		case <-rows:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	_ = g.wait()
}
