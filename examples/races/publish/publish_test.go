package publish

import (
	"sync"
	"testing"
)

func TestLimit(t *testing.T) {
	var s Server
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for range 2 {
			s.Publish()
			s.Unpublish()
		}
	}()
	for range 2 {
		if l := s.Limit(); l != 0 && l != 10 {
			t.Errorf("limit %d", l)
		}
	}
	wg.Wait()
}
