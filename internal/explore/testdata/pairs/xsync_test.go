package pairs

import (
	"errors"
	"testing"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
)

func TestBugErrgroupSharesResult(t *testing.T) {
	var g errgroup.Group
	var all []int
	for i := range 2 {
		g.Go(func() error {
			all = append(all, i)
			return nil
		})
	}
	if err := g.Wait(); err != nil || len(all) != 2 {
		t.Error(err, all)
	}
}

func TestFineErrgroup(t *testing.T) {
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(1)
	bad := errors.New("bad")
	var n int
	g.Go(func() error { n++; return bad })
	g.Go(func() error {
		n++
		<-ctx.Done()
		return ctx.Err()
	})
	if err := g.Wait(); !errors.Is(err, bad) {
		t.Error(err)
	}
}

func TestFineSingleflight(t *testing.T) {
	var g singleflight.Group
	done := make(chan any)
	for range 2 {
		go func() {
			v, _, _ := g.Do("k", func() (any, error) { return 1, nil })
			done <- v
		}()
	}
	if <-done != 1 || <-done != 1 {
		t.Error("wrong value")
	}
}

func TestBugSingleflightMayRunTwice(t *testing.T) {
	var g singleflight.Group
	n := make(chan int, 2)
	done := make(chan bool)
	for range 2 {
		go func() {
			g.Do("k", func() (any, error) { n <- 1; return nil, nil })
			done <- true
		}()
	}
	<-done
	<-done
	if len(n) != 1 {
		t.Error("it ran twice, as it may")
	}
}

func TestFineSemaphore(t *testing.T) {
	s := semaphore.NewWeighted(2)
	n := 0
	done := make(chan bool)
	for range 2 {
		go func() {
			if err := s.Acquire(t.Context(), 2); err != nil {
				t.Error(err)
			}
			n++
			s.Release(2)
			done <- true
		}()
	}
	<-done
	<-done
	if n != 2 {
		t.Error(n)
	}
}
