package unwind

import (
	"sync"
	"testing"
)

func TestUnwindByTwo(t *testing.T) {
	for range 2 {
		Reset()
		var wg sync.WaitGroup
		for range 2 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				if Unwind() != 1 {
					t.Error("unwound by something else")
				}
			}()
		}
		wg.Wait()
	}
}
