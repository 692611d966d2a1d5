package toctou

import (
	"sync"
	"testing"
)

func TestSteady(t *testing.T) {
	var m Meter
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for range 3 {
			m.Tick()
		}
	}()
	for range 3 {
		if !m.Steady() {
			t.Error("the count changed between two readings")
		}
	}
	wg.Wait()
}
