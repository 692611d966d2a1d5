package twovar

import (
	"sync"
	"testing"
)

func TestBothSidesAreEqual(t *testing.T) {
	var m Mirror
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for range 2 {
			m.Set(5)
			m.Set(7)
		}
	}()
	for range 3 {
		if !m.Equal() {
			t.Error("left and right differ")
		}
	}
	wg.Wait()
}
